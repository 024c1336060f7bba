// SPDX-License-Identifier: Apache-2.0
// Products on host memory that the devices of one API share, by rows of the result or by pairs of K. Pure but
// for the threads of devices/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "devices/shared_call.hpp"
#include "ops/kernel_operator/operator_call.hpp"
#include "ops/kernel_operator/operator_product.hpp"

namespace weft::kernels {

/// Makes rows of the result on a device; `out` has these rows.
using RowsWorker = std::function<void(const ApplyRows& rows, const HostArray& out, const PairsDone& done)>;
/// Adds a share of pairs to what the device has made. `totals` then has the words of all of it; after an
/// error it is as it was.
using PairsWorker =
    std::function<void(const PairShare& share, std::vector<std::uint32_t>& totals, const PairsDone& done)>;

/// The devices, and what makes shares on them. Workers are made before the first share of a device, on its
/// thread; options are those of the product, but factors of totals.
struct ProductDevices {
    std::size_t count = 1;
    std::span<const OperatorPlan* const> plans;  ///< of all devices that the operator was made on
    const OperatorPlan& first;                   ///< of the first device that is not lost
    double largest = 1;                          ///< value of K
    /// Of the result, if the caller or a setting asks for chunks; 0: neither.
    std::uint64_t chunk_values = 0;
    std::uint32_t threads = 1;  ///< of the host
    std::function<RowsWorker(std::size_t device)> rows;
    std::function<PairsWorker(std::size_t device, const std::vector<std::int32_t>& units)> pairs;
    std::function<OpReport(const core::SharedCallOf<core::DeviceWorker>& call)> run;
};

/// kernel_apply without its checks for some rows of K: `out` has these rows. All rows of a square K may be
/// made by pairs.
OpReport apply_shared(const ProductDevices& devices, const ConstHostArray& v, const HostArray& out,
                      const ApplyRows& rows, const KernelApplyHostOptions& options);

/// Of several devices with these plans. Errors: invalid_argument - columns.
KernelOperatorEstimate estimate_on_each(const std::vector<OperatorPlan>& plans, std::uint32_t columns);

}  // namespace weft::kernels
