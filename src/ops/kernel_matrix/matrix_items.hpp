// SPDX-License-Identifier: Apache-2.0
// A call on host memory as items that are made in any order, on one device or shared among several: blocks
// of K in the order in which packed states are used again, or ranges of rows of a closed form.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::kernels {

/// Called with the index of something that was asked for, when its values of K are in place in host memory.
using InPlace = std::function<void(std::uint64_t index)>;

/// Takes the values of a block of K, whose rows are `leading` values apart, instead of the caller's memory.
using BlockSink =
    std::function<void(const KernelBlock& block, const std::byte* values, std::uint64_t leading)>;

/// The arguments of a call, checked. `circuit` is null if states are given; `y` may be null.
struct HostMatrixCall {
    const KernelMatrixCircuit* circuit;
    const ConstHostArray& x;
    const ConstHostArray* y;
    HostArray k;
    const KernelMatrixShape& shape;
    KernelMatrixOptions options;
    const BatchOptions& batch;
    CircuitFacts facts;
    BlockSink sink{};  ///< takes K, in the place of `k`, whose type alone counts then
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();  ///< of the call
};

/// The checks of a call with features, or with states, and the call; `y` may be null. `values`: of K, if `k`
/// stands for other memory. `threads` look at values in host memory. `stage_times` says whether that option
/// applies. Errors: invalid_argument; EncodeError - values that are not finite.
HostMatrixCall checked_features(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                                const ConstHostArray* y, const HostArray& k, const ArrayFacts& values,
                                const KernelMatrixShape& shape, const KernelMatrixHostOptions& host,
                                std::uint32_t threads, bool stage_times = false);
HostMatrixCall checked_states(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                              const ArrayFacts& values, const KernelMatrixShape& shape,
                              const KernelMatrixHostOptions& host, std::uint32_t threads,
                              bool stage_times = false);

/// The report of a call that one device has made.
OpReport report_of(const HostMatrixCall& call, const KernelMatrixPlan& plan);

/// What is made of K; the list that the method does not need is empty.
struct MatrixItems {
    std::vector<HostBlock> blocks;
    std::vector<RowRange> rows;

    std::uint64_t count() const noexcept { return blocks.size() + rows.size(); }
    std::uint64_t pairs(const KernelMatrixPlan& plan) const noexcept {
        return report(plan, 0, count()).items;
    }
    /// Pairs and bytes of K that are the items [first, first + count).
    OpReport report(const KernelMatrixPlan& plan, std::uint64_t first, std::uint64_t count) const;
};
/// All of K.
MatrixItems all_items(const KernelMatrixPlan& plan);
/// The same for devices that take shares from both ends. If all states are one tile, so that the order of
/// blocks is free, the blocks on the diagonal are in the middle: they are half as much work, and the smaller
/// the last shares are, the less a device waits for another one.
MatrixItems shared_items(const KernelMatrixPlan& plan);
/// The items that make these of store_tiles().
MatrixItems items_of(const KernelMatrixPlan& plan, const std::vector<StoreTile>& tiles,
                     const std::vector<std::size_t>& indices);

}  // namespace weft::kernels
