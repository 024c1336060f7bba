// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"
#include "support/snapshots.hpp"

namespace {

using weft::Config;
using weft::DeviceType;
using weft::Errc;
using namespace weft::core;
using namespace weft::test;

using Devices = std::vector<DeviceSnapshot>;
using Texts = std::vector<std::string>;
using Indices = std::vector<std::uint32_t>;

std::uint32_t choose(const Devices& devices, const std::string& wanted = "") {
    Config config;
    config.device = wanted;
    return choose_device(devices, config);
}

std::string failure(const Devices& devices, const std::string& wanted, Errc expected) {
    try {
        choose(devices, wanted);
    } catch (const weft::Error& error) {
        CHECK(error.code() == expected);
        return error.what();
    }
    return "chosen";
}

DeviceSnapshot typed(DeviceType type, std::uint8_t id) {
    DeviceSnapshot device = amd_full_bar();
    device.type = type;
    identify(device, id, 0x02);
    return device;
}

TEST_CASE("usable devices have no refusals") {
    for (const DeviceSnapshot& device :
         {h100(), amd_small_bar(), amd_full_bar(), intel_integrated(), lavapipe(), without_int64(),
          without_transfer_bit(), h100_by_second_driver()}) {
        CAPTURE(device.name);
        CHECK(refusals(device).empty());
    }
    DeviceSnapshot exact = h100();
    exact.api_minor = 2;
    CHECK(refusals(exact).empty());
    exact.api_major = 2;
    exact.api_minor = 0;
    CHECK(refusals(exact).empty());
}

TEST_CASE("refusals say what was found and what is needed") {
    CHECK(refusals(vulkan_1_1()) == Texts{"Vulkan 1.1 is too old (need 1.2)"});
    CHECK(refusals(without_timeline_semaphores()) ==
          Texts{"no timeline semaphores (need the feature timelineSemaphore)"});
    DeviceSnapshot device = h100();
    device.families = {family(1, "gt"), family(0, "c")};
    CHECK(refusals(device) == Texts{"no compute queue in 2 queue families (need one)"});
    device = h100();
    for (MemoryTypeSnapshot& type : device.memory_types) type.host_visible = false;
    CHECK(refusals(device) == Texts{"no host-visible memory in 5 memory types (need one)"});
    device = h100();
    for (MemoryTypeSnapshot& type : device.memory_types) type.device_local = false;
    CHECK(refusals(device) == Texts{"no device-local memory in 5 memory types (need one)"});
    CHECK(refusals(DeviceSnapshot{}).size() == 5);
}

TEST_CASE("automatic choice goes by type, memory, index") {
    const DeviceSnapshot discrete = typed(DeviceType::discrete, 1), cpu = lavapipe(),
                         integrated = typed(DeviceType::integrated, 2),
                         virtual_gpu = typed(DeviceType::virtual_gpu, 3), other = typed(DeviceType::other, 4);
    CHECK(choose({cpu, other, virtual_gpu, integrated, discrete}) == 4);
    CHECK(choose({cpu, other, virtual_gpu, integrated}) == 3);
    CHECK(choose({cpu, other, virtual_gpu}) == 2);
    CHECK(choose({cpu, other}) == 1);
    CHECK(choose({cpu}) == 0);
    CHECK(choose({amd_full_bar(), h100()}) == 1);
    CHECK(choose({h100(), amd_full_bar()}) == 0);
    // More memory does not outweigh the type.
    CHECK(choose({intel_integrated(), amd_full_bar()}) == 1);
    CHECK(choose({vulkan_1_1(), without_timeline_semaphores(), lavapipe()}) == 2);
    CHECK(choose({without_int64()}) == 0);
}

TEST_CASE("two equal GPUs are two devices, of one driver even with one UUID") {
    DeviceSnapshot first = h100(), second = h100();
    CHECK(choose({first, second}) == 0);
    second.heaps[0].bytes += kMiB;
    CHECK(choose({first, second}) == 1);
    second.uuid.fill(0xa2);
    CHECK(choose({first, second}) == 1);
    CHECK(choose({first, second}, "a1a1") == 0);
    CHECK(choose({first, second}, "a2a2") == 1);
}

TEST_CASE("one GPU through two drivers counts once, the first") {
    const DeviceSnapshot native = h100(), translated = h100_by_second_driver();
    CHECK(choose({native, translated}) == 0);
    CHECK(choose({translated, native}) == 0);
    // If the second one is requested, it is taken.
    CHECK(choose({native, translated}, "1") == 1);
    CHECK(choose({native, translated}, "translated") == 1);
    CHECK(choose({native, translated}, "h100") == 0);
    // A refused first driver does not hide a usable second one.
    DeviceSnapshot old_driver = native;
    old_driver.api_minor = 1;
    CHECK(choose({old_driver, translated}) == 1);
    // Two drivers differ in the driver's UUID or in its text.
    DeviceSnapshot same_driver_uuid = translated;
    same_driver_uuid.driver_uuid = native.driver_uuid;
    CHECK(choose({native, same_driver_uuid}) == 0);
    DeviceSnapshot same_text = translated;
    same_text.driver_text = native.driver_text;
    CHECK(choose({native, same_text}) == 0);
    // A UUID of zeros identifies nothing, so the larger one wins.
    DeviceSnapshot nameless = native, nameless_too = translated;
    nameless.uuid.fill(0);
    nameless_too.uuid.fill(0);
    CHECK(choose({nameless, nameless_too}) == 1);
}

TEST_CASE("a device is selected by index, cpu, UUID or name") {
    Devices devices = {h100(), amd_small_bar(), intel_integrated(), lavapipe()};
    const std::pair<const char*, std::uint32_t> rows[] = {
        {"0", 0},         {"3", 3},
        {"02", 2},        {"cpu", 3},
        {"CPU", 3},       {"b1b1", 1},
        {"B1b1-B1B1", 1}, {"c1c1c1c1-c1c1-c1c1-c1c1-c1c1c1c1c1c1", 2},
        {"radeon", 1},    {"UHD graphics", 2},
        {"LLVMpipe", 3},  {"770", 2},
        {"6800", 1},      {"80GB", 0},
        {"-", 2},
    };
    for (const auto& [wanted, index] : rows) {
        CAPTURE(wanted);
        CHECK(choose(devices, wanted) == index);
    }
    // An index comes before a UUID, and a UUID before a name.
    devices[3].name = "1";
    CHECK(choose(devices, "1") == 1);
    devices[3].name = "card b1b1";
    CHECK(choose(devices, "b1b1") == 1);
    devices[1].uuid.fill(0);
    CHECK(choose(devices, "b1b1") == 3);
    // A wrong index does not count as a part of a name, and blanks do not either.
    devices[3].name = "card 7 of 15, 256 bits";
    for (const char* wanted : {"7", "15", "25", "4"})
        CHECK(failure(devices, wanted, Errc::invalid_argument).find("no device matches") !=
              std::string::npos);
    CHECK(choose(devices, "256") == 3);
    CHECK(choose(devices, "7 of") == 3);
    // Four digits may be the start of a UUID; three digits are a part of a name.
    devices[3].name = "no match";
    CHECK(choose(devices, "c1c1") == 2);
    CHECK(failure(devices, "c1c", Errc::invalid_argument).find("no device matches \"c1c\"") !=
          std::string::npos);
}

TEST_CASE("of several matches the best usable one is taken") {
    DeviceSnapshot small = h100(), large = h100(), old = h100();
    identify(small, 0x11, 1);
    identify(large, 0x12, 1);
    identify(old, 0x13, 1);
    large.heaps[0].bytes *= 2;
    old.heaps[0].bytes *= 4;
    old.api_minor = 0;
    CHECK(choose({lavapipe(), small, old, large}, "nvidia") == 3);
    CHECK(choose({lavapipe(), lavapipe()}, "cpu") == 0);
}

TEST_CASE("without a match the error lists the devices") {
    const Devices devices = {h100(), vulkan_1_1()};
    const std::string there =
        " (need an index, the first 4 or more digits of a UUID, a part of a name, cpu, all, or a list of "
        "these with commas between; there is 0: NVIDIA H100 80GB HBM3; 1: Old card - Vulkan 1.1 is too old "
        "(need 1.2))";
    for (const char* wanted : {"cpu", "2", "-1", "99999999999", "radeon", "dead-beef"}) {
        CAPTURE(wanted);
        CHECK(failure(devices, wanted, Errc::invalid_argument) ==
              std::string("Backend: no device matches \"") + wanted + "\"" + there);
    }
    // Of a list, the text says which name it is.
    CHECK(failure(devices, "0, radeon", Errc::invalid_argument) ==
          "Backend: no device matches \"radeon\" of the setting \"0, radeon\"" + there);
}

TEST_CASE("a refused match is an error that gives the reasons, not another device") {
    const Devices devices = {h100(), vulkan_1_1(), without_timeline_semaphores()};
    for (const char* wanted : {"1", "old", "e3e3"}) {
        CAPTURE(wanted);
        CHECK(failure(devices, wanted, Errc::no_device) ==
              std::string("Backend: no usable device that \"") + wanted +
                  "\" matches (got 1: Old card - Vulkan 1.1 is too old (need 1.2))");
    }
    CHECK(failure(devices, "0,1", Errc::no_device) ==
          "Backend: no usable device that \"1\" of the setting \"0,1\" matches (got 1: Old card - Vulkan 1.1 "
          "is too old (need 1.2))");
    DeviceSnapshot refused_cpu = lavapipe();
    refused_cpu.timeline_semaphores = false;
    CHECK(failure({h100(), refused_cpu}, "cpu", Errc::no_device).find("no timeline semaphores") !=
          std::string::npos);
}

TEST_CASE("nothing usable: each device with its reasons; nothing at all: what to install") {
    CHECK(failure({vulkan_1_1(), without_timeline_semaphores()}, "", Errc::no_device) ==
          "Backend: no usable device (got 0: Old card - Vulkan 1.1 is too old (need 1.2); 1: Card without "
          "timelines - no timeline semaphores (need the feature timelineSemaphore))");
    for (const char* wanted : {"", "0", "cpu"}) {
        const std::string text = failure({}, wanted, Errc::no_device);
        CHECK(text.find("Backend: the Vulkan loader shows no device") == 0);
        CHECK(text.find("NVIDIA_DRIVER_CAPABILITIES=all") != std::string::npos);
    }
}

Indices choose_list(const Devices& devices, const std::string& wanted) {
    Config config;
    config.device = wanted;
    return choose_devices(devices, config);
}

TEST_CASE("all: every usable device, the best first; software only without anything else") {
    const DeviceSnapshot discrete = h100(), integrated = intel_integrated(), cpu = lavapipe(),
                         other = typed(DeviceType::other, 4);
    CHECK(choose_list({integrated, cpu, discrete, vulkan_1_1()}, "all") == Indices{2, 0});
    CHECK(choose_list({cpu, other}, "ALL") == Indices{1});
    CHECK(choose_list({cpu}, "all") == Indices{0});
    CHECK(choose_list({vulkan_1_1(), cpu, cpu}, "all") == Indices{1, 2});
    CHECK(choose_list({amd_full_bar(), discrete}, "all") == Indices{1, 0});
    // Two equal GPUs are two devices, even with one UUID; one GPU through two drivers is one.
    CHECK(choose_list({discrete, discrete}, "all") == Indices{0, 1});
    CHECK(choose_list({discrete, h100_by_second_driver(), cpu}, "all") == Indices{0});
    CHECK(choose_list({h100_by_second_driver(), discrete}, "all") == Indices{0});
    DeviceSnapshot old_driver = discrete;
    old_driver.api_minor = 1;
    CHECK(choose_list({old_driver, h100_by_second_driver()}, "all") == Indices{1});
    // With "cpu" the software device works along.
    CHECK(choose_list({cpu, discrete}, "all,cpu") == Indices{1, 0});
    CHECK(failure({vulkan_1_1()}, "all", Errc::no_device).find("that \"all\" matches (got 0: Old card") !=
          std::string::npos);
    CHECK(failure({}, "all", Errc::no_device).find("the Vulkan loader shows no device") != std::string::npos);
}

TEST_CASE("a list: each name adds the usable devices that it matches") {
    DeviceSnapshot second = h100();
    identify(second, 0xa2, 0x01);
    const Devices devices = {lavapipe(), h100(), intel_integrated(), second, vulkan_1_1()};
    CHECK(choose_list(devices, "") == Indices{1});
    CHECK(choose_list(devices, "3") == Indices{3});
    CHECK(choose_list(devices, "3,1") == Indices{3, 1});
    CHECK(choose_list(devices, "nvidia") == Indices{1, 3});
    CHECK(choose_list(devices, "uhd graphics, nvidia") == Indices{2, 1, 3});
    CHECK(choose_list(devices, "a2a2, cpu") == Indices{3, 0});
    CHECK(choose_list(devices, "cpu,cpu") == Indices{0, 0});
    CHECK(choose_list(devices, "nvidia,1") == Indices{1, 3, 1});
    CHECK(choose_list(devices, "LLVMPIPE (LLVM 15.0.6, 256 bits),1") == Indices{0, 1});
    // A refused device is left out if its name matches others too.
    DeviceSnapshot old = h100();
    old.api_minor = 1;
    identify(old, 0xa3, 0x01);
    CHECK(choose_list({old, second, h100()}, "h100") == Indices{1, 2});
}

TEST_CASE("a list: one GPU through two drivers counts once under one name") {
    const Devices devices = {h100(), h100_by_second_driver()};
    CHECK(choose_list(devices, "h100") == Indices{0});
    CHECK(choose_list(devices, "translated") == Indices{1});
    CHECK(choose_list(devices, "0,1") == Indices{0, 1});
}

TEST_CASE("one device takes the best of a list") {
    DeviceSnapshot large = h100();
    identify(large, 0xa2, 0x01);
    large.heaps[0].bytes *= 2;
    const Devices devices = {lavapipe(), h100(), intel_integrated(), h100(), large};
    CHECK(choose(devices, "all") == 4);
    CHECK(choose(devices, "cpu,2") == 2);
    CHECK(choose(devices, "cpu,cpu") == 0);
    CHECK(choose(devices, "1,4") == 4);
    // Of equal ones it takes the first named.
    CHECK(choose(devices, "3,1") == 3);
    CHECK(failure(devices, "0,,1", Errc::invalid_argument) ==
          "Backend: the device setting has an empty name (got \"0,,1\", need one name, or names with one "
          "comma between two)");
}

}  // namespace
