// SPDX-License-Identifier: Apache-2.0
// How a kernel matrix is made: which shaders run on which rows, in what order and with what parameters. Pure
// functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"
#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::kernels {

inline constexpr std::uint32_t kProductTile = 64;  ///< rows and columns of a tile of kernel_product.comp
inline constexpr std::uint32_t kLaneSamples = 8;   ///< samples that kernel_product_lanes.comp reads together
inline constexpr std::uint32_t kBlocksUnderWay = 3;  ///< blocks of K on their way to host memory
inline constexpr std::uint32_t kLongQubits = 32;  ///< float32 products of more qubits are gathered by parts

/// What a plan needs to know of a circuit, or of states that are given.
struct CircuitFacts {
    FeatureMap map = FeatureMap::ryrz;
    std::uint32_t layers = 0;
    bool reupload = false;
    bool given = false;       ///< states are given, not a circuit
    bool given64 = false;     ///< as complex128
    bool on_host = false;     ///< K is made block by block, for host memory or for products
    std::uint64_t block = 0;  ///< rows and columns of K that are made at a time, a multiple of 64; 0: planned
};

/// What a plan needs to know of a device.
struct KernelMatrixDevice {
    GramDevice gram;                 ///< limits and more
    std::uint64_t budget_bytes = 0;  ///< memory of the device that may be used
    bool packs_apart = false;        ///< its shaders that build states cannot pack them
    /// Page-locked memory counts, because it is the device's own or Config::memory_limit includes it.
    bool host_counts = false;
    bool limited = false;          ///< Config::memory_limit is set
    std::uint32_t slots = 3;       ///< of run_batch
    std::uint32_t job_copies = 1;  ///< copies of a job's memory in a slot of run_batch that count
};

/// A pass of kernel_states.comp. Its blocks span `window` bits of the index: the lowest `carried` bits, and
/// those from bit `from` on.
struct StatePass {
    std::uint32_t window = 4, carried = 0, from = 0, gates_from = 0;
    bool ring = false;  ///< the first pass of a layer
    bool operator==(const StatePass&) const = default;
};

struct StatePlan {
    std::vector<StatePass> passes;     ///< of a layer
    std::uint32_t most_lanes = 256;    ///< invocations of a workgroup that builds states, at most
    std::uint32_t norm_lanes = 128;    ///< invocations that add up a norm; few on software devices
    bool fused = false;                ///< the last pass packs states instead of writing them row by row
    bool turned = true;                ///< it writes through shared memory where packed rows lie side by side
    std::uint32_t workgroup_rows = 0;  ///< states that a workgroup of the last pass holds parts of
    std::uint32_t squares = 0;         ///< sums of squares of a state that the last pass leaves; 0: no norms
    bool two_buffers = false;          ///< a layer reads all of the layer before
    std::uint64_t state_bytes = 0;     ///< of a row-major state, as it is given or built
    std::uint64_t chunk_rows = 0;      ///< states built at a time, which are dropped when they are packed
    std::uint64_t tile = 0;            ///< states of a side that are packed at a time, a multiple of 64
    std::uint64_t block = 0;           ///< rows and columns of K that go to host memory at a time
    bool bulk = false;                 ///< all states are packed once
    bool renormalize = false;  ///< K is divided by the norms of states, which rounding of gates changes
    GramPlan gram;
};

