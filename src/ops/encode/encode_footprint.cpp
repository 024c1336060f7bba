// SPDX-License-Identifier: Apache-2.0
#include "ops/encode/encode_footprint.hpp"

#include <algorithm>
#include <string>

#include "ops/encode/footprint.hpp"

namespace weft::kernels {
namespace {

// The size that the memory pool rounds a buffer to.
std::uint64_t padded(std::uint64_t bytes) {
    return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16);
}

// Four uploads and two downloads may be under way. A last part that is much smaller has buffers of its own.
std::uint64_t stream_staging(std::uint64_t in, std::uint64_t out) {
    const std::uint64_t up = staging_bytes(in), down = staging_bytes(out), status = 3 * 4096;
    return 4 * up + 4 * (up / 4) + 2 * down + 2 * (down / 4) + status;
}

constexpr std::uint64_t kRoundBytes = 64 * kMiB;

// Whether a state can be bound. Long amplitude rows are cut into parts unless these would be too small for a
// submission of their own.
bool several_rows_fit(const EncodePlan& plan) {
    if (!plan.row_fits()) return false;
    return plan.kernel != EncodeKernel::amplitude_long || 2 * plan.row_bytes_out() <= kRoundBytes;
}

std::uint64_t rows_per_round(const EncodePlan& plan) {
    const std::uint64_t rows = std::max<std::uint64_t>(1, kRoundBytes / plan.row_bytes_out());
    return std::min(
        {plan.samples, rows,
         std::max<std::uint64_t>(1, plan.range_bytes / std::max<std::uint64_t>(1, plan.row_bytes_in()))});
}

AmplitudeParts parts_of(const EncodePlan& plan, std::uint32_t bits, bool hold_all) {
    AmplitudeParts parts;
    parts.bits = bits;
    parts.size = std::uint64_t{1} << bits;
    parts.count = std::uint64_t{1} << (plan.qubits - bits);
    parts.used = (plan.features + parts.size - 1) / parts.size;
    parts.held = hold_all ? parts.used : std::min<std::uint64_t>(2, parts.used);
    return parts;
}

std::uint64_t bytes_of_rows(const EncodePlan& plan, bool unified, const EncodeRounds& rounds) {
    EncodePlan round = plan;
    round.samples = rounds.rows;
    const std::uint64_t set = padded(round.bytes_in()) + padded(round.bytes_out()) + scratch_bytes(round);
    return rounds.sets * set + (unified ? 0 : stream_staging(round.bytes_in(), round.bytes_out()));
}

std::uint64_t bytes_of_parts(const EncodePlan& plan, const AmplitudeParts& parts) {
    EncodePlan row = plan;
    row.samples = 1;
    const std::uint64_t in = parts.size * plan.value_bytes, out = parts.size * plan.amplitude_bytes;
    return parts.held * padded(in) + std::min<std::uint64_t>(2, parts.count) * padded(out) +
           scratch_bytes(row) + stream_staging(in, out);
}

std::uint64_t bytes_of_windows(const EncodePlan& plan) {
    EncodePlan row = plan;
    row.samples = 1;
    return padded(row.row_bytes_in()) + row.row_bytes_out() + scratch_bytes(row) +
           stream_staging(row.row_bytes_in(), std::uint64_t{plan.amplitude_bytes} << plan.window_bits);
}

// Bytes of an element of a job, in and out, and of the values that every chunk gets whole.
struct Element {
    std::uint64_t bytes, broadcast;
    explicit Element(const EncodePlan& plan, std::uint64_t job_rows)
        : bytes((plan.whole_rows() ? plan.row_bytes_in() : 0) +
                (std::uint64_t{plan.amplitude_bytes} << plan.element_bits) + kStatusBytes +
                8 * std::uint64_t{plan.task_words}),
          broadcast(plan.whole_rows() ? 0 : job_rows * plan.row_bytes_in()) {}
};

// An area of a slot has at least 256 KiB and aligned ranges, and the last chunks of a batch may take another
// path and so need other areas.
constexpr std::uint64_t kSlotBytes = 4 * kMiB, kLeastSlotBytes = 5 * (std::uint64_t{256} << 10);

std::uint64_t status_bytes(const EncodePlan& plan) {
    return padded((plan.samples << plan.block_bits()) * kStatusBytes) +
           padded(plan.samples * plan.task_words * 4);
}

std::string too_much(const char* what, std::uint64_t got, std::uint64_t most) {
    return std::string(what) + " (got " + std::to_string(got) + " bytes, need at most " +
           std::to_string(most) + ")";
}

}  // namespace

