// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_normalize.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

constexpr std::uint32_t kNormsWork32[] = {
#include "shaders/kernel_norms_real32.spv.inc"
};
constexpr std::uint32_t kNormsWork64[] = {
#include "shaders/kernel_norms_real64.spv.inc"
};
constexpr std::uint32_t kSquaresWork32[] = {
#include "shaders/kernel_norms_squares_real32.spv.inc"
};
constexpr std::uint32_t kSquaresWork64[] = {
#include "shaders/kernel_norms_squares_real64.spv.inc"
};
constexpr std::uint32_t kScaleWork32[] = {
#include "shaders/kernel_scale_real32.spv.inc"
};
constexpr std::uint32_t kScaleWork64[] = {
#include "shaders/kernel_scale_real64.spv.inc"
};

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

Program norms_program(const Stream& stream, ShaderWords words, std::uint32_t lanes) {
    return {stream,
            words,
            {.name = "kernel_norms",
             .constants = {{0u, lanes}},
             .elements_per_workgroup = 1,
             .max_workgroups = stream.device().limits.max_workgroup_count[0]}};
}

}  // namespace

Normalizer::Normalizer(const Stream& stream, const KernelMatrixPlan& plan, const KernelMatrixOptions& options)
    : plan_(plan),
      jitter_(plan.shape.square() && options.normalize ? options.jitter : 0),
      scales_(options.normalize),
      set_diagonal_(plan.shape.square() && options.normalize),
      factors_(stream, (plan.shape.samples + plan.shape.others) * plan.real_bytes() / 4, "kernel factors") {}

shared::KernelNormParameters Normalizer::parameters(const StateRows& rows, std::uint64_t terms) const {
    const std::uint64_t jitter = plan_.real64 ? std::bit_cast<std::uint64_t>(jitter_)
                                              : std::bit_cast<std::uint32_t>(static_cast<float>(jitter_));
    return {word(terms), 0, word((rows.of_y ? plan_.shape.samples : 0) + rows.row), word(jitter),
            word(jitter >> 32)};
}

void Normalizer::take(Stream& stream, const Words& states, const StateRows& rows) {
    const std::uint64_t unit = plan_.states.state_bytes >> plan_.shape.qubits;
    const BoundWords bound = bind_units(stream.device().limits, detail::Access::object(states), states.first() * 4 / unit,
                                        rows.count << plan_.shape.qubits, unit);
    shared::KernelNormParameters p = parameters(rows, std::uint64_t{1} << plan_.shape.qubits);
    p.before = bound.before;
    stream.dispatch(
        norms_program(stream, plan_.real64 ? ShaderWords(kNormsWork64) : ShaderWords(kNormsWork32),
                      plan_.states.norm_lanes),
        {BufferView<const std::uint32_t>(bound.words), factors_}, rows.count, p);
}

void Normalizer::take_squares(Stream& stream, const Words& squares, const StateRows& rows) {
    // No more invocations than sums, of which there are one to some hundreds.
    const std::uint32_t lanes = std::min(plan_.states.norm_lanes, plan_.states.squares);
    stream.dispatch(
        norms_program(stream, plan_.real64 ? ShaderWords(kSquaresWork64) : ShaderWords(kSquaresWork32),
                      lanes),
        {BufferView<const std::uint32_t>(squares), factors_}, rows.count,
        parameters(rows, plan_.states.squares));
}

void Normalizer::scale(Stream& stream, const GramRange& range, std::uint64_t origin, std::uint64_t leading,
                       const KernelBlock& block) {
    const DeviceLimits& limits = stream.device().limits;
    const bool wide_values = plan_.type == kFloat64, wide = wide_values || plan_.real64;
    ProgramOptions options{.name = "kernel_scale", .max_workgroups = limits.max_workgroup_count[0]};
    if (wide) options.constants = {{2u, wide_values}, {3u, plan_.real64}};
    const Program program{static_cast<const Stream&>(stream),
                          wide ? ShaderWords(kScaleWork64) : ShaderWords(kScaleWork32), options};
    const std::uint64_t unit = plan_.value_bytes();
    const std::uint64_t most_values = std::min<std::uint64_t>(
        (limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment) / unit, 1u << 31);
    const std::uint64_t most = std::max<std::uint64_t>(1, most_values / leading);
    for (std::uint64_t row = 0; row < block.rows; row += most) {
        const std::uint64_t rows = std::min(most, block.rows - row);
        const BoundWords bound = bind_units(limits, range.object, range.first / unit + origin + row * leading,
                                            (rows - 1) * leading + block.columns, unit);
        stream.dispatch(program, {BufferView<const std::uint32_t>(factors_.view()), bound.words},
                        rows * block.columns,
                        shared::KernelScaleParameters{
                            word(block.columns), word(leading), bound.before, word(block.row + row),
                            word((plan_.shape.square() ? 0 : plan_.shape.samples) + block.column),
                            set_diagonal_ ? 1u : 0u});
    }
}

}  // namespace weft::kernels
