// SPDX-License-Identifier: Apache-2.0
#include "host/copy_workers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <utility>

#include "host/copy_streaming.hpp"

namespace weft::core {
namespace {

// Large enough that taking a part costs nothing next to copying it, small enough that sixteen threads share
// one chunk.
constexpr std::size_t kCopyPartBytes = std::size_t{128} << 10;
// Waking a thread costs tens of microseconds: as long as it takes one thread to copy about this much.
constexpr std::size_t kAloneBytes = std::size_t{512} << 10;

constexpr std::chrono::microseconds kSpin{100};

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// The chunks of a batch follow each other within microseconds, and a sleeping thread takes far longer to
/// wake. But where cores are few, or the device itself runs on them, waiting threads must not hold a core.
bool may_spin(std::uint32_t threads, const CpuSet& cpus) {
    const std::size_t cores = cpus.empty() ? usable_cores() : cpus.size();
    return cores >= 8 && threads <= cores;
}

}  // namespace

/// The part of one thread in a copy. It has a cache line of its own, because all threads end simultaneously.
struct alignas(64) CopySpan {
    std::int64_t begin_ns, end_ns;
    std::size_t bytes;
};

struct CopyWorkers::Work {
    std::span<const HostCopy> copies;
    bool traced = false;
    std::size_t parts = 0;
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint32_t> helpers{0};  // workers inside; raised only while the work is in open_
    // Each thread writes its own span, and the caller reports them all when the threads have left: if each
    // reported its own, sixteen threads would queue at the recorder's lock before and after every copy.
    std::size_t entered = 1;  // threads that may have written one; the caller's is the first
    std::array<CopySpan, kMostThreads> spans;

    /// Parts are numbered through all copies. Returns how many bytes this one has.
    std::size_t run_part(std::size_t part) const {
        for (const HostCopy& copy : copies) {
            const std::size_t count = (copy.bytes + kCopyPartBytes - 1) / kCopyPartBytes;
            if (part >= count) {
                part -= count;
                continue;
            }
            const std::size_t offset = part * kCopyPartBytes;
            const std::size_t bytes = std::min(kCopyPartBytes, copy.bytes - offset);
            copy_streaming(static_cast<std::byte*>(copy.target) + offset,
                           static_cast<const std::byte*>(copy.source) + offset, bytes);
            return bytes;
        }
        return 0;
    }
};

CopyWorkers::CopyWorkers(std::uint32_t threads, CpuSet cpus, const Log* log)
    : threads_(std::clamp(threads, 1u, kMostThreads)),
      cpus_(std::move(cpus)),
      log_(log),
      spin_(may_spin(threads_, cpus_)) {}

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
        // Fewer threads than asked for still copy everything: the caller takes the parts that are left.
    }
}

void CopyWorkers::take_parts(Work& work, std::size_t thread) {
    std::size_t part = work.next.fetch_add(1);
    CopySpan span{work.traced ? monotonic_ns() : 0, 0, 0};
    for (; part < work.parts; part = work.next.fetch_add(1)) span.bytes += work.run_part(part);
    if (!work.traced) return;
    span.end_ns = monotonic_ns();
    work.spans[thread] = span;
}

void report_spans(const CopyLabel& label, std::span<const CopySpan> spans) noexcept {
    label.recorder->copies(spans.size(), [&](std::size_t i) {
        StageEvent event =
            label.event;  // a thread that came too late for a part has no bytes and is left out
        event.begin_ns = spans[i].begin_ns;
        event.end_ns = spans[i].end_ns;
        event.bytes = spans[i].bytes;
        return event;
    });
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
    const NodeBinding binding(cpus_);
    if (binding.error() != 0 && log_ != nullptr)
        log_->write(LogLevel::debug, "copy threads: the system refuses to keep one on a NUMA node");
    std::unique_lock lock(mutex_);
    for (;;) {
        if (spin_ && open_.empty() && !stop_) {
            lock.unlock();
            spin_until([&] { return stop_ || open_count_ != 0; });
            lock.lock();
        }
        wake_.wait(lock, [&] { return stop_ || !open_.empty(); });
        if (stop_) return;
        Work& work = *open_.front();
        if (work.next.load() >= work.parts) {
            // Nothing is left to take. The caller removes the work too; whichever comes first does it.
            open_.erase(open_.begin());
            open_count_ = open_.size();
            continue;
        }
        ++work.helpers;
        const std::size_t thread = work.entered++;
        lock.unlock();
        take_parts(work, thread);
        lock.lock();
        // `work` must not be touched after this: its caller may be gone.
        if (--work.helpers == 0) left_.notify_all();
    }
}

void CopyWorkers::copy(std::span<const HostCopy> copies, const CopyLabel& label) {
    std::size_t bytes = 0;
    for (const HostCopy& copy : copies) bytes += copy.bytes;
    const bool traced = label.recorder != nullptr;
    if (threads_ == 1 || bytes <= kAloneBytes) {
        CopySpan span{traced ? monotonic_ns() : 0, 0, bytes};
        for (const HostCopy& copy : copies) copy_streaming(copy.target, copy.source, copy.bytes);
        if (!traced || bytes == 0) return;
        span.end_ns = monotonic_ns();
        report_spans(label, {&span, 1});
        return;
    }
    Work work;
    work.copies = copies;
    work.traced = traced;
    for (const HostCopy& copy : copies) work.parts += (copy.bytes + kCopyPartBytes - 1) / kCopyPartBytes;
    share(work);
    if (traced) report_spans(label, {work.spans.data(), work.entered});
}

/// Copies together with the workers; returns when every part is copied and no worker uses `work` any more.
void CopyWorkers::share(Work& work) {
    {
        const std::lock_guard lock(mutex_);
        start();
        open_.push_back(&work);
        open_count_ = open_.size();
    }
    wake_.notify_all();
    take_parts(work, 0);
    {
        const std::lock_guard lock(mutex_);
        const auto it = std::find(open_.begin(), open_.end(), &work);
        if (it != open_.end()) open_.erase(it);
        open_count_ = open_.size();
    }
    if (spin_ && spin_until([&] { return work.helpers == 0; })) return;
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return work.helpers == 0; });
}

}  // namespace weft::core
