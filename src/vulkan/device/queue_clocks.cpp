// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/queue_clocks.hpp"

#include <algorithm>
#include <array>

#include "trace/trace_events.hpp"
#include "vulkan/device/commands.hpp"

namespace weft::core {
namespace {

constexpr std::int64_t kRefreshNs = 1'000'000'000;
// A reading of both clocks that took longer was interrupted.
constexpr std::uint64_t kGoodDeviationNs = 20'000;
constexpr int kTries = 5;

}  // namespace

struct QueueClocks::Clock {
    Clock(QueueRole r, double period_ns, std::uint32_t bits) : role(r), map(period_ns, bits) {}
    QueueRole role;  // one that submits to this queue
    ClockMap map;
    bool shares_device_clock = false;
    std::int64_t offset_ns = 0;
    std::int64_t error_ns = 0;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkQueryPool query = VK_NULL_HANDLE;
};

QueueClocks::QueueClocks(Device& device, Timelines& timelines) : device_(device), timelines_(timelines) {
    if (!device.plan().timestamps) return;
    for (std::size_t i = 0; i < kQueueRoles; ++i) {
        const auto role = static_cast<QueueRole>(i);
        if (device.timestamp_bits(role) == 0) continue;
        for (std::size_t k = 0; k < i; ++k)
            if (&device.queue(static_cast<QueueRole>(k)) == &device.queue(role)) by_role_[i] = by_role_[k];
        if (by_role_[i] != nullptr) continue;
        clocks_.push_back(std::make_unique<Clock>(role, device.snapshot().limits.timestamp_period_ns,
                                                  device.timestamp_bits(role)));
        by_role_[i] = clocks_.back().get();
    }
    load_extension();
}

QueueClocks::~QueueClocks() {
    if (!device_.untouchable()) destroy();
}

void QueueClocks::destroy() noexcept {
    for (const auto& clock : clocks_) {
        if (clock->query != VK_NULL_HANDLE)
            device_.vk.vkDestroyQueryPool(device_.handle(), clock->query, nullptr);
        if (clock->pool != VK_NULL_HANDLE)
            device_.vk.vkDestroyCommandPool(device_.handle(), clock->pool, nullptr);
    }
}

/// The KHR extension has the same parameters and values, so one type serves both. The device must offer both
/// of the clocks that are compared.
void QueueClocks::load_extension() {
    const CalibratedTimestamps form = device_.plan().calibrated_timestamps;
    if (form == CalibratedTimestamps::none) return;
    const bool khr = form == CalibratedTimestamps::khr;
    const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
        device_.instance().vk.vkGetInstanceProcAddr(device_.instance().handle(),
                                                    khr ? "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR"
                                                        : "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
    if (list == nullptr) return;
    std::uint32_t count = 0;
    if (list(device_.physical(), &count, nullptr) < 0) return;
    std::vector<VkTimeDomainEXT> domains(count);
    if (list(device_.physical(), &count, domains.data()) < 0) return;
    const auto has = [&](VkTimeDomainEXT domain) {
        return std::find(domains.begin(), domains.end(), domain) != domains.end();
    };
    if (!has(VK_TIME_DOMAIN_DEVICE_EXT) || !has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT)) return;
    get_timestamps_ =
        reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(device_.instance().vk.vkGetDeviceProcAddr(
            device_.handle(), khr ? "vkGetCalibratedTimestampsKHR" : "vkGetCalibratedTimestampsEXT"));
}

bool QueueClocks::timed(QueueRole role) const {
    return by_role_[static_cast<std::size_t>(role)] != nullptr;
}

/// The best of a few readings. Empty if there is no extension or it failed, which costs only precision.
std::optional<ClockSample> QueueClocks::device_sample() {
    if (get_timestamps_ == nullptr) return std::nullopt;
    std::array<VkCalibratedTimestampInfoEXT, 2> infos{
        VkCalibratedTimestampInfoEXT{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr,
                                     VK_TIME_DOMAIN_DEVICE_EXT},
        VkCalibratedTimestampInfoEXT{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr,
                                     VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    std::optional<ClockSample> best;
    for (int i = 0; i < kTries; ++i) {
        std::array<std::uint64_t, 2> times{};
        std::uint64_t deviation = 0;
        if (get_timestamps_(device_.handle(), 2, infos.data(), times.data(), &deviation) < 0) break;
        const ClockSample sample{times[0], static_cast<std::int64_t>(times[1]),
                                 static_cast<std::int64_t>(std::min<std::uint64_t>(deviation, 1u << 30))};
        if (!best || sample.error_ns < best->error_ns) best = sample;
        if (deviation <= kGoodDeviationNs) break;
    }
    return best;
}

void QueueClocks::make_objects(Clock& clock) {
    // Objects that an earlier call made before it failed are used again.
    if (clock.pool == VK_NULL_HANDLE)
        clock.pool = make_command_pool(device_, device_.queue(clock.role).slot.family);
    if (clock.query == VK_NULL_HANDLE) clock.query = make_timestamps(device_, 1);
    VkCommandBuffer commands = VK_NULL_HANDLE;
    allocate_commands(device_, clock.pool, {&commands, 1});
    begin_commands(device_, commands);
    write_timestamp(device_, commands, clock.query, 0);
    end_commands(device_, commands);
    clock.commands = commands;  // last, since it says that everything is there
}

/// The narrowest of a few brackets, because the first submission to a queue is often slow.
QueueProbe QueueClocks::probe(Clock& clock) {
    if (clock.commands == VK_NULL_HANDLE) make_objects(clock);
    QueueProbe best;
    for (int i = 0; i < kTries; ++i) {
        QueueProbe one;
        device_.vk.vkResetQueryPool(device_.handle(), clock.query, 0, 1);
        one.before_ns = monotonic_ns();
        const Token token = timelines_.submit(clock.role, clock.commands);
        timelines_.wait(token);
        one.after_ns = monotonic_ns();
        read_timestamps(device_, clock.query, 0, {&one.ticks, 1});
        if (i == 0 || one.after_ns - one.before_ns < best.after_ns - best.before_ns) best = one;
        if (best.after_ns - best.before_ns <= static_cast<std::int64_t>(kGoodDeviationNs)) break;
    }
    return best;
}

void QueueClocks::refresh(bool may_probe) {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = monotonic_ns();
    if (clocks_.empty() || (refreshed_ns_ != 0 && now - refreshed_ns_ < kRefreshNs)) return;
    const bool first = refreshed_ns_ == 0;
    if (!may_probe && (first || get_timestamps_ == nullptr)) return;
    const double period = device_.snapshot().limits.timestamp_period_ns;
    const std::optional<ClockSample> device = device_sample();
    for (const auto& clock : clocks_) {
        if (!first && clock->shares_device_clock && device) {
            clock->map.add(*device);
            clock->error_ns = device->error_ns;
        } else if (may_probe) {
            const QueueCalibration c =
                calibrate(device, probe(*clock), period, device_.timestamp_bits(clock->role));
            clock->shares_device_clock = c.shares_device_clock;
            clock->offset_ns = c.offset_ns;
            clock->error_ns = c.sample.error_ns;
            clock->map.add(c.sample);
        }
    }
    refreshed_ns_ = now;
}

std::int64_t QueueClocks::host_ns(QueueRole role, std::uint64_t ticks, std::int64_t not_after_ns) {
    const std::lock_guard lock(mutex_);
    Clock& clock = *by_role_[static_cast<std::size_t>(role)];
    if (!clock.map.calibrated()) clock.map.add({ticks, not_after_ns, 0});
    return clock.map.host_ns(ticks, not_after_ns);
}

std::string QueueClocks::describe() {
    const std::lock_guard lock(mutex_);
    if (clocks_.empty()) return "the device has no timestamps";
    if (refreshed_ns_ == 0) return "not calibrated yet";
    std::int64_t error = 0;
    bool shared = true;
    std::string text;
    for (const auto& clock : clocks_) {
        error = std::max(error, clock->error_ns);
        shared = shared && clock->shares_device_clock;
        if (clock->offset_ns != 0)
            text += "; the driver's calibration is off by " + std::to_string(clock->offset_ns) +
                    " ns on queue family " + std::to_string(device_.queue(clock->role).slot.family);
    }
    return (shared ? "calibrated timestamps of the device" : "each queue bracketed by the host") +
           std::string(", within ") + std::to_string(error) + " ns" + text;
}

}  // namespace weft::core
