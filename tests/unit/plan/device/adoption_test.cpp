// SPDX-License-Identifier: Apache-2.0
// A device that the application made: only enabled features count, and missing ones are named.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/adoption.hpp"
#include "support/snapshots.hpp"

using namespace weft::core;
using weft::Config;
using weft::Errc;
using weft::Error;
using weft::Path;
using weft::QueueMode;
namespace test = weft::test;

namespace {

struct Feature {
    const char* name;
    bool DeviceSnapshot::*member;
};
constexpr Feature kFeatures[] = {
    {"timelineSemaphore", &DeviceSnapshot::timeline_semaphores},
    {"synchronization2", &DeviceSnapshot::synchronization2},
    {"hostQueryReset", &DeviceSnapshot::host_query_reset},
    {"shaderInt64", &DeviceSnapshot::shader_int64},
    {"shaderFloat64", &DeviceSnapshot::shader_float64},
    {"shaderInt16", &DeviceSnapshot::shader_int16},
    {"shaderInt8", &DeviceSnapshot::shader_int8},
    {"shaderFloat16", &DeviceSnapshot::shader_float16},
    {"storageBuffer16BitAccess", &DeviceSnapshot::storage_16bit},
    {"storageBuffer8BitAccess", &DeviceSnapshot::storage_8bit},
    {"bufferDeviceAddress", &DeviceSnapshot::buffer_device_address},
    {"variablePointers", &DeviceSnapshot::variable_pointers},
    {"vulkanMemoryModel", &DeviceSnapshot::vulkan_memory_model},
    {"scalarBlockLayout", &DeviceSnapshot::scalar_block_layout},
    {"subgroupSizeControl", &DeviceSnapshot::subgroup_size_control},
    {"computeFullSubgroups", &DeviceSnapshot::full_subgroups},
    {"deviceFault", &DeviceSnapshot::device_fault},
    {"cooperativeMatrix (KHR)", &DeviceSnapshot::cooperative_matrix_khr},
    {"cooperativeMatrix (NV)", &DeviceSnapshot::cooperative_matrix_nv},
};

/// The H100 with every feature.
DeviceSnapshot full_device() {
    DeviceSnapshot device = test::h100();
    for (const Feature& f : kFeatures) device.*f.member = true;
    device.external_memory_fd = device.subgroup_size_extension = true;
    device.calibrated_timestamps_ext = device.calibrated_timestamps_khr = true;
    device.limits.min_subgroup_size = 8;
    device.limits.max_subgroup_size = 64;
    return device;
}

/// Everything enabled, on the compute family without graphics and the transfer family.
Adoption full_adoption() {
    Adoption adoption;
    adoption.api_minor = 3;
    for (const Feature& f : kFeatures) adoption.enabled.*f.member = true;
    adoption.extensions = {"VK_EXT_external_memory_host",  "VK_EXT_memory_budget",
                           "VK_EXT_device_fault",          "VK_KHR_external_memory_fd",
                           "VK_EXT_subgroup_size_control", "VK_EXT_calibrated_timestamps",
                           "VK_KHR_calibrated_timestamps", "VK_KHR_cooperative_matrix",
                           "VK_NV_cooperative_matrix",     "VK_KHR_external_semaphore_fd"};
    adoption.possible_extensions = adoption.extensions;
    adoption.compute = {2, 0};
    adoption.upload = QueueSlot{1, 0};
    adoption.download = QueueSlot{1, 1};
    return adoption;
}

void check_refused(const Adoption& adoption, Errc code, const std::string& part) {
    CAPTURE(part);
    try {
        check_adoption(full_device(), adoption);
        FAIL_CHECK("nothing was thrown");
    } catch (const Error& e) {
        CHECK(std::string(weft::to_string(e.code())) == weft::to_string(code));
        CHECK_MESSAGE(std::string(e.what()).find(part) != std::string::npos, e.what());
    }
}

}  // namespace

TEST_CASE("adoption: enabled features are kept") {
    const DeviceSnapshot device = full_device();
    const DeviceSnapshot part = enabled_part(device, full_adoption());
    for (const Feature& f : kFeatures) {
        CAPTURE(f.name);
        CHECK(part.*f.member);
    }
    CHECK(part.external_memory_host);
    CHECK(part.memory_budget);
    CHECK(part.external_memory_fd);
    CHECK(part.shared_buffers_fd);
    CHECK(part.shared_timelines_fd);
    CHECK(part.calibrated_timestamps_ext);
    CHECK(part.calibrated_timestamps_khr);
    CHECK(part.limits.min_subgroup_size == 8);
    CHECK(part.limits.import_alignment == device.limits.import_alignment);
    CHECK(part.api_minor == 3);  // the device has 1.4
    CHECK_NOTHROW(check_adoption(device, full_adoption()));
}

