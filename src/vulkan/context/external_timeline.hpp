// SPDX-License-Identifier: Apache-2.0
// A timeline semaphore that another API signals and weft waits for.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/device/timeline.hpp"

namespace weft::core {

class Context;

class ExternalTimeline {
  public:
    ExternalTimeline(std::shared_ptr<Context> context, std::function<std::string()> check);
    ~ExternalTimeline();
    ExternalTimeline(const ExternalTimeline&) = delete;
    ExternalTimeline& operator=(const ExternalTimeline&) = delete;

    const std::shared_ptr<Context>& context() const { return context_; }
    SemaphorePoint point(std::uint64_t value) const { return {semaphore_, value}; }
    /// The submission behind `token` waits for this timeline.
    void add_waiter(Token token);
    /// The other API is expected to signal this value.
    void expect_value(std::uint64_t value);
    void poll() noexcept;

  private:
    void abandon(const std::string& reason) noexcept;

    std::shared_ptr<Context> context_;
    std::function<std::string()> check_;
    VkSemaphore semaphore_;
    std::mutex mutex_;
    std::array<Token, kQueueRoles> last_waits_;  // guarded
    std::uint64_t expected_ = 0;                 // guarded
};

/// Every external timeline of a context. Long waits poll them.
class ExternalTimelines {
  public:
    void add(const std::shared_ptr<ExternalTimeline>& timeline);
    void poll() noexcept;

  private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<ExternalTimeline>> all_;
};

}  // namespace weft::core
