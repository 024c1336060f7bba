// SPDX-License-Identifier: Apache-2.0
// Encoders: samples a second on resident values, and streamed from page-locked and from ordinary memory,
// beside what the device's memory and copies can do in the same run.
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "bench_encode.hpp"

namespace bench {

using weft::c32;
using weft::EncodeMethod;

std::vector<double> values_for(EncodeMethod method, std::uint64_t samples, std::uint32_t qubits) {
    const std::uint64_t features = weft::encode_features(method, qubits);
    std::vector<double> values(samples * features);
    const std::uint64_t period = method == EncodeMethod::amplitude ? features : 17;
    auto at = values.begin();
    for (std::uint64_t s = 0; s < samples; ++s) {
        if (method == EncodeMethod::basis) {
            *at++ = static_cast<double>((977 * s) & ((1u << qubits) - 1));
            continue;
        }
        std::uint64_t place = s % period;  // divisions would take longer than all that is measured
        for (std::uint64_t k = 0; k < features; ++k) {
            *at++ = method == EncodeMethod::amplitude ? static_cast<double>(place + 1)
                                                      : 0.37 * static_cast<double>(place);
            if (++place == period) place = 0;
        }
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

Settings parse(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Encoders beside the ceilings of memory and copies", "bench_encode"};
    app.add_option("--trials", settings.trials, "Trials of each measurement")->check(CLI::Range(1, 1000));
    app.add_option("--qubits", settings.qubits, "Numbers of qubits")
        ->check(CLI::Range(1, 24))
        ->delimiter(',');
    app.add_option("--mib", settings.mib, "MiB of values and states of a case; default: by device")
        ->check(CLI::Range(1, 65536));
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
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // rows as they are measured, also into a file
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
