// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include <weft/error.hpp>

#include "kernels/encode_check.hpp"
#include "kernels/encode_steps.hpp"
#include "kernels/encode_streamed.hpp"

namespace weft::kernels {
namespace {

/// Host memory of an encode, in words, as a Stream takes it.
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

/// Tells progress by samples, or by pieces of them where one alone takes long.
class Rounds {
  public:
    Rounds(const EncodePlan& plan, const BatchOptions& options) : options_(options), all_(plan.samples) {}
    void cut_samples(std::uint64_t pieces) { all_ *= pieces; }
    void done(std::uint64_t count) {
        done_ += count;
        if (options_.progress) options_.progress(done_, all_);
    }

  private:
    const BatchOptions& options_;
    std::uint64_t all_, done_ = 0;
};

// Several whole rows at a time. Two sets of buffers: while one set's states go to the host, the other's are
// being made.
void row_rounds(Backend& backend, const EncodePlan& whole, const Host& host, std::uint64_t most_rows,
                Rounds& rounds, std::vector<std::uint32_t>& status_words) {
    EncodePlan plan = whole;
    plan.samples = std::min(rows_per_round(whole), most_rows);
    Stream stream(backend, {.name = "encode"});
    const bool wide_in = plan.value_bytes == 8, wide_out = plan.amplitude_bytes == 16;
    // Where the device computes in the host's memory, states need one copy only.
    const bool unified = backend.device().unified_memory;
    struct Set {
        std::optional<Buffer<std::uint32_t>> values, states;
        std::optional<HostBuffer<std::uint32_t>> host_states, status;
        Event made;
        std::uint64_t row = 0, rows = 0;
        BufferView<std::uint32_t> states_view() const {
            return states ? states->view() : host_states->view();
        }
    };
    std::vector<Set> sets(plan.samples < whole.samples ? 2 : 1);
    for (Set& set : sets) {
        set.values.emplace(backend, plan.bytes_in() / 4, "encode values");
        if (unified)
            set.host_states.emplace(backend, plan.bytes_out() / 4, "encode states");
        else
            set.states.emplace(backend, plan.bytes_out() / 4, "encode states");
        set.status.emplace(backend, 2 * plan.samples, "encode status");
    }
    const auto start = [&](Set& set, std::uint64_t row) {
        set.row = row;
        set.rows = std::min(plan.samples, whole.samples - row);
        EncodePlan part = plan;
        part.samples = set.rows;
        const std::uint64_t values = set.rows * plan.features, amplitudes = set.rows << plan.qubits;
        const auto in = set.values->view().object();
        const auto out = set.states_view().object();
        stream.upload(host.values_at(row, 0, values), set.values->view(0, values * plan.value_bytes / 4));
        encode_resident(stream, part,
                        wide_in ? EncodeValues(BufferView<const double>(in, 0, values))
                                : EncodeValues(BufferView<const float>(in, 0, values)),
                        wide_out ? EncodeStates(BufferView<c64>(out, 0, amplitudes))
                                 : EncodeStates(BufferView<c32>(out, 0, amplitudes)),
                        set.status->view(), false);
        set.made = stream.submit();
    };
    const auto finish = [&](Set& set) {
        const auto target = host.states_at(set.row, 0, set.rows << plan.qubits);
        if (set.host_states) {
            set.made.wait();
            std::copy_n(set.host_states->data(), target.size(), target.data());
        } else {
            stream.download<std::uint32_t>(set.states->view(0, target.size()), target);
        }
        std::copy_n(set.status->data(), 2 * set.rows, status_words.data() + 2 * set.row);
        rounds.done(set.rows);
    };
    std::size_t current = 0;
    start(sets[0], 0);
    for (std::uint64_t row = plan.samples; row < whole.samples; row += plan.samples) {
        const std::size_t next = (current + 1) % sets.size();
        start(sets[next], row);
        finish(sets[current]);
        current = next;
    }
    finish(sets[current]);
}

// A state of several windows, each a buffer of its own: no buffer may be as large as the state.
void iqp_window_rounds(Backend& backend, const EncodePlan& whole, const Host& host, Rounds& rounds,
                       std::vector<std::uint32_t>& status_words) {
    EncodePlan plan = whole;
    plan.samples = 1;
    Stream stream(backend, {.name = "encode"});
    const std::uint64_t size = std::uint64_t{1} << plan.window_bits,
                        count = std::uint64_t{1} << plan.qubits >> plan.window_bits;
    const std::uint64_t words = size * plan.amplitude_bytes / 4, elements = size >> plan.element_bits;
    std::vector<Buffer<std::uint32_t>> windows;
    for (std::uint64_t w = 0; w < count; ++w) windows.emplace_back(backend, words, "encode states");
    const Buffer<std::uint32_t> values(backend, plan.row_bytes_in() / 4, "encode values");
    const Buffer<std::uint32_t> status(backend, 2, "encode status");
    EncodeSteps steps(stream, plan, status.view(), false);
    for (std::uint64_t row = 0; row < whole.samples; ++row) {
        stream.upload(host.values_at(row, 0, plan.features), values.view());
        for (std::uint64_t w = 0; w < count; ++w) {
            steps.states({values.view(), 0}, 0, w * elements, elements, windows[w].view());
            steps.passes(windows[w].view());
        }
        for (std::uint64_t bit = 1; bit < count; bit *= 2)
            for (std::uint64_t w = 0; w < count; ++w)
                if ((w & bit) == 0) steps.pair(windows[w].view(), windows[w | bit].view());
        for (std::uint64_t w = 0; w < count; ++w)
            stream.download<std::uint32_t>(windows[w].view(), host.states_at(row, w * size, size));
        stream.download<std::uint32_t>(status.view(), std::span(status_words).subspan(2 * row, 2));
        rounds.done(1);
    }
}

void amplitude_rounds(Backend& backend, const EncodePlan& whole, const Host& host, Rounds& rounds,
                      std::vector<std::uint32_t>& status_words) {
    EncodePlan plan = whole;
    plan.samples = 1;
    const AmplitudePieces pieces = cut_row(plan, backend.device().device_memory_bytes);
    rounds.cut_samples(pieces.count);
    const auto length = [&](std::uint64_t i) {
        return std::min(pieces.size, plan.features - i * pieces.size);
    };
    Stream stream(backend, {.name = "encode"});
    std::vector<Buffer<std::uint32_t>> in, out;
    for (std::uint64_t i = 0; i < pieces.held; ++i)
        in.emplace_back(backend, pieces.size * plan.value_bytes / 4, "encode values");
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(2, pieces.count); ++i)
        out.emplace_back(backend, pieces.size * plan.amplitude_bytes / 4, "encode states");
    const Buffer<std::uint32_t> status(backend, 2, "encode status");
    const NormScratch scratch(stream, plan);
    EncodeSteps steps(stream, plan, status.view(), false);
    const auto bound = [&](std::uint64_t i) {
        const auto& buffer = in[i % pieces.held];
        return BoundValues{buffer.view(0, length(i) * plan.value_bytes / 4), 0};
    };
    const auto upload = [&](std::uint64_t row, std::uint64_t i) {
        stream.upload(host.values_at(row, i * pieces.size, length(i)),
                      in[i % pieces.held].view(0, length(i) * plan.value_bytes / 4));
    };
    for (std::uint64_t row = 0; row < whole.samples; ++row) {
        for (std::uint64_t i = 0; i < pieces.used; ++i) {
            upload(row, i);
            steps.norm_blocks(scratch, bound(i), 0, 1, i * pieces.size >> kNormBlockBits, length(i));
        }
        steps.norm_rows(scratch, 0, 1);
        const auto make = [&](std::uint64_t i) {
            const bool behind = i >= pieces.used;
            if (!behind && pieces.held < pieces.used) upload(row, i);
            steps.scale(scratch, bound(behind ? 0 : i), 0, behind ? 0 : length(i), pieces.bits,
                        out[i % out.size()].view());
            stream.submit();
        };
        make(0);
        for (std::uint64_t i = 0; i < pieces.count; ++i) {
            if (i + 1 < pieces.count) make(i + 1);
            stream.download<std::uint32_t>(out[i % out.size()].view(),
                                           host.states_at(row, i * pieces.size, pieces.size));
            rounds.done(1);
        }
        stream.download<std::uint32_t>(status.view(), std::span(status_words).subspan(2 * row, 2));
    }
}

}  // namespace

BatchReport encode_by_rounds(Backend& backend, const EncodePlan& plan, const EncodeSource& values,
                             const EncodeTarget& states, const BatchOptions& options,
                             std::vector<EncodeFailure>& failures) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::uint32_t> status(2 * plan.samples);
    const Host host{plan, static_cast<const std::byte*>(values.data), static_cast<std::byte*>(states.data)};
    Rounds rounds(plan, options);
    if (several_rows_fit(plan))
        row_rounds(backend, plan, host, options.chunk_elements != 0 ? options.chunk_elements : plan.samples,
                   rounds, status);
    else if (plan.kernel == EncodeKernel::amplitude_long)
        amplitude_rounds(backend, plan, host, rounds, status);
    else
        iqp_window_rounds(backend, plan, host, rounds, status);
    append_failures(failures, status, 0, 0);
    BatchReport report;
    report.jobs = 1;
    report.elements = plan.samples;
    report.bytes_in = plan.bytes_in();
    report.bytes_out = plan.bytes_out();
    report.path = Path::staged;
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace weft::kernels
