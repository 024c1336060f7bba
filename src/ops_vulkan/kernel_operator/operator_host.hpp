// SPDX-License-Identifier: Apache-2.0
// Kernel operators on arrays in host memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/kernel_operator/operator_call.hpp"
#include "ops_vulkan/kernel_operator/operator_apply.hpp"

namespace weft::kernels {

/// Plans on a backend, of several if it is `shared`, and makes the samples, which are done when the function
/// returns.
DeviceSamples samples_on(Backend& backend, const HostSamples& samples, bool shared = false);

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

/// Runs what `record` records band by band, and then `last`; `done` is called after each band that the device
/// has finished. The host records one band while the device works on another.
void run_bands(Stream& stream, const std::function<void(const PairsDone& done)>& record,
               const std::function<void()>& last, const PairsDone& done);

/// Products with a V in host memory, which the device keeps for all of them.
class HostApply {
  public:
    /// `call` must outlive it.
    HostApply(Backend& backend, const ApplyCall& call, const ConstHostArray& v);
    /// Makes some rows of the result; `out` has these rows. `read_out`: they are read as well.
    void make(const ApplyRows& rows, const HostArray& out, bool read_out, const PairsDone& done);

  protected:
    using Record = std::function<void(const ConstDeviceArray& v, const ApplyCall::BandDone& done)>;
    /// Runs what `record` records, and then `last`.
    void run(const Record& record, const std::function<void()>& last, const PairsDone& done);

    const ApplyCall& call_;
    Stream stream_;
    KernelMemory memory_;

  private:
    ElementType type_;
    std::uint64_t count_;
    Buffer<std::uint32_t> v_;
};

/// Shares of a product by pairs: the totals of a device, to which it adds share after share.
class HostTotals : private HostApply {
  public:
    /// `call` must outlive it.
    HostTotals(Backend& backend, const ApplyCall& call, const ConstHostArray& v,
               const std::vector<std::int32_t>& units);
    /// Adds a share. `totals` then has the words of all totals so far; after an error it is as it was.
    void add(const PairShare& share, std::vector<std::uint32_t>& totals, const PairsDone& done);

  private:
    Buffer<std::uint32_t> totals_, units_;
    std::vector<std::uint32_t> received_;
};

/// kernel_apply without its checks, for some rows of K: `out` has these rows. On one device all rows may make
/// a symmetric product.
OpReport apply_rows(Backend& backend, const DeviceSamples& samples, const ConstHostArray& v,
                    const HostArray& out, const ApplyRows& rows, const KernelApplyHostOptions& options);
OpReport apply_rows(Backend& backend, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const ApplyRows& rows, const KernelApplyHostOptions& options);
OpReport apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const ApplyRows& rows, const KernelApplyHostOptions& options);

/// What a device holds of an operator. Errors: invalid_argument - nothing.
inline const DeviceSamples& samples_on(Backend& backend, const KernelOperator& k) {
    return detail::Access::object(k)->on("kernel_apply", detail::Access::backend_state(backend));
}

}  // namespace weft::kernels
