// SPDX-License-Identifier: Apache-2.0
// Names and labels reach tools and validation messages; messages reach the log; the driver's description of a
// device loss reaches the Error.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/native_app.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace native = weft::native;
using weft::Backend;
using weft::Buffer;
using weft::Config;
using weft::LogLevel;
using weft::Program;

namespace {

/// A layer between weft and the loader, like a capture tool.
struct Spy {
    std::mutex mutex;
    std::set<std::string> names, labels;
    int open_labels = 0;
    bool lose_device = false;
} spy;

VKAPI_ATTR VkResult VKAPI_CALL note_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* info) {
    const std::lock_guard lock(spy.mutex);
    spy.names.insert(std::to_string(info->objectType) + " " + info->pObjectName);
    (void)device;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL note_begin(VkCommandBuffer, const VkDebugUtilsLabelEXT* label) {
    const std::lock_guard lock(spy.mutex);
    spy.labels.insert(label->pLabelName);
    ++spy.open_labels;
}

VKAPI_ATTR void VKAPI_CALL note_end(VkCommandBuffer) {
    const std::lock_guard lock(spy.mutex);
    --spy.open_labels;
}

VKAPI_ATTR VkResult VKAPI_CALL extensions_with_fault(VkPhysicalDevice, const char*, std::uint32_t* count,
                                                     VkExtensionProperties* properties) {
    if (properties != nullptr) std::strcpy(properties->extensionName, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    *count = 1;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL features_with_fault(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* features) {
    vkGetPhysicalDeviceFeatures2(device, features);
    for (auto link = static_cast<VkBaseOutStructure*>(features->pNext); link != nullptr; link = link->pNext)
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
            reinterpret_cast<VkPhysicalDeviceFaultFeaturesEXT*>(link)->deviceFault = VK_TRUE;
}

VKAPI_ATTR VkResult VKAPI_CALL fault_info(VkDevice, VkDeviceFaultCountsEXT* counts,
                                          VkDeviceFaultInfoEXT* info) {
    CHECK(spy.lose_device);  // the call is allowed only on a lost device
    if (info == nullptr) {
        counts->addressInfoCount = 1;
        counts->vendorInfoCount = 1;
        counts->vendorBinarySize = 12345;
        return VK_SUCCESS;
    }
    CHECK(counts->vendorBinarySize == 0);
    std::strcpy(info->description, "made-up page fault");
    info->pAddressInfos[0] = {VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0xabc123, 0x1000};
    std::strcpy(info->pVendorInfos[0].description, "unit 7");
    info->pVendorInfos[0].vendorFaultCode = 0x55;
    info->pVendorInfos[0].vendorFaultData = 0x66;
    return VK_INCOMPLETE;
}

VKAPI_ATTR VkResult VKAPI_CALL submit_or_lose(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos,
                                              VkFence fence) {
    return spy.lose_device ? VK_ERROR_DEVICE_LOST : vkQueueSubmit(queue, count, infos, fence);
}

PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    const auto is = [&](const char* wanted) { return std::strcmp(name, wanted) == 0; };
    if (is("vkGetDeviceFaultInfoEXT")) return reinterpret_cast<PFN_vkVoidFunction>(fault_info);
    if (is("vkQueueSubmit")) return reinterpret_cast<PFN_vkVoidFunction>(submit_or_lose);
    return vkGetDeviceProcAddr(device, name);
}

PFN_vkVoidFunction VKAPI_CALL spying(VkInstance instance, const char* name) {
    const std::map<std::string, PFN_vkVoidFunction> mine{
        {"vkSetDebugUtilsObjectNameEXT", reinterpret_cast<PFN_vkVoidFunction>(note_name)},
        {"vkCmdBeginDebugUtilsLabelEXT", reinterpret_cast<PFN_vkVoidFunction>(note_begin)},
        {"vkCmdEndDebugUtilsLabelEXT", reinterpret_cast<PFN_vkVoidFunction>(note_end)},
    };
    const auto found = mine.find(name);
    return found != mine.end() ? found->second : vkGetInstanceProcAddr(instance, name);
}

PFN_vkVoidFunction VKAPI_CALL failing(VkInstance instance, const char* name) {
    const std::map<std::string, PFN_vkVoidFunction> mine{
        {"vkEnumerateDeviceExtensionProperties", reinterpret_cast<PFN_vkVoidFunction>(extensions_with_fault)},
        {"vkGetPhysicalDeviceFeatures2", reinterpret_cast<PFN_vkVoidFunction>(features_with_fault)},
        {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(device_proc)},
    };
    const auto found = mine.find(name);
    return found != mine.end() ? found->second : vkGetInstanceProcAddr(instance, name);
}

struct Line {
    LogLevel level;
    std::string text;
};

/// A backend under validation whose log lines are kept, because the tests check these messages.
struct Heard {
    std::vector<Line> lines;
    std::optional<Backend> backend;

    explicit Heard(LogLevel level, std::function<void()> also = {}) {
        Config config = Config::from_env();
        config.validation = weft::Validation::on;
        config.log_level = level;
        config.log = [this, also](LogLevel l, std::string_view text) {
            lines.push_back({l, std::string(text)});
            if (also) also();
        };
        backend = make_backend(config);
    }
    bool has(LogLevel level, std::initializer_list<const char*> parts) const {
        return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
            return line.level == level && std::all_of(parts.begin(), parts.end(), [&](const char* part) {
                       return line.text.find(part) != std::string::npos;
                   });
        });
    }
    std::uint64_t messages() const { return backend->counters().validation_messages; }
};

