// SPDX-License-Identifier: Apache-2.0
// Making a Backend if something is missing or a setting is wrong; two backends; the older submission path.
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/child_process.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Backend;
using weft::Config;
using weft::Errc;

TEST_CASE("backend: a missing loader is named") {
    Config config = Config::from_env();
    config.vulkan_library = "/nonexistent/libvulkan.so";
    check_error(Errc::no_loader, "/nonexistent/libvulkan.so", [&] { Backend backend(config); });
    check_error(Errc::no_loader, "WEFT_VULKAN_LIBRARY", [&] { weft::list_devices(config); });
}

TEST_CASE("backend: a library that is no Vulkan loader is named") {
    Config config = Config::from_env();
    config.vulkan_library = "libm.so.6";
    check_error(Errc::no_loader, "libm.so.6: no vkGetInstanceProcAddr in it",
                [&] { Backend backend(config); });
    on_device([](Backend& backend) { check_usable(backend); });
}

TEST_CASE("child: no driver") {
    Config config = Config::from_env();
    config.validation = weft::Validation::off;
    check_error(Errc::no_device, "driver", [&] { Backend backend(config); });
    std::vector<weft::DeviceInfo> devices;
    try {
        devices = weft::list_devices(config);
    } catch (const weft::Error& error) {
        CHECK(error.code() == Errc::no_device);
    }
    CHECK(devices.empty());
}

TEST_CASE("backend: without a driver the error is no_device and names what to install") {
    CHECK(run_case("child: no driver", {{"VK_DRIVER_FILES", "/nonexistent.json"},
                                        {"VK_ICD_FILENAMES", "/nonexistent.json"}}) == 0);
}

TEST_CASE("child: no validation layer") {
    Config config = Config::from_env();
    config.validation = weft::Validation::sync;
    check_error(Errc::unsupported, "VK_LAYER_KHRONOS_validation", [&] { Backend backend(config); });
    config.validation = weft::Validation::off;
    const std::optional<Backend> backend = make_backend(config);
    CHECK((backend.has_value() || !device_required()));
}

TEST_CASE("backend: validation without the layer is unsupported, without validation it works") {
    CHECK(run_case("child: no validation layer", {{"VK_LAYER_PATH", "/nonexistent"}}) == 0);
}

TEST_CASE("backend: a device setting that matches nothing lists the devices") {
    on_device([](Backend& backend) {
        Config config = Config::from_env();
        for (const char* wanted : {"no such card", "99", "ffffffff", "-1"}) {
            config.device = wanted;
            check_error(Errc::invalid_argument, wanted, [&] { Backend other(config); });
            check_error(Errc::invalid_argument, backend.name(), [&] { Backend other(config); });
            for (const weft::DeviceInfo& device : weft::list_devices(config)) CHECK_FALSE(device.chosen);
        }
    });
}

TEST_CASE("backend: a device is found by index, UUID prefix, part of the name") {
    on_device([](Backend& backend) {
        const weft::DeviceInfo mine = backend.device();
        Config config = Config::from_env();
        for (const std::string& wanted :
             {std::to_string(mine.index), mine.uuid.substr(0, 13), mine.name.substr(0, 4)}) {
            CAPTURE(wanted);
            config.device = wanted;
            Backend same(config);
            CHECK(same.device().uuid == mine.uuid);
        }
    });
}

TEST_CASE("backend: settings out of range name the setting and the value") {
    struct Case {
        const char* name;
        const char* value;
        void (*set)(Config&);
    };
    const Case cases[] = {
        {"ring_slots", "got 0", [](Config& c) { c.ring_slots = 0; }},
        {"ring_slots", "got 17", [](Config& c) { c.ring_slots = 17; }},
        {"chunk_elements", "got 0", [](Config& c) { c.chunk_elements = 0; }},
        {"chunk_elements", "got 4294967296", [](Config& c) { c.chunk_elements = std::uint64_t{1} << 32; }},
        {"copy_threads", "got 0", [](Config& c) { c.copy_threads = 0; }},
        {"copy_threads", "got 257", [](Config& c) { c.copy_threads = 257; }},
        {"Config: no such path", "got 99", [](Config& c) { c.path = static_cast<weft::Path>(99); }},
        {"Config: no such validation", "got 9",
         [](Config& c) { c.validation = static_cast<weft::Validation>(9); }},
    };
    for (const Case& c : cases) {
        Config config = Config::from_env();
        c.set(config);
        check_error(Errc::invalid_argument, c.name, [&] { Backend backend(config); });
        check_error(Errc::invalid_argument, c.value, [&] { Backend backend(config); });
    }
}

TEST_CASE("backend: two backends on one device do not affect each other") {
    on_device([](Backend& first) {
        std::optional<Backend> second = make_backend();
        const weft::Program mine(first, kAffine), other(*second, kAffine);
        AffineWork work({500}, 3), more({700, 20}, 4);
        check_error(Errc::invalid_argument, "another backend",
                    [&] { weft::run_batch(first, other, work.jobs); });
        CHECK(work.untouched());
        weft::run_batch(first, mine, work.jobs);
        weft::run_batch(*second, other, more.jobs);
        CHECK(work.right());
        CHECK(more.right());
        check_error(Errc::invalid_argument, "another backend",
                    [&] { weft::JobPipeline pipeline(first, other); });
        {
            weft::Stream stream(first);
            weft::Buffer<std::uint32_t> foreign(*second, 16);
            check_error(Errc::invalid_argument, "another backend", [&] { stream.fill(foreign.view(), 1); });
        }
        CHECK(second->counters().validation_messages == 0);
    });
}

