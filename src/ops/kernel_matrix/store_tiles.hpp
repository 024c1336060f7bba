// SPDX-License-Identifier: Apache-2.0
// The tiles of K in a store: what is finished, checked and made again as a whole. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/array.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/store_format.hpp"

namespace weft::kernels {

/// Rows of a closed form, or a block of host_blocks().
struct StoreTile {
    KernelBlock block;
    bool mirrored = false;  ///< the block across the diagonal belongs to it too
};

/// What a plan leaves open, as the first run on a store has settled it. Later runs take the same, although
/// free memory or measured tiles may be others by then.
struct StorePin {
    std::uint64_t rows = 0;   ///< of a tile
    std::uint64_t tile = 0;   ///< StatePlan::tile; 0: no states are built
    bool bulk = false;        ///< StatePlan::bulk
    std::string products{};   ///< method and tile of the products, as text; empty: there are none
    std::uint32_t split = 1;  ///< GramPlan::split
};

/// The pin of a plan for a store whose tiles have about `tile_bytes`. Values of K do not depend on `rows`.
StorePin pin_of(const KernelMatrixPlan& plan, std::uint64_t tile_bytes);
/// Options that ask for what the pin says, as far as options can.
KernelMatrixOptions pinned(KernelMatrixOptions options, const StorePin& pin);
/// Makes the plan the pinned one. Returns why that is not possible; empty: it is.
std::string apply_pin(KernelMatrixPlan& plan, const StorePin& pin, const GramDevice& device);

/// As facts of a store, and from them. Errors: io - a fact is missing or damaged.
void add_pin(StoreFacts& facts, const StorePin& pin);
StorePin read_pin(const StoreFacts& facts);

/// Of a plan with apply_pin, in the order in which they are made; one for each of host_blocks() if states are
/// built.
std::vector<StoreTile> store_tiles(const KernelMatrixPlan& plan, const StorePin& pin);

/// Values of facts: all digits of a number, the type and the checksum of an array, a checksum.
std::string exact(double value);
std::string contents(const ConstHostArray& array);
std::string sum_text(const ContentSum& sum);
const char* choice_text(Choice choice) noexcept;

/// The facts of a call that do not depend on a device. `circuit` is null if states are given.
StoreFacts call_facts(const KernelMatrixCircuit* circuit, const ConstHostArray& x, const ConstHostArray* y,
                      const KernelMatrixShape& shape, const KernelMatrixOptions& options);
/// The facts that a file alone settles: those which a store is opened with.
StoreFacts file_facts(const KernelMatrixShape& shape, ElementType type);

/// Why facts of a call do not continue those of a store: "scale (the store has 1, the call has 2)"; empty:
/// they do. Facts that only the store has are ignored. `first` and `second` are whose facts these are.
std::string facts_differ(const StoreFacts& store, std::span<const StoreFact> call,
                         const char* first = "the store", const char* second = "the call");

/// The header of a .npy file of version 1 in C order.
std::string matrix_npy_header(const KernelMatrixShape& shape, ElementType type);

}  // namespace weft::kernels
