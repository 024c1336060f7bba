// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda_device.hpp>
#include <weft/cuda_memory.hpp>

#include <dlfcn.h>

#include <array>

#include <doctest/doctest.h>

#include "support/gpu_fixture.hpp"

namespace {

bool driver_installed() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr;
}

}  // namespace

TEST_CASE("list_devices: without a driver the error names what is missing, otherwise each device is told") {
    if (!driver_installed()) {
        weft_test::check_error(weft::Errc::no_device,
                               "cuda::list_devices: no NVIDIA driver (libcuda.so.1 cannot be opened)",
                               [] { weft::cuda::list_devices(); });
        return;
    }
    for (const weft::cuda::DeviceInfo& d : weft::cuda::list_devices()) {
        CHECK_FALSE(d.name.empty());
        CHECK_EQ(d.uuid.size(), 32u);
        CHECK_EQ(d.uuid.find_first_not_of("0123456789abcdef"), std::string::npos);
        CHECK_GE(d.compute_major, 5);
    }
}

TEST_CASE("DeviceSpan: a subspan is checked, a writable span is a readable one") {
    std::array<int, 8> words{};  // host memory: a span never looks at what it spans
    const weft::cuda::DeviceSpan<int> all{words.data(), words.size()};
    CHECK_EQ(all.bytes(), 32u);
    const weft::cuda::DeviceSpan<const int> part = all.subspan(3, 5);
    CHECK_EQ(part.data(), words.data() + 3);
    CHECK_EQ(part.size(), 5u);
    CHECK(all.subspan(8, 0).empty());
    CHECK(weft::cuda::DeviceSpan<int>{}.empty());
    for (const auto& [first, count] : {std::pair{std::size_t{9}, std::size_t{0}},
                                       {std::size_t{3}, std::size_t{6}},
                                       {std::size_t{1}, ~std::size_t{0}}})
        weft_test::check_error(weft::Errc::invalid_argument, "range beyond the end (got first",
                               [&, f = first, c = count] { all.subspan(f, c); });
}
