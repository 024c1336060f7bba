// SPDX-License-Identifier: Apache-2.0
// bench_encode's table: one method and number of qubits after the other, its three sources and its ceilings
// in turns, so that what slows the machine for a while slows them all.
#include <cstdio>
#include <span>

#include "bench_encode.hpp"

namespace bench {
namespace {

using weft::c32;
using weft::EncodeMethod;

struct Case {
    EncodeMethod method;
    weft::StateShape shape;
    std::uint64_t bytes_in, bytes_out;
};

Case make_case(EncodeMethod method, std::uint32_t qubits, std::uint64_t bytes) {
    const std::uint64_t row_in = 8 * weft::encode_features(method, qubits),
                        row_out = std::uint64_t{8} << qubits;
    const std::uint64_t samples = std::max<std::uint64_t>(1, bytes / (row_in + row_out));
    return {method, {samples, qubits}, samples * row_in, samples * row_out};
}

// Bytes that have to move: values once and states once; those of an iqp too large for shared memory are read
// and written once more, for the bits of the index above it.
double floor_gb(const weft::Backend& backend, const Case& c) {
    const std::uint32_t slab = backend.device().limits.max_shared_memory_bytes >= 42000 ? 13 : 12;
    const bool again = c.method == EncodeMethod::iqp && c.shape.qubits > slab;
    return gb(c.bytes_in) + gb(c.bytes_out) * (again ? 3 : 1);
}

/// Host memory of the largest case, which all cases share: to lock it takes longer than to measure.
struct HostMemory {
    std::vector<double> values;
    std::vector<c32> states;
    weft::HostBuffer<double> locked_values;
    weft::HostBuffer<c32> locked_states;

    HostMemory(weft::Backend& backend, std::uint64_t most_in, std::uint64_t most_out)
        : states(most_out / sizeof(c32)),
          locked_values(backend, most_in / sizeof(double)),
          locked_states(backend, most_out / sizeof(c32)) {}
};

/// Before the last trial rows that are checked after it hold this, so that it is that trial's states which
/// are checked.
constexpr c32 kSpoilt{9, 9};

/// Values and states on the device, and an encode of them that is recorded already.
class Resident {
  public:
    Resident(weft::Backend& backend, const Case& c, std::span<const double> host)
        : shape_(c.shape),
          stream_(backend),
          values_(backend, host.size()),
          states_(backend, c.shape.amplitudes()) {
        stream_.upload(host, values_.view());
        weft::encode(stream_, c.method, values_, states_, c.shape).require_all(stream_);
        once_ =
            stream_.record([&](weft::Stream& to) { weft::encode(to, c.method, values_, states_, c.shape); });
        // Several in a row, so that the wait counts for little.
        repeats_ = backend.device().type == weft::DeviceType::cpu ? 1 : 8;
    }
    double seconds() {
        const auto start = Clock::now();
        for (int r = 0; r < repeats_; ++r) stream_.replay(once_);
        stream_.wait();
        return seconds_since(start) / repeats_;
    }
    void spoil() {
        const std::vector<c32> wrong(shape_.state_size(), kSpoilt);
        for (const std::uint64_t row : rows_to_check(shape_.samples)) stream_.upload<c32>(wrong, state(row));
        stream_.wait();
    }
    std::vector<c32> download(std::uint64_t row) {
        std::vector<c32> to(shape_.state_size());
        stream_.download<c32>(state(row), std::span(to));
        return to;
    }

  private:
    weft::BufferView<c32> state(std::uint64_t row) {
        return states_.view(row << shape_.qubits, shape_.state_size());
    }

    weft::StateShape shape_;
    weft::Stream stream_;
    weft::Buffer<double> values_;
    weft::Buffer<c32> states_;
    weft::Sequence once_;
    int repeats_ = 1;
};

/// An encode from and to host memory; the first warms up.
class Streamed {
  public:
    Streamed(weft::Backend& backend, const Case& c, std::span<const double> values, std::span<c32> states)
        : backend_(backend), case_(c), values_(values), states_(states) {
        std::fill(states.begin(), states.end(), kSpoilt);
        seconds();
    }
    double seconds() {
        const auto start = Clock::now();
        weft::encode(backend_, case_.method, values_, states_, case_.shape);
        return seconds_since(start);
    }
    void spoil() {
        for (const std::uint64_t row : rows_to_check(case_.shape.samples)) {
            const std::span<c32> wrong = state(row);
            std::fill(wrong.begin(), wrong.end(), kSpoilt);
        }
    }
    std::span<c32> state(std::uint64_t row) const {
        return states_.subspan(row << case_.shape.qubits, case_.shape.state_size());
    }

