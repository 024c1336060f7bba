// SPDX-License-Identifier: Apache-2.0
// Completes ops_vulkan/gram/gram.hpp: what the plan may know of a device, and whether its matrix units can be
// trusted.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include <weft/error.hpp>

#include "ops_vulkan/gram/gram.hpp"

namespace weft::kernels {
namespace {

bool has_shape(const std::vector<MatrixShape>& shapes) {
    return std::find(shapes.begin(), shapes.end(), MatrixShape{16, 16, 16}) != shapes.end();
}

// Few distinct amplitudes that float16 does not hold, in an odd number: what the high parts lose adds up to
// about 1e-4, fifty times the bound, so that a product without the low parts, or with sums that were cut
// short, cannot pass.
constexpr std::uint64_t kRows = 40, kAmplitudes = 3001;
constexpr double kBound = 5e-6;

std::vector<c32> probe_states() {
    std::vector<c32> states(kRows * kAmplitudes);
    const double modulus = 1 / std::sqrt(static_cast<double>(kAmplitudes));
    for (std::uint64_t r = 0; r < kRows; ++r)
        for (std::uint64_t k = 0; k < kAmplitudes; ++k)
            states[r * kAmplitudes + k] =
                c32(std::polar(modulus, 0.6 + 1e-3 * static_cast<double>(r) + (k % 3 == 0 ? 0.011 : 0.0)));
    return states;
}

double largest_error(const std::vector<c32>& states, const std::vector<float>& k) {
    double worst = 0;
    for (std::uint64_t i = 0; i < kRows; i += 3)
        for (std::uint64_t j = 0; j < kRows; ++j) {
            std::complex<double> sum = 0;
            for (std::uint64_t a = 0; a < kAmplitudes; ++a)
                sum += std::complex<double>(states[i * kAmplitudes + a]) *
                       std::conj(std::complex<double>(states[j * kAmplitudes + a]));
            const double error = std::abs(static_cast<double>(k[i * kRows + j]) - std::norm(sum));
            worst = error <= worst ? worst : error;  // NaN stays
        }
    return worst;
}

double error_of(Backend& backend, const GramPlan& plan) {
    const std::vector<c32> states = probe_states();
    Stream stream(backend);
    GramProduct product(backend, plan);
    Buffer<c32> resident(backend, states.size(), "gram probe");
    Buffer<std::uint32_t> planes(backend, plan.packed_bytes(kRows) / 4, "gram probe");
    Buffer<float> k(backend, kRows * kRows, "gram probe");
    stream.upload(states, resident);
    product.pack(stream, resident, kRows, planes);
    product.multiply(stream, planes, planes, k);
    return largest_error(states, stream.download(k));
}

/// Empty: they passed.
std::string judge(Backend& backend, GramDevice device) {
    device.matrix_exact = true;
    GramProblem problem{kRows, kRows, kAmplitudes, true};
    problem.unit_rows = true;
    try {
        const double error =
            error_of(backend, plan_gram(problem, device, {.method = GramMethod::matrix_split, .split = 1}));
        if (error <= kBound) return {};
        char text[96];
        std::snprintf(text, sizeof text,
                      "failed the accuracy probe (got an error of %.1e, need at most %.1e)", error, kBound);
        return text;
    } catch (const Error& error) {
        if (error.code() == Errc::device_lost || error.code() == Errc::out_of_memory) throw;
        return std::string("cannot be used: ") + error.what();
    }
}

GramDevice limits_of(const DeviceInfo& info, const MemoryReport& memory) {
    GramDevice device;
    device.limits = info.limits;
    device.software = info.type == DeviceType::cpu;
    device.float64 = info.shader_float64;
    const bool subgroups = info.limits.min_subgroup_size <= 32 && info.limits.max_subgroup_size >= 32;
    device.matrix_khr = subgroups && has_shape(info.matrix_shapes_khr);
    device.matrix_nv = subgroups && has_shape(info.matrix_shapes_nv);
    device.matrix_reason = device.matrix_khr || device.matrix_nv ? "not judged" : "none that fit";
    for (const MemoryReport::Heap& heap : memory.heaps)
        if (heap.device_local)
            device.memory_bytes = std::max(device.memory_bytes, heap.budget != 0 ? heap.budget : heap.size);
    return device;
}

/// Judgements of this process, by device and driver: empty, or why not.
class Judgements {
  public:
    static Judgements& all() {
        static Judgements judgements;
        return judgements;
    }
    /// Fills in what is known; true: nothing more to find out.
    bool known(const DeviceInfo& info, GramDevice& device) {
        if (!device.matrix_khr && !device.matrix_nv) return true;
        const std::lock_guard lock(mutex_);
        const auto found = judged_.find(key(info, device));
        if (found == judged_.end()) return false;
        device.matrix_reason = found->second;
        device.matrix_exact = found->second.empty();
        return true;
    }
    void add(const DeviceInfo& info, const GramDevice& device, const std::string& judgement) {
        const std::lock_guard lock(mutex_);
        judged_.emplace(key(info, device), judgement);
    }

  private:
    static std::string key(const DeviceInfo& info, const GramDevice& device) {
        return info.uuid + info.driver + (device.matrix_khr ? " khr" : " nv");
    }
    std::mutex mutex_;
    std::map<std::string, std::string> judged_;
};

GramDevice judged(const std::shared_ptr<core::BackendState>& runtime, const GramDevice& device) {
    Backend backend = detail::Access::make<Backend>(runtime);  // its destructor waits for the device: once in a process
    Judgements::all().add(backend.device(), device, judge(backend, device));
    return gram_limits(backend);
}

}  // namespace

GramDevice gram_limits(const Backend& backend) {
    GramDevice device = limits_of(backend.device(), backend.memory());
    Judgements::all().known(backend.device(), device);
    return device;
}

GramDevice gram_device(const Backend& backend) {
    GramDevice device = gram_limits(backend);
    return Judgements::all().known(backend.device(), device) ? device : judged(detail::Access::backend_state(backend), device);
}

GramDevice gram_limits(const Stream& stream) {
    GramDevice device = limits_of(stream.device(), detail::memory_report(stream));
    Judgements::all().known(stream.device(), device);
    return device;
}

GramDevice gram_device(const Stream& stream) {
    GramDevice device = gram_limits(stream);
    return Judgements::all().known(stream.device(), device) ? device : judged(detail::Access::backend_state(stream), device);
}

}  // namespace weft::kernels
