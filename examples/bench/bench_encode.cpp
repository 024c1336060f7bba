// SPDX-License-Identifier: Apache-2.0
// Encoders: samples a second on resident values, and streamed from page-locked and from ordinary memory,
// beside what the device's memory and copies can do in the same run.
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "bench_encode.hpp"

namespace bench {

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

void Verified::add(const char* route, std::uint64_t index, EncodeMethod method, std::span<const double> row,
                   std::span<const weft::c32> state) try {
    states.add(check_state(method, row, state));
    rows.push_back(index);
} catch (const weft::Error& error) {
    throw weft::Error(error.code(),
                      std::string(route) + ", row " + std::to_string(index) + ": " + error.what());
}

nlohmann::json Verified::json() const {
    return {{"rows", rows},
            {"amplitudes", states.amplitudes},
            {"largest_error", states.error},
            {"bound", states.bound}};
}

namespace {

Settings parse(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Encoders beside the ceilings of memory and copies", "bench_encode"};
    const CLI::Option& trials = *app.add_option("--trials", settings.trials, "Trials of each measurement")
                                     ->check(CLI::Range(1, 1000));
    const CLI::Option& qubits = *app.add_option("--qubits", settings.qubits, "Numbers of qubits")
                                     ->check(CLI::Range(1, 24))
                                     ->delimiter(',');
    app.add_option("--mib", settings.mib, "MiB of values and states of a case; default: by device")
        ->check(CLI::Range(1, 65536));
    app.add_option("--methods", settings.methods, "Methods")->delimiter(',');
    app.add_flag("--quick", settings.quick, "Unless said otherwise 8 qubits, 1 MiB, one trial: does it run?");
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
    if (settings.quick && trials.empty()) settings.trials = 1;
    if (settings.quick && qubits.empty()) settings.qubits = {8};
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
    if (json.is_open() && !(json << out.dump(2) << std::endl))  // a full disk is found by the flush
        throw std::runtime_error(settings.json + " cannot be written");
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw std::runtime_error("standard output cannot be written");
    return 0;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader ? 3 : 4;
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return 4;
}
