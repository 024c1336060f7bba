// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_calls.hpp"

#include <string>
#include <vector>

#if defined(WEFT_TOOL_CUDA)
#include <cuda_runtime_api.h>

#include <weft/cuda/device.hpp>
#include <weft/cuda/devices.hpp>
#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_operator.hpp>
#include <weft/cuda/kernel_solve.hpp>

#include "device/cuda_settings.hpp"
#define ON_CUDA_OR(vulkan, call, ...)                                      \
    devices_ ? vulkan                                                      \
    : cuda_  ? weft::cuda::call(cuda_->devices __VA_OPT__(, ) __VA_ARGS__) \
             : weft::cuda::call(__VA_ARGS__)
#else
#define ON_CUDA_OR(vulkan, call, ...) vulkan
#endif
// A single device needs none of the sharing.
#define ON_ANY(call, ...)                                                                  \
    return ON_CUDA_OR((size() == 1 ? weft::call((*devices_)[0] __VA_OPT__(, ) __VA_ARGS__) \
                                   : weft::call(*devices_ __VA_OPT__(, ) __VA_ARGS__)),    \
                      call, __VA_ARGS__)

namespace weft::tool {

#if defined(WEFT_TOOL_CUDA)

bool has_cuda() noexcept {
    return true;
}

struct Target::Cuda {
    cuda::Devices devices;
};

namespace {

cuda::Devices open_cuda_devices(const std::string& setting) {
    try {
        return cuda::Devices(setting);
    } catch (const Error& error) {
        // As for Vulkan devices: for a command, the machine lacks the device.
        if (error.code() == Errc::invalid_argument) throw Failure(Exit::device, error.what());
        throw;
    }
}

cuda::Devices open_cuda(const Config& config) {
    const CudaSettings settings = cuda_settings(config);
    cuda::set_host_settings({settings.chunk_elements, settings.ring_slots, settings.copy_threads});
    return open_cuda_devices(config.device);
}

/// The device becomes the current one.
DeviceInfo describe_cuda(const cuda::DeviceInfo& found) {
    if (const cudaError_t result = cudaSetDevice(found.ordinal); result != cudaSuccess)
        throw Failure(Exit::device, "--backend cuda: " + found.name + ": " + cudaGetErrorString(result));
    int version = 0;
    static_cast<void>(cudaDriverGetVersion(&version));
    int integrated = 0;
    static_cast<void>(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, found.ordinal));
    DeviceInfo device;
    device.type = integrated != 0 ? DeviceType::integrated : DeviceType::discrete;
    device.name = found.name;
    device.uuid = found.uuid;
    device.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    return device;
}

}  // namespace

#else

bool has_cuda() noexcept {
    return false;
}

namespace {

[[noreturn]] void refuse_cuda() {
    throw Failure(Exit::usage, "--backend: not available in this build (got cuda, need vulkan)");
}

}  // namespace

#endif

namespace {

/// "2 x llvmpipe", or "A, B": equal neighbours are counted.
std::string counted(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0, next = 0; i < names.size(); i = next) {
        while (next < names.size() && names[next] == names[i]) ++next;
        text += (i == 0 ? "" : ", ") + (next - i > 1 ? std::to_string(next - i) + " x " : "") + names[i];
    }
    return text;
}

}  // namespace

Target::Target(const DeviceOptions& options, const Config& config) {
    if (options.backend == "cuda") {
#if defined(WEFT_TOOL_CUDA)
        auto opened = std::make_shared<Cuda>(Cuda{open_cuda(config)});
        device_ = first_ = describe_cuda(opened->devices[0]);
        std::vector<std::string> each;
        for (std::size_t i = 0; i < opened->devices.size(); ++i) each.push_back(opened->devices[i].name);
        if (options.several == Several::shared && each.size() > 1) {
            device_.name = counted(each);
            cuda_ = std::move(opened);
        }
        return;
#else
        refuse_cuda();
#endif
    }
    devices_.emplace(open_devices(options, config));
    device_ = backend()->device();
    std::vector<std::string> names, drivers;
    for (std::size_t i = 0; i < size(); ++i) {
        names.push_back((*devices_)[i].name());
        const std::string& driver = (*devices_)[i].device().driver;
        if (drivers.empty() || drivers.back() != driver) drivers.push_back(driver);
    }
    device_.name = counted(names);
    device_.driver = counted(drivers);
}

OpReport Target::field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                             const FieldHostOptions& options) {
    ON_ANY(field_batch, field, op, jobs, options);
}

OpReport Target::ntt(Field field, NttDirection direction, const ConstHostArray& in,
                     const weft::HostArray& out, const NttShape& shape, const NttHostOptions& options) {
    ON_ANY(ntt, field, direction, in, out, shape, options);
}
OpReport Target::ntt_extend(Field field, const ConstHostArray& in, const weft::HostArray& out,
                            const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options) {
    ON_ANY(ntt_extend, field, in, out, shape, blowup, options);
}

OpReport Target::encode(EncodeMethod method, const ConstHostArray& values, const weft::HostArray& states,
                        const StateShape& shape, const EncodeHostOptions& options) {
    ON_ANY(encode, method, values, states, shape, options);
}

