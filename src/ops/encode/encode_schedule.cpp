// SPDX-License-Identifier: Apache-2.0
#include "ops/encode/encode_schedule.hpp"

#include <algorithm>
#include <iterator>

#include "base/whole_numbers.hpp"

namespace weft::kernels {
namespace {

// Passes and scaling work on units of 16 bytes, which are an amplitude of complex128 or two of complex64.
std::uint64_t units_of(const EncodePlan& plan, std::uint64_t amplitudes) {
    return amplitudes * plan.amplitude_bytes / 16;
}

// Multiples of 64 rows, or rows of more than 64 KiB, begin at aligned offsets.
std::uint64_t rows_per_dispatch(const EncodePlan& plan, std::uint64_t wanted_bytes) {
    const std::uint64_t room = std::min(plan.range_bytes, wanted_bytes);
    std::uint64_t rows =
        std::min(room / plan.row_bytes_out(), (plan.range_bytes - plan.alignment) / plan.row_bytes_in());
    if (rows > 64) rows = rows / 64 * 64;
    return std::clamp<std::uint64_t>(rows, 1, plan.samples);
}

EncodeDispatch states_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                           std::uint64_t amplitude, std::uint64_t amplitudes, bool check_only) {
    const std::uint32_t flags = shared::kEncodeStatusByRow | (check_only ? shared::kEncodeCheckOnly : 0u) |
                                (plan.features % 2 == 0 ? shared::kEncodePaired : 0u);
    return {EncodeStep::states,
            row,
            rows,
            0,
            plan.features,
            amplitude,
            amplitudes,
            0,
            (rows * amplitudes) >> plan.element_bits,
            {word(plan.features), plan.qubits, plan.parameter_bits(), 0, word(amplitude >> plan.element_bits),
             word(row), flags}};
}

EncodeDispatch pass_step(const EncodePlan& plan, const EncodePass& pass, std::uint64_t row,
                         std::uint64_t rows, std::uint64_t amplitude, std::uint64_t amplitudes) {
    EncodeDispatch d{EncodeStep::pass, row, rows, 0, 0, amplitude, amplitudes, pass.bits};
    d.count = units_of(plan, rows * amplitudes) >> pass.bits;
    d.parameters.base = pass.low - (plan.amplitude_bytes == 16 ? 0u : 1u);
    return d;
}

void whole_rows(std::vector<EncodeDispatch>& all, const EncodePlan& plan, bool check_only) {
    const std::uint64_t step = rows_per_dispatch(plan, plan.range_bytes);
    for (std::uint64_t row = 0; row < plan.samples; row += step)
        std::ranges::copy(window_steps(plan, row, std::min(step, plan.samples - row), 0,
                                       std::uint64_t{1} << plan.qubits, check_only),
                          std::back_inserter(all));
}

// The norms of the next rows are computed before the states of some rows are written, so that the values of
// both still lie in the cache of the device.
void long_rows(std::vector<EncodeDispatch>& all, const EncodePlan& plan, bool check_only) {
    constexpr std::uint64_t kBundleBytes = std::uint64_t{16} << 20;
    const std::uint64_t step = rows_per_dispatch(plan, kBundleBytes), samples = plan.samples;
    const auto count = [&](std::uint64_t row) { return std::min(step, samples - row); };
    all.push_back(norm_block_step(plan, 0, count(0), 0, plan.features));
    for (std::uint64_t row = 0; row < samples; row += step) {
        const std::uint64_t next = row + step;
        all.push_back(norm_row_step(plan, row, count(row)));
        if (next < samples) all.push_back(norm_block_step(plan, next, count(next), 0, plan.features));
        if (!check_only) all.push_back(scale_step(plan, row, count(row), 0, plan.qubits));
    }
}

void windows(std::vector<EncodeDispatch>& all, const EncodePlan& plan, std::uint64_t row, bool check_only) {
    const std::uint64_t size = std::uint64_t{1} << plan.window_bits, end = std::uint64_t{1} << plan.qubits;
    for (std::uint64_t at = 0; at < end; at += size)
        std::ranges::copy(window_steps(plan, row, 1, at, size, check_only), std::back_inserter(all));
    if (plan.kernel != EncodeKernel::iqp || check_only) return;
    for (std::uint32_t bit = plan.window_bits; bit < plan.qubits; ++bit)
        all.push_back({EncodeStep::join, row, 1, 0, 0, 0, end, bit});
}

void long_windows(std::vector<EncodeDispatch>& all, const EncodePlan& plan, std::uint64_t row,
                  bool check_only) {
    const std::uint64_t size = std::uint64_t{1} << plan.window_bits;
    for (std::uint64_t at = 0; at < plan.features; at += size)
        all.push_back(norm_block_step(plan, row, 1, at, std::min(size, plan.features - at)));
    all.push_back(norm_row_step(plan, row, 1));
    for (std::uint64_t at = 0; !check_only && at < std::uint64_t{1} << plan.qubits; at += size)
        all.push_back(scale_step(plan, row, 1, at, plan.window_bits));
}

}  // namespace

