// SPDX-License-Identifier: Apache-2.0
#include "core/copy_workers.hpp"

#include <algorithm>
#include <system_error>

#include "core/copy_streaming.hpp"

namespace weft::core {
namespace {

// Large enough that taking a part costs nothing beside copying it, small enough that sixteen threads share
// one chunk.
constexpr std::size_t kPartBytes = std::size_t{256} << 10;
// Waking a thread costs tens of microseconds: as long as it takes one thread to copy about this much.
constexpr std::size_t kAloneBytes = std::size_t{512} << 10;

}  // namespace

struct CopyWorkers::Work {
    std::span<const HostCopy> copies;
    std::size_t parts = 0;
    std::atomic<std::size_t> next{0};
    std::uint32_t helpers = 0;  // workers inside; guarded by mutex_
    std::condition_variable left;

    /// Parts are numbered through all copies.
    void run_part(std::size_t part) const {
        for (const HostCopy& copy : copies) {
            const std::size_t count = (copy.bytes + kPartBytes - 1) / kPartBytes;
            if (part >= count) {
                part -= count;
                continue;
            }
            const std::size_t offset = part * kPartBytes;
            copy_streaming(static_cast<std::byte*>(copy.target) + offset,
                           static_cast<const std::byte*>(copy.source) + offset,
                           std::min(kPartBytes, copy.bytes - offset));
            return;
        }
    }
};

CopyWorkers::CopyWorkers(std::uint32_t threads) : threads_(std::max(1u, threads)) {}

CopyWorkers::~CopyWorkers() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void CopyWorkers::start() {
    if (!workers_.empty()) return;
    try {
        for (std::uint32_t i = 1; i < threads_; ++i) workers_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
        // Fewer threads than asked for still copy everything: the caller takes every part that is left.
    }
}

void CopyWorkers::take_parts(Work& work) {
    for (std::size_t part = work.next.fetch_add(1); part < work.parts; part = work.next.fetch_add(1))
        work.run_part(part);
}

void CopyWorkers::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return stop_ || !open_.empty(); });
        if (stop_) return;
        Work& work = *open_.front();
        if (work.next.load() >= work.parts) {
            // Nothing left to take; its caller removes it as well, whoever comes first.
            open_.erase(open_.begin());
            continue;
        }
        ++work.helpers;
        lock.unlock();
        take_parts(work);
        lock.lock();
        if (--work.helpers == 0) work.left.notify_all();
    }
}

void CopyWorkers::copy(std::span<const HostCopy> copies) {
    std::size_t bytes = 0;
    for (const HostCopy& copy : copies) bytes += copy.bytes;
    if (threads_ == 1 || bytes <= kAloneBytes) {
        for (const HostCopy& copy : copies) copy_streaming(copy.target, copy.source, copy.bytes);
        return;
    }
    Work work;
    work.copies = copies;
    for (const HostCopy& copy : copies) work.parts += (copy.bytes + kPartBytes - 1) / kPartBytes;
    {
        const std::lock_guard lock(mutex_);
        start();
        open_.push_back(&work);
    }
    wake_.notify_all();
    take_parts(work);
    std::unique_lock lock(mutex_);
    const auto it = std::find(open_.begin(), open_.end(), &work);
    if (it != open_.end()) open_.erase(it);
    work.left.wait(lock, [&] { return work.helpers == 0; });
}

}  // namespace weft::core