  private:
    weft::Backend& backend_;
    const Case& case_;
    std::span<const double> values_;
    std::span<c32> states_;
};

/// `resident`: seconds of the same on resident values.
nlohmann::json print(const Case& c, const char* from, const Times& times, const Verified& verified,
                     double moved_gb, double ceiling, double resident) {
    const auto samples = static_cast<double>(c.shape.samples);
    const double rate = samples / times.median(), share = moved_gb / times.median() / ceiling;
    std::printf("%-10s %3u %-12s %12.0f %12.0f %12.6f %10.1f %10.2f %11.2f\n", weft::to_string(c.method),
                c.shape.qubits, from, rate, samples / times.p95(), 1e3 * times.median() / samples,
                moved_gb / times.median(), share, resident / times.median());
    return {{"method", weft::to_string(c.method)},
            {"qubits", c.shape.qubits},
            {"samples", c.shape.samples},
            {"from", from},
            {"vectors_per_s", rate},
            {"vectors_per_s_slow_tail", samples / times.p95()},
            {"ms_per_vector", 1e3 * times.median() / samples},
            {"gb_per_s", moved_gb / times.median()},
            {"ceiling_gb_per_s", ceiling},
            {"of_ceiling", share},
            {"of_resident", resident / times.median()},
            {"verified", verified.json()}};
}

template <class State>
Verified verify(const Case& c, const char* route, std::span<const double> values, const State& state) {
    Verified verified;
    const std::uint64_t features = values.size() / c.shape.samples;
    for (const std::uint64_t row : rows_to_check(c.shape.samples))
        verified.add(route, row, c.method, values.subspan(row * features, features), state(row));
    return verified;
}

void run_case(weft::Backend& backend, const Settings& settings, const Case& c, HostMemory& memory,
              nlohmann::json& rows) {
    memory.values = values_for(c.method, c.shape.samples, c.shape.qubits);
    const std::span<const double> values(memory.values);
    std::copy(values.begin(), values.end(), memory.locked_values.begin());
    const std::uint64_t bindable = 3 * backend.device().limits.max_storage_buffer_range;
    weft::tune::MemoryCeiling ceiling(backend, std::min(c.bytes_in + c.bytes_out, bindable / 48 * 48));
    const double copies =
        weft::tune::measure_copy_ceiling(backend, c.bytes_in, c.bytes_out, 0.05).concurrent_gb_per_s;
    Resident resident(backend, c, values);
    const std::size_t amplitudes = c.shape.amplitudes();
    Streamed locked(backend, c, memory.locked_values.span().first(values.size()),
                    memory.locked_states.span().first(amplitudes));
    Streamed ordinary(backend, c, values, std::span(memory.states).first(amplitudes));
    Times ceilings, on_device, from_locked, from_ordinary;
    for (int t = -1; t < settings.trials; ++t) {
        if (t + 1 == settings.trials) {
            resident.spoil();
            locked.spoil();
            ordinary.spoil();
        }
        const double seconds[] = {ceiling.gb_per_s(), resident.seconds(), locked.seconds(),
                                  ordinary.seconds()};
        if (t < 0) continue;
        ceilings.seconds.push_back(seconds[0]);
        on_device.seconds.push_back(seconds[1]);
        from_locked.seconds.push_back(seconds[2]);
        from_ordinary.seconds.push_back(seconds[3]);
    }
    const double moved = gb(c.bytes_in + c.bytes_out), once = on_device.median();
    const auto row = [&](const char* from, const Times& times, const auto& state, double gb_moved,
                         double most) {
        rows.push_back(print(c, from, times, verify(c, from, values, state), gb_moved, most, once));
    };
    row(
        "resident", on_device, [&](std::uint64_t r) { return resident.download(r); }, floor_gb(backend, c),
        ceilings.median());
    row(
        "page-locked", from_locked, [&](std::uint64_t r) { return locked.state(r); }, moved, copies);
    row(
        "ordinary", from_ordinary, [&](std::uint64_t r) { return ordinary.state(r); }, moved, copies);
}

}  // namespace

nlohmann::json run_table(weft::Backend& backend, const Settings& settings) {
    // Beyond every cache, and large enough that a batch's first upload and last download, which overlap with
    // nothing, are a small part; a software device would take minutes for as much.
    const bool software = backend.device().type == weft::DeviceType::cpu;
    const std::uint64_t mib = settings.mib != 0 ? settings.mib : settings.quick ? 1 : software ? 32 : 1024;
    std::vector<Case> cases;
    std::uint64_t most_in = 0, most_out = 0;
    for (const std::string& name : settings.methods)
        for (const std::uint32_t qubits : settings.qubits) {
            cases.push_back(make_case(weft::encode_method(name), qubits, mib << 20));
            most_in = std::max(most_in, cases.back().bytes_in);
            most_out = std::max(most_out, cases.back().bytes_out);
        }
    std::printf(
        "float64 in, complex64 out, %llu MiB a case, %d trials in turns; slow tail: the rate of the 95th "
        "percentile of times.\nCeilings of the same run: the memory's for resident values, both directions "
        "of copies at once else. Bytes\nthat move: values and states once each; resident iqp above shared "
        "memory reads and writes its states once more.\n\n"
        "%-10s %3s %-12s %12s %12s %12s %10s %10s %11s\n",
        static_cast<unsigned long long>(mib), settings.trials, "method", "n", "values", "vectors/s",
        "slow tail", "ms/vector", "GB/s", "of ceiling", "of resident");
    HostMemory memory(backend, most_in, most_out);
    nlohmann::json rows = nlohmann::json::array();
    for (const Case& c : cases) run_case(backend, settings, c, memory, rows);
    return rows;
}

}  // namespace bench
