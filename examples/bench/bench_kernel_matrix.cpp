// SPDX-License-Identifier: Apache-2.0
// Measures kernel matrices in pairs a second from features to K, resident and into host memory, including the
// states if the circuit needs them. It compares with the speed of the device's memory in the same run, and
// with loops in C++ on all cores. Sampled values are compared with a gate-by-gate simulation.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "cpu/cpu_circuit.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "cpu/cpu_threads.hpp"

namespace {

using bench::Clock;
using bench::Json;
using bench::median;
using bench::seconds_since;

struct Settings {
    std::vector<std::uint64_t> samples{1000, 4000, 20000};
    std::vector<std::uint32_t> qubits{4, 8, 12, 16};
    std::string map = "ryrz";
    std::string reupload = "both";
    std::uint64_t layers = 2;
    bench::Options common{.repeats = 5};
    bool resident_only = false, programs = false, ablations = false, loops = false;
};

struct Case {
    std::uint64_t samples;
    std::uint32_t qubits;
    bool reupload;
};

std::vector<float> features_of(const Case& c) {
    std::vector<float> x(c.samples * c.qubits);
    // Rows are close to each other, so that kernel values of 16 qubits are not all zero.
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(
            0.6 * std::sin(0.7310 * static_cast<double>(i) + 0.0001 * static_cast<double>(i % 977)));
    return x;
}

std::vector<double> weights_of(const Settings& settings, std::uint32_t qubits) {
    std::vector<double> w(settings.layers * qubits);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.3 * std::cos(1.7 * static_cast<double>(i));
    return w;
}

// The bound on weft's values.
double bound_of(const Case& c) {
    return c.qubits > 10 ? 2e-5 : 2e-6;
}

// The largest error of some values, compared with the simulation, or with the closed expression if states are
// too large to simulate. Throws if an error exceeds the bound.
double verified(const Case& c, const std::vector<float>& x, const weft::KernelMatrixCircuit& circuit,
                std::span<const float> k, double bound) {
    constexpr std::uint32_t kMostSimulated = 18;
    const std::vector<std::uint64_t> rows{0, c.samples / 3, c.samples / 2, c.samples - 1};
    const auto row = [&](std::uint64_t i) {
        return std::span<const float>(x.data() + i * c.qubits, c.qubits);
    };
    std::vector<weft::tool::State> states;
    if (c.qubits <= kMostSimulated)
        for (const std::uint64_t i : rows) states.push_back(weft::tool::state_of(row(i), circuit));
    double worst = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const double want = states.empty() ? weft::tool::closed_form(row(rows[i]), row(rows[j]), circuit)
                                               : weft::tool::overlap_of(states[i], states[j]);
            worst = std::max(worst, std::abs(want - static_cast<double>(k[rows[i] * c.samples + rows[j]])));
        }
    if (!(worst <= bound))
        throw weft::Error(weft::Errc::driver,
                          "bench_kernel_matrix: values are wrong by up to " + std::to_string(worst));
    return worst;
}

struct Resident {
    double seconds = 0, fill_seconds = 0, worst = 0;
    Json kernels = Json::object();  // milliseconds by program
    double gram_seconds = 0;
    double loop_seconds = 0;  // 0: not measured
};

// The device time of each program in one run.
void profile_once(weft::Backend& backend, weft::Stream& stream, Resident& result,
                  const std::function<void(weft::Stream&)>& run) {
    const weft::Profile profile(backend);
    run(stream);
    stream.wait();
    for (const weft::KernelReport& kernel : profile.report().kernels) {
        result.kernels[kernel.program] = kernel.times.busy_s * 1e3;
        if (kernel.program == "gram_tile" || kernel.program == "gram_matrix" ||
            kernel.program == "gram_reduce")
            result.gram_seconds += kernel.times.busy_s;
    }
}

// Times all of K on the device and a fill of K, in turns.
Resident run_resident(weft::Backend& backend, const Settings& settings, const Case& c,
                      const std::vector<float>& x, const weft::KernelMatrixCircuit& circuit,
                      const weft::KernelMatrixOptions& options) {
    weft::Stream stream{backend};
    const weft::Buffer<float> features(backend, x.size()), k(backend, c.samples * c.samples);
    stream.upload(x, features);
    const weft::Sequence sequence = stream.record([&](weft::Stream& s) {
        weft::kernel_matrix(s, circuit, features, k, {c.samples, 0, c.qubits}, options);
    });
    const weft::Sequence fill = stream.record([&](weft::Stream& s) { s.fill(k.view(), 0xffffffffu); });
    const auto once = [&](const weft::Sequence& work, int times) {
        const auto start = Clock::now();
        for (int i = 0; i < times; ++i) stream.replay(work);
        stream.wait();
        return seconds_since(start) / times;
    };
    once(fill, 1);
    const double first = once(sequence, 1);
    const int times = std::clamp(static_cast<int>(0.02 / std::max(first, 1e-6)), 1, 200);
    std::vector<float> own(settings.loops ? k.size() : 0);
    std::vector<double> seconds, fills, loop_seconds;
    for (int trial = 0; trial < settings.common.repeats; ++trial) {
        fills.push_back(once(fill, times));
        seconds.push_back(once(sequence, times));
        if (!settings.loops) continue;
        const auto start = Clock::now();
        weft::tool::cpu_kernel_of_features(circuit, x, c.samples, own, weft::tool::cpu_threads());
        loop_seconds.push_back(seconds_since(start));
    }
    Resident result{median(seconds), median(fills)};
    if (settings.loops) {
        result.loop_seconds = median(loop_seconds);
        verified(c, x, circuit, own,
                 1e-4);  // the loops use a single float sum and states that are not normalised
    }
    profile_once(backend, stream, result, [&](weft::Stream& s) {
        weft::kernel_matrix(s, circuit, features, k, {c.samples, 0, c.qubits}, options);
    });
    result.worst = verified(c, x, circuit, stream.download(k), bound_of(c));
    return result;
}

