// SPDX-License-Identifier: Apache-2.0
// Kernel operators on arrays in host memory, on the current CUDA device. The device keeps all samples, V and
// the output.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/own_stream.hpp"
#include "ops/kernel_operator/operator_call.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"

namespace weft::cuda {

/// Products with a V in host memory, which the device keeps for all of them. The device must be the current
/// one when it is made and whenever it is used.
class HostApply {
  public:
    /// `call` must outlive it.
    HostApply(const OperatorApplyCall& call, const ConstHostArray& v);
    /// Makes some rows of the result; `out` has these rows. `read_out`: they are read as well.
    void make(const kernels::ApplyRows& rows, const HostArray& out, bool read_out,
              const kernels::PairsDone& done);

  protected:
    /// Runs what `launch` puts on the stream, and then `last`.
    void run(const std::function<void(const OperatorApplyCall::BandDone& done)>& launch,
             const std::function<void()>& last, const kernels::PairsDone& done);

    const OperatorApplyCall& call_;
    const OwnStream stream_;
    const Scratch v_;
};

/// Shares of a product by pairs: the totals of a device, to which it adds share after share.
class HostTotals : private HostApply {
  public:
    /// `call` must outlive it.
    HostTotals(const OperatorApplyCall& call, const ConstHostArray& v,
               const std::vector<std::int32_t>& units);
    /// Adds a share. `totals` then has the words of all totals so far; after an error it is as it was.
    void add(const kernels::PairShare& share, std::vector<std::uint32_t>& totals,
             const kernels::PairsDone& done);

  private:
    const std::uint64_t words_;
    const Scratch totals_, units_;
    std::vector<std::uint32_t> received_;
};

/// kernel_apply without its checks, for some rows of K: `out` has these rows. All rows may make a symmetric
/// product.
OpReport apply_rows(const DeviceSamples& samples, const ConstHostArray& v, const HostArray& out,
                    const kernels::ApplyRows& rows, const KernelApplyHostOptions& options);
/// The same on several devices.
OpReport apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const kernels::ApplyRows& rows, const KernelApplyHostOptions& options);

}  // namespace weft::cuda
