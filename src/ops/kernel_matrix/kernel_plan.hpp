// SPDX-License-Identifier: Apache-2.0
// How a kernel matrix is made and what memory it takes: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::kernels {

inline constexpr std::uint32_t kProductTile = 64;    ///< rows and columns of a tile of kernel_product.comp
inline constexpr std::uint32_t kLaneSamples = 8;     ///< that kernel_product_lanes.comp reads together
inline constexpr std::uint32_t kBlocksUnderWay = 3;  ///< of a K in host memory, where it is made from states
inline constexpr std::uint32_t kLongQubits = 32;     ///< float32 products of more are gathered by parts
/// Mesa's software devices end every loop of an invocation after 65535 iterations. This many qubits take 45056
/// iterations in kernel_product.comp and half as many in kernel_product_lanes.comp, for one tile of K.
inline constexpr std::uint32_t kSoftwarePartQubits = 16384;
/// With at most this many qubits, one workgroup can take all 66 tiles that the engine gives it for a job of one row.
inline constexpr std::uint32_t kSoftwareJobQubits = 256;

/// What a plan needs to know of a circuit, or of states that are given.
struct CircuitFacts {
    FeatureMap map = FeatureMap::ryrz;
    std::uint32_t layers = 0;
    bool reupload = false;
    bool given = false;    ///< states are given, not a circuit
    bool given64 = false;  ///< as complex128
    bool on_host = false;  ///< the call is on host memory
};

/// What a plan needs to know of a device.
struct KernelMatrixDevice {
    GramDevice gram;                 ///< limits and more
    std::uint64_t budget_bytes = 0;  ///< memory of the device that may be used
    bool packs_apart = false;        ///< its shaders that build states cannot pack them
    /// Page-locked memory counts: it is the device's own, or within Config::memory_limit.
    bool host_counts = false;
    bool limited = false;          ///< by Config::memory_limit
    std::uint32_t slots = 3;       ///< of run_batch
    std::uint32_t job_copies = 1;  ///< of a job's memory that a slot of run_batch holds and that count
};

/// A pass of kernel_states.comp over the bits of an index: blocks of the lowest `carried` bits and those from
/// `from` on, `window` in all.
struct StatePass {
    std::uint32_t window = 4, carried = 0, from = 0, gates_from = 0;
    bool ring = false;  ///< first of a layer
    bool operator==(const StatePass&) const = default;
};

struct StatePlan {
    std::vector<StatePass> passes;  ///< of a layer
    std::uint32_t most_lanes = 256;
    std::uint32_t norm_lanes = 128;  ///< invocations that add up a norm; few on software devices
    bool fused = false;              ///< the last pass packs states instead of writing them row by row
    bool turned = true;             ///< through shared memory, where rows of packed states lie side by side
    std::uint32_t workgroup_rows = 0;   ///< of states, that a workgroup of the last pass holds parts of
    std::uint32_t squares = 0;      ///< sums of squares of a state that the last pass leaves; 0: no norms
    bool two_buffers = false;       ///< a layer reads all of the one before
    std::uint64_t state_bytes = 0;  ///< of a row-major state
    std::uint64_t chunk_rows = 0;   ///< states built at a time, and forgotten once they are packed
    std::uint64_t tile = 0;         ///< states of a side that are packed at a time, a multiple of 64
    std::uint64_t block = 0;        ///< rows and columns of K that go to host memory at a time
    bool bulk = false;              ///< all states are packed once
    bool renormalize = false;       ///< rounding of gates is taken out of K by the norms of states
    GramPlan gram;
};

struct KernelMatrixPlan {
    KernelMatrixShape shape;
    ElementType type = kFloat32;
    KernelMatrixMethod method = KernelMatrixMethod::product;
    std::uint32_t layers = 0;  ///< that matter: passes of RX(w), ring and E(x) behind the first E(x)
    bool real64 = false;
    std::uint64_t stride = 0;  ///< samples of a plane of angles, Y's behind X's
    // Of the product.
    std::uint32_t parts = 2;        ///< of a Bloch vector
    bool long_variant = false;         ///< kLong of kernel_product.comp
    bool lane_variant = false;         ///< kernel_product_lanes.comp instead
    std::uint64_t others_at = 0;    ///< sample of the planes that the columns of K begin at
    bool symmetric = false;         ///< one dispatch writes both triangles of a resident K
    std::uint64_t panel_rows = 0;   ///< of a resident K a dispatch, where it is not symmetric
    std::uint64_t job_rows = 0;     ///< of a K in host memory, a job
    std::uint32_t part_qubits = 0;  ///< of a dispatch; those of others are multiplied in
    bool by_panels = false;         ///< a K in host memory is made panel by panel, not by the engine
    StatePlan states;
    std::string obstacle;  ///< why no device memory would be enough; empty: none

    std::uint64_t real_bytes() const noexcept { return real64 ? 8 : 4; }
    std::uint64_t value_bytes() const noexcept { return type.bytes(); }
    std::uint64_t planes_values() const noexcept { return stride * 2 * shape.qubits; }
    std::uint64_t matrix_bytes() const noexcept { return shape.values() * value_bytes(); }
};

/// Layers behind which something differs from row to row: without re-upload none, else all but the last.
std::uint32_t effective_layers(const CircuitFacts& circuit) noexcept;

/// Errors: unsupported - float64 on a device without shaderFloat64.
KernelMatrixPlan plan_kernel(const KernelMatrixDevice& device, const KernelMatrixShape& shape, const CircuitFacts& circuit,
                       ElementType type, const KernelMatrixOptions& options);
/// plan_kernel, where the device's memory has room for it. Errors: as plan_kernel; out_of_memory.
KernelMatrixPlan plan_that_fits(const KernelMatrixDevice& device, const KernelMatrixShape& shape, const CircuitFacts& circuit,
                        ElementType type, const KernelMatrixOptions& options);

}  // namespace weft::kernels
