// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::python {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSignalInterval{20};
/// Calls below this are done before a person could press a key, and a thread would cost more than the call.
constexpr std::uint64_t kWatchedBytes = std::uint64_t{1} << 20;

/// The exit of the interpreter. Never destroyed: threads of the caller may outlive static objects.
struct Exit {
    std::atomic<bool> begun{false};
    std::atomic<int> running{0};  // calls under way
    std::stop_source stop;
    pid_t process = getpid();
    std::mutex mutex;
    std::vector<std::weak_ptr<Backend>> backends;
};

Exit& exit_state() {
    static Exit* const state = new Exit;
    return *state;
}

[[noreturn]] void park() {
    for (;;) pause();
}

bool on_main_thread() {
    return syscall(SYS_gettid) == getpid();
}

/// Counts a call as under way, so that the exit waits for it.
struct Running {
    Running() {
        exit_state().running.fetch_add(1);
        if (exit_state().begun.load()) {
            exit_state().running.fetch_sub(1);
            throw Error(Errc::unsupported, "weftgpu: the interpreter exits, so no more work is taken");
        }
    }
    ~Running() { exit_state().running.fetch_sub(1); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
};

ProgressCallback show(nb::handle progress) {
    // The caller's frame holds the object as long as the call lasts.
    return [progress](const Progress& at) {
        if (exit_state().begun.load()) return;
        const nb::gil_scoped_acquire locked;
        progress(at.done, at.total, at.per_s(), at.remaining_s());
    };
}

void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Cancels what runs, and waits with the lock held by nobody until no call runs and the devices are idle.
void shut_down() {
    Exit& state = exit_state();
    if (state.process != getpid()) return;  // the threads of a parent do not exist here
    state.begun.store(true);
    state.stop.request_stop();
    PyThreadState* const lock = PyEval_SaveThread();
    while (state.running.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const std::weak_ptr<Backend>& entry : state.backends)
        if (const std::shared_ptr<Backend> backend = entry.lock()) try {
                backend->wait_idle();
                backend->save_pipeline_cache();
            } catch (const std::exception&) {
                // A device that is lost is idle.
            }
    PyEval_RestoreThread(lock);
}

}  // namespace

WithoutLock::WithoutLock() : state_(PyEval_SaveThread()) {}

WithoutLock::~WithoutLock() {
    if (exit_state().begun.load() && !on_main_thread()) park();
    PyEval_RestoreThread(state_);
}

Call::Call(std::uint64_t bytes, nb::handle progress, BatchOptions options)
    : bytes_(bytes), stop_(std::nostopstate), options_(std::move(options)) {
    if (!progress.is_none()) options_.progress = show(progress);
}

void Call::run(const std::function<void()>& work) {
    if (bytes_ >= kWatchedBytes && on_main_thread()) return run_watched(work);
    options_.cancel = exit_state().stop.get_token();
    const WithoutLock unlocked;  // outside Running: the exit waits for the work, not for the lock
    const Running running;
    work();
}

void Call::run_watched(const std::function<void()>& work) {
    stop_ = std::stop_source();
    options_.cancel = stop_.get_token();
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr failure;
    std::optional<nb::python_error> interrupt;
    {
        const Running running;
        std::thread worker([&] {
            try {
                work();
            } catch (...) {
                failure = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            done = true;
            changed.notify_one();
        });
        for (bool ended = false; !ended;) {
            {
                const WithoutLock unlocked;
                std::unique_lock lock(mutex);
                ended = changed.wait_for(lock, kSignalInterval, [&] { return done; });
            }
            if (!ended && !interrupt && PyErr_CheckSignals() != 0) {
                interrupt.emplace();
                stop_.request_stop();
            }
        }
        worker.join();
    }
    if (interrupt) throw std::move(*interrupt);
    if (failure) std::rethrow_exception(failure);
}

bool wait_with_signals(const std::function<bool(std::chrono::nanoseconds)>& wait, std::optional<double> timeout_s) {
    const auto begin = Clock::now();
    for (;;) {
        std::chrono::nanoseconds slice = kSignalInterval;
        bool last = false;
        if (timeout_s) {
            const std::chrono::duration<double> left = std::chrono::duration<double>(*timeout_s) - (Clock::now() - begin);
            if (left <= slice) {
                slice = std::max(std::chrono::nanoseconds(0), std::chrono::duration_cast<std::chrono::nanoseconds>(left));
                last = true;
            }
        }
        bool done = false;
        {
            const WithoutLock unlocked;
            const Running running;
            done = wait(slice);
        }
        if (done) return true;
        check_signals();
        if (last) return false;
    }
}

void remember(const std::shared_ptr<Backend>& backend) {
    Exit& state = exit_state();
    const std::lock_guard lock(state.mutex);
    std::erase_if(state.backends, [](const std::weak_ptr<Backend>& entry) { return entry.expired(); });
    state.backends.push_back(backend);
}

OpReport& last_report() {
    thread_local OpReport report;
    return report;
}

void bind_calls(nb::module_& module) {
    exit_state();
    module.def("_shut_down", &shut_down, "Called when the interpreter exits.");
}

}  // namespace weft::python
