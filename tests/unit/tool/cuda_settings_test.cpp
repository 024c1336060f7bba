// SPDX-License-Identifier: Apache-2.0
// Which settings --backend cuda obeys, and which it refuses by name.
#include "device/cuda_settings.hpp"

#include <string>

#include <doctest/doctest.h>

#include "cli/failure.hpp"

using namespace weft;
using namespace weft::tool;

namespace {

std::string refusal(const Config& config) {
    try {
        cuda_settings(config);
    } catch (const Failure& failure) {
        CHECK(failure.exit() == Exit::usage);
        return failure.what();
    }
    return "accepted";
}

template <class Change>
void check_refused(const char* variable, const Change& change) {
    Config config;
    change(config);
    const std::string text = refusal(config);
    CAPTURE(text);
    CHECK(text.starts_with(std::string("--backend cuda: ") + variable + " does not apply: "));
    CHECK(text.ends_with("(need it unset, or --backend vulkan)"));
}

}  // namespace

TEST_CASE("cuda obeys chunk size, slots and copy threads") {
    Config config;
    CHECK(cuda_settings(config) == CudaSettings{});
    config.chunk_elements = 1000;
    config.ring_slots = 2;
    config.copy_threads = 3;
    CHECK(cuda_settings(config) == CudaSettings{1000, 2, 3});
}

TEST_CASE("cuda takes the settings that mean the same with it") {
    Config config;
    config.device = "0";
    config.log_level = LogLevel::debug;
    config.cache = false;
    config.cache_dir = "/tmp";
    config.vulkan_library = "/none";
    config.host_allocator = HostAllocator::cuda;
    CHECK(refusal(config) == "accepted");
}

TEST_CASE("cuda refuses what it cannot obey, by the name of the variable") {
    check_refused("WEFT_TRACE", [](Config& c) { c.trace = "a.json"; });
    check_refused("WEFT_PATH", [](Config& c) { c.path = Path::host; });
    check_refused("GPU_DEVICE_LOCAL", [](Config& c) { c.device_local = false; });
    check_refused("WEFT_QUEUES", [](Config& c) { c.queues = QueueMode::single; });
    check_refused("WEFT_HOST_ALLOC", [](Config& c) { c.host_allocator = HostAllocator::vulkan; });
    check_refused("WEFT_VALIDATION", [](Config& c) { c.validation = Validation::on; });
    check_refused("WEFT_DISPATCH_MS", [](Config& c) { c.dispatch_ms = 100; });
}
