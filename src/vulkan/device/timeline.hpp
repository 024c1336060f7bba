// SPDX-License-Identifier: Apache-2.0
// One timeline semaphore for each queue role; submission and waiting.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/startup.hpp"
#include "host/process_end.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {

/// "This work is done when the timeline of `role` has reached `value`." Value 0 is always reached.
struct Token {
    QueueRole role = QueueRole::compute;
    std::uint64_t value = 0;
};

/// Reached when the counter of a timeline semaphore, of weft or another API, is at least `value`.
struct SemaphorePoint {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    std::uint64_t value = 0;  // 0: always reached
};

/// A timeline semaphore at 0, for the caller to destroy; `shared`: one that other APIs can import.
VkSemaphore make_timeline(Device& device, std::string_view name, bool shared);

class Timelines {
  public:
    explicit Timelines(Device& device);
    ~Timelines();
    Timelines(const Timelines&) = delete;
    Timelines& operator=(const Timelines&) = delete;

    /// Submits to the role's queue, to run after `wait`: a token of another role that was submitted already,
    /// or one with value 0 for nothing. `commands` may be VK_NULL_HANDLE for an empty submission.
    Token submit(QueueRole role, VkCommandBuffer commands, Token wait = {});
    /// Several command buffers, at most kMostCommands, which begin in this order.
    Token submit(QueueRole role, std::span<const VkCommandBuffer> commands, Token wait = {});
    /// The same after a point that may belong to another API.
    Token submit_after(QueueRole role, std::span<const VkCommandBuffer> commands, SemaphorePoint wait);
    static constexpr std::size_t kMostCommands = 3;
    bool passed(Token token);
    /// false: the time is up and the work still runs. Errors: device_lost.
    bool wait(Token token, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max(),
              bool spin = true);
    /// The same for any point on a timeline of this device.
    bool passed(SemaphorePoint point);
    bool wait(SemaphorePoint point, std::chrono::nanoseconds timeout, bool spin = true);
    /// Waits until the work is done or the device is lost, even if waiting itself fails, because nothing that
    /// the work uses may be freed before. If waiting keeps failing, the device is given up (Device::wedge).
    void drain(Token token) noexcept;
    /// Waits for everything submitted so far. Errors: device_lost.
    void wait_all();
    /// Long waits call `look` every two seconds. Replaces the function that was set before.
    void on_slow_wait(std::function<void()> look);
    const FirstWork& first_work() const { return first_work_; }
    /// The semaphore whose counter is the role's timeline, and the value of the last submission.
    VkSemaphore semaphore(QueueRole role) const { return lines_[static_cast<std::size_t>(role)].semaphore; }
    SemaphorePoint point(Token token) const { return {semaphore(token.role), token.value}; }
    Token last(QueueRole role);
    /// A second semaphore, made by the first call, that other APIs can import. From now on it gets the same
    /// values as the role's timeline. The timeline itself is not exported, because validation layers cannot
    /// follow an exported semaphore. Errors: device_lost, driver.
    VkSemaphore shared(QueueRole role);

  private:
    struct Line {
        VkSemaphore semaphore = VK_NULL_HANDLE;
        VkSemaphore shared = VK_NULL_HANDLE;  // guarded, as `last`, by the role's queue lock
        std::atomic<std::uint64_t> last{0};
    };
    /// What a submission waits for and signals.
    struct Order {
        SemaphorePoint wait;
        std::array<VkSemaphore, 2> signals;  // the second may be null
        std::uint64_t value;
    };
    Line& line(QueueRole role) { return lines_[static_cast<std::size_t>(role)]; }
    void let_drivers_finish() noexcept;
    void destroy() noexcept;
    VkResult submit2(VkQueue queue, std::span<const VkCommandBuffer> commands, const Order& order);
    VkResult submit1(VkQueue queue, std::span<const VkCommandBuffer> commands, const Order& order);
    Token submit_locked(QueueRole role, std::span<const VkCommandBuffer> commands, SemaphorePoint wait);

    void look() noexcept;
    bool busy() noexcept;

    Device& device_;
    FirstWork first_work_;
    std::array<Line, kQueueRoles> lines_;
    std::mutex look_mutex_;
    std::shared_ptr<const std::function<void()>> look_;  // guarded
    std::optional<BusyAtEnd> at_end_;
};

}  // namespace weft::core
