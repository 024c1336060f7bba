// SPDX-License-Identifier: Apache-2.0
// The smallest program that shows that the headers, the library and its private dependencies fit together:
// three additions on a device.
#include <array>
#include <cstdint>
#include <cstdio>

#include <weft/weft.hpp>

namespace {
using Element = std::array<std::uint64_t, weft::kBls12381FpLimbs>;

constexpr Element kLast{0xb9feffffffffaaaa, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                        0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};  // p - 1
}  // namespace

int main() try {
    static_assert(WEFT_VERSION ==
                  WEFT_VERSION_MAJOR * 1000000 + WEFT_VERSION_MINOR * 1000 + WEFT_VERSION_PATCH);
    const std::array<Element, 3> a{Element{1}, kLast, Element{0xffffffffffffffff}};
    const std::array<Element, 3> b{Element{2}, Element{1}, Element{1}};
    const std::array<Element, 3> expected{Element{3}, Element{0}, Element{0, 1}};

    std::array<Element, 3> sum{};
    weft::Backend backend;
    const auto limbs = [](auto& elements) { return std::span(elements.front().data(), elements.size() * 6); };
    weft::field_add(backend, weft::Field::bls12_381_fp, limbs(a), limbs(b), limbs(sum));
    if (sum != expected) {
        std::fprintf(stderr, "field_add: wrong sum\n");
        return 1;
    }
    std::printf("weft %s on %s\n", WEFT_VERSION_STRING, backend.name().c_str());
} catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