std::uint64_t scratch_bytes(const EncodePlan& plan) {
    std::uint64_t bytes = padded(plan.samples * kStatusBytes);
    if (plan.task_words != 0) bytes += padded(plan.samples * plan.task_words * 4);
    if (plan.kernel == EncodeKernel::amplitude_long)
        bytes += padded(plan.samples * plan.norm_blocks() * kNormBytes) + padded(plan.samples * kNormBytes);
    return bytes;
}

// Angles and indices are few, so each chunk gets those of its whole job. A job is one chunk of usual size,
// which keeps them a fraction of the states.
std::uint64_t rows_per_job(const EncodePlan& plan) {
    constexpr std::uint64_t kJobBytes = 32 * kMiB;
    if (plan.whole_rows()) return std::min(plan.samples, std::uint64_t{0xffffffff});
    const std::uint64_t workgroup = std::max(1u, plan.rows_per_workgroup >> plan.block_bits());
    const std::uint64_t rows =
        std::max<std::uint64_t>(workgroup, kJobBytes / plan.row_bytes_out() / workgroup * workgroup);
    return std::min(plan.samples, rows);
}

EncodeRounds usual_rounds(const EncodePlan& plan, const DeviceInfo& device, std::uint64_t most_rows) {
    EncodeRounds rounds;
    if (several_rows_fit(plan)) {
        rounds.rows = rows_per_round(plan);
        if (most_rows != 0) rounds.rows = std::min(rounds.rows, most_rows);
        rounds.sets = rounds.rows < plan.samples ? 2 : 1;
    } else if (plan.kernel == EncodeKernel::amplitude_long) {
        constexpr std::uint32_t kMostBits = 23;
        rounds.kind = EncodeRounds::Kind::parts;
        rounds.parts = parts_of(plan, std::min({plan.qubits, plan.window_bits, kMostBits}),
                                plan.row_bytes_in() <= device.device_memory_bytes / 4);
    } else {
        rounds.kind = EncodeRounds::Kind::windows;
    }
    return rounds;
}

bool shrink(EncodeRounds& rounds, const EncodePlan& plan) {
    if (rounds.kind == EncodeRounds::Kind::windows) return false;
    if (rounds.kind == EncodeRounds::Kind::parts) {
        constexpr std::uint32_t kLeastBits = kNormBlockBits;  // the block of a norm is read whole
        AmplitudeParts& parts = rounds.parts;
        const bool holds_more = parts.held > 2;
        if (!holds_more && parts.bits <= kLeastBits) return false;
        parts = parts_of(plan, holds_more ? parts.bits : parts.bits - 1, false);
        return true;
    }
    if (rounds.rows == 1 && rounds.sets == 1) return false;
    if (rounds.rows == 1)
        rounds.sets = 1;
    else {
        rounds.rows /= 2;
        rounds.sets = 2;
    }
    return true;
}

EncodeRounds fit_rounds(const EncodePlan& plan, const DeviceInfo& device, std::uint64_t most_rows,
                        std::uint64_t bytes) {
    EncodeRounds rounds = usual_rounds(plan, device, most_rows);
    while (rounds_bytes(plan, device, rounds) > bytes && shrink(rounds, plan)) {
    }
    return rounds;
}

