// SPDX-License-Identifier: Apache-2.0
// Encoders: samples a second on resident values, and streamed from page-locked and from ordinary memory,
// beside what the device's memory and copies can do in the same run.
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "bench_encode.hpp"

namespace bench {

using weft::c32;
using weft::EncodeMethod;

std::vector<double> values_for(EncodeMethod method, std::uint64_t samples, std::uint32_t qubits) {
    const std::uint64_t features = weft::encode_features(method, qubits);
    std::vector<double> values(samples * features);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
        const std::uint64_t s = i / features, k = i % features;
        values[i] = method == EncodeMethod::basis ? static_cast<double>((977 * s) & ((1u << qubits) - 1))
                    : method == EncodeMethod::amplitude ? static_cast<double>((k + s) % features + 1)
                                                        : 0.37 * static_cast<double>((k + s) % 17);
    }
    return values;
}

// Norm 1, and amplitudes that have a closed form: 0 and 5 of product states, all of amplitude and basis.
void require_right(EncodeMethod method, const double* row, const c32* state, std::uint32_t qubits) {
    const std::uint64_t size = std::uint64_t{1} << qubits;
    double norm = 0, sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) norm += std::norm(std::complex<double>(state[i]));
    const auto require = [](bool right) {
        if (!right) throw weft::Error(weft::Errc::driver, "bench_encode: a state is wrong");
    };
    require(std::abs(norm - 1) < 1e-4);
    if (method == EncodeMethod::basis) return require(state[static_cast<std::uint64_t>(row[0])] == c32(1));
    if (method == EncodeMethod::amplitude) {
        for (std::uint64_t i = 0; i < size; ++i) sum += row[i] * row[i];
        for (std::uint64_t i = 0; i < size; ++i)
            require(std::abs(state[i].real() - row[i] / std::sqrt(sum)) < 1e-6);
        return;
    }
    if (method == EncodeMethod::iqp) return;  // sums of 2^n terms: the tests' business
    for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{5}}) {
        std::complex<double> want = 1;
        for (std::uint32_t k = 0; k < qubits; ++k) {
            const bool one = (i >> k & 1) != 0;
            const std::complex<double> unit = std::polar(1.0, row[k]);
            want *= method == EncodeMethod::angle   ? (one ? std::sin(row[k]) : std::cos(row[k]))
                    : method == EncodeMethod::phase ? (one ? unit : 1.0) * std::sqrt(0.5)
                                                    : (1.0 + (one ? -unit : unit)) / 2.0;
        }
        require(std::abs(want - std::complex<double>(state[i])) < 1e-6);
    }
}

namespace {

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

nlohmann::json print(const Case& c, const char* from, const Times& times, double moved_gb, double ceiling) {
    const auto samples = static_cast<double>(c.shape.samples);
    const double rate = samples / times.median(), share = moved_gb / times.median() / ceiling;
    std::printf("%-10s %3u %-12s %12.0f %12.0f %12.6f %10.1f %10.2f\n", weft::to_string(c.method),
                c.shape.qubits, from, rate, samples / times.p95(), 1e3 * times.median() / samples,
                moved_gb / times.median(), share);
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
            {"verified", true}};
}

nlohmann::json resident(weft::Backend& backend, const Settings& settings, const Case& c,
                        const std::vector<double>& host) {
    const std::uint64_t bindable = 3 * backend.device().limits.max_storage_buffer_range;
    weft::MemoryCeiling ceiling(backend, std::min(c.bytes_in + c.bytes_out, bindable / 48 * 48));
    weft::Buffer<double> values(backend, host.size());
    weft::Buffer<c32> states(backend, c.shape.amplitudes());
    weft::Stream stream(backend);
    stream.upload(host, values);
    weft::encode(stream, c.method, values, states, c.shape).check(stream);
    const std::uint64_t size = c.shape.state_size();
    std::vector<c32> last(size);
    stream.download<c32>(states.view(c.shape.amplitudes() - size, size), std::span(last));
    require_right(c.method, host.data() + host.size() - host.size() / c.shape.samples, last.data(),
                  c.shape.qubits);
    const weft::Sequence once =
        stream.record([&](weft::Stream& to) { weft::encode(to, c.method, values, states, c.shape); });
    // Several in a row, so that the wait counts for little; the ceiling in turns with it.
    const int repeats = backend.device().type == weft::DeviceType::cpu ? 1 : 8;
    Times times;
    std::vector<double> ceilings;
    for (int t = 0; t < settings.trials + 2; ++t) {
        ceilings.push_back(ceiling.gb_per_s());
        const auto start = Clock::now();
        for (int r = 0; r < repeats; ++r) stream.replay(once);
        stream.wait();
        if (t >= 2) times.seconds.push_back(seconds_since(start) / repeats);
    }
    const double moved = floor_gb(backend, c);
    return print(c, "resident", times, moved, Times{ceilings}.median());
}

