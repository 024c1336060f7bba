// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

void launch_angles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                   std::uint64_t rows, double scale, void* planes, std::uint64_t column) {
    const std::uint64_t qubits = plan.shape.qubits;
    const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const AnglesLaunch launch{
            .stream = stream,
            .count = word(std::min(most, rows - row) * qubits),
            .p = kernels::angle_parameters(plan, x.type, scale, column + row),
            .features = static_cast<const std::byte*>(x.data) + row * qubits * x.type.bytes(),
            .planes = planes};
        check_launch(plan.real64 ? launch_kernel_angles_real64(launch) : launch_kernel_angles_real32(launch),
                     kFunction);
    }
}

}  // namespace

Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                     const ConstDeviceArray* y, double scale) {
    Scratch planes(stream, plan.planes_values() * plan.real_bytes(), kFunction, "planes");
    launch_angles(stream, plan, x, plan.shape.samples, scale, planes.data(), 0);
    if (y != nullptr)
        launch_angles(stream, plan, *y, plan.shape.others, scale, planes.data(), plan.others_at);
    return planes;
}

const std::byte* GivenStates::rows(const kernels::StateRows& rows) {
    return static_cast<const std::byte*>(rows.of_y ? y_->data : x_.data) +
           rows.row * plan_.states.state_bytes;
}

CircuitStates::CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                             const KernelMatrixCircuit& circuit, Scratch planes)
    : stream_(stream),
      plan_(plan),
      rz_(circuit.map == FeatureMap::ryrz),
      planes_(std::move(planes)),
      weights_(stream, 2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes(), kFunction,
               "weights"),
      states_(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states") {
    const std::vector<std::uint32_t> weights = kernels::weight_words(plan, circuit);
    check(
        cudaMemcpyAsync(weights_.data(), weights.data(), weights.size() * 4, cudaMemcpyHostToDevice, stream),
        kFunction, "cudaMemcpyAsync");
    if (plan.states.two_buffers)
        other_ = Scratch(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states");
}

const std::byte* CircuitStates::rows(const kernels::StateRows& rows) {
    const std::uint32_t bits = std::max(plan_.shape.qubits, 4u);
    std::byte *to = states_.as<std::byte>(), *from = plan_.states.two_buffers ? other_.as<std::byte>() : to;
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        const std::uint32_t gates = layer == plan_.layers ? shared::kKernelNoLayer : layer;
        for (const kernels::StatePass& pass : plan_.states.passes) {
            // The first pass of the first layer makes the product state in front of it.
            const StatesLaunch launch{.stream = stream_,
                                      .generate = layer == 1 && pass.ring,
                                      .ring = pass.ring,
                                      .lanes = lanes_of(plan_.states, pass),
                                      .count = word(rows.count << (bits - pass.window)),
                                      .p = kernels::state_parameters(plan_, pass, rows, gates, rz_),
                                      .planes = planes_.data(),
                                      .weights = weights_.data(),
                                      .source = pass.ring ? from : to,
                                      .states = to};
            check_launch(
                plan_.real64 ? launch_kernel_states_real64(launch) : launch_kernel_states_real32(launch),
                kFunction);
        }
        std::swap(from, to);
    }
    return from;
}

namespace {

/// Factors of all rows of X and Y that divide K by their norms: in a pass of its own, as
/// KernelMatrixOptions::normalize asks, or within products, only to take out what rounding did to states that
/// were built.
class Normalizer {
  public:
    Normalizer(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const KernelMatrixOptions& options)
        : stream_(stream),
          plan_(plan),
          options_(options),
          factors_(stream, (plan.shape.samples + plan.shape.others) * plan.real_bytes(), kFunction,
                   "factors") {}

    void take(const std::byte* states, const kernels::StateRows& rows) const {
        const NormsLaunch launch{
            .stream = stream_,
            .widened = plan_.states.gram.problem.widened,
            .count = word(rows.count),
            .p = kernels::norm_parameters(plan_, options_, rows, std::uint64_t{1} << plan_.shape.qubits),
            .states = states,
            .factors = factors_.data()};
        check_launch(plan_.real64 ? launch_kernel_norms_real64(launch) : launch_kernel_norms_real32(launch),
                     kFunction);
    }

