// SPDX-License-Identifier: Apache-2.0
#include "bench_devices_work.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <span>

#include "bench.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_threads.hpp"

namespace bench {
namespace {

constexpr weft::Field kField = weft::Field::bls12_381_fp;

/// Runs body(first, last) over [0, count) on all cores.
void parallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
    weft::tool::parallel_for(count, std::size_t{1} << 14, weft::tool::cpu_threads(), body);
}

bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    std::atomic<bool> same{a.size() == b.size()};
    if (!same) return false;
    parallel(a.size(), [&](std::size_t first, std::size_t last) {
        if (std::memcmp(&a[first], &b[first], last - first) != 0) same = false;
    });
    return same;
}

void poison(std::span<std::byte> out) {
    parallel(out.size(),
             [&](std::size_t first, std::size_t last) { std::memset(&out[first], 0xa5, last - first); });
}

/// Whole pages, which may be page-locked for some devices or for all.
class HostArea {
  public:
    HostArea(weft::Devices& devices, std::size_t bytes, Memory memory) {
        constexpr std::size_t kPage = 4096;
        bytes = (bytes + kPage - 1) / kPage * kPage;
        if (memory == Memory::page_locked) {
            bytes_ = locked_.emplace(devices, bytes).span();
            return;
        }
        pages_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
        if (!pages_) throw std::bad_alloc();
        bytes_ = {pages_.get(), bytes};
        poison(bytes_);  // the pages then belong to the nodes of many threads
        if (memory != Memory::registered) return;
        registered_.emplace(devices, bytes_);
    }
    template <class T>
    std::span<T> first(std::size_t count) const {
        return {reinterpret_cast<T*>(bytes_.data()), count};
    }

  private:
    struct Free {
        void operator()(std::byte* pages) const { std::free(pages); }
    };
    std::unique_ptr<std::byte, Free> pages_;
    std::optional<weft::HostBuffer<std::byte>> locked_;
    std::optional<weft::HostRegistration> registered_;
    std::span<std::byte> bytes_;
};

class FieldWork : public Work {
  public:
    FieldWork(weft::Devices& devices, const Sizes& sizes, Memory memory)
        : devices_(devices), limbs_(sizes.field_elements * weft::kBls12381FpLimbs), expected_(limbs_) {
        for (std::size_t i = 0; i < 3; ++i) areas_.emplace_back(devices, limbs_ * 8, memory);
        const weft::FieldInfo& field = weft::field_info(kField);
        for (std::size_t i = 0; i < 2; ++i)
            parallel(sizes.field_elements, [&](std::size_t first, std::size_t last) {
                weft::tool::fill_field(field, 2 * first + i,
                                       array(i).subspan(first * weft::kBls12381FpLimbs,
                                                        (last - first) * weft::kBls12381FpLimbs));
            });
        weft::tool::cpu_field<std::uint64_t>(field, weft::FieldOp::add,
                                             {.a = array(0), .b = array(1), .out = expected_},
                                             weft::tool::cpu_threads());
    }
    weft::OpReport run() override {
        if (devices_.size() == 1) return weft::field_add(devices_[0], kField, array(0), array(1), array(2));
        return weft::field_add(devices_, kField, array(0), array(1), array(2));
    }
    bool right() override {
        const bool same = equal_bytes(std::as_bytes(array(2)), std::as_bytes(std::span(expected_)));
        poison(std::as_writable_bytes(array(2)));
        return same;
    }
    const char* unit() const override { return "elements"; }
    double items() const override { return static_cast<double>(limbs_ / weft::kBls12381FpLimbs); }
    double bytes() const override { return static_cast<double>(3 * 8 * limbs_); }

  private:
    std::span<std::uint64_t> array(std::size_t i) const { return areas_[i].first<std::uint64_t>(limbs_); }

    weft::Devices& devices_;
    std::size_t limbs_;
    std::vector<HostArea> areas_;  // a, b, sum
    std::vector<std::uint64_t> expected_;
};

std::vector<float> features(std::uint64_t samples, std::uint32_t qubits) {
    std::vector<float> x(samples * qubits);
    // Rows are close to each other, so that kernel values of many qubits are not all zero.
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(0.6 * std::sin(0.731 * static_cast<double>(i)));
    return x;
}

/// Work of which device 0 alone makes the reference.
class ReferencedWork : public Work {
  public:
    ReferencedWork(weft::Devices& devices, std::size_t bytes, Reference& reference)
        : devices_(devices), out_(devices, bytes, Memory::ordinary), bytes_(bytes), reference_(reference) {}
    bool right() override {
        const std::span<std::byte> out = out_.first<std::byte>(bytes_);
        if (reference_.empty()) reference_.assign(out.begin(), out.end());
        const bool same = equal_bytes(out, reference_);
        poison(out);
        return same;
    }

  protected:
    weft::Devices& devices_;
    HostArea out_;
    std::size_t bytes_;

  private:
    Reference& reference_;
};

class EncodeWork : public ReferencedWork {
  public:
    EncodeWork(weft::Devices& devices, const Sizes& sizes, Reference& reference)
        : ReferencedWork(devices, (sizes.encode_samples * sizeof(weft::c32)) << sizes.encode_qubits,
                         reference),
          shape_{sizes.encode_samples, sizes.encode_qubits},
          x_(features(shape_.samples, shape_.qubits)) {}
    weft::OpReport run() override {
        const std::span<weft::c32> states = out_.first<weft::c32>(shape_.amplitudes());
        if (devices_.size() == 1) return encode(devices_[0], weft::EncodeMethod::angle, x_, states, shape_);
        return encode(devices_, weft::EncodeMethod::angle, x_, states, shape_);
    }
    const char* unit() const override { return "samples"; }
    double items() const override { return static_cast<double>(shape_.samples); }
    double bytes() const override { return static_cast<double>(bytes_ + x_.size() * sizeof(float)); }

