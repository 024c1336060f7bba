// SPDX-License-Identifier: Apache-2.0
// The lock of a VkQueue, which Vulkan allows one thread at a time to use.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

namespace weft::core {

/// The application's own lock of a queue it shares; both empty or neither.
struct QueueLockHooks {
    std::function<void()> lock, unlock;
};

/// All objects in this process for the same queue share one lock, so two backends on one device exclude each
/// other. The application's lock is taken after weft's own. Satisfies the BasicLockable requirements.
class QueueMutex {
  public:
    QueueMutex() : mutex_(std::make_shared<std::mutex>()) {}
    explicit QueueMutex(const void* queue, QueueLockHooks hooks = {});

    /// Errors: driver - the application's lock threw (its text is kept).
    void lock();
    /// An exception of the application's unlock ends here.
    void unlock() noexcept;

  private:
    std::shared_ptr<std::mutex> mutex_;
    QueueLockHooks hooks_;
};

}  // namespace weft::core