OpReport Target::lattice_encode(const LatticeCode& code, std::span<const float> x,
                                std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                                const LatticeHostOptions& options) {
    ON_ANY(lattice_encode, code, x, codes, status, options);
}
OpReport Target::lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                                  std::span<std::uint8_t> status, const LatticeHostOptions& options) {
    ON_ANY(lattice_quantize, code, x, y, status, options);
}
OpReport Target::lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                                std::span<const std::uint8_t> status, std::span<float> x,
                                const LatticeDecodeHostOptions& options) {
    ON_ANY(lattice_decode, code, codes, status, x, options);
}
LatticeSearch Target::lattice_search_beta(const LatticeCode& code, std::span<const float> sample,
                                          const LatticeSearchOptions& options) {
    ON_ANY(lattice_search_beta, code, sample, options);
}

OpReport Target::kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray* y, const weft::HostArray& k,
                               const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    if (y != nullptr) ON_ANY(kernel_matrix, circuit, x, *y, k, shape, options);
    ON_ANY(kernel_matrix, circuit, x, k, shape, options);
}
OpReport Target::kernel_matrix(const ConstHostArray& states, const ConstHostArray* others,
                               const weft::HostArray& k, const KernelMatrixShape& shape,
                               const KernelMatrixHostOptions& options) {
    if (others != nullptr) ON_ANY(kernel_matrix, states, *others, k, shape, options);
    ON_ANY(kernel_matrix, states, k, shape, options);
}

OpReport Target::kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray* y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                               const KernelMatrixHostOptions& options) {
    const auto on = [&](auto& where) {
        if (y != nullptr) return weft::kernel_matrix(where, circuit, x, *y, k, shape, options);
        return weft::kernel_matrix(where, circuit, x, k, shape, options);
    };
    return size() == 1 ? on((*devices_)[0]) : on(*devices_);
}
OpReport Target::kernel_matrix(const ConstHostArray& states, const ConstHostArray* others,
                               KernelMatrixStore& k, const KernelMatrixShape& shape,
                               const KernelMatrixHostOptions& options) {
    const auto on = [&](auto& where) {
        if (others != nullptr) return weft::kernel_matrix(where, states, *others, k, shape, options);
        return weft::kernel_matrix(where, states, k, shape, options);
    };
    return size() == 1 ? on((*devices_)[0]) : on(*devices_);
}

namespace {

template <class Operator, class... Where>
Operator made_of(const OperatorInputs& k, Where&... where) {
    const bool square = k.shape.square();
    if (k.circuit == nullptr && square) return Operator(where..., k.x, k.shape, k.options);
    if (k.circuit == nullptr) return Operator(where..., k.x, k.y, k.shape, k.options);
    if (square) return Operator(where..., *k.circuit, k.x, k.shape, k.options);
    return Operator(where..., *k.circuit, k.x, k.y, k.shape, k.options);
}

}  // namespace

template <class Use>
auto Target::on_operator(const OperatorInputs& k, const Use& use) {
#if defined(WEFT_TOOL_CUDA)
    if (!devices_ && cuda_) return use(made_of<cuda::KernelOperator>(k, cuda_->devices), cuda_->devices);
    if (!devices_) return use(made_of<cuda::KernelOperator>(k));
#endif
    if (size() > 1) return use(made_of<KernelOperator>(k, *devices_), *devices_);
    return use(made_of<KernelOperator>(k, (*devices_)[0]), (*devices_)[0]);
}

// The namespace of the operator has the functions of its back end, so that these calls name none.
OpReport Target::apply(const OperatorInputs& inputs, const ConstHostArray& v, const weft::HostArray& out,
                       const KernelApplyHostOptions& options) {
    return on_operator(
        inputs, [&](const auto& k, auto&... where) { return kernel_apply(where..., k, v, out, options); });
}
KernelSolveReport Target::solve(const OperatorInputs& inputs, const ConstHostArray& y,
                                const weft::HostArray& alpha, const KernelSolveOptions& options) {
    return on_operator(
        inputs, [&](const auto& k, auto&... where) { return kernel_solve(where..., k, y, alpha, options); });
}
KernelEigenReport Target::eigen(const OperatorInputs& inputs, const weft::HostArray& values,
                                const weft::HostArray& vectors, const KernelEigenOptions& options) {
    return on_operator(inputs, [&](const auto& k, auto&... where) {
        return kernel_eigen(where..., k, values, vectors, options);
    });
}

KernelOperatorEstimate Target::estimate(const OperatorInputs& k, ElementType states, std::uint32_t columns) {
    if (k.circuit != nullptr) ON_ANY(estimate_kernel_operator, *k.circuit, k.shape, columns, k.options);
    ON_ANY(estimate_kernel_operator, states, k.shape, columns, k.options);
}

OpReport Target::predict(const OperatorInputs& k, const ConstHostArray& alpha, const weft::HostArray& out,
                         const BatchOptions& batch) {
#if defined(WEFT_TOOL_CUDA)
    if (!devices_)
        return k.circuit != nullptr ? cuda::kernel_predict(*k.circuit, k.x, k.y, alpha, out, k.shape, batch)
                                    : cuda::kernel_predict(k.x, k.y, alpha, out, k.shape, batch);
#endif
    Backend& first = (*devices_)[0];
    return k.circuit != nullptr
               ? weft::kernel_predict(first, *k.circuit, k.x, k.y, alpha, out, k.shape, batch)
               : weft::kernel_predict(first, k.x, k.y, alpha, out, k.shape, batch);
}

}  // namespace weft::tool
