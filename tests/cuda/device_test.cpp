// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/dlpack.hpp>

#include <dlfcn.h>

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "cuda/check.hpp"
#include "cuda/device_match.hpp"
#include "support/gpu_fixture.hpp"

namespace {

bool driver_installed() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr;
}

}  // namespace

TEST_CASE("list_devices: without a driver the error names what is missing, otherwise each device is listed") {
    if (!driver_installed()) {
        weft_test::check_error(weft::Errc::no_device,
                               "cuda::list_devices: no NVIDIA driver (libcuda.so.1 cannot be opened)",
                               [] { weft::cuda::list_devices(); });
        return;
    }
    try {
        for (const weft::cuda::DeviceInfo& d : weft::cuda::list_devices()) {
            CHECK_FALSE(d.name.empty());
            CHECK_EQ(d.uuid.size(), 32u);
            CHECK_EQ(d.uuid.find_first_not_of("0123456789abcdef"), std::string::npos);
            CHECK_GE(d.compute_major, 5);
        }
    } catch (const weft::Error& e) {
        // There is a driver, but no device, or all devices are hidden.
        CHECK(e.code() == weft::Errc::no_device);
        CHECK(std::string_view(e.what()).starts_with("cuda::list_devices: "));
    }
}

TEST_CASE("check: which results of CUDA mean that a device is lost") {
    using weft::Errc;
    const auto code_of = [](cudaError_t result) {
        try {
            weft::cuda::check(result, "call", "cudaStreamSynchronize");
        } catch (const weft::Error& error) {
            CHECK(error.native_code() == result);
            CHECK(std::string(error.what()).starts_with("call: "));
            CHECK(std::string(error.what()).find(cudaGetErrorName(result)) != std::string::npos);
            return error.code();
        }
        FAIL("nothing was thrown");
        return Errc::driver;
    };
    CHECK_NOTHROW(weft::cuda::check(cudaSuccess, "call", "cudaStreamSynchronize"));
    for (const cudaError_t lost :
         {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout, cudaErrorAssert,
          cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace,
          cudaErrorInvalidPc, cudaErrorHardwareStackError, cudaErrorContained, cudaErrorTensorMemoryLeak,
          cudaErrorMpsClientTerminated, cudaErrorExternalDevice, cudaErrorECCUncorrectable,
          cudaErrorNvlinkUncorrectable, cudaErrorDeviceUninitialized, cudaErrorContextIsDestroyed}) {
        CAPTURE(static_cast<int>(lost));
        CHECK(code_of(lost) == Errc::device_lost);
    }
    // The device works on after these.
    CHECK(code_of(cudaErrorMemoryAllocation) == Errc::out_of_memory);
    CHECK(code_of(cudaErrorNotSupported) == Errc::unsupported);
    CHECK(code_of(cudaErrorDevicesUnavailable) == Errc::no_device);
    for (const cudaError_t other : {cudaErrorInvalidValue, cudaErrorInvalidResourceHandle, cudaErrorNotReady,
                                    cudaErrorLaunchOutOfResources, cudaErrorUnknown}) {
        CAPTURE(static_cast<int>(other));
        CHECK(code_of(other) == Errc::driver);
    }
}

TEST_CASE("Device: a Vulkan device that CUDA does not have is refused with both sides' UUIDs") {
    const std::vector<weft::cuda::DeviceInfo> devices{{0, "NVIDIA A", std::string(32, 'a'), 9, 0},
                                                      {1, "NVIDIA B", std::string(32, 'b'), 9, 0}};
    CHECK(weft::cuda::match_device(devices, "b", std::string(32, 'b')).ordinal == 1);
    weft_test::check_error(
        weft::Errc::no_device,
        "got NVIDIA A aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, NVIDIA B bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
        "need llvmpipe cccccccccccccccccccccccccccccccc",
        [&] { weft::cuda::match_device(devices, "llvmpipe", std::string(32, 'c')); });
    weft_test::check_error(weft::Errc::no_device, "got none, need llvmpipe cccc",
                           [&] { weft::cuda::match_device({}, "llvmpipe", std::string(32, 'c')); });
}

TEST_CASE("find_device: takes the same settings as Vulkan's devices") {
    const std::vector<weft::cuda::DeviceInfo> devices{{0, "NVIDIA A", std::string(32, 'a'), 9, 0},
                                                      {1, "NVIDIA B", std::string(32, 'b'), 9, 0}};
    const std::pair<const char*, int> rows[] = {{"", 0},
                                                {"1", 1},
                                                {"01", 1},
                                                {"nvidia", 0},
                                                {"a b", 1},
                                                {"BBBB", 1},
                                                {"bb-bb", 1},
                                                {"NVIDIA B", 1},
                                                // Of a list, the first.
                                                {"all", 0},
                                                {"1,0", 1},
                                                {"bbbb, all", 1}};
    for (const auto& [setting, ordinal] : rows) {
        CAPTURE(setting);
        CHECK(weft::cuda::named_devices("cuda::find_device", devices, setting).front().ordinal == ordinal);
    }
    const std::string there =
        "\" (need an index, the first 4 or more digits of a UUID, a part of a name, all, or a list of these "
        "with "
        "commas between; there is 0: NVIDIA A; 1: NVIDIA B)";
    const std::pair<const char*, const char*> wrong[] = {
        {"2", "2"}, {"cpu", "cpu"}, {"bbb", "bbb"}, {"radeon", "radeon"}, {"0,cpu", "cpu"}};
    for (const auto& [setting, name] : wrong) {
        CAPTURE(setting);
        weft_test::check_error(
            weft::Errc::invalid_argument,
            std::string("cuda::find_device: no device matches \"") + name + there,
            [&, s = setting] { weft::cuda::named_devices("cuda::find_device", devices, s); });
    }
    for (const char* setting : {" ", "0,,1"})
        weft_test::check_error(weft::Errc::invalid_argument,
                               "cuda::find_device: the device setting has an empty name",
                               [&] { weft::cuda::named_devices("cuda::find_device", devices, setting); });
}

TEST_CASE("Device: on a software device the error says what is missing") {
    weft_test::on_device([](weft::Backend& backend) {
        if (backend.device().type != weft::DeviceType::cpu) return;
        const char* part = driver_installed() ? "no CUDA device is the backend's GPU" : "no NVIDIA driver";
        weft_test::check_error(weft::Errc::no_device, part,
                               [&] { const weft::cuda::Device device(backend); });
    });
}

TEST_CASE("dlpack_stream: all values that Python may pass") {
    using weft::cuda::dlpack_stream;
    CHECK_FALSE(dlpack_stream(-1));
    CHECK(reinterpret_cast<std::intptr_t>(dlpack_stream(1).value()) == 1);
    CHECK(reinterpret_cast<std::intptr_t>(dlpack_stream(0x7f00).value()) == 0x7f00);
    for (const std::intptr_t wrong : {0, -2})
        weft_test::check_error(weft::Errc::invalid_argument, "no stream (got", [&] { dlpack_stream(wrong); });
}

TEST_CASE("DeviceSpan: a subspan is checked, a writable span is a readable one") {
    std::array<int, 8> words{};  // host memory is enough, because a span never reads its elements
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