struct KernelMatrixPlan {
    KernelMatrixShape shape;
    ElementType type = kFloat32;
    KernelMatrixMethod method = KernelMatrixMethod::product;
    std::uint32_t layers = 0;     ///< that matter: passes of RX(w), ring and E(x) behind the first E(x)
    bool real64 = false;          ///< arithmetic in float64
    std::uint64_t stride = 0;     ///< samples of a plane of angles
    std::uint64_t others_at = 0;  ///< sample of the planes that Y begins at; 0 without Y
    // Of the product.
    bool rz = false;                ///< kRz of kernel_product.comp
    bool long_variant = false;      ///< kLong of kernel_product.comp
    bool lane_variant = false;      ///< kernel_product_lanes.comp instead
    bool symmetric = false;         ///< one dispatch writes both triangles of a resident K
    std::uint64_t panel_rows = 0;   ///< of a resident K a dispatch, where it is not symmetric
    std::uint64_t job_rows = 0;     ///< of a K in host memory, a job
    std::uint32_t part_qubits = 0;  ///< of a dispatch; later dispatches multiply the other qubits in
    bool by_panels = false;         ///< a K in host memory is made panel by panel, not by the engine
    StatePlan states;
    std::string obstacle;  ///< why no amount of device memory would be enough; empty: there is no obstacle

    std::uint64_t real_bytes() const noexcept { return real64 ? 8 : 4; }
    std::uint64_t value_bytes() const noexcept { return type.bytes(); }
    std::uint64_t planes_values() const noexcept { return stride * 2 * shape.qubits; }
    std::uint64_t matrix_bytes() const noexcept { return shape.values() * value_bytes(); }
};

/// Layers that K depends on: none without re-upload, else all but the last.
std::uint32_t effective_layers(const CircuitFacts& circuit) noexcept;

/// Errors: unsupported - float64 on a device without shaderFloat64.
KernelMatrixPlan plan_kernel(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                             const CircuitFacts& circuit, ElementType type,
                             const KernelMatrixOptions& options);
/// plan_kernel for a call, whose plan must fit the device's memory. Errors: as plan_kernel; out_of_memory.
KernelMatrixPlan plan_that_fits(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                                const CircuitFacts& circuit, ElementType type,
                                const KernelMatrixOptions& options);

/// Floating-point operations of all inner products.
double gram_flops(const KernelMatrixPlan& plan) noexcept;
/// Whether a job of `flops` operations repays measuring tiles before it, pipelines that must be compiled
/// included.
bool tuning_pays(const GramDevice& device, double flops) noexcept;
/// Whether tiles are measured before the job: none has been yet, and the job is long enough.
bool tunes_first(const KernelMatrixPlan& plan, const GramDevice& device,
                 const KernelMatrixOptions& options) noexcept;
/// Takes the tile that has been measured for the planned products since; the plan still fits the device's
/// memory.
void take_measured_tile(KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool on_host,
                        const KernelMatrixOptions& options);

/// Passes over states of `qubits` with blocks of at most 2^most_window amplitudes.
std::vector<StatePass> state_passes(std::uint32_t qubits, std::uint32_t most_window);
/// Invocations of a workgroup of a pass.
std::uint32_t lanes_of(const StatePlan& states, const StatePass& pass) noexcept;
/// Bytes of row-major states that are on the device at a time.
std::uint64_t built_bytes(const KernelMatrixPlan& plan) noexcept;
/// Shared memory of kernel_states.comp.
std::uint64_t shared_bytes_of_states(std::uint32_t lanes, std::uint64_t real_bytes) noexcept;

/// Whether a K in host memory is a single block.
bool one_block(const KernelMatrixPlan& plan) noexcept;
/// Bytes of a block of K on its way to host memory, and of the block across the diagonal if there is one.
std::uint64_t block_bytes(const KernelMatrixPlan& plan) noexcept;

/// Rows of X or Y.
struct StateRows {
    bool of_y = false;
    std::uint64_t row = 0, count = 0;
    bool operator==(const StateRows&) const = default;
};