/// Records wrong commands with weft's objects into a command buffer that is never submitted.
class Mistakes {
  public:
    explicit Mistakes(const Backend& backend) : h_(native::handles(backend)) {
        VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        pool.queueFamilyIndex = h_.compute.family;
        REQUIRE(vkCreateCommandPool(h_.device, &pool, nullptr, &pool_) == VK_SUCCESS);
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = pool_;
        allocate.commandBufferCount = 1;
        REQUIRE(vkAllocateCommandBuffers(h_.device, &allocate, &commands_) == VK_SUCCESS);
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        REQUIRE(vkBeginCommandBuffer(commands_, &begin) == VK_SUCCESS);
    }
    ~Mistakes() { vkDestroyCommandPool(h_.device, pool_, nullptr); }
    Mistakes(const Mistakes&) = delete;
    Mistakes& operator=(const Mistakes&) = delete;

    void fill_beyond(const native::BufferRange& range) {
        vkCmdFillBuffer(commands_, range.buffer, (range.offset + range.bytes + 64) * 4, 4, 0);
    }
    void dispatch_without_buffers(VkPipeline pipeline) {
        vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        vkCmdDispatch(commands_, 1, 1, 1);
    }

  private:
    native::Handles h_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace

TEST_CASE("names: everything that weft makes for a user is named, and commands are labelled") {
    const auto app = make_app();
    if (!app) return;
    native::AdoptedDevice described = app->described();
    described.get_instance_proc_addr = spying;
    spy.names.clear();
    {
        Config config = Config::from_env();
        config.path = weft::Path::staged;
        Backend backend = native::adopt(described, config);
        const Buffer<float> angles(backend, 10, "angles"), unnamed(backend, 10);
        const weft::HostBuffer<float> page_locked(backend, 10, "page-locked angles");
        const Program program(backend, kAffine, {.name = "saxpy"});
        AffineWork work({5000, 100});
        weft::run_batch(backend, program, work.jobs);
        CHECK(work.right());
        weft::Stream stream(backend, {.name = "my stream"});
        stream.fill(unnamed.view(), 0u);
        stream.wait();
        (void)stream.record([&](weft::Stream& s) { s.fill(unnamed.view(), 1u); });
    }
    const std::pair<VkObjectType, const char*> wanted[] = {
        {VK_OBJECT_TYPE_BUFFER, "angles"},
        {VK_OBJECT_TYPE_BUFFER, "buffer"},
        {VK_OBJECT_TYPE_BUFFER, "page-locked angles"},
        {VK_OBJECT_TYPE_BUFFER, "slot 0 upload staging"},
        {VK_OBJECT_TYPE_BUFFER, "slot 0 device inputs"},
        {VK_OBJECT_TYPE_SHADER_MODULE, "saxpy"},
        {VK_OBJECT_TYPE_PIPELINE, "saxpy"},
        {VK_OBJECT_TYPE_SEMAPHORE, "weft compute timeline"},
        {VK_OBJECT_TYPE_COMMAND_BUFFER, "slot 0 compute"},
        {VK_OBJECT_TYPE_COMMAND_BUFFER, "my stream"},
        {VK_OBJECT_TYPE_PIPELINE_LAYOUT, "weft pipeline layout"},
    };
    for (const auto& [type, name] : wanted) {
        CAPTURE(name);
        CHECK(spy.names.count(std::to_string(type) + " " + name) == 1);
    }
    // The application's own objects keep their names.
    for (const VkObjectType type : {VK_OBJECT_TYPE_QUEUE, VK_OBJECT_TYPE_DEVICE})
        for (const std::string& name : spy.names) CHECK_FALSE(name.starts_with(std::to_string(type) + " "));
    // Labels cost time, so they are left out if no tool reads them.
    if (Config::from_env().validation != weft::Validation::off)
        for (const char* label : {"saxpy", "upload", "download"}) CHECK(spy.labels.count(label) == 1);
    CHECK(spy.open_labels == 0);
}

TEST_CASE("names: a validation message names weft's objects and has its level") {
    Heard heard(LogLevel::warning);
    if (!heard.backend) return;
    const std::string long_name(1000, 'n');
    {
        const Buffer<float> angles(*heard.backend, 10, "angles of the lattice"),
            longest(*heard.backend, 10, long_name);
        const weft::HostBuffer<float> page_locked(*heard.backend, 10, "page-locked angles");
        const Program program(*heard.backend, kAffine, {.name = "saxpy kernel"});
        Mistakes mistakes(*heard.backend);
        CHECK(heard.messages() == 0);
        mistakes.fill_beyond(native::buffer(angles));
        CHECK(heard.messages() == 1);
        CHECK(heard.has(LogLevel::error, {"vkCmdFillBuffer", "angles of the lattice"}));
        mistakes.fill_beyond(native::host_buffer(page_locked));
        CHECK(heard.has(LogLevel::error, {"page-locked angles"}));
        mistakes.dispatch_without_buffers(native::pipeline(program).pipeline);
        CHECK(heard.has(LogLevel::error, {"saxpy kernel"}));
        mistakes.fill_beyond(native::buffer(longest));
        CHECK(heard.has(LogLevel::error, {long_name.substr(0, 200).c_str()}));
        CHECK(heard.messages() >= 4);
        CHECK(heard.lines.size() == heard.messages());
    }
    const auto report = heard.backend->memory();
    for (const char* name : {"angles of the lattice", "page-locked angles"})
        CHECK(std::any_of(report.names.begin(), report.names.end(), [&](const auto& n) {
            return n.name == name && n.live_bytes == 0 && n.peak_bytes > 0;
        }));
}

TEST_CASE("names: the log's level decides what is logged, not what is counted") {
    Heard heard(LogLevel::off);
    if (!heard.backend) return;
    const Buffer<float> buffer(*heard.backend, 10);
    Mistakes(*heard.backend).fill_beyond(native::buffer(buffer));
    CHECK(heard.lines.empty());
    CHECK(heard.messages() == 1);
}

TEST_CASE("names: a callback that throws through a driver's call does no harm") {
    Heard heard(LogLevel::warning, [] { throw std::runtime_error("mine"); });
    if (!heard.backend) return;
    const Buffer<float> buffer(*heard.backend, 10);
    Mistakes mistakes(*heard.backend);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        CHECK_NOTHROW(mistakes.fill_beyond(native::buffer(buffer)));
        CHECK(heard.messages() == i);
    }
    CHECK(heard.lines.size() == 3);
    check_usable(*heard.backend);
}