TEST_CASE("adoption: each feature that was not enabled is removed, and no other") {
    for (const Feature& off : kFeatures) {
        Adoption adoption = full_adoption();
        adoption.enabled.*off.member = false;
        const DeviceSnapshot part = enabled_part(full_device(), adoption);
        for (const Feature& f : kFeatures) {
            CAPTURE(off.name);
            CAPTURE(f.name);
            CHECK(part.*f.member == (f.member != off.member));
        }
    }
}

TEST_CASE("adoption: features that the device lacks are not added by the description") {
    for (const Feature& lacking : kFeatures) {
        DeviceSnapshot device = full_device();
        device.*lacking.member = false;
        CAPTURE(lacking.name);
        CHECK_FALSE(enabled_part(device, full_adoption()).*lacking.member);
    }
    DeviceSnapshot device = full_device();
    device.external_memory_host = device.memory_budget = false;
    device.shared_buffers_fd = device.shared_timelines_fd = false;
    CHECK_FALSE(enabled_part(device, full_adoption()).shared_buffers_fd);
    CHECK_FALSE(enabled_part(device, full_adoption()).shared_timelines_fd);
    CHECK_FALSE(enabled_part(device, full_adoption()).external_memory_host);
    CHECK_FALSE(enabled_part(device, full_adoption()).memory_budget);
}

TEST_CASE("adoption: extensions that were not enabled are removed") {
    Adoption adoption = full_adoption();
    adoption.extensions.clear();
    const DeviceSnapshot part = enabled_part(full_device(), adoption);
    CHECK_FALSE(part.external_memory_host);
    CHECK(part.limits.import_alignment == 0);
    CHECK_FALSE(part.memory_budget);
    CHECK_FALSE(part.external_memory_fd);
    CHECK_FALSE(part.shared_buffers_fd);
    CHECK_FALSE(part.shared_timelines_fd);
    CHECK_FALSE(part.subgroup_size_extension);
    CHECK_FALSE(part.calibrated_timestamps_ext);
    CHECK_FALSE(part.calibrated_timestamps_khr);
    CHECK_FALSE(part.device_fault);  // the feature alone is not enough
    CHECK_FALSE(part.cooperative_matrix_khr);
    CHECK_FALSE(part.cooperative_matrix_nv);
    Config config;
    config.path = Path::imported;
    try {
        plan_adopted(part, adoption, config, {4});
        FAIL_CHECK("the plan uses a path that needs an extension which is not enabled");
    } catch (const Error& e) {
        CHECK(e.code() == Errc::unsupported);
    }
}

TEST_CASE("adoption: a Vulkan 1.2 application gets nothing of 1.3") {
    Adoption adoption = full_adoption();
    adoption.api_minor = 2;
    const DeviceSnapshot part = enabled_part(full_device(), adoption);
    CHECK(part.api_minor == 2);
    CHECK_FALSE(part.synchronization2);
    CHECK(part.subgroup_size_control);  // by the extension
    adoption.extensions.clear();
    CHECK_FALSE(enabled_part(full_device(), adoption).subgroup_size_control);
    CHECK_FALSE(enabled_part(full_device(), adoption).full_subgroups);
    CHECK(enabled_part(full_device(), adoption).limits.max_subgroup_size == 32);
    CHECK_FALSE(plan_adopted(part, adoption, {}, {4}).synchronization2);
    // The device's version is used if it is the lower one.
    DeviceSnapshot old = full_device();
    old.api_minor = 2;
    CHECK(enabled_part(old, full_adoption()).api_minor == 2);
    CHECK_FALSE(enabled_part(old, full_adoption()).synchronization2);
}