std::uint32_t product_method(EncodeMethod method) {
    return method == EncodeMethod::angle   ? shared::kEncodeAngle
           : method == EncodeMethod::phase ? shared::kEncodePhase
                                           : shared::kEncodeIqpZ;
}

std::uint32_t input_of_basis(ElementType type) {
    return type == kFloat32 ? 0u : type == kFloat64 ? 1u : 2u;
}

std::vector<EncodeDispatch> window_steps(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                                         std::uint64_t amplitude, std::uint64_t amplitudes, bool check_only) {
    std::vector<EncodeDispatch> steps{states_step(plan, row, rows, amplitude, amplitudes, check_only)};
    if (check_only) return steps;
    for (const EncodePass& pass : plan.passes)
        steps.push_back(pass_step(plan, pass, row, rows, amplitude, amplitudes));
    return steps;
}

EncodeDispatch norm_block_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                               std::uint64_t value, std::uint64_t values) {
    const std::uint64_t blocks = (values + (std::uint64_t{1} << kNormBlockBits) - 1) >> kNormBlockBits;
    const std::uint64_t block = value >> kNormBlockBits;
    return {EncodeStep::norm_block,
            row,
            rows,
            value,
            values,
            0,
            0,
            0,
            rows * blocks,
            {word(values), word(blocks), kNormBlockBits, 0, word(block),
             word(row * plan.norm_blocks() + block), 0}};
}

EncodeDispatch norm_row_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows) {
    EncodeDispatch d{EncodeStep::norm_row, row, rows};
    d.count = rows;
    d.parameters = {word(plan.norm_blocks()), 0, 0, 0, 0, word(row), 0};
    return d;
}

EncodeDispatch scale_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                          std::uint64_t amplitude, std::uint32_t bits) {
    const std::uint64_t size = std::uint64_t{1} << bits;
    const bool behind = amplitude >= plan.features;
    const std::uint64_t values = behind ? 0 : std::min(size, plan.features - amplitude);
    return {EncodeStep::scale,
            row,
            rows,
            behind ? 0 : amplitude,
            values,
            amplitude,
            size,
            bits,
            units_of(plan, rows * size),
            {word(values), 0, bits, 0, 0, word(row), 0}};
}

std::vector<EncodeDispatch> encode_schedule(const EncodePlan& plan, bool check_only) {
    std::vector<EncodeDispatch> all;
    const bool by_norms = plan.kernel == EncodeKernel::amplitude_long;
    if (plan.row_fits()) {
        by_norms ? long_rows(all, plan, check_only) : whole_rows(all, plan, check_only);
        return all;
    }
    for (std::uint64_t row = 0; row < plan.samples; ++row)
        by_norms ? long_windows(all, plan, row, check_only) : windows(all, plan, row, check_only);
    return all;
}

}  // namespace weft::kernels
