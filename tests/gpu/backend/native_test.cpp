// SPDX-License-Identifier: Apache-2.0
// weft on a device that the application made: everything works, and the device stays usable afterwards.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/native_app.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace native = weft::native;
using weft::Backend;
using weft::Buffer;
using weft::Program;
using weft::Stream;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kInt64[] = {
#include "shaders/int64.spv.inc"
};

/// Field arithmetic, batches both ways, a stream.
void use_all(Backend& backend) {
    check_usable(backend);
    const Program program(backend, kAffine, {.name = "affine"});
    for (const auto mode : {weft::BatchMode::sequential, weft::BatchMode::pipelined}) {
        AffineWork work({1, 1000, 70000, 300001});
        weft::run_batch(backend, program, work.jobs, {.mode = mode});
        CHECK(work.right());
    }
    Stream stream(backend);
    Buffer<std::uint32_t> in(backend, 500, "in"), out(backend, 500, "out");
    const Words values = words(500);
    stream.upload(values, in);
    stream.dispatch(program, {in, out}, 500, AffineParameters{3, 4});
    const Words got = stream.download(out);
    for (std::uint32_t i = 0; i < 500; ++i) REQUIRE(got[i] == values[i] * 3 + 4 + i);
}

/// The application's device still works without weft.
void use_device(App& app) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 64;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    REQUIRE(vkCreateBuffer(app.device, &info, nullptr, &buffer) == VK_SUCCESS);
    vkDestroyBuffer(app.device, buffer, nullptr);
    app.run(nullptr, [](VkCommandBuffer) {});
}

}  // namespace

TEST_CASE("native: everything runs on an adopted device, which outlives the backend") {
    const auto app = make_app();
    if (!app) return;
    for (int round = 0; round < 3; ++round) {
        Backend backend = native::adopt(app->described());
        CHECK(backend.plan().reasons.front().find("made by the application") != std::string::npos);
        use_all(backend);
        check_clean(backend);
    }
    use_device(*app);
}

TEST_CASE("native: a tuning that was stored for the device is used") {
    const auto app = make_app();
    if (!app) return;
    const ScratchFolder folder;
    weft::Config config = weft::Config::from_env();
    config.cache = true;
    config.cache_dir = folder.path();
    config.ring_slots.reset();
    weft::tune::store_engine(native::adopt(app->described(), config), {.ring_slots = 5});
    Backend backend = native::adopt(app->described(), config);
    CHECK(backend.plan().tuning.state == "used");
    CHECK(backend.plan().ring_slots == 5);
    use_all(backend);
    check_clean(backend);
}

TEST_CASE("native: features that were not enabled are not used") {
    const auto app = make_app({.int64 = false});
    if (!app) return;
    Backend backend = native::adopt(app->described());
    CHECK_FALSE(backend.device().shader_int64);
    CHECK_FALSE(backend.device().shader_float64);
    CHECK_FALSE(backend.device().synchronization2);
    CHECK_FALSE(backend.plan().synchronization2);
    CHECK_FALSE(backend.device().import_host_memory);
    CHECK_FALSE(backend.device().memory_budget);
    CHECK(backend.device().limits.import_alignment == 0);
    check_error(weft::Errc::unsupported, "Int64", [&] { Program(backend, kInt64); });
    std::vector<std::byte> pages(1 << 20);
    check_error(weft::Errc::unsupported, "VK_EXT_external_memory_host",
                [&] { weft::HostRegistration(backend, pages); });
    use_all(backend);
    check_clean(backend);
}

TEST_CASE("native: features and extensions that were enabled are used") {
    const auto app = make_app({.extensions = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}});
    if (!app) return;
    Backend backend = native::adopt(app->described());
    CHECK(backend.device().shader_int64);
    CHECK(backend.device().import_host_memory);
    const Program program(backend, kInt64);
    std::vector<std::uint64_t> in{3, 1ull << 33, ~0ull}, out(3);
    weft::Job job;
    job.inputs = {in};
    job.outputs = {out};
    job.elements = 3;
    weft::run_batch(backend, program, {&job, 1});
    for (std::size_t i = 0; i < 3; ++i) CHECK(out[i] == in[i] * in[i] + 1);
    use_all(backend);
    check_clean(backend);
}

TEST_CASE("native: a Vulkan 1.2 application, and one without debug utilities") {
    for (const AppOptions& options :
         {AppOptions{.api_version = VK_API_VERSION_1_2}, AppOptions{.debug_utils = false}}) {
        const auto app = make_app(options);
        if (!app) return;
        Backend backend = native::adopt(app->described());
        CHECK(backend.device().api_minor == (options.debug_utils ? 2 : 3));
        CHECK(VK_API_VERSION_MINOR(native::handles(backend).api_version) == backend.device().api_minor);
        use_all(backend);
        check_clean(backend);
    }
}

TEST_CASE("native: two backends share a device and its queue") {
    const auto app = make_app();
    if (!app) return;
    Backend first = native::adopt(app->described()), second = native::adopt(app->described());
    std::thread thread([&] {
        for (int i = 0; i < 5; ++i) use_all(second);
    });
    for (int i = 0; i < 5; ++i) use_all(first);
    thread.join();
    check_clean(first);
    { const Backend gone = std::move(first); }
    use_all(second);
    check_clean(second);
}

