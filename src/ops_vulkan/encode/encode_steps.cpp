// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/encode/encode_steps.hpp"

#include <algorithm>
#include <utility>

#include <weft/error.hpp>

#include "base/whole_numbers.hpp"
#include "ops_vulkan/encode/encode_programs.hpp"

namespace weft::kernels {
namespace {

const Stream& as_const(const Stream& stream) {
    return stream;
}

/// Words [byte / 4, (byte + bytes) / 4) of a buffer.
Words byte_view(const std::shared_ptr<core::BufferObject>& object, std::uint64_t byte, std::uint64_t bytes) {
    return detail::Access::make<Words>(object, byte / 4, bytes / 4);
}

}  // namespace

EncodeScratch::EncodeScratch(const Stream& stream, const EncodePlan& plan) {
    if (plan.task_words != 0) tasks.emplace(stream, plan.samples * plan.task_words, "encode tasks");
    if (plan.kernel != EncodeKernel::amplitude_long) return;
    blocks.emplace(stream, plan.samples * plan.norm_blocks() * kNormBytes / 4, "encode norms");
    rows.emplace(stream, plan.samples * kNormBytes / 4, "encode norms");
}

EncodeSteps::EncodeSteps(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch, Words status)
    : stream_(stream), plan_(plan), scratch_(scratch), status_(std::move(status)) {}

void EncodeSteps::states(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before,
                         const Words& states) {
    // One binding may not hold the status of all samples. 32 samples are 256 bytes, which every device can
    // bind at.
    const std::uint64_t begin = step.row / 32 * 32;
    const Words status = byte_view(detail::Access::object(status_), (status_.first() + 2 * begin) * 4,
                                   (step.row - begin + step.rows) * kStatusBytes);
    shared::EncodeParameters parameters = step.parameters;
    parameters.in_base = before;
    parameters.row_base = word(step.row - begin);
    if (before % 2 != 0) parameters.flags &= ~shared::kEncodePaired;
    const Program program = encode_program(as_const(stream_), plan_, step.step, before);
    if (plan_.task_words == 0) {
        stream_.dispatch(program, {values, states, status}, step.count, parameters);
        return;
    }
    const Words tasks = scratch_.tasks->view(0, step.count * plan_.task_words);
    stream_.fill(tasks, 0);
    stream_.dispatch(program, {values, states, status, tasks}, step.count, parameters);
}

void EncodeSteps::norm_block(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before) {
    shared::EncodeParameters parameters = step.parameters;
    parameters.in_base = before;
    stream_.dispatch(encode_program(as_const(stream_), plan_, step.step), {values, *scratch_.blocks},
                     step.count, parameters);
}

void EncodeSteps::norm_row(const EncodeDispatch& step) {
    stream_.dispatch(encode_program(as_const(stream_), plan_, step.step),
                     {*scratch_.blocks, *scratch_.rows, status_}, step.count, step.parameters);
}

void EncodeSteps::scale(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before,
                        const Words& states) {
    shared::EncodeParameters parameters = step.parameters;
    parameters.in_base = before;
    stream_.dispatch(encode_program(as_const(stream_), plan_, step.step), {values, *scratch_.rows, states},
                     step.count, parameters);
}

void EncodeSteps::pass(const EncodeDispatch& step, const Words& states) {
    stream_.dispatch(wht_program(stream_, plan_, step.bits), {states}, step.count, step.parameters);
}

void EncodeSteps::join(const Words& lower, const Words& upper) {
    stream_.dispatch(wht_pair_program(stream_, plan_), {lower, upper}, lower.bytes() / 16);
}

namespace {

/// Where values and states of a resident encode lie.
struct Resident {
    const EncodePlan& plan;
    const ConstDeviceArray& values;
    const DeviceArray& states;

    struct Bound {
        ConstWords words;
        std::uint32_t before;
    };
    /// Values that are bound at an aligned offset before them. A step that reads none gets some, too.
    Bound values_of(const EncodeDispatch& d) const {
        const std::uint64_t read = d.values != 0 ? d.values : std::min(d.amplitudes, plan.features);
        const std::uint64_t first = values.first() + d.row * plan.features + d.value;
        const std::uint64_t count = d.rows > 1 ? d.rows * plan.features : read;
        const std::uint64_t begin = first * plan.value_bytes,
                            aligned = begin / plan.alignment * plan.alignment;
        return {
            byte_view(detail::Access::object(values), aligned, begin + count * plan.value_bytes - aligned),
            word((begin - aligned) / plan.value_bytes)};
    }
    Words states_at(std::uint64_t row, std::uint64_t amplitude, std::uint64_t amplitudes) const {
        const std::uint64_t first = states.first() + (row << plan.qubits) + amplitude;
        return byte_view(detail::Access::object(states), first * plan.amplitude_bytes,
                         amplitudes * plan.amplitude_bytes);
    }
    Words states_of(const EncodeDispatch& d) const {
        return states_at(d.row, d.amplitude, d.rows * d.amplitudes);
    }
};

// Transforms a bit above the windows: every window without it is joined with the window that has it.
void join_windows(EncodeSteps& steps, const Resident& r, const EncodeDispatch& d) {
    const std::uint64_t size = std::uint64_t{1} << r.plan.window_bits, bit = std::uint64_t{1} << d.bits;
    for (std::uint64_t at = 0; at < d.amplitudes; at += size)
        if ((at & bit) == 0) steps.join(r.states_at(d.row, at, size), r.states_at(d.row, at | bit, size));
}

}  // namespace

void encode_resident(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch,
                     const ConstDeviceArray& values, const DeviceArray& states, const Words& status,
                     bool check_only) {
    EncodeSteps steps(stream, plan, scratch, status);
    const Resident r{plan, values, states};
    for (const EncodeDispatch& d : encode_schedule(plan, check_only)) switch (d.step) {
            case EncodeStep::states: {
                const Resident::Bound bound = r.values_of(d);
                steps.states(d, bound.words, bound.before, r.states_of(d));
                break;
            }
            case EncodeStep::norm_block: {
                const Resident::Bound bound = r.values_of(d);
                steps.norm_block(d, bound.words, bound.before);
                break;
            }
            case EncodeStep::norm_row:
                steps.norm_row(d);
                break;
            case EncodeStep::scale: {
                const Resident::Bound bound = r.values_of(d);
                steps.scale(d, bound.words, bound.before, r.states_of(d));
                break;
            }
            case EncodeStep::pass:
                steps.pass(d, r.states_of(d));
                break;
            case EncodeStep::join:
                join_windows(steps, r, d);
                break;
        }
}

}  // namespace weft::kernels
