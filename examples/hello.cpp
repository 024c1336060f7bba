// SPDX-License-Identifier: Apache-2.0
// Adds a million field elements on the best device of this machine, and prints the speed.
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

int main() try {
    constexpr std::size_t kElements = 1'000'000;  // BLS12-381 Fp, six 64-bit limbs each
    std::vector<std::uint64_t> a(kElements * weft::kBls12381FpLimbs, 0), b = a, sum = a;
    for (std::size_t i = 0; i < kElements; ++i) {
        a[i * weft::kBls12381FpLimbs] = i;                  // least significant limb first
        b[i * weft::kBls12381FpLimbs] = ~std::uint64_t{0};  // makes every addition carry
    }

    weft::Backend backend;  // best device; WEFT_* and GPU_* apply
    // Cuts the arrays into chunks, overlaps their copies and kernels, and returns when `sum` is there.
    const weft::OpReport report = weft::field_add(backend, weft::Field::bls12_381_fp, a, b, sum);

    const std::uint64_t* last = &sum[(kElements - 1) * weft::kBls12381FpLimbs];
    std::printf("%s: %.2f ms, %.1f GB/s\n", backend.name().c_str(), report.wall_s * 1e3, report.gb_per_s());
    std::printf("999999 + (2^64 - 1) = %llu * 2^64 + %llu\n", static_cast<unsigned long long>(last[1]),
                static_cast<unsigned long long>(last[0]));
    return last[0] == 999998 && last[1] == 1 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
