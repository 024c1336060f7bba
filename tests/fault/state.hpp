// SPDX-License-Identifier: Apache-2.0
// The common state of all hooks of the fault loader: rules, counts, living objects and violations.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fault/control.hpp"
#include "fault/functions.hpp"

namespace weft_fault {

class State final : public Control {
  public:
    static State& get();

    void reset() override;
    void lie(const FakeDriver& fake) override;
    void fail(const Rule& rule) override;
    void fail_no_more() override;
    std::uint64_t calls(Calls calls) const override;
    std::uint64_t calls(const std::string& function) const override;
    std::string failed() const override;
    std::vector<Live> live() const override;
    void forget_living() override;
    std::vector<std::string> violations() const override;
    std::vector<std::string> cache_data() const override;
    std::uint64_t compiled() const override;
    std::uint64_t live_bytes() const override;
    bool inside() const override { return depth != 0; }

    static inline thread_local int depth = 0;

    /// Counts a call on `device` (null: on no device). If the call must fail, returns the result for it.
    std::optional<VkResult> before(Id id, VkDevice device);
    /// The result of a wait or query on a lost device; nothing if the device is not lost.
    std::optional<VkResult> if_lost(Id id, VkDevice device) const;
    void created(Id id, std::uint64_t handle);
    void destroyed(Id id, std::uint64_t handle);
    void violation(const std::string& what);

    /// The hooks read it. Only tests change it, while no backend is alive.
    const FakeDriver& fake() const { return fake_; }
    /// Protects the driver's single queue, and everything that must not change while work is submitted.
    std::mutex& queue_mutex() { return queue_mutex_; }
    void add_bytes(std::int64_t bytes) { bytes_ += bytes; }

  private:
    void settle(VkDevice device);

    mutable std::mutex mutex_;
    std::mutex queue_mutex_;
    FakeDriver fake_;
    std::optional<Rule> rule_;
    std::uint64_t matched_ = 0;
    std::string failed_;
    std::array<std::uint64_t, kFunctions> calls_{};
    std::set<VkDevice> lost_;
    LostWaits lost_waits_ = LostWaits::say_lost;
    std::map<std::string, std::set<std::uint64_t>> live_;
    std::vector<std::string> violations_;
    std::atomic<std::int64_t> bytes_{0};
};

// fake_pipelines.cpp
std::vector<std::string> data_of_caches();
std::uint64_t compiled_pipelines();
void forget_pipelines();

/// Integer value of a handle of either kind.
template <class Handle>
std::uint64_t value_of(Handle handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

/// The device of a call.
inline VkDevice device_of(VkDevice device) {
    return device;
}
VkDevice device_of(VkQueue queue);
template <class Other>
VkDevice device_of(Other) {
    return VK_NULL_HANDLE;
}

/// Marks which hook an overload of act() belongs to.
template <Id id>
struct Tag {};

/// For a function without an overload, calls the real function.
template <Id id, class... Arguments>
auto act(Tag<id>, Arguments... arguments) {
    return real<id>()(arguments...);
}

}  // namespace weft_fault