TEST_CASE("names: messages of many threads come one at a time") {
    Heard heard(LogLevel::warning);
    if (!heard.backend) return;
    const Buffer<float> buffer(*heard.backend, 10, "shared by threads");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            Mistakes mistakes(*heard.backend);
            for (int i = 0; i < 25; ++i) mistakes.fill_beyond(native::buffer(buffer));
        });
    for (std::thread& thread : threads) thread.join();
    // The layer stops repeating a message at some point, so fewer than a hundred may arrive.
    CHECK(heard.messages() > 0);
    CHECK(heard.lines.size() == heard.messages());
    CHECK(heard.has(LogLevel::error, {"shared by threads"}));
}

TEST_CASE("names: MemoryReport forgets the oldest of very many names") {
    on_device([](Backend& backend) {
        for (int i = 0; i < 1500; ++i) Buffer<int>(backend, 1, "unique " + std::to_string(i));
        const auto names = backend.memory().names;
        CHECK(names.size() <= 1024 + 16);
        const auto known = [&](const std::string& wanted) {
            return std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.name == wanted; });
        };
        CHECK_FALSE(known("unique 0"));
        CHECK(known("unique 1499"));
    });
}

TEST_CASE("names: an Error of a lost device includes the driver's report, then and later") {
    const auto app = make_app();
    if (!app) return;
    native::AdoptedDevice described = app->described();
    VkPhysicalDeviceFaultFeaturesEXT fault{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
    fault.deviceFault = VK_TRUE;
    fault.pNext = app->features.pNext;
    VkPhysicalDeviceFeatures2 features = app->features;
    features.pNext = &fault;
    described.features = &features;
    described.extensions = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME};
    described.get_instance_proc_addr = failing;
    std::vector<std::string> log;
    Config config = Config::from_env();
    config.validation = weft::Validation::off;
    config.log_level = LogLevel::error;
    config.log = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    Backend backend = native::adopt(described, config);
    check_usable(backend);
    spy.lose_device = true;
    const char* said =
        "the driver reports: made-up page fault; invalid write at 0xabc000..0xabcfff; unit 7 (code 0x55, "
        "data "
        "0x66)";
    check_error(weft::Errc::device_lost, said, [&] { check_usable(backend); });
    check_error(weft::Errc::device_lost, said, [&] { check_usable(backend); });
    check_error(weft::Errc::device_lost, said, [&] { Buffer<int>(backend, 1); });
    spy.lose_device = false;
    CHECK(std::any_of(log.begin(), log.end(),
                      [&](const std::string& line) { return line.find(said) != std::string::npos; }));
}
