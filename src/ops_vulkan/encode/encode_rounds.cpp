// SPDX-License-Identifier: Apache-2.0
// Completes ops_vulkan/encode/encode_streamed.hpp: encode_by_rounds.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops_vulkan/encode/encode_steps.hpp"
#include "ops_vulkan/encode/encode_streamed.hpp"

namespace weft::kernels {
namespace {

/// Host memory of an encode in words, as a Stream takes it.
struct Host {
    const EncodePlan& plan;
    const std::byte* values;
    std::byte* states;

    std::span<const std::uint32_t> values_at(std::uint64_t row, std::uint64_t value,
                                             std::uint64_t count) const {
        const std::byte* at = values + row * plan.row_bytes_in() + value * plan.value_bytes;
        return {reinterpret_cast<const std::uint32_t*>(at), count * plan.value_bytes / 4};
    }
    std::span<std::uint32_t> states_at(std::uint64_t row, std::uint64_t amplitude,
                                       std::uint64_t count) const {
        std::byte* at = states + row * plan.row_bytes_out() + amplitude * plan.amplitude_bytes;
        return {reinterpret_cast<std::uint32_t*>(at), count * plan.amplitude_bytes / 4};
    }
};

/// A streamed encode. `next` is the first sample that is not yet in place.
struct Run {
    Backend& backend;
    const EncodePlan& whole;
    Host host;
    core::ProgressMeter& meter;  ///< counts samples; shown between the parts of a sample too
    std::vector<std::uint32_t>& status;
    bool ahead;  ///< states are made while those before them go to the host
    std::uint64_t next = 0;

    core::ScratchCache::Key key(EncodeScratchKind kind, std::vector<std::uint64_t> sizes) const {
        sizes.insert(sizes.begin(), static_cast<std::uint64_t>(kind));
        return sizes;
    }
};

/// A stream and the memory of several whole rows. While the states of one set of buffers go to the host,
/// those of the other set are made. On a device that computes in the host's memory, values and states are
/// copied once only.
struct RowScratch {
    struct Set {
        std::optional<Buffer<std::uint32_t>> values, states;
        std::optional<HostBuffer<std::uint32_t>> host_values, host_states, status;
        std::optional<EncodeScratch> scratch;
        Event made;
        std::uint64_t row = 0, rows = 0;
        BufferView<std::uint32_t> values_view() const {
            return values ? values->view() : host_values->view();
        }
        BufferView<std::uint32_t> states_view() const {
            return states ? states->view() : host_states->view();
        }
    };
    Stream stream;
    std::vector<Set> sets;

    RowScratch(Backend& backend, const EncodePlan& round, std::uint64_t count)
        : stream(backend, {.name = "encode"}), sets(count) {
        for (Set& set : sets) {
            if (backend.device().unified_memory) {
                set.host_values.emplace(backend, round.bytes_in() / 4, "encode values");
                set.host_states.emplace(backend, round.bytes_out() / 4, "encode states");
            } else {
                set.values.emplace(backend, round.bytes_in() / 4, "encode values");
                set.states.emplace(backend, round.bytes_out() / 4, "encode states");
            }
            set.status.emplace(backend, 2 * round.samples, "encode status");
            set.scratch.emplace(stream, round);
        }
    }
};

/// The first `count` elements of the words as an array of their type.
template <class Array, class Wide, class Narrow>
Array array_in(const BufferView<std::uint32_t>& view, bool wide, std::uint64_t count) {
    const auto& object = detail::Access::object(view);
    if (wide) return detail::Access::make<BufferView<Wide>>(object, std::size_t{0}, count);
    return detail::Access::make<BufferView<Narrow>>(object, std::size_t{0}, count);
}
ConstDeviceArray values_in(const EncodePlan& plan, const BufferView<std::uint32_t>& view,
                           std::uint64_t count) {
    return array_in<ConstDeviceArray, const double, const float>(view, plan.value_bytes == 8, count);
}
DeviceArray states_in(const EncodePlan& plan, const BufferView<std::uint32_t>& view, std::uint64_t count) {
    return array_in<DeviceArray, c64, c32>(view, plan.amplitude_bytes == 16, count);
}

void row_rounds(Run& run, const EncodeRounds& rounds) {
    const EncodePlan& whole = run.whole;
    EncodePlan plan = whole;
    plan.samples = rounds.rows;
    Kept<RowScratch> scratch(
        run.backend,
        run.key(EncodeScratchKind::rows, {rounds.rows, rounds.sets, plan.bytes_in(), plan.bytes_out(),
                                          scratch_bytes(plan), plan.task_words}),
        [&] { return std::make_shared<RowScratch>(run.backend, plan, rounds.sets); });
    Stream& stream = scratch->stream;
    std::vector<RowScratch::Set>& sets = scratch->sets;
    const auto start = [&](RowScratch::Set& set, std::uint64_t row) {
        set.row = row;
        set.rows = std::min(plan.samples, whole.samples - row);
        EncodePlan part = plan;
        part.samples = set.rows;
        const std::uint64_t values = set.rows * plan.features;
        const auto source = run.host.values_at(row, 0, values);
        if (set.host_values)
            std::copy_n(source.data(), source.size(), set.host_values->data());
        else
            stream.upload(source, set.values->view(0, source.size()));
        encode_resident(stream, part, *set.scratch, values_in(plan, set.values_view(), values),
                        states_in(plan, set.states_view(), set.rows << plan.qubits), set.status->view(),
                        false);
        set.made = stream.submit();
    };
    const auto finish = [&](RowScratch::Set& set) {
        const auto target = run.host.states_at(set.row, 0, set.rows << plan.qubits);
        if (set.host_states) {
            set.made.wait();
            std::copy_n(set.host_states->data(), target.size(), target.data());
        } else {
            stream.download<std::uint32_t>(set.states->view(0, target.size()), target);
        }
        std::copy_n(set.status->data(), 2 * set.rows, run.status.data() + 2 * set.row);
        run.next = set.row + set.rows;
        run.meter.show(run.next);
    };
    std::size_t current = 0;
    start(sets[0], run.next);
    for (std::uint64_t row = run.next + sets[0].rows; row < whole.samples; row += plan.samples) {
        const std::size_t other = (current + 1) % sets.size();
        if (sets.size() == 1) finish(sets[current]);
        start(sets[other], row);
        if (sets.size() != 1) finish(sets[current]);
        current = other;
    }
    finish(sets[current]);
    stream.wait();
    scratch.give_back(rounds_bytes(whole, run.backend.device(), rounds));
}

/// A state in several windows. Each is a buffer of its own, because no buffer may be as large as the state.
struct WindowScratch {
    Stream stream;
    std::vector<Buffer<std::uint32_t>> windows;
    Buffer<std::uint32_t> values, status;
    EncodeScratch scratch;