// Times a call from host memory to host memory, page-locked or ordinary.
template <class Memory>
double run_streamed(weft::Backend& backend, const Settings& settings, const Case& c,
                    const std::vector<float>& x, const weft::KernelMatrixCircuit& circuit, Memory& k) {
    std::vector<double> seconds;
    for (int trial = 0; trial < std::max(2, settings.common.repeats / 2) + 1; ++trial) {
        const auto start = Clock::now();
        weft::kernel_matrix(backend, circuit, x, std::span<float>(k), {c.samples, 0, c.qubits});
        if (trial > 0 || c.samples * c.samples > (1u << 27)) seconds.push_back(seconds_since(start));
    }
    verified(c, x, circuit, std::span<const float>(k.data(), k.size()), bound_of(c));
    return median(seconds);
}

Json run_case(weft::Backend& backend, const Settings& settings, const Case& c) {
    const std::vector<float> x = features_of(c);
    const std::vector<double> weights = weights_of(settings, c.qubits);
    const weft::KernelMatrixCircuit circuit{weft::feature_map(settings.map), weft::ConstHostArray(weights),
                                            c.reupload, 1.0};
    const weft::KernelMatrixShape shape{c.samples, 0, c.qubits};
    const weft::KernelMatrixEstimate plan = weft::estimate_kernel_matrix(backend, circuit, shape);
    const Resident resident = run_resident(backend, settings, c, x, circuit, {});
    const double pairs = static_cast<double>(shape.pairs());
    Json row{{"samples", c.samples},
             {"qubits", c.qubits},
             {"reupload", c.reupload},
             {"method", weft::to_string(plan.method)},
             {"resident_ms", resident.seconds * 1e3},
             {"resident_mpairs_per_s", pairs / resident.seconds * 1e-6},
             {"tflops", pairs * plan.pair_flops / resident.seconds * 1e-12},
             {"fill_ms", resident.fill_seconds * 1e3},
             {"of_fill", resident.fill_seconds / resident.seconds},
             {"form", plan.gram_method},
             {"of_gram", resident.gram_seconds / resident.seconds},
             {"gram_tflops",
              resident.gram_seconds > 0 ? pairs * plan.pair_flops / resident.gram_seconds * 1e-12 : 0.0},
             {"kernels_ms", resident.kernels},
             {"loops_ms", resident.loop_seconds * 1e3},
             {"worst_error", resident.worst}};
    if (!settings.resident_only) {
        std::vector<float> ordinary(c.samples * c.samples);
        row["host_ms"] = run_streamed(backend, settings, c, x, circuit, ordinary) * 1e3;
        ordinary = {};
        weft::HostBuffer<float> locked(backend, c.samples * c.samples);
        std::span<float> span = locked.span();
        row["locked_ms"] = run_streamed(backend, settings, c, x, circuit, span) * 1e3;
    }
    std::printf(
        "%6llu %3u %-3s %-8s %10.3f ms %12.1f Mpairs/s %7.2f TF/s %7.2f in Gram %5.2f of fill %5.2f Gram "
        "%9.2f ms "
        "host %9.2f ms locked  err %.1e %s\n",
        static_cast<unsigned long long>(c.samples), c.qubits, c.reupload ? "yes" : "no",
        weft::to_string(plan.method), resident.seconds * 1e3, pairs / resident.seconds * 1e-6,
        row["tflops"].get<double>(), row["gram_tflops"].get<double>(), row["of_fill"].get<double>(),
        row["of_gram"].get<double>(), row.value("host_ms", 0.0), row.value("locked_ms", 0.0), resident.worst,
        plan.gram_method.c_str());
    if (settings.loops)
        std::printf("           C++ loops, all cores %10.3f ms: the device reaches %.2f of their speed\n",
                    resident.loop_seconds * 1e3, resident.loop_seconds / resident.seconds);
    if (settings.programs)
        for (const auto& [name, ms] : resident.kernels.items())
            std::printf("           %-16s %10.3f ms\n", name.c_str(), ms.get<double>());
    return row;
}

