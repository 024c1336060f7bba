// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/encode/encode_steps.hpp"

#include <algorithm>
#include <utility>

#include <weft/error.hpp>

#include "shaders/encode/encode_parameters.h"

namespace weft::kernels {
namespace {

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

const Stream& constant(const Stream& stream) {
    return stream;
}

}  // namespace

Words byte_view(const std::shared_ptr<core::BufferObject>& object, std::uint64_t byte, std::uint64_t bytes) {
    return detail::Access::make<Words>(object, byte / 4, bytes / 4);
}

BoundValues bind_values(const EncodePlan& plan, const std::shared_ptr<core::BufferObject>& object,
                        std::uint64_t first, std::uint64_t count) {
    const std::uint64_t begin = first * plan.value_bytes, aligned = begin / plan.alignment * plan.alignment;
    const std::uint64_t end = begin + count * plan.value_bytes;
    return {byte_view(object, aligned, end - aligned), word((begin - aligned) / plan.value_bytes)};
}

EncodeScratch::EncodeScratch(const Stream& stream, const EncodePlan& plan) {
    if (plan.task_words != 0) tasks.emplace(stream, plan.samples * plan.task_words, "encode tasks");
    if (plan.kernel != EncodeKernel::amplitude_long) return;
    blocks.emplace(stream, plan.samples * plan.norm_blocks() * kNormBytes / 4, "encode norms");
    rows.emplace(stream, plan.samples * kNormBytes / 4, "encode norms");
}

EncodeSteps::EncodeSteps(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch, Words status,
                         bool check_only)
    : stream_(stream),
      plan_(plan),
      scratch_(scratch),
      status_(std::move(status)),
      flags_(shared::kEncodeStatusByRow | (check_only ? shared::kEncodeCheckOnly : 0u)) {}

void EncodeSteps::states(const BoundValues& values, std::uint64_t row, std::uint64_t base,
                         std::uint64_t count, const Words& states) {
    const bool paired = plan_.features % 2 == 0 && values.before % 2 == 0;
    // The status of all samples may be more than one binding holds; 32 samples are 256 bytes, which suits any
    // device.
    const std::uint64_t begin = row / 32 * 32, rows = std::max<std::uint64_t>(1, count >> plan_.block_bits());
    const Words status =
        byte_view(detail::Access::object(status_), (status_.first() + 2 * begin) * 4, (row - begin + rows) * 8);
    const shared::EncodeParameters parameters{word(plan_.features),
                                              plan_.qubits,
                                              plan_.parameter_bits(),
                                              values.before,
                                              word(base),
                                              word(row - begin),
                                              flags_ | (paired ? shared::kEncodePaired : 0u)};
    const Program program = encode_program(constant(stream_), plan_, EncodeStep::states);
    if (plan_.task_words == 0) {
        stream_.dispatch(program, {values.words, states, status}, count, parameters);
        return;
    }
    const Words tasks = scratch_.tasks->view(0, count * plan_.task_words);
    stream_.fill(tasks, 0);
    stream_.dispatch(program, {values.words, states, status, tasks}, count, parameters);
}

void EncodeSteps::passes(const Words& states) {
    const std::uint32_t unit_bits = plan_.amplitude_bytes == 16 ? 0 : 1;
    for (const EncodePass& pass : plan_.passes) {
        const shared::EncodeParameters parameters{0, 0, 0, 0, pass.low - unit_bits, 0, 0};
        stream_.dispatch(wht_program(stream_, plan_, pass.bits), {states}, states.bytes() / 16 >> pass.bits,
                         parameters);
    }
}

void EncodeSteps::pair(const Words& lower, const Words& upper) {
    stream_.dispatch(wht_pair_program(stream_, plan_), {lower, upper}, lower.bytes() / 16);
}

void EncodeSteps::norm_blocks(const BoundValues& values, std::uint64_t row, std::uint64_t rows,
                              std::uint64_t block, std::uint64_t features) {
    const std::uint64_t blocks = (features + (std::uint64_t{1} << kNormBlockBits) - 1) >> kNormBlockBits;
    const shared::EncodeParameters parameters{word(features),
                                              word(blocks),
                                              kNormBlockBits,
                                              values.before,
                                              word(block),
                                              word(row * plan_.norm_blocks() + block),
                                              0};
    stream_.dispatch(encode_program(constant(stream_), plan_, EncodeStep::norm_block),
                     {values.words, *scratch_.blocks}, rows * blocks, parameters);
}

void EncodeSteps::norm_rows(std::uint64_t row, std::uint64_t rows) {
    const shared::EncodeParameters parameters{word(plan_.norm_blocks()), 0, 0, 0, 0, word(row), 0};
    stream_.dispatch(encode_program(constant(stream_), plan_, EncodeStep::norm_row),
                     {*scratch_.blocks, *scratch_.rows, status_}, rows, parameters);
}

void EncodeSteps::scale(const BoundValues& values, std::uint64_t row, std::uint64_t features,
                        std::uint32_t bits, const Words& states) {
    const shared::EncodeParameters parameters{word(features), 0, bits, values.before, 0, word(row), 0};
    stream_.dispatch(encode_program(constant(stream_), plan_, EncodeStep::scale),
                     {values.words, *scratch_.rows, states}, states.bytes() / 16, parameters);
}

namespace {

/// Where values and states of a resident encode lie.
struct Resident {
    const EncodePlan& plan;
    const ConstDeviceArray& values;
    const DeviceArray& states;
    bool check_only;

