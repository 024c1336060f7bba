// SPDX-License-Identifier: Apache-2.0
#include "core/copy_workers.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/copy_streaming.hpp"

namespace weft::core {
namespace {

// Large enough that taking a part costs nothing beside copying it, small enough that sixteen threads share
// one chunk.
constexpr std::size_t kPartBytes = std::size_t{128} << 10;
// Waking a thread costs tens of microseconds: as long as it takes one thread to copy about this much.
constexpr std::size_t kAloneBytes = std::size_t{512} << 10;

constexpr std::chrono::microseconds kSpin{100};

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

struct CopyWorkers::Work {
    std::span<const HostCopy> copies;
    const CopyLabel* label = nullptr;
    std::size_t parts = 0;
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint32_t> helpers{0};  // workers inside; raised only while the work is in open_

    /// Parts are numbered through all copies. Returns how many bytes this one has.
    std::size_t run_part(std::size_t part) const {
        for (const HostCopy& copy : copies) {
            const std::size_t count = (copy.bytes + kPartBytes - 1) / kPartBytes;
            if (part >= count) {
                part -= count;
                continue;
            }
            const std::size_t offset = part * kPartBytes;
            const std::size_t bytes = std::min(kPartBytes, copy.bytes - offset);
            copy_streaming(static_cast<std::byte*>(copy.target) + offset,
                           static_cast<const std::byte*>(copy.source) + offset, bytes);
            return bytes;
        }
        return 0;
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

/// One event a thread and copy, on a row that only this thread has meanwhile.
template <class Copy>
void traced(const CopyLabel& label, const Copy& copy) {
    const CopyRow row(*label.recorder);
    StageEvent event = label.event;
    event.row = row.id();
    event.begin_ns = monotonic_ns();
    event.bytes = copy();
    event.end_ns = monotonic_ns();
    if (event.bytes != 0) label.recorder->stage(event);
}

void CopyWorkers::take_parts_traced(Work& work) {
    // Who comes too late for a part leaves no trace.
    if (work.next.load() >= work.parts) return;
    traced(*work.label, [&] {
        std::size_t bytes = 0;
        for (std::size_t part = work.next.fetch_add(1); part < work.parts; part = work.next.fetch_add(1))
            bytes += work.run_part(part);
        return bytes;
    });
}

void CopyWorkers::take_parts(Work& work) {
    if (work.label->recorder != nullptr) return take_parts_traced(work);
    for (std::size_t part = work.next.fetch_add(1); part < work.parts; part = work.next.fetch_add(1))
        work.run_part(part);
}

/// Chunks of a batch follow each other within microseconds, far sooner than a sleeping thread wakes. Where
/// cores are scarce, or the device itself runs on them, waiting threads must give way instead.
bool CopyWorkers::may_spin() const {
    static const unsigned cores = std::thread::hardware_concurrency();
    return cores >= 8 && threads_ <= cores;
}

template <class Ready>
bool spin_until(const Ready& ready) {
    const auto limit = std::chrono::steady_clock::now() + kSpin;
    do {
        for (int i = 0; i < 64; ++i) {
            if (ready()) return true;
            pause_briefly();
        }
    } while (std::chrono::steady_clock::now() < limit);
    return false;
}

void CopyWorkers::run() {
    const bool spin = may_spin();
    std::unique_lock lock(mutex_);
    for (;;) {
        if (spin && open_.empty() && !stop_) {
            lock.unlock();
            spin_until([&] { return stop_ || open_count_ != 0; });
            lock.lock();
        }
        wake_.wait(lock, [&] { return stop_ || !open_.empty(); });
        if (stop_) return;
        Work& work = *open_.front();
        if (work.next.load() >= work.parts) {
            // Nothing left to take; its caller removes it as well, whoever comes first.
            open_.erase(open_.begin());
            open_count_ = open_.size();
            continue;
        }
        ++work.helpers;
        lock.unlock();
        take_parts(work);
        lock.lock();
        // The last touch of `work`: its caller may be gone right after.
        if (--work.helpers == 0) left_.notify_all();
    }
}

void CopyWorkers::copy(std::span<const HostCopy> copies, const CopyLabel& label) {
    std::size_t bytes = 0;
    for (const HostCopy& copy : copies) bytes += copy.bytes;
    if (threads_ == 1 || bytes <= kAloneBytes) {
        const auto all = [&] {
            for (const HostCopy& copy : copies) copy_streaming(copy.target, copy.source, copy.bytes);
            return bytes;
        };
        if (label.recorder != nullptr)
            traced(label, all);
        else
            all();
        return;
    }
    Work work;
    work.copies = copies;
    work.label = &label;
    for (const HostCopy& copy : copies) work.parts += (copy.bytes + kPartBytes - 1) / kPartBytes;
    {
        const std::lock_guard lock(mutex_);
        start();
        open_.push_back(&work);
        open_count_ = open_.size();
    }
    wake_.notify_all();
    take_parts(work);
    {
        const std::lock_guard lock(mutex_);
        const auto it = std::find(open_.begin(), open_.end(), &work);
        if (it != open_.end()) open_.erase(it);
        open_count_ = open_.size();
    }
    if (may_spin() && spin_until([&] { return work.helpers == 0; })) return;
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return work.helpers == 0; });
}

}  // namespace weft::core
