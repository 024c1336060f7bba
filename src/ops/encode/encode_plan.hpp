// SPDX-License-Identifier: Apache-2.0
// Which shaders make an encode, and in which workgroups and passes. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/encode.hpp>

namespace weft::kernels {

enum class EncodeKernel {
    amplitude,         ///< a team of invocations makes a state and reads its values once
    amplitude_shared,  ///< several workgroups make a state and read its values once
    amplitude_long,    ///< norms of blocks, norms of rows, then the states
    product,           ///< angle, phase, iqp-z
    basis,
    iqp_direct,  ///< up to 6 qubits
    iqp,         ///< transform in shared memory, passes over the state above
    iqp_tasks,   ///< iqp with one pass of up to 8 bits in the same dispatch
};

/// Bytes of the norm of a block or of a row in scratch memory, and of the status of an element.
inline constexpr std::uint32_t kNormBytes = 32;
inline constexpr std::uint32_t kStatusBytes = 8;
/// Values of a block of encode_norm_block.comp, as a power of two.
inline constexpr std::uint32_t kNormBlockBits = 14;

/// Bits [low, low + bits) of the index, which one pass over the states transforms.
struct EncodePass {
    std::uint32_t low = 0, bits = 0;
};

struct EncodePlan {
    EncodeMethod method = EncodeMethod::amplitude;
    EncodeTypes types;
    std::uint64_t samples = 0, features = 0;
    std::uint32_t qubits = 0;
    std::uint32_t value_bytes = 0, amplitude_bytes = 0;
    bool real64 = false;  ///< arithmetic in float64
    EncodeKernel kernel = EncodeKernel::amplitude;
    std::uint32_t local_size = 256;
    std::uint32_t kept_pairs = 8;  ///< amplitude: pairs of a row or block that an invocation holds
    std::uint32_t held_pairs = 8;  ///< of these in registers; CUDA keeps the others in shared memory
    std::uint32_t subgroup_size =
        0;                        ///< amplitude_shared: sums are joined by shuffles within these; 0: without
    std::uint32_t team_size = 1;  ///< amplitude: invocations that share a row
    std::uint32_t workgroups_per_row = 1;  ///< workgroups that share a row of several tasks
    std::uint32_t task_bits = 0;           ///< values or amplitudes of a task, as a power of two
    std::uint32_t task_words = 0;    ///< words of a row that such workgroups share, in addition to its status
    std::uint32_t slab_bits = 0;     ///< as in EncodeParameters
    std::uint32_t element_bits = 0;  ///< amplitudes of an element, as a power of two
    std::uint32_t rows_per_workgroup = 1;  ///< elements that a workgroup takes at a time
    bool alone = false;                    ///< product: invocations multiply all factors themselves
    bool lanes = false;  ///< amplitude, product, basis: encode_*_lanes.comp, each invocation an element
    std::uint32_t fixed_qubits = 0;  ///< iqp: a constant of the shader; 0: a parameter of the dispatch
    std::uint32_t window_bits = 0;   ///< amplitudes that one binding can hold, as a power of two
    std::uint32_t max_workgroups = 1;
    std::uint64_t range_bytes = 0;  ///< of one binding
    std::uint64_t alignment = 4;    ///< of its offset
    /// Of iqp above element_bits, in the order in which they run.
    std::vector<EncodePass> passes;

    std::uint64_t row_bytes_in() const noexcept { return features * value_bytes; }
    std::uint64_t row_bytes_out() const noexcept { return std::uint64_t{amplitude_bytes} << qubits; }
    std::uint64_t bytes_in() const noexcept { return samples * row_bytes_in(); }
    std::uint64_t bytes_out() const noexcept { return samples * row_bytes_out(); }
    std::uint32_t block_bits() const noexcept { return qubits - element_bits; }  ///< elements of a row, log 2
    std::uint64_t norm_blocks() const noexcept {
        return (features + (std::uint64_t{1} << kNormBlockBits) - 1) >> kNormBlockBits;
    }
    /// A state and its values can be bound whole.
    bool row_fits() const noexcept { return qubits <= window_bits; }
    /// EncodeParameters::slab_bits.
    std::uint32_t parameter_bits() const noexcept { return task_bits != 0 ? task_bits : slab_bits; }
    /// An element is a row, and its values go with it.
    bool whole_rows() const noexcept {
        return kernel == EncodeKernel::amplitude || kernel == EncodeKernel::amplitude_shared ||
               kernel == EncodeKernel::iqp_tasks;
    }
    /// One dispatch makes every element independently of the others, which is what run_batch can do.
    bool single_dispatch() const noexcept { return kernel != EncodeKernel::amplitude_long && passes.empty(); }
};

/// `features` has been checked. `streamed` prefers kernels that make a chunk in one dispatch. Errors:
/// unsupported - complex128 on a device without shaderFloat64.
EncodePlan plan_encode(const DeviceInfo& device, EncodeMethod method, EncodeTypes types,
                       const StateShape& shape, std::uint64_t features, bool streamed);

}  // namespace weft::kernels