    BoundValues values_of(std::uint64_t row, std::uint64_t rows) const {
        return bind_values(plan, detail::Access::object(values), values.first() + row * plan.features, rows * plan.features);
    }
    Words states_of(std::uint64_t row, std::uint64_t rows) const {
        return byte_view(detail::Access::object(states), states.first() * plan.amplitude_bytes + row * plan.row_bytes_out(),
                         rows * plan.row_bytes_out());
    }
    Words window(std::uint64_t row, std::uint64_t index) const {
        const std::uint64_t bytes = std::uint64_t{plan.amplitude_bytes} << plan.window_bits;
        return byte_view(detail::Access::object(states),
                         states.first() * plan.amplitude_bytes + row * plan.row_bytes_out() + index * bytes,
                         bytes);
    }
};

// Multiples of 64 rows, or rows of more than 64 KiB, begin at aligned offsets.
std::uint64_t rows_per_dispatch(const EncodePlan& plan, std::uint64_t wanted_bytes) {
    const std::uint64_t room = std::min(plan.range_bytes, wanted_bytes);
    std::uint64_t rows =
        std::min(room / plan.row_bytes_out(), (plan.range_bytes - plan.alignment) / plan.row_bytes_in());
    if (rows > 64) rows = rows / 64 * 64;
    return std::clamp<std::uint64_t>(rows, 1, plan.samples);
}

void encode_whole_rows(EncodeSteps& steps, const Resident& r) {
    const std::uint64_t step = rows_per_dispatch(r.plan, r.plan.range_bytes);
    for (std::uint64_t row = 0; row < r.plan.samples; row += step) {
        const std::uint64_t rows = std::min(step, r.plan.samples - row);
        steps.states(r.values_of(row, rows), row, 0, rows << r.plan.block_bits(), r.states_of(row, rows));
        if (!r.check_only) steps.passes(r.states_of(row, rows));
    }
}

// The norms of some rows are found while the states of the rows before are written: the values of those still
// lie in the device's cache.
void encode_long_rows(EncodeSteps& steps, const Resident& r) {
    constexpr std::uint64_t kBundleBytes = std::uint64_t{16} << 20;
    const std::uint64_t step = rows_per_dispatch(r.plan, kBundleBytes), samples = r.plan.samples;
    const auto count = [&](std::uint64_t row) { return std::min(step, samples - row); };
    const auto norms = [&](std::uint64_t row) {
        steps.norm_blocks(r.values_of(row, count(row)), row, count(row), 0, r.plan.features);
    };
    norms(0);
    for (std::uint64_t row = 0; row < samples; row += step) {
        steps.norm_rows(row, count(row));
        if (row + step < samples) norms(row + step);
        if (!r.check_only)
            steps.scale(r.values_of(row, count(row)), row, r.plan.features, r.plan.qubits,
                        r.states_of(row, count(row)));
    }
}

void encode_windows(EncodeSteps& steps, const Resident& r, std::uint64_t row) {
    const std::uint64_t windows = std::uint64_t{1} << (r.plan.qubits - r.plan.window_bits);
    const std::uint64_t elements = std::uint64_t{1} << (r.plan.window_bits - r.plan.element_bits);
    for (std::uint64_t w = 0; w < windows; ++w) {
        steps.states(r.values_of(row, 1), row, w * elements, elements, r.window(row, w));
        if (!r.check_only) steps.passes(r.window(row, w));
    }
    if (r.plan.kernel != EncodeKernel::iqp || r.check_only) return;
    for (std::uint64_t bit = 1; bit < windows; bit *= 2)
        for (std::uint64_t w = 0; w < windows; ++w)
            if ((w & bit) == 0) steps.pair(r.window(row, w), r.window(row, w | bit));
}

void encode_long_windows(EncodeSteps& steps, const Resident& r, std::uint64_t row) {
    const std::uint64_t size = std::uint64_t{1} << r.plan.window_bits;
    const auto bound = [&](std::uint64_t at) {
        return bind_values(r.plan, detail::Access::object(r.values), r.values.first() + row * r.plan.features + at,
                           std::min(size, r.plan.features - at));
    };
    for (std::uint64_t at = 0; at < r.plan.features; at += size)
        steps.norm_blocks(bound(at), row, 1, at >> kNormBlockBits, std::min(size, r.plan.features - at));
    steps.norm_rows(row, 1);
    if (r.check_only) return;
    for (std::uint64_t at = 0; at < std::uint64_t{1} << r.plan.qubits; at += size) {
        const bool behind = at >= r.plan.features;
        const std::uint64_t features = behind ? 0 : std::min(size, r.plan.features - at);
        steps.scale(bound(behind ? 0 : at), row, features, r.plan.window_bits,
                    r.window(row, at >> r.plan.window_bits));
    }
}

}  // namespace

void encode_resident(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch,
                     const ConstDeviceArray& values, const DeviceArray& states, const Words& status,
                     bool check_only) {
    EncodeSteps steps(stream, plan, scratch, status, check_only);
    const Resident resident{plan, values, states, check_only};
    if (plan.kernel == EncodeKernel::amplitude_long) {
        if (plan.row_fits())
            encode_long_rows(steps, resident);
        else
            for (std::uint64_t row = 0; row < plan.samples; ++row) encode_long_windows(steps, resident, row);
    } else if (plan.row_fits()) {
        encode_whole_rows(steps, resident);
    } else {
        for (std::uint64_t row = 0; row < plan.samples; ++row) encode_windows(steps, resident, row);
    }
}

}  // namespace weft::kernels