    WindowScratch(Backend& backend, const EncodePlan& row, std::uint64_t count, std::uint64_t words)
        : stream(backend, {.name = "encode"}),
          values(backend, row.row_bytes_in() / 4, "encode values"),
          status(backend, 2, "encode status"),
          scratch(stream, row) {
        for (std::uint64_t w = 0; w < count; ++w) windows.emplace_back(backend, words, "encode states");
    }
};

void iqp_window_rounds(Run& run, const EncodeRounds& rounds) {
    EncodePlan plan = run.whole;
    plan.samples = 1;
    const std::uint64_t size = std::uint64_t{1} << plan.window_bits,
                        count = std::uint64_t{1} << plan.qubits >> plan.window_bits;
    const std::uint64_t words = size * plan.amplitude_bytes / 4;
    Kept<WindowScratch> scratch(
        run.backend, run.key(EncodeScratchKind::windows, {count, words, plan.row_bytes_in()}),
        [&] { return std::make_shared<WindowScratch>(run.backend, plan, count, words); });
    Stream& stream = scratch->stream;
    const auto& windows = scratch->windows;
    EncodeSteps steps(stream, plan, scratch->scratch, scratch->status.view());
    while (run.next < run.whole.samples) {
        const std::uint64_t row = run.next;
        stream.upload(run.host.values_at(row, 0, plan.features), scratch->values.view());
        for (std::uint64_t w = 0; w < count; ++w) {
            const auto of_window = window_steps(plan, 0, 1, w * size, size, false);
            steps.states(of_window.front(), scratch->values.view(), 0, windows[w].view());
            for (std::size_t i = 1; i < of_window.size(); ++i) steps.pass(of_window[i], windows[w].view());
        }
        for (std::uint64_t bit = 1; bit < count; bit *= 2)
            for (std::uint64_t w = 0; w < count; ++w)
                if ((w & bit) == 0) steps.join(windows[w].view(), windows[w | bit].view());
        for (std::uint64_t w = 0; w < count; ++w)
            stream.download<std::uint32_t>(windows[w].view(), run.host.states_at(row, w * size, size));
        stream.download<std::uint32_t>(scratch->status.view(), std::span(run.status).subspan(2 * row, 2));
        run.meter.show(++run.next);
    }
    scratch.give_back(rounds_bytes(run.whole, run.backend.device(), rounds));
}

struct PartScratch {
    Stream stream;
    std::vector<Buffer<std::uint32_t>> in, out;
    Buffer<std::uint32_t> status;
    EncodeScratch scratch;