/// A block of K: its values of `rows` states from `row` on and `columns` states from `column` on.
struct KernelBlock {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// The two places that packed states lie in. A square K in one tile needs the first alone.
enum class PackedSide { rows, columns };

inline bool needs_columns(const KernelMatrixShape& shape, std::uint64_t tile) {
    return !shape.square() || shape.samples > tile;
}

/// Calls pack(side, rows) for every tile of states, which stays in `side` until the next call for that side,
/// and multiply(block, own) for every pair of tiles. Of a square K only pairs on or below the diagonal come;
/// `own` says that a pair is on it and has both sides in PackedSide::rows. A Y of one tile is packed once.
template <class Pack, class Multiply>
void each_tile_pair(const KernelMatrixShape& shape, std::uint64_t tile, const Pack& pack,
                    const Multiply& multiply) {
    const std::uint64_t columns = shape.columns();
    const bool square = shape.square(), y_stays = !square && columns <= tile;
    if (y_stays) pack(PackedSide::columns, StateRows{true, 0, columns});
    for (std::uint64_t row = 0; row < shape.samples; row += tile) {
        const std::uint64_t rows = std::min(tile, shape.samples - row);
        pack(PackedSide::rows, StateRows{false, row, rows});
        for (std::uint64_t column = 0; column < (square ? row + 1 : columns); column += tile) {
            const bool own = square && column == row;
            const std::uint64_t across = std::min(tile, columns - column);
            if (!own && !y_stays) pack(PackedSide::columns, StateRows{!square, column, across});
            multiply(KernelBlock{row, rows, column, across}, own);
        }
    }
}

/// A block of K that goes to host memory, and the tiles of states that it is made from.
struct HostBlock {
    StateRows x, y;    ///< equal tiles lie in PackedSide::rows alone if `own`
    bool own = false;  ///< both sides are one tile of a square K
    KernelBlock block;
};
/// The blocks of a K in host memory, in the order in which tiles are packed least often.
std::vector<HostBlock> host_blocks(const KernelMatrixPlan& plan);
/// Whether the block has a mirror image: K is square, and the block does not lie on its diagonal.
inline bool off_diagonal(const KernelMatrixShape& shape, const KernelBlock& block) {
    return shape.square() && block.row != block.column;
}
/// Pairs that a block brings: of a square K, on and below the diagonal.
std::uint64_t pairs_of(const KernelMatrixShape& shape, const KernelBlock& block) noexcept;
/// Rows [first, last) of K.
struct RowRange {
    std::uint64_t first = 0, last = 0;
};
/// The pairs of these rows, if each row had equally many.
std::uint64_t pairs_of(const KernelMatrixPlan& plan, const RowRange& rows) noexcept;
/// Makes blocks so small that several devices are busy to the end, but not smaller than `least` rows, which
/// keep one device busy. Values of K stay the same.
void cut_for_devices(KernelMatrixPlan& plan, std::uint64_t least) noexcept;

/// The bits of a float, or of a double, low word first.
std::array<std::uint32_t, 2> real_words(double value, bool real64) noexcept;

// Parameters of the shaders. Arrays begin at element 0 of what is bound.
/// `column` of the planes takes the first sample. Planes of states hold cosines and sines of half the angles.
shared::KernelAngleParameters angle_parameters(const KernelMatrixPlan& plan, ElementType features,
                                               double scale, std::uint64_t column) noexcept;
shared::KernelProductParameters product_parameters(const KernelMatrixPlan& plan,
                                                   const KernelMatrixOptions& options) noexcept;
/// `gates`: the layer whose weights the gates take, or kKernelNoLayer.
shared::KernelStateParameters state_parameters(const KernelMatrixPlan& plan, const StatePass& pass,
                                               const StateRows& rows, std::uint32_t gates, bool rz) noexcept;
/// Factors of some rows, each from `terms` numbers.
shared::KernelNormParameters norm_parameters(const KernelMatrixPlan& plan, const KernelMatrixOptions& options,
                                             const StateRows& rows, std::uint64_t terms) noexcept;
shared::KernelScaleParameters scale_parameters(const KernelMatrixPlan& plan,
                                               const KernelMatrixOptions& options, const KernelBlock& block,
                                               std::uint64_t leading) noexcept;
/// Cosine and sine of half of each weight of the layers that matter, as the shaders read them.
std::vector<std::uint32_t> weight_words(const KernelMatrixPlan& plan, const KernelMatrixCircuit& circuit);

}  // namespace weft::kernels
