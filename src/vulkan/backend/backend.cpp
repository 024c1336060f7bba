// SPDX-License-Identifier: Apache-2.0
#include <weft/backend.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include <weft/memory_report.hpp>

#include "base/config_parse.hpp"
#include "host/own_process.hpp"
#include "host/process_end.hpp"
#include "plan/device/tuning_file.hpp"
#include "vulkan/device/read_snapshot.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft {
namespace core {
namespace {

std::vector<DeviceSnapshot> read_all(const Instance& instance, const std::vector<VkPhysicalDevice>& devices) {
    std::vector<DeviceSnapshot> snapshots;
    for (const VkPhysicalDevice device : devices) snapshots.push_back(read_snapshot(instance, device));
    return snapshots;
}

PlanReport report_plan(const DevicePlan& plan) {
    PlanReport report;
    report.upload_queue = queue_text(plan.queues.of(QueueRole::upload));
    report.compute_queue = queue_text(plan.queues.of(QueueRole::compute));
    report.download_queue = queue_text(plan.queues.of(QueueRole::download));
    report.split_queues = plan.queues.split;
    report.large_path = plan.transfer.large_pinned;
    report.ordinary_path = plan.transfer.large_ordinary;
    report.small_path = plan.transfer.small;
    report.small_bytes = plan.transfer.small_bytes;
    report.ring_slots = plan.ring_slots;
    report.copy_threads = plan.copy_threads;
    report.chunk_elements = plan.chunk_elements;
    report.chunk_exact = plan.chunk_exact;
    report.chunk_bytes = plan.chunk_bytes;
    report.tuning = plan.tuning;
    report.synchronization2 = plan.synchronization2;
    report.reasons = plan.reasons;
    return report;
}

/// Owns `object` in this process only. A forked child lacks the threads that hold its locks, and at the end
/// of the process they wait, so destroying it could take forever. The memory is freed when the process ends.
template <class T>
std::shared_ptr<T> owned_by_process(std::unique_ptr<T> object) {
    return {object.release(), [process = OwnProcess()](T* p) {
                if (process.here() && !ends_process()) delete p;
            }};
}

}  // namespace

std::vector<DeviceSnapshot> read_devices(const Config& config) {
    check_enums(config);
    const Instance instance(config);
    return read_all(instance, instance.physical_devices());
}

std::shared_ptr<BackendState> open_device(const Config& config, const HostFacts& host) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const SteadyTime process_begin = process_start(), begin = now();
    check_enums(config);
    auto instance = std::make_shared<Instance>(config);
    StartupReport startup;
    startup.before_s = seconds_between(process_begin, begin);
    startup.loader_s = instance->loader_s();
    startup.instance_s = instance->create_s();
    const SteadyTime asking = now();
    const std::vector<VkPhysicalDevice> devices = instance->physical_devices();
    std::vector<DeviceSnapshot> snapshots = read_all(*instance, devices);
    DevicePlan plan =
        plan_device(snapshots, config, host, [&](const DeviceSnapshot& s) { return load_tuning(s, config); });
    const std::uint32_t index = plan.device;
    StartupClock clock{startup, process_begin, now()};
    clock.report.devices_s = seconds_between(asking, clock.opening);
    return make_backend_state(std::move(instance), devices[index], index, std::move(snapshots[index]),
                              std::move(plan), config, clock);
}

std::shared_ptr<BackendState> make_backend_state(std::shared_ptr<Instance> instance,
                                                 VkPhysicalDevice physical, std::uint32_t index,
                                                 DeviceSnapshot snapshot, DevicePlan plan,
                                                 const Config& config, StartupClock clock,
                                                 AdoptedDevice adopted) {
    for (const std::string& reason : plan.reasons) instance->log().write(LogLevel::info, "plan: " + reason);
    if (const tune::EngineReport& tuning = plan.tuning; tuning.state.starts_with("can be written by"))
        instance->log().write(LogLevel::warning,
                              "tuning " + tuning.file.string() + " is not used: " + tuning.state);
    DeviceInfo info = describe(snapshot, index);
    info.chosen = true;
    PlanReport report = report_plan(plan);
    const std::shared_ptr<Context> context = owned_by_process(std::make_unique<Context>(
        std::move(instance), physical, std::move(snapshot), std::move(plan), config, std::move(adopted)));
    report.host_allocator = context->device.plan().cuda_host_memory ? "cuda" : "vulkan";
    if (config.host_allocator == HostAllocator::cuda)
        if (const std::string found = context->memory.host_allocator(); found != "cuda")
            throw Error(Errc::unsupported,
                        "Backend: host allocator cuda is not possible (got " + found + ")");
    clock.report.caches_s = context->pipelines.load_s();
    clock.report.device_s = seconds_since(clock.opening) - clock.report.caches_s;
    return owned_by_process(std::make_unique<BackendState>(context, std::move(info), std::move(report),
                                                           clock.report, clock.process_begin, config.trace));
}

}  // namespace core

