// SPDX-License-Identifier: Apache-2.0
// Descriptions that cannot be adopted are refused by name and change nothing, and the right one works
// afterwards.
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/native_app.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace native = weft::native;
using native::AdoptedDevice;
using weft::Errc;

namespace {

template <class Handle>
Handle no_handle() {
    return VK_NULL_HANDLE;
}

PFN_vkVoidFunction VKAPI_CALL knows_nothing(VkInstance, const char*) {
    return nullptr;
}

}  // namespace

TEST_CASE("native: missing and wrong members are refused by name") {
    const auto app = make_app();
    if (!app) return;
    const auto other = std::make_unique<App>();
    std::mutex one, two;
    VkPhysicalDeviceFeatures2 no_features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    struct Case {
        Errc code;
        const char* part;
        std::function<void(AdoptedDevice&)> spoil;
    };
    const Case cases[] = {
        {Errc::invalid_argument, "no instance", [](auto& d) { d.instance = no_handle<VkInstance>(); }},
        {Errc::invalid_argument, "no physical_device",
         [](auto& d) { d.physical_device = no_handle<VkPhysicalDevice>(); }},
        {Errc::invalid_argument, "no device", [](auto& d) { d.device = no_handle<VkDevice>(); }},
        {Errc::invalid_argument, "no compute queue", [](auto& d) { d.compute = {}; }},
        {Errc::invalid_argument, "no upload queue", [](auto& d) { d.upload.emplace(); }},
        {Errc::invalid_argument, "no download queue", [](auto& d) { d.download.emplace(); }},
        {Errc::unsupported, "api_version is too old (got 1.0", [](auto& d) { d.api_version = 0; }},
        {Errc::unsupported, "api_version is too old (got 1.1",
         [](auto& d) { d.api_version = VK_API_VERSION_1_1; }},
        {Errc::unsupported, "timelineSemaphore", [](auto& d) { d.features = nullptr; }},
        {Errc::unsupported, "timelineSemaphore", [&](auto& d) { d.features = &no_features; }},
        {Errc::invalid_argument, "physical_device is not of this instance",
         [&](auto& d) { d.physical_device = other->physical; }},
        {Errc::invalid_argument, "the compute queue has a family that the device lacks (got 77",
         [](auto& d) { d.compute.family = 77; }},
        {Errc::invalid_argument, "the compute queue has an index beyond its family (got 1000",
         [](auto& d) { d.compute.index = 1000; }},
        {Errc::invalid_argument, "the upload queue has a family that the device lacks (got 88",
         [](auto& d) {
             d.upload = d.compute;
             d.upload->family = 88;
         }},
        {Errc::invalid_argument, "the shared queue has a family that the device lacks (got 99",
         [](auto& d) { d.shared_families = {99}; }},
        {Errc::invalid_argument, "the compute queue is not queue 0 of family",
         [&](auto& d) { d.compute.queue = other->queue; }},
        {Errc::invalid_argument, "the compute queue has half a lock (got lock",
         [](auto& d) { d.compute.lock = [] {}; }},
        {Errc::invalid_argument, "the compute queue has half a lock (got unlock",
         [](auto& d) { d.compute.unlock = [] {}; }},
        {Errc::invalid_argument, "the compute queue has two locks",
         [&](auto& d) {
             d.compute.mutex = &one;
             d.compute.lock = d.compute.unlock = [] {};
         }},
        {Errc::invalid_argument, "one queue in two roles has two locks",
         [&](auto& d) {
             d.compute.mutex = &one;
             d.upload = d.compute;
             d.upload->mutex = &two;
         }},
        {Errc::invalid_argument, "no such extension (got \"VK_KHR_swapchains\"",
         [](auto& d) { d.extensions.emplace_back("VK_KHR_swapchains"); }},
        {Errc::invalid_argument, "no such extension (got \"\"", [](auto& d) { d.extensions = {""}; }},
        {Errc::invalid_argument, "the loader does not know the functions of the instance",
         [](auto& d) { d.get_instance_proc_addr = knows_nothing; }},
    };
    for (const Case& c : cases) {
        CAPTURE(c.part);
        AdoptedDevice described = app->described();
        c.spoil(described);
        check_error(c.code, c.part, [&] { native::adopt(described); });
    }
    weft::Config config = weft::Config::from_env();
    config.ring_slots = 99;
    check_error(Errc::invalid_argument, "WEFT_SLOTS", [&] { native::adopt(app->described(), config); });
    config = weft::Config::from_env();
    config.path = weft::Path::imported;
    check_error(Errc::unsupported, "VK_EXT_external_memory_host",
                [&] { native::adopt(app->described(), config); });
    config = weft::Config::from_env();
    config.device = "ignored: the application chose";
    weft::Backend backend = native::adopt(app->described(), config);
    check_usable(backend);
    check_clean(backend);
}

TEST_CASE("native: a device made without timeline semaphores is refused, and stays usable") {
    const auto app = make_app({.timeline = false});
    if (!app) return;
    check_error(Errc::unsupported, "no timeline semaphores (need the feature timelineSemaphore)",
                [&] { native::adopt(app->described()); });
    app->run(nullptr, [](VkCommandBuffer) {});
}

TEST_CASE("native: an invalid role is refused by every call") {
    on_device([](weft::Backend& backend) {
        const auto role = static_cast<native::Role>(9);
        const auto refused = [&](const char* text, auto&& call) {
            check_error(Errc::invalid_argument, text, call);
        };
        refused("native::last_submission: no such role of a queue (got 9, need 0 to 2)",
                [&] { (void)native::last_submission(backend, role); });
        refused("native::wait_for: no such role", [&] { native::wait_for(backend, role, {}); });
        refused("native::signal_after: no such role", [&] { native::signal_after(backend, role, {}); });
        refused("native::QueueLock: no such role", [&] { native::QueueLock(backend, role); });
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("native: an application's lock that throws fails the call, and the backend stays usable") {
    const auto app = make_app();
    if (!app) return;
    bool broken = false;
    AdoptedDevice described = app->described();
    described.compute.lock = [&] {
        if (broken) throw std::runtime_error("my lock broke");
    };
    described.compute.unlock = [] {};
    weft::Backend backend = native::adopt(described);
    check_usable(backend);
    broken = true;
    check_error(Errc::driver, "my lock broke", [&] { check_usable(backend); });
    check_error(Errc::driver, "my lock broke", [&] { native::QueueLock(backend, native::Role::compute); });
    broken = false;
    check_usable(backend);
    check_clean(backend);
}