TEST_CASE("adoption: missing members are named") {
    const auto with = [](auto change) {
        Adoption adoption = full_adoption();
        change(adoption);
        return adoption;
    };
    check_refused(with([](Adoption& a) { a.api_minor = 1; }), Errc::unsupported,
                  "api_version is too old (got 1.1, need 1.2");
    check_refused(with([](Adoption& a) { a.extensions.emplace_back("VK_KHR_surface"); }),
                  Errc::invalid_argument, "no such extension (got \"VK_KHR_surface\", need names that");
    check_refused(with([](Adoption& a) { a.possible_extensions.clear(); }), Errc::invalid_argument,
                  "no such extension (got \"VK_EXT_external_memory_host\"");
    check_refused(with([](Adoption& a) { a.enabled.timeline_semaphores = false; }), Errc::unsupported,
                  "timelineSemaphore");
    check_refused(with([](Adoption& a) {
                      a.compute = {1, 0};
                  }),
                  Errc::unsupported, "the compute queue cannot compute (got family 1");
    check_refused(with([](Adoption& a) {
                      a.compute = {5, 0};
                  }),
                  Errc::invalid_argument,
                  "the compute queue has a family that the device lacks (got 5, need below 5)");
    check_refused(with([](Adoption& a) {
                      a.upload = QueueSlot{9, 0};
                  }),
                  Errc::invalid_argument, "the upload queue has a family that the device lacks (got 9");
    check_refused(with([](Adoption& a) {
                      a.download = QueueSlot{1, 2};
                  }),
                  Errc::invalid_argument,
                  "the download queue has an index beyond its family (got 2, need below 2)");
    check_refused(with([](Adoption& a) {
                      a.shared_families = {0, 7};
                  }),
                  Errc::invalid_argument, "the shared queue has a family that the device lacks (got 7");
    DeviceSnapshot device = full_device();
    device.families.push_back(test::family(1, "o"));
    try {
        check_adoption(device, with([](Adoption& a) { a.upload = QueueSlot{5, 0}; }));
        FAIL_CHECK("nothing was thrown");
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find("the upload queue cannot copy (got family 5") != std::string::npos);
    }
}

TEST_CASE("adoption: queues take the roles they were given") {
    Adoption adoption = full_adoption();
    QueuePlan plan = adopted_queues(adoption, QueueMode::automatic);
    CHECK(plan.of(QueueRole::upload) == QueueSlot{1, 0});
    CHECK(plan.of(QueueRole::compute) == QueueSlot{2, 0});
    CHECK(plan.of(QueueRole::download) == QueueSlot{1, 1});
    CHECK(plan.split);
    CHECK(plan.families == std::vector<std::uint32_t>{1, 2});

    plan = adopted_queues(adoption, QueueMode::single);
    for (const QueueSlot& slot : plan.slots) CHECK(slot == QueueSlot{2, 0});
    CHECK_FALSE(plan.split);
    CHECK(plan.families == std::vector<std::uint32_t>{2});

    adoption.shared_families = {0, 2};
    CHECK(adopted_queues(adoption, QueueMode::single).families == std::vector<std::uint32_t>{0, 2});

    adoption.upload.reset();
    plan = adopted_queues(adoption, QueueMode::automatic);
    CHECK(plan.of(QueueRole::upload) == QueueSlot{2, 0});
    CHECK(plan.split);  // downloads have a queue of their own
    adoption.download.reset();
    CHECK_FALSE(adopted_queues(adoption, QueueMode::automatic).split);
    CHECK(adopted_queues(adoption, QueueMode::split).split);
}

TEST_CASE("adoption: the plan names the owner of the device, and refuses a Config out of range") {
    const Adoption adoption = full_adoption();
    const DeviceSnapshot part = enabled_part(full_device(), adoption);
    Config config;
    config.device = "no such device";  // the application selected the device
    const DevicePlan plan = plan_adopted(part, adoption, config, {4});
    CHECK(plan.reasons.front().find("made by the application") != std::string::npos);
    CHECK(plan.timestamps);
    CHECK(plan.device_fault);
    CHECK(plan.ring_slots == 4);
    config.ring_slots = 99;
    CHECK_THROWS_AS(plan_adopted(part, adoption, config, {4}), Error);
}

TEST_CASE("adoption: a stored tuning is used as far as the application's device allows") {
    Adoption adoption = full_adoption();
    const TuningSource tuning = [](const DeviceSnapshot&) {
        return weft::tune::EngineReport{"used", "file", {.ring_slots = 7, .ordinary_path = Path::imported}};
    };
    const DevicePlan all = plan_adopted(enabled_part(full_device(), adoption), adoption, {}, {4}, tuning);
    CHECK(all.ring_slots == 7);
    CHECK(all.transfer.large_ordinary == Path::imported);
    adoption.extensions.clear();
    const DevicePlan part = plan_adopted(enabled_part(full_device(), adoption), adoption, {}, {4}, tuning);
    CHECK(part.ring_slots == 7);
    CHECK(part.transfer.large_ordinary != Path::imported);
}