TEST_CASE("native: the application submits to the same queue while weft works") {
    const auto app = make_app();
    if (!app) return;
    std::mutex mutex;
    int locked = 0;
    for (const bool own_lock : {false, true}) {
        native::AdoptedDevice described = app->described();
        if (own_lock) {
            described.compute.lock = [&] { mutex.lock(), ++locked; };
            described.compute.unlock = [&] { mutex.unlock(); };
        }
        Backend backend = native::adopt(described);
        std::thread thread([&] {
            for (int i = 0; i < 4; ++i) use_all(backend);
        });
        for (int i = 0; i < 100; ++i) app->run(&backend, [](VkCommandBuffer) {});
        thread.join();
        check_clean(backend);
    }
    CHECK(locked > 100);
    std::mutex given;
    native::AdoptedDevice described = app->described();
    described.compute.mutex = &given;
    Backend backend = native::adopt(described);
    std::thread thread([&] { use_all(backend); });
    for (int i = 0; i < 50; ++i) {
        const std::lock_guard lock(given);  // like an application that does not use weft's types
        REQUIRE(vkQueueSubmit(app->queue, 0, nullptr, VK_NULL_HANDLE) == VK_SUCCESS);
    }
    thread.join();
    check_clean(backend);
}

TEST_CASE("native: weft waits for the application's semaphore, and signals one") {
    const auto app = make_app();
    if (!app) return;
    Backend backend = native::adopt(app->described());
    const VkSemaphore semaphore = app->make_timeline();
    {
        Buffer<std::uint32_t> buffer(backend, 16);
        Stream stream(backend);
        native::wait_for(backend, native::Role::compute, {semaphore, 3});
        stream.fill(buffer.view(), 6);
        stream.submit();
        native::signal_after(backend, native::Role::compute, {semaphore, 8});
        const native::Point last = native::last_submission(backend, native::Role::compute);
        CHECK(last.value > 0);
        CHECK_FALSE(stream.wait(std::chrono::milliseconds(20)));
        std::uint64_t value = 0;
        REQUIRE(vkGetSemaphoreCounterValue(app->device, semaphore, &value) == VK_SUCCESS);
        CHECK(value == 0);
        VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
        signal.semaphore = semaphore;
        signal.value = 3;
        REQUIRE(vkSignalSemaphore(app->device, &signal) == VK_SUCCESS);
        const std::uint64_t want = 8;
        VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
        wait.semaphoreCount = 1;
        wait.pSemaphores = &semaphore;
        wait.pValues = &want;
        REQUIRE(vkWaitSemaphores(app->device, &wait, 10'000'000'000ull) == VK_SUCCESS);
        CHECK(stream.wait(std::chrono::nanoseconds(0)));
        wait.pSemaphores = &last.semaphore;
        wait.pValues = &last.value;
        REQUIRE(vkWaitSemaphores(app->device, &wait, 10'000'000'000ull) == VK_SUCCESS);
        CHECK(stream.download(buffer) == Words(16, 6));
        check_error(weft::Errc::invalid_argument, "native::wait_for: no semaphore",
                    [&] { native::wait_for(backend, native::Role::compute, {}); });
        check_error(weft::Errc::invalid_argument, "native::signal_after: no semaphore",
                    [&] { native::signal_after(backend, native::Role::upload, {}); });
    }
    check_clean(backend);
    vkDestroySemaphore(app->device, semaphore, nullptr);
}

TEST_CASE("native: the owner is released when the last object of weft is destroyed, not before") {
    auto app = std::shared_ptr<App>(make_app());
    if (!app) return;
    const std::weak_ptr<App> alive = app;
    native::AdoptedDevice described = app->described();
    described.owner = std::move(app);
    {
        std::unique_ptr<Buffer<std::uint32_t>> buffer;
        {
            Backend backend = native::adopt(described);
            described = {};
            use_all(backend);
            buffer = std::make_unique<Buffer<std::uint32_t>>(backend, 100);
        }
        CHECK_FALSE(alive.expired());
    }
    CHECK(alive.expired());
}

TEST_CASE("native: raw handles of a device that weft made, and adopted once more") {
    on_device([](Backend& backend) {
        const native::Handles h = native::handles(backend);
        CHECK(h.instance != VK_NULL_HANDLE);
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(h.physical_device, &properties);
        CHECK(backend.name() == properties.deviceName);
        {
            const native::QueueLock lock(backend, native::Role::download);
            CHECK(lock.queue() == h.download.queue);
            const auto submit =
                reinterpret_cast<PFN_vkQueueSubmit>(h.get_device_proc_addr(h.device, "vkQueueSubmit"));
            CHECK(submit(lock.queue(), 0, nullptr, VK_NULL_HANDLE) == VK_SUCCESS);
        }
        VkPhysicalDeviceTimelineSemaphoreFeatures timeline{
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, nullptr, VK_TRUE};
        const VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &timeline, {}};
        native::AdoptedDevice described;
        described.instance = h.instance;
        described.physical_device = h.physical_device;
        described.device = h.device;
        described.get_instance_proc_addr = h.get_instance_proc_addr;
        described.api_version = h.api_version;
        described.features = &features;
        described.compute = {h.compute.queue, h.compute.family, h.compute.index};
        if (h.upload.queue != h.compute.queue)
            described.upload = native::AdoptedQueue{h.upload.queue, h.upload.family, h.upload.index};
        Backend second = native::adopt(described);
        std::thread thread([&] { use_all(second); });
        use_all(backend);
        thread.join();
        check_clean(second);
    });
}
