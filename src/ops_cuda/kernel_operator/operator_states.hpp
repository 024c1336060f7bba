// SPDX-License-Identifier: Apache-2.0
// What an operator of states holds on a CUDA device, and the blocks of K that its calls make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/scratch.hpp"
#include "ops/kernel_operator/operator_states.hpp"
#include "ops_cuda/kernel_matrix/kernel_packed.hpp"
#include "ops_cuda/kernel_operator/operator_memory.hpp"

namespace weft::cuda {

/// All states packed, or what they are made from.
struct DeviceStates {
    DeviceMemory x, y, factors;
    // Where they do not fit together:
    KernelMatrixCircuit circuit{};  ///< with `weights`
    std::vector<double> weights{};
    DeviceMemory planes;

    PackedStates packed() const noexcept { return {x.data(), y.data(), factors.data()}; }
    /// The memory that values of K depend on.
    std::vector<std::span<const std::byte>> ranges(const kernels::OperatorPlan& plan) const;
};

/// Puts the states of a plan on the stream; `circuit` is null if states are given, and `y` may be null.
/// Errors: out_of_memory.
std::shared_ptr<const DeviceStates> make_states(StreamHandle stream, const kernels::OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                                const ConstDeviceArray* y);
/// The same of states in host memory, which has been read when the work of the stream is done.
std::shared_ptr<const DeviceStates> make_states(StreamHandle stream, const kernels::OperatorPlan& plan,
                                                const ConstHostArray& x, const ConstHostArray* y);

/// Makes blocks of K, one after the other, in the same memory.
class BlockMaker {
  public:
    /// The last two must outlive it.
    BlockMaker(StreamHandle stream, const kernels::OperatorPlan& plan, const DeviceStates& states);
    /// `turned`: rows of the block become its columns. The image of a mirrored block lies behind it.
    void make(const kernels::OperatorBlock& block, bool turned);
    const std::byte* values() const noexcept { return values_.as<std::byte>(); }
    std::uint64_t leading() const noexcept { return plan_.states->block; }
    std::uint64_t image_origin() const noexcept { return leading() * leading(); }

  private:
    const kernels::OperatorPlan& plan_;
    Scratch values_;
    std::optional<CircuitStates> source_;
    std::optional<PackedTiles> tiles_;
};

}  // namespace weft::cuda
