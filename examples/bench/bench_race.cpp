// SPDX-License-Identifier: Apache-2.0
// Compares weft on Vulkan, weft on CUDA, and the best independent way to do the same, on one NVIDIA card in
// one run. Figures are medians of turns, and every row is verified. tools/race-h100.sh runs it and PyTorch's
// rows.
#include "bench_race.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <weft/cuda/device.hpp>

#include "cpu/cpu_field.hpp"
#include "cpu/cpu_threads.hpp"

namespace bench {

void race(const Settings& settings, const std::string& row, double bytes, double flops,
          const std::vector<Runner>& runners) {
    struct Times {
        std::vector<double> wall, device;
        double median_of_what_counts() const { return median(device) > 0 ? median(device) : median(wall); }
    };
    std::vector<Times> times(runners.size());
    for (const Runner& runner : runners) runner.run();  // warms up: makes everything that is made once
    for (const Runner& runner : runners) runner.verify();
    for (int t = 0; t < settings.repeats; ++t)
        for (std::size_t i = 0; i < runners.size(); ++i) {
            const auto begin = Clock::now();
            times[i].device.push_back(runners[i].run());
            times[i].wall.push_back(seconds_since(begin));
        }
    const double first = times[0].median_of_what_counts();
    for (std::size_t i = 0; i < runners.size(); ++i) {
        const double seconds = times[i].median_of_what_counts();
        const double rate = (flops != 0 ? flops / 1e12 : bytes / 1e9) / seconds;
        const char* const unit = flops != 0 ? "TFLOP/s" : "GB/s";
        const double device_ms = 1e3 * median(times[i].device), wall_ms = 1e3 * median(times[i].wall);
        std::printf("%-32s %-20s %10.3f %10.3f %9.1f %-8s %6.3f\n", row.c_str(), runners[i].name.c_str(),
                    device_ms, wall_ms, rate, unit, seconds / first);
        settings.rows->push_back({{"row", row},
                                  {"by", runners[i].name},
                                  {"device_ms", device_ms},
                                  {"wall_ms", wall_ms},
                                  {"rate", rate},
                                  {"unit", unit},
                                  {"ratio", seconds / first}});
    }
}

std::vector<std::uint64_t> add_on_cpu(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    std::vector<std::uint64_t> sums(a.size());
    weft::tool::cpu_field<std::uint64_t>(weft::field_info(weft::Field::bls12_381_fp), weft::FieldOp::add,
                                         {.a = a, .b = b, .out = sums}, weft::tool::cpu_threads());
    return sums;
}

namespace {

using Part = void (*)(weft::Backend&, const Settings&);
constexpr std::pair<const char*, Part> kParts[] = {{"copy", race_copies},      {"field", race_fields},
                                                   {"encode", race_encoders},  {"lattice", race_lattices},
                                                   {"product", race_products}, {"gram", race_gram},
                                                   {"streamed", race_streamed}};

bool race_all(Settings& settings, const std::string& only, Json& report) {
    weft::Backend backend;
    const std::vector<weft::cuda::DeviceInfo> devices = weft::cuda::list_devices();
    const auto same = std::find_if(devices.begin(), devices.end(),
                                   [&](const auto& d) { return d.uuid == backend.device().uuid; });
    if (same == devices.end()) throw std::runtime_error("CUDA does not show the device that Vulkan runs on");
    cuda_check(cudaSetDevice(same->ordinal));
    std::printf(
        "%s, %s; medians of %d turns. Rates are by the device's clock, or by the wall clock if there is "
        "none;\n"
        "the last column is the time divided by that of weft on Vulkan\n\n",
        same->name.c_str(), backend.device().driver.c_str(), settings.repeats);
    report = {{"device", same->name}, {"driver", backend.device().driver}, {"rows", Json::array()}};
    settings.rows = &report["rows"];
    std::printf("%-32s %-20s %10s %10s %18s %6s\n", "row", "by", "device ms", "wall ms", "rate", "ratio");
    for (const auto& [name, part] : kParts)
        if (only.empty() || only == name) part(backend, settings);
    return true;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
    bench::Settings settings{{.repeats = 9}};
    std::string only;
    CLI::App app{"weft on Vulkan, weft on CUDA and others, on one NVIDIA card in one run."};
    std::vector<std::string> parts;
    for (const auto& [name, part] : bench::kParts) parts.emplace_back(name);
    app.add_option("PART", only, "The rows to run; without it all of them")->check(CLI::IsMember(parts));
    return bench::run(
        "bench_race", app, settings, argc, argv, [] {},
        [&](bench::Json& report) { return bench::race_all(settings, only, report); });
}