// The seconds that a separate pass for the squared modulus would take to write and read the complex products
// of half of K.
double unfused_pass(weft::Backend& backend, const Case& c) {
    const weft::Buffer<float> from(backend, c.samples * c.samples), to(backend, c.samples * c.samples);
    weft::Stream stream{backend};
    std::vector<double> seconds;
    for (int trial = 0; trial < 4; ++trial) {
        const auto start = Clock::now();
        stream.copy<float>(from.view(), to.view());
        stream.wait();
        if (trial > 0) seconds.push_back(seconds_since(start));
    }
    return median(seconds);
}

// Measures the gain from bulk states, measured tiles, symmetry and the fused epilogue, into host memory.
Json run_ablations(weft::Backend& backend, const Settings& settings, const Case& c) {
    const std::vector<float> x = features_of(c);
    const std::vector<double> weights = weights_of(settings, c.qubits);
    const weft::KernelMatrixCircuit circuit{weft::feature_map(settings.map), weft::ConstHostArray(weights),
                                            true, 1.0};
    weft::HostBuffer<float> k(backend, c.samples * c.samples);
    Json rows = Json::array();
    const auto tell = [&](const char* what, const std::function<void()>& run) {
        run();
        std::vector<double> seconds;
        for (int trial = 0; trial < 3; ++trial) {
            const auto start = Clock::now();
            run();
            seconds.push_back(seconds_since(start));
        }
        verified(c, x, circuit, k.span(), bound_of(c));
        const double pairs = static_cast<double>(c.samples) * static_cast<double>(c.samples + 1) / 2;
        std::printf("%6llu %3u %-24s %9.2f ms %10.1f Mpairs/s\n", static_cast<unsigned long long>(c.samples),
                    c.qubits, what, median(seconds) * 1e3, pairs / median(seconds) * 1e-6);
        rows.push_back({{"what", what}, {"ms", median(seconds) * 1e3}});
    };
    const auto square = [&](const weft::KernelMatrixHostOptions& options) {
        weft::kernel_matrix(backend, circuit, x, k.span(), {c.samples, 0, c.qubits}, options);
    };
    const auto tile = static_cast<std::int64_t>(c.samples / 8);
    tell("all", [&] { square({}); });
    tell("no autotune", [&] { square({.autotune = weft::Choice::off}); });
    if (!rows.empty()) {
        const double all = rows[0]["ms"], pass = unfused_pass(backend, c) * 1e3;
        std::printf("%6llu %3u %-24s %9.2f ms: with a pass of %.2f ms, measured separately\n",
                    static_cast<unsigned long long>(c.samples), c.qubits, "epilogue not fused", all + pass,
                    pass);
        rows.push_back({{"what", "epilogue not fused"}, {"ms", all + pass}});
    }
    tell("no bulk states, 8 tiles", [&] { square({.state_tile = tile, .bulk_states = weft::Choice::off}); });
    tell("not symmetric", [&] {
        weft::kernel_matrix(backend, circuit, x, x, k.span(), {c.samples, c.samples, c.qubits});
    });
    return rows;
}

std::vector<Case> cases_of(const Settings& settings) {
    std::vector<Case> cases;
    for (const bool reupload : {false, true}) {
        if (settings.reupload != "both" && (settings.reupload == "on") != reupload) continue;
        for (const std::uint64_t samples : settings.samples)
            for (const std::uint32_t qubits : settings.qubits) cases.push_back({samples, qubits, reupload});
    }
    return cases;
}

bool run(const Settings& settings, Json& report) {
    weft::Backend backend;
    std::printf("%s, map %s, %llu layers, float32\n", backend.name().c_str(), settings.map.c_str(),
                static_cast<unsigned long long>(settings.layers));
    report = {{"device", backend.name()}, {"map", settings.map}, {"rows", Json::array()}};
    for (const Case& c : cases_of(settings))
        report["rows"].push_back(settings.ablations ? run_ablations(backend, settings, c)
                                                    : run_case(backend, settings, c));
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Kernel matrices: pairs a second, resident and into host memory"};
    app.add_option("--samples", settings.samples, "Rows of X")->delimiter(',');
    app.add_option("--qubits", settings.qubits, "Columns of X")->delimiter(',');
    app.add_option("--map", settings.map, "ry or ryrz")->capture_default_str();
    app.add_option("--layers", settings.layers, "Of the circuit")->capture_default_str();
    app.add_option("--reupload", settings.reupload, "on, off or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"on", "off", "both"}));
    app.add_flag("--resident", settings.resident_only, "Leave host memory out");
    app.add_flag("--programs", settings.programs, "Device time of each program");
    app.add_flag("--loops", settings.loops, "Compare with loops in C++ on all cores");
    app.add_flag("--ablations", settings.ablations,
                 "The gain from bulk states, autotune, symmetry and the fused epilogue, with re-upload");
    const auto make_quick = [&] {
        settings.samples = {100};
        settings.qubits = {4, 7};
        settings.loops = true;
    };
    return bench::run("bench_kernel_matrix", app, settings.common, argc, argv, make_quick,
                      [&](Json& report) { return run(settings, report); });
}