    const std::byte* factors() const { return factors_.as<std::byte>(); }

    void scale(std::byte* k) const {
        const std::uint64_t columns = plan_.shape.columns();
        const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / columns);
        for (std::uint64_t row = 0; row < plan_.shape.samples; row += most) {
            const kernels::KernelBlock block{row, std::min(most, plan_.shape.samples - row), 0, columns};
            const ScaleLaunch launch{.stream = stream_,
                                     .wide_values = plan_.type == kFloat64,
                                     .count = word(block.rows * columns),
                                     .p = kernels::scale_parameters(plan_, options_, block, columns),
                                     .factors = factors_.data(),
                                     .values = k + row * columns * plan_.value_bytes()};
            check_launch(
                plan_.real64 ? launch_kernel_scale_real64(launch) : launch_kernel_scale_real32(launch),
                kFunction);
        }
    }

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    const KernelMatrixOptions& options_;
    Scratch factors_;
};

/// Packed states of one side, a tile of them at a time.
struct PackedTile {
    PackedTile(StreamHandle stream, const kernels::KernelMatrixPlan& plan, std::uint64_t most_rows)
        : planes(stream, plan.states.gram.packed_bytes(std::min(plan.states.tile, most_rows)), kFunction,
                 "packed states") {}
    GramRows rows(std::uint64_t count) const { return {planes.as<std::byte>(), 0, count, factor}; }

    Scratch planes;
    std::uint64_t factor = 0;  ///< of the first row that is packed
};

/// Makes the tiles of K one after the other.
class Blocks {
  public:
    Blocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
           const DeviceArray& k, const Normalizer* normalizer)
        : plan_(plan),
          source_(source),
          k_(static_cast<std::byte*>(k.data)),
          normalizer_(normalizer),
          product_(stream, plan.states.gram, normalizer != nullptr ? normalizer->factors() : nullptr),
          rows_(stream, plan, plan.shape.samples),
          columns_(stream, plan,
                   kernels::needs_columns(plan.shape, plan.states.tile) ? plan.shape.columns() : 0) {}

    void run() {
        const std::uint64_t leading = plan_.shape.columns();
        kernels::each_tile_pair(
            plan_.shape, plan_.states.tile,
            [&](kernels::PackedSide side, const kernels::StateRows& rows) {
                fill(side == kernels::PackedSide::rows ? rows_ : columns_, rows);
            },
            [&](const kernels::KernelBlock& b, bool own) {
                const GramTarget target{k_,
                                        {leading, b.row * leading + b.column, plan_.shape.square() && !own,
                                         b.column * leading + b.row}};
                if (own)
                    product_.square(rows_.rows(b.rows), target);
                else
                    product_.multiply(rows_.rows(b.rows), columns_.rows(b.columns), target);
            });
    }

  private:
    void fill(PackedTile& tile, const kernels::StateRows& rows) {
        const std::uint64_t chunk = plan_.states.chunk_rows;
        for (std::uint64_t at = 0; at < rows.count; at += chunk) {
            const kernels::StateRows some{rows.of_y, rows.row + at, std::min(chunk, rows.count - at)};
            const std::byte* const states = source_.rows(some);
            if (normalizer_ != nullptr) normalizer_->take(states, some);
            product_.pack(states, some.count, tile.planes.as<std::byte>(), at);
        }
        tile.factor = (rows.of_y ? plan_.others_at : 0) + rows.row;
    }

    const kernels::KernelMatrixPlan& plan_;
    StateSource& source_;
    std::byte* k_;
    const Normalizer* normalizer_;
    GramProduct product_;
    PackedTile rows_, columns_;
};

}  // namespace

void launch_blocks(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                   const DeviceArray& k, const KernelMatrixOptions& options) {
    if (!options.normalize && !plan.states.renormalize) return Blocks(stream, plan, source, k, nullptr).run();
    const Normalizer normalizer(stream, plan, options);
    Blocks(stream, plan, source, k, &normalizer).run();
    if (options.normalize) normalizer.scale(static_cast<std::byte*>(k.data));
}

}  // namespace weft::cuda
