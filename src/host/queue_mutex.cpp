// SPDX-License-Identifier: Apache-2.0
#include "host/queue_mutex.hpp"

#include <exception>
#include <map>
#include <string>
#include <utility>

#include <weft/error.hpp>

namespace weft::core {
namespace {

std::shared_ptr<std::mutex> mutex_of(const void* queue) {
    using Known = std::map<const void*, std::weak_ptr<std::mutex>>;
    static std::mutex guard;
    // Never destroyed: a backend may outlive static objects if a program exits with work under way.
    static Known& known = *new Known;
    const std::lock_guard lock(guard);
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<std::mutex>& entry = known[queue];
    std::shared_ptr<std::mutex> mutex = entry.lock();
    if (!mutex) entry = mutex = std::make_shared<std::mutex>();
    return mutex;
}

}  // namespace

QueueMutex::QueueMutex(const void* queue, QueueLockHooks hooks)
    : mutex_(mutex_of(queue)), hooks_(std::move(hooks)) {}

void QueueMutex::lock() {
    mutex_->lock();
    if (!hooks_.lock) return;
    try {
        hooks_.lock();
    } catch (const std::exception& e) {
        mutex_->unlock();
        throw Error(Errc::driver, std::string("native: the application's lock of a queue threw (got ") +
                                      e.what() + ", need it to lock)");
    } catch (...) {
        mutex_->unlock();
        throw Error(Errc::driver, "native: the application's lock of a queue threw (need it to lock)");
    }
}

void QueueMutex::unlock() noexcept {
    try {
        if (hooks_.unlock) hooks_.unlock();
    } catch (...) {
        // Swallowed: the work is already submitted, no caller can react.
    }
    mutex_->unlock();
}

}  // namespace weft::core