    PartScratch(Backend& backend, const EncodePlan& row, const AmplitudeParts& parts)
        : stream(backend, {.name = "encode"}), status(backend, 2, "encode status"), scratch(stream, row) {
        for (std::uint64_t i = 0; i < parts.held; ++i)
            in.emplace_back(backend, parts.size * row.value_bytes / 4, "encode values");
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(2, parts.count); ++i)
            out.emplace_back(backend, parts.size * row.amplitude_bytes / 4, "encode states");
    }
};

void amplitude_rounds(Run& run, const EncodeRounds& rounds) {
    EncodePlan plan = run.whole;
    plan.samples = 1;
    const AmplitudeParts& parts = rounds.parts;
    const auto length = [&](std::uint64_t i) { return std::min(parts.size, plan.features - i * parts.size); };
    Kept<PartScratch> scratch(
        run.backend,
        run.key(EncodeScratchKind::parts, {parts.held, parts.count, parts.size, plan.value_bytes,
                                           plan.amplitude_bytes, plan.norm_blocks()}),
        [&] { return std::make_shared<PartScratch>(run.backend, plan, parts); });
    Stream& stream = scratch->stream;
    const auto &in = scratch->in, &out = scratch->out;
    EncodeSteps steps(stream, plan, scratch->scratch, scratch->status.view());
    const auto bound = [&](std::uint64_t i) {
        return ConstWords(in[i % parts.held].view(0, length(i) * plan.value_bytes / 4));
    };
    // rounds_bytes counts staging memory for this many uploads at a time.
    std::array<Event, 3> under_way;
    std::uint64_t uploads = 0;
    const auto upload = [&](std::uint64_t row, std::uint64_t i) {
        under_way[uploads % under_way.size()].wait();
        stream.upload(run.host.values_at(row, i * parts.size, length(i)),
                      in[i % parts.held].view(0, length(i) * plan.value_bytes / 4));
    };
    const auto submit = [&] { under_way[uploads++ % under_way.size()] = stream.submit(); };
    while (run.next < run.whole.samples) {
        const std::uint64_t row = run.next;
        for (std::uint64_t i = 0; i < parts.used; ++i) {
            upload(row, i);
            steps.norm_block(norm_block_step(plan, 0, 1, i * parts.size, length(i)), bound(i), 0);
            submit();
        }
        steps.norm_row(norm_row_step(plan, 0, 1));
        const auto make = [&](std::uint64_t i) {
            const bool behind = i >= parts.used;
            if (!behind && parts.held < parts.used) upload(row, i);
            steps.scale(scale_step(plan, 0, 1, i * parts.size, parts.bits), bound(behind ? 0 : i), 0,
                        out[i % out.size()].view());
            submit();
        };
        make(0);
        for (std::uint64_t i = 0; i < parts.count; ++i) {
            const bool more = i + 1 < parts.count;
            if (more && run.ahead) make(i + 1);
            stream.download<std::uint32_t>(out[i % out.size()].view(),
                                           run.host.states_at(row, i * parts.size, parts.size));
            if (more && !run.ahead) make(i + 1);
            if (more) run.meter.show(run.next);
        }
        stream.download<std::uint32_t>(scratch->status.view(), std::span(run.status).subspan(2 * row, 2));
        run.meter.show(++run.next);
    }
    scratch.give_back(rounds_bytes(run.whole, run.backend.device(), rounds));
}

void run_rounds(Run& run, const EncodeRounds& rounds) {
    switch (rounds.kind) {
        case EncodeRounds::Kind::rows:
            return row_rounds(run, rounds);
        case EncodeRounds::Kind::parts:
            return amplitude_rounds(run, rounds);
        case EncodeRounds::Kind::windows:
            return iqp_window_rounds(run, rounds);
    }
}

}  // namespace

BatchReport encode_by_rounds(Backend& backend, const EncodePlan& plan, const ConstHostArray& values,
                             const HostArray& states, const BatchOptions& options, std::uint64_t most,
                             std::vector<EncodeFailure>& failures) {
    std::vector<std::uint32_t> status(2 * plan.samples);
    core::ProgressMeter meter("encode", options, plan.samples);
    meter.check();
    Run run{backend,
            plan,
            {plan, static_cast<const std::byte*>(values.data), static_cast<std::byte*>(states.data)},
            meter,
            status,
            options.mode == BatchMode::pipelined};
    EncodeRounds rounds = fit_rounds(plan, backend.device(), options.chunk_elements, most);
    if (!run.ahead) rounds.sets = 1;
    const std::uint64_t largest = std::min(rounds.rows, plan.samples);
    while (run.next < plan.samples) {
        try {
            run_rounds(run, rounds);
        } catch (const Error& e) {
            // Other work may have taken the memory, or the driver grants less. The next rounds are smaller.
            if (e.code() != Errc::out_of_memory || meter.in_callback() || !shrink(rounds, plan)) throw;
            backend.trim();
        }
    }
    append_failures(failures, status, 0, 0);
    BatchReport report;
    report.jobs = 1;
    report.elements = plan.samples;
    report.bytes_in = plan.bytes_in();
    report.bytes_out = plan.bytes_out();
    report.path = Path::staged;
    report.chunks = meter.parts();
    report.chunk_elements = largest;
    report.wall_s = meter.elapsed_s();
    return report;
}

}  // namespace weft::kernels