  private:
    weft::StateShape shape_;
    std::vector<float> x_;
};

class KernelWork : public ReferencedWork {
  public:
    KernelWork(weft::Devices& devices, const Sizes& sizes, bool reupload, Reference& reference)
        : ReferencedWork(devices, sizes.kernel_samples * sizes.kernel_samples * sizeof(float), reference),
          shape_{sizes.kernel_samples, 0, sizes.kernel_qubits},
          x_(features(shape_.samples, shape_.qubits)),
          weights_(2 * std::size_t{shape_.qubits}),
          reupload_(reupload) {
        for (std::size_t i = 0; i < weights_.size(); ++i)
            weights_[i] = 0.3 * std::cos(1.7 * static_cast<double>(i));
    }
    weft::OpReport run() override {
        const weft::KernelMatrixCircuit circuit{weft::FeatureMap::ryrz, weights_, reupload_, 1.0};
        const std::span<float> k = out_.first<float>(shape_.values());
        if (devices_.size() == 1) return kernel_matrix(devices_[0], circuit, x_, k, shape_);
        return kernel_matrix(devices_, circuit, x_, k, shape_);
    }
    const char* unit() const override { return "pairs"; }
    double items() const override { return static_cast<double>(shape_.pairs()); }
    double bytes() const override { return 0; }

  private:
    weft::KernelMatrixShape shape_;
    std::vector<float> x_;
    std::vector<double> weights_;
    bool reupload_;
};

class OperatorWork : public Work {
  public:
    OperatorWork(weft::Devices& devices, const Sizes& sizes, Reference& reference)
        : devices_(devices),
          shape_{sizes.operator_samples, 0, 8},
          x_(features(shape_.samples, shape_.qubits)),
          v_(shape_.samples),
          out_(shape_.samples),
          reference_(reference) {
        for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = static_cast<float>(std::sin(0.37 * double(i)));
        const weft::KernelMatrixCircuit circuit{.map = weft::FeatureMap::ryrz};
        const bool software = devices_[0].device().type == weft::DeviceType::cpu;
        const weft::KernelOperatorOptions options{
            .symmetric = software ? weft::Choice::on : weft::Choice::automatic,
            .low_rank = weft::Choice::off};
        if (devices_.size() == 1)
            k_.emplace(devices_[0], circuit, x_, shape_, options);
        else
            k_.emplace(devices_, circuit, x_, shape_, options);
    }
    weft::OpReport run() override {
        if (devices_.size() == 1) return kernel_apply(devices_[0], *k_, v_, out_);
        return kernel_apply(devices_, *k_, v_, out_);
    }
    bool right() override {
        const std::span<std::byte> bytes = std::as_writable_bytes(std::span(out_));
        if (reference_.empty()) reference_.assign(bytes.begin(), bytes.end());
        double sum = 0;
        for (const float v : v_) sum += std::abs(double(v));
        const double bound = 2 * k_->estimate().error * sum;  // each of the two results may be off by half
        bool same = true;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            float wanted = 0;
            std::memcpy(&wanted, &reference_[i * sizeof(float)], sizeof wanted);
            same = same && std::abs(double(out_[i]) - double(wanted)) <= bound;
        }
        poison(bytes);
        return same;
    }
    const char* unit() const override { return "pairs"; }
    double items() const override { return double(shape_.samples) * double(shape_.samples); }
    double bytes() const override { return 0; }
    std::string plan() const override {
        for (const std::string& reason : k_->estimate().reasons)
            if (reason.find("symmetric") != std::string::npos) return reason;
        return "";
    }

  private:
    weft::Devices& devices_;
    weft::KernelMatrixShape shape_;
    std::vector<float> x_, v_, out_;
    std::optional<weft::KernelOperator> k_;
    Reference& reference_;
};

}  // namespace

std::unique_ptr<Work> field_work(weft::Devices& devices, const Sizes& sizes, Memory memory) {
    return std::make_unique<FieldWork>(devices, sizes, memory);
}
std::unique_ptr<Work> encode_work(weft::Devices& devices, const Sizes& sizes, Reference& reference) {
    return std::make_unique<EncodeWork>(devices, sizes, reference);
}
std::unique_ptr<Work> kernel_work(weft::Devices& devices, const Sizes& sizes, bool reupload,
                                  Reference& reference) {
    return std::make_unique<KernelWork>(devices, sizes, reupload, reference);
}
std::unique_ptr<Work> operator_work(weft::Devices& devices, const Sizes& sizes, Reference& reference) {
    return std::make_unique<OperatorWork>(devices, sizes, reference);
}

double host_copy_gb_per_s(std::size_t bytes, unsigned threads, int repeats) {
    std::vector<std::byte> from(bytes), to(bytes);
    std::vector<double> rates;
    for (int i = 0; i < repeats + 1; ++i) {
        const auto start = Clock::now();
        weft::tool::parallel_for(bytes, std::size_t{1} << 20, threads,
                                 [&](std::size_t first, std::size_t last) {
                                     std::memcpy(&to[first], &from[first], last - first);
                                 });
        if (i != 0) rates.push_back(static_cast<double>(bytes) / seconds_since(start) / 1e9);
    }
    return median(rates);
}

}  // namespace bench
