// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "ops/kernel_matrix/kernel_state_plan.hpp"
#include "ops/kernel_matrix/tile_pairs.hpp"

namespace weft::cuda {
namespace {

constexpr const char* kFunction = "kernel_matrix";

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}
void done(int result) {
    check(static_cast<cudaError_t>(result), kFunction, "the launch");
}

template <class T>
void upload_weights(StreamHandle stream, const KernelMatrixCircuit& circuit, std::uint64_t count, void* target) {
    std::vector<T> turns(2 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const double half = (circuit.weights.type == kFloat32
                                 ? static_cast<double>(static_cast<const float*>(circuit.weights.data)[i])
                                 : static_cast<const double*>(circuit.weights.data)[i]) /
                            2;
        turns[2 * i] = static_cast<T>(std::cos(half));
        turns[2 * i + 1] = static_cast<T>(std::sin(half));
    }
    check(cudaMemcpyAsync(target, turns.data(), turns.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
          kFunction, "cudaMemcpyAsync");
}

}  // namespace

Scratch make_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan) {
    return {stream, plan.planes_values() * plan.real_bytes(), kFunction, "planes"};
}

void launch_angles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                   std::uint64_t rows, double scale, bool halved, void* planes, std::uint64_t base) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(scale), qubits = plan.shape.qubits;
    const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const AnglesLaunch launch{
            .stream = stream,
            .count = word(some * qubits),
            .p = {word(qubits), 0, word(base + row), word(plan.stride), word(bits), word(bits >> 32),
                  x.type == kFloat64 ? 1u : 0u, halved ? 1u : 0u},
            .features = static_cast<const std::byte*>(x.data) + row * qubits * x.type.bytes(),
            .planes = planes};
        done(plan.real64 ? launch_kernel_angles_real64(launch) : launch_kernel_angles_real32(launch));
    }
}

const std::byte* GivenStates::rows(bool of_y, std::uint64_t row, std::uint64_t) {
    return static_cast<const std::byte*>(of_y ? y_->data : x_.data) + row * plan_.states.state_bytes;
}

CircuitStates::CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                             const KernelMatrixCircuit& circuit, const void* planes)
    : stream_(stream),
      plan_(plan),
      planes_(planes),
      rz_(circuit.map == FeatureMap::ryrz),
      weights_(stream, 2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes(), kFunction,
               "weights"),
      states_(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states") {
    const std::uint64_t count = plan.layers * std::uint64_t{plan.shape.qubits};
    if (plan.real64)
        upload_weights<double>(stream, circuit, count, weights_.data());
    else
        upload_weights<float>(stream, circuit, count, weights_.data());
    if (plan.states.two_buffers)
        other_ = Scratch(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states");
}

const std::byte* CircuitStates::rows(bool of_y, std::uint64_t row, std::uint64_t count) {
    const std::uint64_t column = of_y ? plan_.shape.samples + row : row;
    std::byte *to = states_.as<std::byte>(), *from = plan_.states.two_buffers ? other_.as<std::byte>() : to;
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        build_layer(layer == plan_.layers ? shared::kKernelNoLayer : layer, layer == 1, column, count, from,
                    to);
        std::swap(from, to);
    }
    return from;
}

void CircuitStates::build_layer(std::uint32_t gates, bool generate, std::uint64_t column, std::uint64_t count,
                                const std::byte* from, std::byte* to) const {
    const std::uint32_t bits = std::max(plan_.shape.qubits, 4u);
    for (const kernels::StatePass& pass : plan_.states.passes) {
        const StatesLaunch launch{
            .stream = stream_,
            .generate = generate && pass.ring,
            .ring = pass.ring,
            .lanes = lanes_of(plan_.states, pass),
            .count = word(count << (bits - pass.window)),
            .p = {plan_.shape.qubits, word(plan_.stride), word(column), pass.window, pass.carried, pass.from,
                  pass.gates_from, gates, rz_ ? 1u : 0u, word(count), word(count), 0},
            .planes = planes_,
            .weights = weights_.data(),
            .source = pass.ring && !generate ? from : to,
            .states = to};
        done(plan_.real64 ? launch_kernel_states_real64(launch) : launch_kernel_states_real32(launch));
    }
}

namespace {

/// Factors of all rows of X and Y, and K times them: as KernelMatrixOptions::normalize asks. Else products
/// take them, only to take out what rounding did to the norms of states that were built.
class Normalizer {
  public:
    Normalizer(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const KernelMatrixOptions& options)
        : stream_(stream),
          plan_(plan),
          jitter_(plan.shape.square() && options.normalize ? options.jitter : 0),
          scales_(options.normalize),
          set_diagonal_(plan.shape.square() && options.normalize),
          factors_(stream, (plan.shape.samples + plan.shape.others) * plan.real_bytes(), kFunction,
                   "factors") {}

    void take(const std::byte* states, bool of_y, std::uint64_t row, std::uint64_t count) const {
        const std::uint64_t jitter = plan_.real64 ? std::bit_cast<std::uint64_t>(jitter_)
                                                  : std::bit_cast<std::uint32_t>(static_cast<float>(jitter_));
        const NormsLaunch launch{
            .stream = stream_,
            .count = word(count),
            .p = {1u << plan_.shape.qubits, 0, word((of_y ? plan_.shape.samples : 0) + row), word(jitter),
                  word(jitter >> 32)},
            .states = states,
            .factors = factors_.data()};
        done(plan_.real64 ? launch_kernel_norms_real64(launch) : launch_kernel_norms_real32(launch));
    }

    bool scales() const noexcept { return scales_; }
    const std::byte* factors() const { return factors_.as<std::byte>(); }

    void scale(std::byte* k) const {
        const bool wide_values = plan_.type == kFloat64, wide = wide_values || plan_.real64;
        const std::uint64_t columns = plan_.shape.columns();
        const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / columns);
        for (std::uint64_t row = 0; row < plan_.shape.samples; row += most) {
            const std::uint64_t rows = std::min(most, plan_.shape.samples - row);
            const ScaleLaunch launch{
                .stream = stream_,
                .wide_values = wide_values,
                .wide_factors = plan_.real64,
                .count = word(rows * columns),
                .p = {word(columns), word(columns), 0, word(row),
                      word(plan_.shape.square() ? 0 : plan_.shape.samples), set_diagonal_ ? 1u : 0u},
                .factors = factors_.data(),
                .values = k + row * columns * plan_.value_bytes()};
            done(wide ? launch_kernel_scale_real64(launch) : launch_kernel_scale_real32(launch));
        }
    }

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    double jitter_;
    bool scales_, set_diagonal_;
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

/// Tiles of K one after the other.
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
                const GramTarget target{k_, leading, b.row * leading + b.column,
                                        plan_.shape.square() && !own, b.column * leading + b.row};
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
            const std::uint64_t count = std::min(chunk, rows.count - at);
            const std::byte* const states = source_.rows(rows.of_y, rows.row + at, count);
            if (normalizer_ != nullptr) normalizer_->take(states, rows.of_y, rows.row + at, count);
            product_.pack(states, count, tile.planes.as<std::byte>(), at);
        }
        tile.factor = (rows.of_y ? plan_.shape.samples : 0) + rows.row;
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
    if (normalizer.scales()) normalizer.scale(static_cast<std::byte*>(k.data));
}

}  // namespace weft::cuda
