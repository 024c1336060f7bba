// SPDX-License-Identifier: Apache-2.0
// Kernel operators on arrays in host memory.
#pragma once

#include <functional>

#include "ops_vulkan/kernel_operator/operator_apply.hpp"

namespace weft::kernels {

KernelApplyOptions apply_options(const KernelApplyHostOptions& options) noexcept;

/// Features of a circuit, or states that are given, in host memory; checked.
struct HostSamples {
    const KernelMatrixCircuit* circuit;  ///< null: states are given
    const ConstHostArray& x;
    const ConstHostArray* y;  ///< may be null
    const KernelMatrixShape& shape;
    const KernelOperatorOptions& options;
    CircuitFacts facts;
};
/// Checks types, sizes, options and values. Errors: invalid_argument; EncodeError - values that are not
/// finite. Texts about them begin with `function`.
HostSamples checked_samples(const char* function, const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                            const ConstHostArray* y, const KernelMatrixShape& shape,
                            const KernelOperatorOptions& options, std::uint32_t threads);
/// Plans on a backend and makes the samples, which are done when the function returns.
DeviceSamples samples_on(Backend& backend, const HostSamples& samples);

/// Device memory for results that go to host memory.
class HostResult {
  public:
    /// All three must outlive it. Errors: out_of_memory.
    HostResult(Stream& stream, const HostArray& out);
    DeviceArray array() const;
    void upload() const;
    /// Waits for the stream.
    void download() const;

  private:
    Stream& stream_;
    HostArray out_;
    Buffer<std::uint32_t> words_;
};

/// Products with a V in host memory, which the device keeps for all of them.
class HostApply {
  public:
    /// `call` must outlive it.
    HostApply(Backend& backend, const ApplyCall& call, const ConstHostArray& v);
    /// Makes some rows of the result; `out` has these rows. `read_out`: they are read as well. `done` is
    /// called with the kernel values of each band that the device has finished, and may throw.
    void make(const ApplyRows& rows, const HostArray& out, bool read_out,
              const std::function<void(std::uint64_t pairs)>& done);

  private:
    const ApplyCall& call_;
    Stream stream_;
    KernelMemory memory_;
    ElementType type_;
    std::uint64_t count_;
    Buffer<std::uint32_t> v_;
};

/// kernel_apply without its checks, for some rows of K: `out` has these rows. On one device all rows may make
/// a symmetric product.
OpReport apply_rows(Backend& backend, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const ApplyRows& rows, const KernelApplyHostOptions& options);
OpReport apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const ApplyRows& rows, const KernelApplyHostOptions& options);

/// What a device holds of an operator. Errors: invalid_argument - nothing.
inline const DeviceSamples& samples_on(Backend& backend, const KernelOperator& k) {
    return detail::Access::object(k)->on("kernel_apply", detail::Access::backend_state(backend));
}

}  // namespace weft::kernels