std::vector<DeviceInfo> list_devices(const Config& config) {
    core::check_enums(config);
    const core::Instance instance(config);
    const std::vector<core::DeviceSnapshot> snapshots = core::read_all(instance, instance.physical_devices());
    std::vector<DeviceInfo> devices;
    for (std::uint32_t i = 0; i < snapshots.size(); ++i) devices.push_back(core::describe(snapshots[i], i));
    try {
        devices.at(core::choose_device(snapshots, config)).chosen = true;
    } catch (const Error&) {
        // Nothing is chosen; the list shows why.
    }
    return devices;
}

Backend::Backend(const Config& config) : backend_state_(core::open_device(config, core::host_facts())) {}
Backend::Backend(std::shared_ptr<core::BackendState> backend_state)
    : backend_state_(std::move(backend_state)) {}
Backend::Backend(Backend&&) noexcept = default;
Backend& Backend::operator=(Backend&& other) noexcept {
    if (backend_state_ && this != &other) backend_state_->scratch_cache().clear();
    backend_state_ = std::move(other.backend_state_);
    return *this;
}

Backend::~Backend() {
    if (!backend_state_ || backend_state_->context()->device.beyond_use()) return;
    try {
        backend_state_->context()->timelines.wait_all();
    } catch (const Error& e) {
        backend_state_->context()->device.log().write(LogLevel::error, e.what());
    }
    backend_state_->scratch_cache().clear();
    backend_state_->context()->pipelines.save();
    backend_state_->write_trace();
}

const std::shared_ptr<core::BackendState>& Backend::backend_state() const {
    if (!backend_state_) throw Error(Errc::invalid_argument, "Backend: used after it was moved from");
    backend_state_->context()->device.require_own_process("Backend");
    return backend_state_;
}

const std::string& Backend::name() const {
    return backend_state()->info().name;
}
const DeviceInfo& Backend::device() const {
    return backend_state()->info();
}
const PlanReport& Backend::plan() const {
    return backend_state()->plan_report();
}
std::string Backend::host_allocator() {
    backend_state()->context()->device.require_usable("Backend::host_allocator");
    return backend_state()->context()->memory.host_allocator();
}
MemoryReport Backend::memory() const {
    return backend_state()->context()->memory.report();
}
StartupReport Backend::startup() const {
    return backend_state()->startup();
}
PipelineReport Backend::pipelines() const {
    return backend_state()->context()->pipelines.report();
}

Counters Backend::counters() const {
    const core::Device& device = backend_state()->context()->device;
    const auto read = [](const std::atomic<std::uint64_t>& cell) {
        return cell.load(std::memory_order_relaxed);
    };
    Counters counters;
    counters.objects_created = read(device.counters.objects);
    counters.memory_allocations = read(device.counters.allocations);
    counters.descriptor_updates = read(device.counters.descriptor_updates);
    counters.recordings = read(device.counters.recordings);
    counters.submissions = read(device.counters.submissions);
    counters.imports = read(device.counters.imports);
    counters.validation_messages = device.instance().validation_messages();
    return counters;
}

void Backend::wait_idle() {
    backend_state()->context()->device.require_usable("Backend::wait_idle");
    backend_state()->context()->timelines.wait_all();
}

bool Backend::save_pipeline_cache() {
    return backend_state()->context()->pipelines.save();
}
void Backend::trim() {
    backend_state()->trim();
}

}  // namespace weft
