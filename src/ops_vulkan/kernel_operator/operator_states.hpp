// SPDX-License-Identifier: Apache-2.0
// What an operator of states holds on a device, and the blocks of K that its calls make.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernel_operator/operator_call.hpp"
#include "ops/kernel_operator/operator_states.hpp"
#include "ops_vulkan/kernel_matrix/kernel_packed.hpp"

namespace weft::kernels {

struct DeviceSamples;

/// All states packed, or what they are made from.
struct DeviceStates {
    std::optional<PackedStates> packed;
    // Where they do not fit together:
    KernelMatrixCircuit circuit{};  ///< with `weights`
    std::vector<double> weights{};
    std::optional<Words> planes{};

    /// The memory that values of K depend on.
    std::vector<Words> words(const OperatorPlan& plan) const;
};

/// Records the states of a plan; `circuit` is null if states are given, and `y` may be null. Errors:
/// out_of_memory.
std::shared_ptr<const DeviceStates> make_states(Stream& stream, const OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                                const ConstDeviceArray* y);
std::shared_ptr<const DeviceStates> make_states(Stream& stream, const OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                                                const ConstHostArray* y);

/// Makes blocks of K, one after the other, in the same memory.
class BlockMaker {
  public:
    /// All arguments must outlive it.
    BlockMaker(Stream& stream, KernelMemory& memory, const OperatorPlan& plan, const DeviceStates& states);
    /// `turned`: rows of the block become its columns. The image of a mirrored block lies behind it.
    void make(const OperatorBlock& block, bool turned);
    const Words& values() const noexcept { return values_; }
    std::uint64_t leading() const noexcept { return plan_.states->block; }
    std::uint64_t image_origin() const noexcept { return leading() * leading(); }

  private:
    Stream& stream_;
    const OperatorPlan& plan_;
    std::optional<CircuitStates> source_;
    std::optional<PackedTiles> tiles_;
    Words values_;
};

/// `done` is called after each block.
void record_state_rows(Stream& stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                       const DeviceArray& out, const PairsDone& done);
void record_state_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out,
                           const PairsDone& done);

}  // namespace weft::kernels