std::uint64_t rounds_bytes(const EncodePlan& plan, const DeviceInfo& device, const EncodeRounds& rounds) {
    switch (rounds.kind) {
        case EncodeRounds::Kind::rows:
            return with_blocks(bytes_of_rows(plan, device.unified_memory, rounds));
        case EncodeRounds::Kind::parts:
            return with_blocks(bytes_of_parts(plan, rounds.parts));
        case EncodeRounds::Kind::windows:
            break;
    }
    return with_blocks(bytes_of_windows(plan));
}

// A slot grows to its largest bundle, which is a chunk or several small jobs. Each bundle is in one slot
// only, so all slots together hold no more than the batch.
std::uint64_t jobs_bytes(const EncodePlan& plan, const EncodeRoom& room) {
    constexpr std::uint64_t kChunkBytes = 48 * kMiB, kBundleBytes = 8 * kMiB;
    const std::uint64_t job_rows = rows_per_job(plan);
    const Element element(plan, job_rows);
    const std::uint64_t jobs = (plan.samples + job_rows - 1) / job_rows;
    const std::uint64_t total =
        (plan.samples << plan.block_bits()) * element.bytes + jobs * element.broadcast;
    const std::uint64_t job = (job_rows << plan.block_bits()) * element.bytes;
    const std::uint64_t asked =
        room.chunk_elements > job / element.bytes ? job : room.chunk_elements * element.bytes;
    const std::uint64_t part = room.copies ? std::min(asked, std::max(kChunkBytes, total / 64)) : asked;
    const std::uint64_t bundle = std::max(std::max(part, element.bytes) + element.broadcast, kBundleBytes);
    const std::uint64_t copies = room.copies ? 2 : 1, slots = std::max(1u, room.slots);
    const std::uint64_t areas = std::min(slots * bundle, total + slots * element.broadcast);
    return with_blocks(copies * areas + slots * kSlotBytes + status_bytes(plan));
}

std::uint64_t least_bytes(const EncodePlan& plan, const DeviceInfo& device, bool copies) {
    if (!plan.single_dispatch()) {
        EncodeRounds rounds = usual_rounds(plan, device, 1);
        while (shrink(rounds, plan)) {
        }
        return rounds_bytes(plan, device, rounds);
    }
    const Element element(plan, rows_per_job(plan));
    return with_blocks((copies ? 2u : 1u) * (element.bytes + element.broadcast) + kLeastSlotBytes +
                       status_bytes(plan));
}

EncodeEstimate estimate(const DeviceInfo& device, const EncodeRoom& room, EncodeMethod method,
                        EncodeTypes types, const StateShape& shape, std::uint64_t features) {
    const EncodePlan resident = plan_encode(device, method, types, shape, features, false);
    const EncodePlan streamed = plan_encode(device, method, types, shape, features, true);
    EncodeEstimate result;
    result.bytes_in = resident.bytes_in();
    result.bytes_out = resident.bytes_out();
    result.scratch_bytes = scratch_bytes(resident);
    result.available_bytes = room.available;
    const std::uint64_t least = least_bytes(streamed, device, room.copies);
    result.streamed_bytes =
        streamed.single_dispatch()
            ? std::max(least, std::min(jobs_bytes(streamed, room), room.available))
            : rounds_bytes(
                  streamed, device,
                  fit_rounds(streamed, device, room.chunk_exact ? room.chunk_elements : 0, room.available));
    const std::uint64_t all = result.bytes_in + result.bytes_out + result.scratch_bytes;
    const std::uint64_t largest = std::max(result.bytes_in, result.bytes_out);
    if (largest > device.limits.max_buffer_bytes)
        result.reason = too_much("values or states are larger than a buffer of this device can be", largest,
                                 device.limits.max_buffer_bytes);
    else if (all > room.available)
        result.reason =
            too_much("values, states and scratch are more than the device's memory", all, room.available);
    result.resident_fits = result.reason.empty();
    result.streamed_fits = least <= room.available;
    if (!result.streamed_fits)
        result.reason = too_much("the smallest part that can be streamed is more than the device's memory",
                                 least, room.available);
    return result;
}

}  // namespace weft::kernels
