// SPDX-License-Identifier: Apache-2.0
// Compares weft on Vulkan, weft on CUDA, and the best independent way to do the same, on one NVIDIA card in one
// run. Figures are medians of turns, and every row is verified. tools/race-h100.sh runs it and PyTorch's rows.
#include "bench_race.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>

#include <weft/cuda/device.hpp>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

}  // namespace

void race(const Settings& settings, const std::string& row, double bytes, double flops,
          const std::vector<Runner>& runners) {
    struct Times {
        std::vector<double> wall, device;
        double median_of_what_counts() const { return median(device) > 0 ? median(device) : median(wall); }
    };
    std::vector<Times> times(runners.size());
    for (const Runner& runner : runners) runner.run();  // warms up: makes everything that is made once
    for (const Runner& runner : runners) runner.verify();
    for (int t = 0; t < settings.trials; ++t)
        for (std::size_t i = 0; i < runners.size(); ++i) {
            const auto begin = Clock::now();
            times[i].device.push_back(runners[i].run());
            times[i].wall.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
        }
    const double first = times[0].median_of_what_counts();
    for (std::size_t i = 0; i < runners.size(); ++i) {
        const double seconds = times[i].median_of_what_counts();
        std::printf("%-32s %-20s %10.3f %10.3f %9.1f %-8s %6.3f\n", row.c_str(), runners[i].name.c_str(),
                    1e3 * median(times[i].device), 1e3 * median(times[i].wall),
                    (flops != 0 ? flops / 1e12 : bytes / 1e9) / seconds, flops != 0 ? "TFLOP/s" : "GB/s",
                    seconds / first);
    }
    std::fflush(stdout);
}

std::vector<std::uint64_t> field_elements(const weft::FieldInfo& field, std::size_t count,
                                          std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> limbs(count * field.limbs);
    for (std::size_t i = 0; i < limbs.size(); ++i)
        limbs[i] = i % field.limbs + 1 == field.limbs ? random() % field.modulus[field.limbs - 1] : random();
    return limbs;
}

void add_on_cpu(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out, std::size_t count) {
    const auto& p = weft::field_info(weft::Field::bls12_381_fp).modulus;
    using Wide = unsigned __int128;
    for (std::size_t e = 0; e < count; ++e, a += 6, b += 6, out += 6) {
        std::uint64_t sum[6], less[6];
        Wide carry = 0;
        for (int i = 0; i < 6; ++i) {
            carry += Wide{a[i]} + b[i];
            sum[i] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const Wide difference = Wide{sum[i]} - p[i] - borrow;
            less[i] = static_cast<std::uint64_t>(difference);
            borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
        }
        std::memcpy(out, borrow != 0 ? sum : less, sizeof sum);
    }
}

}  // namespace bench

int main(int argc, char** argv) try {
    bench::Settings settings;
    std::string part;
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], "--quick") == 0)
            settings = {true, 3};
        else
            part = argv[i];
    const auto wanted = [&](const char* name) { return part.empty() || part == name; };
    using Part = void (*)(weft::Backend&, const bench::Settings&);
    const std::pair<const char*, Part> parts[] = {
        {"copy", bench::race_copies},      {"field", bench::race_fields},
        {"encode", bench::race_encoders},  {"lattice", bench::race_lattices},
        {"product", bench::race_products}, {"gram", bench::race_gram},
        {"streamed", bench::race_streamed}};
    if (std::none_of(std::begin(parts), std::end(parts), [&](const auto& p) { return wanted(p.first); }))
        throw std::runtime_error("no such part (got " + part +
                                 ", need copy, field, encode, lattice, product, gram or streamed)");
    weft::Backend backend;
    const std::vector<weft::cuda::DeviceInfo> devices = weft::cuda::list_devices();
    const auto same = std::find_if(devices.begin(), devices.end(),
                                   [&](const auto& d) { return d.uuid == backend.device().uuid; });
    if (same == devices.end()) throw std::runtime_error("CUDA does not show the device that Vulkan runs on");
    bench::cuda_check(cudaSetDevice(same->ordinal));
    std::printf(
        "%s, %s; medians of %d turns. Rates are by the device's clock, or by the wall clock if there is none;\n"
        "the last column is the time divided by that of weft on Vulkan\n\n",
        same->name.c_str(), backend.device().driver.c_str(), settings.trials);
    std::printf("%-32s %-20s %10s %10s %18s %6s\n", "row", "by", "device ms", "wall ms", "rate", "ratio");
    for (const auto& [name, run] : parts)
        if (wanted(name)) run(backend, settings);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_race: %s\n", error.what());
    return 1;
}