TEST_CASE("backend: one that was moved from refuses, the new one works") {
    std::optional<Backend> made = make_backend();
    if (!made) return;
    Backend moved(std::move(*made));
    const weft::Program program(moved, kAffine);
    AffineWork work({10});
    check_error(Errc::invalid_argument, "moved from", [&] { made->name(); });
    check_error(Errc::invalid_argument, "moved from", [&] { weft::run_batch(*made, program, work.jobs); });
    check_error(Errc::invalid_argument, "moved from", [&] { weft::Stream stream(*made); });
    check_error(Errc::invalid_argument, "moved from", [&] { weft::Buffer<int> buffer(*made, 1); });
    check_error(Errc::invalid_argument, "moved from", [&] { made->wait_idle(); });
    weft::run_batch(moved, program, work.jobs);
    CHECK(work.right());
    moved = std::move(moved);
    *made = std::move(moved);
    check_usable(*made);
    check_clean(*made);
}

TEST_CASE("backend: nothing newer than Vulkan 1.2 is needed") {
    Config config = Config::from_env();
    config.vulkan_1_2_only = true;
    on_device(
        [](Backend& backend) {
            CHECK_FALSE(backend.plan().synchronization2);
            check_usable(backend);
            const weft::Program program(backend, kAffine);
            for (const weft::Path path : {weft::Path::automatic, weft::Path::staged})
                for (const weft::QueueMode queues : {weft::QueueMode::single, weft::QueueMode::split})
                    for (const weft::BatchMode mode :
                         {weft::BatchMode::sequential, weft::BatchMode::pipelined}) {
                        AffineWork work({1, 1000, 0, 4096});
                        weft::run_batch(
                            backend, program, work.jobs,
                            {.mode = mode, .path = path, .queues = queues, .chunk_elements = 300});
                        CHECK(work.right());
                    }
            AffineWork queued({2000, 10});
            weft::JobPipeline pipeline(backend, program, {.path = weft::Path::staged});
            for (const weft::Job& job : queued.jobs) pipeline.submit(job);
            pipeline.wait_all();
            CHECK(queued.right());
            weft::Stream stream(backend);
            weft::Buffer<std::uint32_t> buffer(backend, 64);
            stream.fill(buffer.view(), 7);
            CHECK(stream.download(buffer) == std::vector<std::uint32_t>(64, 7));
        },
        config);
}

TEST_CASE("backend: list_devices shows every device once and the choice") {
    on_device([](Backend& backend) {
        const auto devices = weft::list_devices();
        REQUIRE(!devices.empty());
        int chosen = 0;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            CHECK(devices[i].index == i);
            CHECK(!devices[i].name.empty());
            CHECK(devices[i].uuid.size() == 32);
            chosen += devices[i].chosen ? 1 : 0;
        }
        CHECK(chosen == 1);
        CHECK(devices[backend.device().index].chosen);
        CHECK(devices[backend.device().index].refused.empty());
    });
}

TEST_CASE("child: advice of the validation layer") {
    Config config = Config::from_env();
    config.validation = weft::Validation::on;
    std::string lines;
    config.log = [&](weft::LogLevel, std::string_view line) { lines += line; };
    std::optional<Backend> backend = make_backend(config);
    if (!backend) return;
    const weft::Buffer<std::uint32_t> buffer(*backend, 64);
    check_usable(*backend);
    CHECK(backend->counters().validation_messages > 0);
    CHECK(lines.find("BestPractices") != std::string::npos);
}

// The layer's best-practices check always reports something, which shows that messages arrive.
TEST_CASE("backend: messages of the validation layer are counted and logged") {
    if (Config::from_env().validation == weft::Validation::off) return;
    CHECK(run_case("child: advice of the validation layer",
                   {{"VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT"}}) == 0);
}

TEST_CASE("backend: a log callback that throws does no harm") {
    Config config = Config::from_env();
    config.log_level = weft::LogLevel::debug;
    int lines = 0;
    config.log = [&](weft::LogLevel, std::string_view) {
        ++lines;
        throw std::runtime_error("no");
    };
    config.memory_limit = std::uint64_t{1} << 20;
    on_device(
        [&](Backend& backend) {
            const weft::Program program(backend, kAffine);
            AffineWork work({300000});
            weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged});
            CHECK(work.right());
            CHECK(lines > 0);
        },
        config);
}

TEST_CASE("backend: start-up is reported in parts that add up to less than the total") {
    on_device([](weft::Backend& backend) {
        const weft::StartupReport before = backend.startup();
        CHECK(before.before_s > 0);
        CHECK(before.instance_s > 0);
        CHECK(before.device_s > 0);
        CHECK(before.first_pipeline_s == 0);
        CHECK(before.first_dispatch_s == 0);
        CHECK(before.first_result_s == 0);
        check_usable(backend);
        const weft::StartupReport after = backend.startup();
        CHECK(after.first_pipeline_s > 0);
        CHECK(after.first_dispatch_s > 0);
        CHECK(after.before_s == before.before_s);
        const double parts = after.before_s + after.loader_s + after.instance_s + after.devices_s +
                             after.device_s + after.caches_s + after.first_pipeline_s +
                             after.first_dispatch_s;
        CHECK(parts <= after.first_result_s);
        check_usable(backend);
        CHECK(backend.startup().first_result_s == after.first_result_s);
    });
}
