// SPDX-License-Identifier: Apache-2.0
// Streams field additions: jobs of any size over the caller's own arrays, with overlapped uploads and
// downloads.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

int main() try {
    weft::Backend backend;

    // Eight jobs of different sizes; an element is 6 limbs, least significant first.
    std::vector<weft::HostBuffer<std::uint64_t>> a, b, out;
    std::vector<weft::FieldJob> jobs;
    for (std::size_t n = 1; n <= 8; ++n) {
        const std::size_t limbs = n * 100000 * weft::kBls12381FpLimbs;
        a.emplace_back(backend, limbs);  // page-locked: no staging copy; a std::vector works too
        b.emplace_back(backend, limbs);
        out.emplace_back(backend, limbs);
        for (std::size_t i = 0; i < limbs; ++i) {
            a.back()[i] = i % 6 == 0 ? i : 0;  // small values, so the sums are easy to see
            b.back()[i] = i % 6 == 0 ? n : 0;
        }
        jobs.push_back({.a = a.back().span(), .b = b.back().span(), .out = out.back().span()});
    }

    // check_values refuses values that are not below p before anything runs; the text names job and element.
    const weft::OpReport report = weft::field_batch(backend, weft::Field::bls12_381_fp, weft::FieldOp::add,
                                                    jobs, {.check_values = true});

    std::printf("%s: %llu jobs, %llu elements in %.2f ms, %.2f GB/s, %.0f%% overlapped\n",
                backend.name().c_str(), static_cast<unsigned long long>(report.jobs),
                static_cast<unsigned long long>(report.items), 1e3 * report.wall_s, report.gb_per_s(),
                100 * report.overlap());
    const bool right = out[7][60] == 68;  // element 10 of job 7: 60 + 8
    return right ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
