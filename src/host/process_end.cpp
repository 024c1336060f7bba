// SPDX-License-Identifier: Apache-2.0
#include "host/process_end.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::core {
namespace {

using std::chrono::steady_clock;

/// Longer than the slices in which threads wait for the device. A device that hangs must not hold the end up.
constexpr std::chrono::seconds kLongest{3};

/// Threads inside a driver. They are counted in several cells, which few threads share.
struct alignas(64) Cell {
    std::atomic<std::uint32_t> inside{0};
};
constexpr std::size_t kCells = 32;
std::array<Cell, kCells> cells;
std::atomic<bool> closed{false};

struct OwnCell {
    Cell& cell;
    std::uint32_t depth = 0;  // calls of this thread that are under way
    bool ends = false;        // this thread ends the process
};
OwnCell& own() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local OwnCell cell{cells[threads.fetch_add(1, std::memory_order_relaxed) % kCells]};
    return cell;
}

[[noreturn]] void wait_for_the_end() noexcept {
    for (;;) pause();
}

}  // namespace

DriverCall::DriverCall() noexcept {
    OwnCell& mine = own();
    // In this order on both sides: the thread that closes sees this one inside, or this one sees it closed.
    mine.cell.inside.fetch_add(1);
    ++mine.depth;
    if (!closed.load() || mine.ends) return;
    mine.cell.inside.fetch_sub(1);
    wait_for_the_end();
}

DriverCall::~DriverCall() {
    OwnCell& mine = own();
    --mine.depth;
    mine.cell.inside.fetch_sub(1, std::memory_order_release);
}

bool ends_process() noexcept {
    return own().ends;
}

/// The objects, and the handler of exit() that asks them.
struct ProcessEnd {
    std::mutex mutex;
    std::vector<const BusyAtEnd*> objects;  // guarded
    pid_t process = 0;                      // guarded

    static ProcessEnd& get() {
        static auto* const end = new ProcessEnd;  // never destroyed
        return *end;
    }

    void add(const BusyAtEnd* object) {
        const std::lock_guard lock(mutex);
        // Again after a time without any, because the driver may have been opened again meanwhile.
        if (objects.empty()) static_cast<void>(std::atexit(&ProcessEnd::on_exit));
        objects.push_back(object);
        process = getpid();
    }
    void remove(const BusyAtEnd* object) noexcept {
        const std::lock_guard lock(mutex);
        std::erase(objects, object);
    }

    static void on_exit() {
        ProcessEnd& end = get();
        if (closed.load() || end.process != getpid()) return;
        own().ends = true;
        closed = true;
        const auto limit = steady_clock::now() + kLongest;
        await(limit, threads_inside);
        const std::lock_guard lock(end.mutex);
        await(limit, [&] {
            return std::any_of(end.objects.begin(), end.objects.end(),
                               [](const BusyAtEnd* object) { return object->busy_(); });
        });
    }

  private:
    static bool threads_inside() noexcept {
        std::uint64_t inside = 0;
        for (const Cell& cell : cells) inside += cell.inside.load();
        return inside > own().depth;
    }
    template <class Busy>
    static void await(steady_clock::time_point limit, const Busy& busy) {
        while (busy() && steady_clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
};

BusyAtEnd::BusyAtEnd(std::function<bool()> busy) : busy_(std::move(busy)) {
    ProcessEnd::get().add(this);
}

BusyAtEnd::~BusyAtEnd() {
    ProcessEnd::get().remove(this);
}

}  // namespace weft::core
