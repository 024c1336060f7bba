// SPDX-License-Identifier: Apache-2.0
#include "fault/state.hpp"

#include <chrono>
#include <thread>

namespace weft_fault {
namespace {

/// "Buffer" of vkCreateBuffer and vkDestroyBuffer.
std::string type_name(Id id) {
    if (id == Id::vkCreateComputePipelines) return "Pipeline";
    const std::string_view name = kFunctionTable[static_cast<std::size_t>(id)].name;
    for (const std::string_view verb : {"vkCreate", "vkDestroy", "vkAllocate", "vkFree"})
        if (name.starts_with(verb)) return std::string(name.substr(verb.size()));
    return std::string(name);
}

bool counts(const Rule& rule, Id id) {
    switch (rule.calls) {
        case Calls::may_run_out:
            return (traits_of(id) & kRunsOut) != 0;
        case Calls::may_allocate:
            return (traits_of(id) & kRunsOut) != 0 && (traits_of(id) & kLoses) == 0;
        case Calls::may_lose:
            return (traits_of(id) & kLoses) != 0;
        case Calls::named:
            break;
    }
    return rule.function == kFunctionTable[static_cast<std::size_t>(id)].name;
}

}  // namespace

State& State::get() {
    // Never destroyed: drivers and threads may still call when the process ends.
    static State* state = new State;
    return *state;
}

void State::reset() {
    const std::lock_guard lock(mutex_);
    fake_ = {};
    rule_.reset();
    matched_ = 0;
    failed_.clear();
    calls_ = {};
    lost_.clear();
    violations_.clear();
    forget_pipelines();
}

void State::lie(const FakeDriver& fake) {
    const std::lock_guard lock(mutex_);
    fake_ = fake;
}

void State::fail(const Rule& rule) {
    const std::lock_guard lock(mutex_);
    rule_ = rule;
    matched_ = 0;
    failed_.clear();
    calls_ = {};
}

void State::fail_no_more() {
    const std::lock_guard lock(mutex_);
    rule_.reset();
}

std::uint64_t State::calls(Calls kind) const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kFunctions; ++i)
        if (counts(Rule{.calls = kind}, static_cast<Id>(i))) sum += calls_[i];
    return sum;
}

std::uint64_t State::calls(const std::string& function) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kFunctions; ++i)
        if (function == kFunctionTable[i].name) return calls_[i];
    return 0;
}

std::string State::failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

std::vector<Live> State::live() const {
    const std::lock_guard lock(mutex_);
    std::vector<Live> all;
    for (const auto& [type, handles] : live_)
        if (!handles.empty()) all.push_back({type, static_cast<std::int64_t>(handles.size())});
    return all;
}

void State::forget_living() {
    const std::lock_guard lock(mutex_);
    live_.clear();
    bytes_ = 0;
}

std::vector<std::string> State::violations() const {
    const std::lock_guard lock(mutex_);
    return violations_;
}

std::vector<std::string> State::cache_data() const {
    return data_of_caches();
}

std::uint64_t State::compiled() const {
    return compiled_pipelines();
}

std::uint64_t State::live_bytes() const {
    return static_cast<std::uint64_t>(bytes_.load());
}

/// The driver's real device is not lost, so its work must have ended before weft frees the memory of this
/// work.
void State::settle(VkDevice device) {
    const std::lock_guard lock(queue_mutex_);
    real<Id::vkDeviceWaitIdle>()(device);
}

std::optional<VkResult> State::if_lost(Id id, VkDevice device) const {
    if ((traits_of(id) & kLoses) == 0) return std::nullopt;
    LostWaits waits = LostWaits::say_lost;
    {
        const std::lock_guard lock(mutex_);
        if (lost_.count(device) == 0) return std::nullopt;
        waits = lost_waits_;
    }
    if ((traits_of(id) & kWaits) == 0 || waits == LostWaits::say_lost) return VK_ERROR_DEVICE_LOST;
    if (waits == LostWaits::succeed) return VK_SUCCESS;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return VK_TIMEOUT;
}

std::optional<VkResult> State::before(Id id, VkDevice device) {
    {
        const std::lock_guard lock(mutex_);
        ++calls_[static_cast<std::size_t>(id)];
    }
    if (const auto lost = if_lost(id, device)) return lost;
    std::unique_lock lock(mutex_);
    if (!rule_ || !counts(*rule_, id)) return std::nullopt;
    const std::uint64_t index = matched_++;
    if (rule_->for_ever ? index < rule_->index : index != rule_->index) return std::nullopt;
    if (failed_.empty()) failed_ = kFunctionTable[static_cast<std::size_t>(id)].name;
    const auto result = static_cast<VkResult>(rule_->result);
    if (result != VK_ERROR_DEVICE_LOST || device == VK_NULL_HANDLE) return result;
    lost_waits_ = rule_->lost_waits;
    lost_.insert(device);
    lock.unlock();
    settle(device);
    return if_lost(id, device).value_or(VK_ERROR_DEVICE_LOST);
}

void State::created(Id id, std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    live_[type_name(id)].insert(handle);
}

void State::destroyed(Id id, std::uint64_t handle) {
    if (handle == 0) return;
    const std::lock_guard lock(mutex_);
    if (live_[type_name(id)].erase(handle) == 0)
        violations_.push_back(std::string(kFunctionTable[static_cast<std::size_t>(id)].name) +
                              " of an object that is not alive");
    if (id == Id::vkDestroyDevice)
        lost_.erase(reinterpret_cast<VkDevice>(handle));  // its address may be used again
}

void State::violation(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (violations_.size() < 100) violations_.push_back(what);
}

}  // namespace weft_fault