template <class Values, class States>
nlohmann::json streamed(weft::Backend& backend, const Settings& settings, const Case& c, const char* from,
                        double ceiling, const Values& values, States& states) {
    Times times;
    for (int t = 0; t < settings.trials + 1; ++t) {
        const auto start = Clock::now();
        weft::encode(backend, c.method, values, states, c.shape);
        if (t >= 1) times.seconds.push_back(seconds_since(start));
        if (t == 0) {
            const auto row = static_cast<std::ptrdiff_t>(values.size() - values.size() / c.shape.samples);
            const auto state = static_cast<std::ptrdiff_t>(c.shape.amplitudes() - c.shape.state_size());
            require_right(c.method, values.data() + row, states.data() + state, c.shape.qubits);
            std::fill(states.begin(), states.end(), c32(9));
        }
    }
    return print(c, from, times, gb(c.bytes_in + c.bytes_out), ceiling);
}

nlohmann::json run_table(weft::Backend& backend, const Settings& settings) {
    // Beyond every cache; a software device would take minutes for as much.
    const bool software = backend.device().type == weft::DeviceType::cpu;
    const std::uint64_t bytes = std::uint64_t{settings.quick ? 1u : software ? 32u : 512u} << 20;
    std::printf(
        "float64 in, complex64 out, %d trials; slow tail: the rate of the 95th percentile of times.\n"
        "Ceilings of the same run: the memory's for resident values, both directions of copies at once else. "
        "Bytes\nthat move: values and states once each; resident iqp above shared memory reads and writes "
        "its "
        "states once more.\n\n"
        "%-10s %3s %-12s %12s %12s %12s %10s %10s\n",
        settings.trials, "method", "n", "values", "vectors/s", "slow tail", "ms/vector", "GB/s",
        "of ceiling");
    nlohmann::json rows = nlohmann::json::array();
    for (const std::string& name : settings.methods)
        for (const std::uint32_t qubits : settings.qubits) {
            const Case c = make_case(weft::encode_method(name), qubits, bytes);
            const std::vector<double> host = values_for(c.method, c.shape.samples, qubits);
            rows.push_back(resident(backend, settings, c, host));
            const double copies =
                weft::measure_copy_ceiling(backend, c.bytes_in, c.bytes_out, 0.05).concurrent_gb_per_s;
            weft::HostBuffer<double> locked(backend, host.size());
            std::copy(host.begin(), host.end(), locked.begin());
            weft::HostBuffer<c32> locked_states(backend, c.shape.amplitudes());
            rows.push_back(streamed(backend, settings, c, "page-locked", copies, locked, locked_states));
            std::vector<c32> states(c.shape.amplitudes());
            rows.push_back(streamed(backend, settings, c, "ordinary", copies, host, states));
        }
    return rows;
}

Settings parse(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Encoders beside the ceilings of memory and copies", "bench_encode"};
    app.add_option("--trials", settings.trials, "Trials of each measurement")->check(CLI::Range(1, 1000));
    app.add_option("--qubits", settings.qubits, "Numbers of qubits")
        ->check(CLI::Range(1, 24))
        ->delimiter(',');
    app.add_option("--methods", settings.methods, "Methods")->delimiter(',');
    app.add_flag("--quick", settings.quick, "Small sizes, one trial: does it run?");
    app.add_flag("--seed-workload", settings.seed_workload,
                 "QDP's founding run instead: 16 qubits, 500 batches of 64");
    app.add_option("--json", settings.json, "Write the figures to this file");
    try {
        app.parse(argc, argv);
        for (const std::string& name : settings.methods) weft::encode_method(name);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    } catch (const weft::Error& error) {
        std::fprintf(stderr, "bench_encode: %s\n", error.what());
        std::exit(2);
    }
    if (settings.quick) {
        settings.trials = 1;
        settings.qubits = {8};
    }
    return settings;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
    const bench::Settings settings = bench::parse(argc, argv);
    std::ofstream json;
    if (!settings.json.empty()) {
        json.open(settings.json);
        if (!json) throw std::runtime_error(settings.json + " cannot be written");
    }
    weft::Backend backend;
    std::printf("%s, %s\n", backend.name().c_str(), backend.device().driver.c_str());
    nlohmann::json out{
        {"device", backend.name()}, {"driver", backend.device().driver}, {"trials", settings.trials}};
    if (settings.seed_workload || settings.quick)
        out["seed_workload"] = bench::run_seed_workload(backend, settings);
    if (!settings.seed_workload) out["rows"] = bench::run_table(backend, settings);
    if (json.is_open()) json << out.dump(2) << '\n';
    return 0;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader ? 3 : 4;
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return 4;
}
