// SPDX-License-Identifier: Apache-2.0
// Completes plan/device/device_plan.hpp: which queue carries uploads, kernels and downloads.
#include <algorithm>

#include <weft/error.hpp>

#include "plan/device/device_plan.hpp"

namespace weft::core {
namespace {

using Family = QueueFamilySnapshot;

bool is_special(const Family& family) {
    return family.video || family.optical_flow;
}

bool transfers_only(const Family& family) {
    return family.count > 0 && family.transfer && !family.graphics && !family.compute;
}

bool is_dedicated(const Family& family) {
    return transfers_only(family) && !is_special(family);
}

bool is_special_transfer(const Family& family) {
    return transfers_only(family) && is_special(family);
}

/// The first family, other than `except`, with at least `queues` queues that passes the test.
template <class Test>
std::optional<std::uint32_t> find_family(const DeviceSnapshot& device, Test test, std::uint32_t queues = 1,
                                         std::optional<std::uint32_t> except = std::nullopt) {
    for (std::uint32_t i = 0; i < device.families.size(); ++i)
        if (i != except && device.families[i].count >= queues && test(device.families[i])) return i;
    return std::nullopt;
}

std::uint32_t compute_family(const DeviceSnapshot& device) {
    // A family without graphics comes first: there, kernels do not wait for what the desktop draws.
    const auto async = [](const Family& f) { return f.compute && !f.graphics && !is_special(f); };
    const auto no_graphics = [](const Family& f) { return f.compute && !f.graphics; };
    const auto any = [](const Family& f) { return f.compute; };
    if (const auto found = find_family(device, async)) return *found;
    if (const auto found = find_family(device, no_graphics)) return *found;
    if (const auto found = find_family(device, any)) return *found;
    throw Error(Errc::unsupported, "Backend: no compute queue on " + device.name + " (got " +
                                       std::to_string(device.families.size()) + " families, need one)");
}

/// Two queues in one family are best: each has its own copy engine, and neither has other work.
std::optional<std::uint32_t> transfer_family(const DeviceSnapshot& device) {
    if (const auto found = find_family(device, is_dedicated, 2)) return found;
    if (const auto found = find_family(device, is_dedicated)) return found;
    if (const auto found = find_family(device, is_special_transfer, 2)) return found;
    return find_family(device, is_special_transfer);
}

struct Slots {
    QueueSlot upload, compute, download;
    std::string reason;
};

std::string family_text(std::uint32_t family) {
    return "family " + std::to_string(family);
}

Slots with_transfer_family(const DeviceSnapshot& device, std::uint32_t compute, std::uint32_t transfer) {
    Slots slots{{transfer, 0}, {compute, 0}, {transfer, 0}, {}};
    const std::string only = family_text(transfer) + " is for transfers only and has ";
    if (device.families[transfer].count >= 2) {
        slots.download = {transfer, 1};
        slots.reason = only + std::to_string(device.families[transfer].count) +
                       " queues, one for uploads and one for downloads";
        return slots;
    }
    const std::string one = only + "1 queue, for uploads; downloads use ";
    if (const auto second = find_family(device, is_dedicated, 1, transfer)) {
        slots.download = {*second, 0};
        slots.reason = one + family_text(*second) + ", for transfers only too";
    } else if (device.families[compute].count >= 2) {
        slots.download = {compute, 1};
        slots.reason = one + "a spare queue of the compute " + family_text(compute);
    } else if (const auto special = find_family(device, is_special_transfer, 1, transfer)) {
        slots.download = {*special, 0};
        slots.reason = one + family_text(*special) + ", the only other one that can copy while kernels run";
    } else {
        slots.reason = one + "it too, there is no other queue but that of the kernels";
    }
    return slots;
}

Slots within_compute_family(const DeviceSnapshot& device, std::uint32_t compute) {
    Slots slots{{compute, 0}, {compute, 0}, {compute, 0}, {}};
    const std::uint32_t count = device.families[compute].count;
    const std::string none = "no family is for transfers only; compute " + family_text(compute) + " has ";
    if (count >= 3) {
        slots.upload = {compute, 1};
        slots.download = {compute, 2};
        slots.reason = none + std::to_string(count) + " queues, one for each stage";
    } else if (count == 2) {
        // A download must wait for its kernel anyway; on the upload queue that wait would hold up the next
        // upload.
        slots.upload = {compute, 1};
        slots.reason = none + "2 queues, one for uploads, one for kernels and downloads";
    } else {
        slots.reason = none + "1 queue, which does everything";
    }
    return slots;
}

Slots separate(const DeviceSnapshot& device, std::uint32_t compute) {
    if (const auto transfer = transfer_family(device))
        return with_transfer_family(device, compute, *transfer);
    return within_compute_family(device, compute);
}

Slots together(std::uint32_t compute, const std::string& why) {
    return {{compute, 0}, {compute, 0}, {compute, 0}, why + "; one queue does everything"};
}

}  // namespace

std::string queue_text(const QueueSlot& slot) {
    return family_text(slot.family) + " queue " + std::to_string(slot.queue);
}

QueuePlan queue_plan(const std::array<QueueSlot, kQueueRoles>& slots, QueueMode mode, std::string reason,
                     const std::vector<std::uint32_t>& other_families) {
    QueuePlan plan{slots, false, other_families, std::move(reason)};
    plan.split = mode == QueueMode::split || slots[0] != slots[1] || slots[2] != slots[1];
    if (mode == QueueMode::split) plan.reason += "; separate submissions asked for by queues=split";
    for (const QueueSlot& slot : slots) plan.families.push_back(slot.family);
    std::sort(plan.families.begin(), plan.families.end());
    plan.families.erase(std::unique(plan.families.begin(), plan.families.end()), plan.families.end());
    return plan;
}

QueuePlan plan_queues(const DeviceSnapshot& device, QueueMode mode) {
    const std::uint32_t compute = compute_family(device);
    Slots slots;
    if (mode == QueueMode::single)
        slots = together(compute, "asked for by queues=single");
    else if (mode == QueueMode::automatic && has_unified_memory(device))
        slots = together(compute, "the host shares the device's memory, so little is copied");
    else
        slots = separate(device, compute);
    return queue_plan({slots.upload, slots.compute, slots.download}, mode, std::move(slots.reason));
}

}  // namespace weft::core
