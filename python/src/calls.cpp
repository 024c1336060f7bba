// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::python {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSignalInterval{20};
/// What a signal gives work that writes to arrays of the caller. A GPU ends its chunk within this time.
constexpr std::chrono::milliseconds kWriterPatience{100};
/// Calls below this are done before a person could press a key, and a thread would cost a part of the call.
std::uint64_t watched_bytes(const Backend& backend) {
    return std::uint64_t{1} << (backend.device().type == DeviceType::cpu ? 23 : 27);
}

/// The exit of the interpreter. Never destroyed: threads of the caller may outlive static objects.
struct Exit {
    std::atomic<bool> begun{false}, opened{false}, forked{false};
    std::atomic<int> running{0};  // threads within weft, whose exit handlers and drivers must not meet
    std::atomic<int> writers{0};  // abandoned work that may still write to arrays of the caller
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

/// weft copies callbacks without the interpreter's lock, so the object is shared, and the call holds it to
/// the end.
ProgressCallback show(nb::handle progress, std::stop_token stop) {
    return [object = std::make_shared<nb::object>(nb::borrow(progress)),
            stop = std::move(stop)](const Progress& at) {
        if (stop.stop_requested()) return;
        const nb::gil_scoped_acquire locked;
        if (!stop.stop_requested()) (*object)(at.done, at.total, at.per_s(), at.remaining_s());
    };
}

/// A call on another thread. Belongs to both threads.
struct WatchedWork {
    std::function<void()> work;  // destroyed with the interpreter's lock held if it has objects of Python
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false, abandoned = false, writes = false;
    std::exception_ptr failure;
};

void do_work(const std::shared_ptr<WatchedWork>& shared, const std::unique_ptr<UnderWay>& under_way) {
    try {
        shared->work();
    } catch (...) {
        shared->failure = std::current_exception();
    }
    bool abandoned;
    {
        const std::lock_guard lock(shared->mutex);
        shared->done = true;
        abandoned = shared->abandoned;
        shared->changed.notify_one();
    }
    if (!abandoned) return;
    if (shared->writes) exit_state().writers.fetch_sub(1);
    if (!under_way) return;
    // The exit waits for this thread, without the lock.
    const nb::gil_scoped_acquire locked;
    shared->work = nullptr;
    shared->failure = nullptr;
}

void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Leaves the work to itself, which nobody waits for; false: it is done. While it `writes` to arrays of the
/// caller, later calls wait for it.
bool leave(WatchedWork& shared, std::thread& worker, bool writes) {
    const std::lock_guard lock(shared.mutex);
    if (shared.done) return false;
    shared.abandoned = true;
    shared.writes = writes;
    if (writes) exit_state().writers.fetch_add(1);
    worker.detach();
    return true;
}

/// Waits for `shared`, whose work `worker` does. When a signal handler raises, `interrupted` is called, and
/// nobody waits for the work then: immediately if it `abandon`s an output that the caller has not seen, else
/// after the time of kWriterPatience, and later calls wait for it.
void wait_for(const std::shared_ptr<WatchedWork>& shared, std::thread worker, bool abandon,
              const std::function<void()>& interrupted) {
    std::optional<nb::python_error> interrupt;
    Clock::time_point patience;
    for (bool ended = false; !ended;) {
        {
            const WithoutLock unlocked;
            std::unique_lock lock(shared->mutex);
            ended = shared->changed.wait_for(lock, kSignalInterval, [&] { return shared->done; });
        }
        if (ended || (!interrupt && PyErr_CheckSignals() == 0)) continue;
        if (!interrupt) {
            interrupt.emplace();
            interrupted();
            patience = Clock::now() + (abandon ? std::chrono::milliseconds(0) : kWriterPatience);
        }
        if (Clock::now() >= patience && leave(*shared, worker, !abandon)) throw std::move(*interrupt);
    }
    worker.join();
    if (interrupt) throw std::move(*interrupt);
    if (shared->failure) std::rethrow_exception(shared->failure);
}

/// A driver that the parent opened cannot be used here; without one this is a process as any other.
void after_fork() {
    Exit& state = exit_state();
    if (state.opened.load())
        state.forked.store(true);
    else
        state.process = getpid();
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

UnderWay::UnderWay() {
    exit_state().running.fetch_add(1);
}

UnderWay::~UnderWay() {
    exit_state().running.fetch_sub(1);
}

void require_running() {
    if (exit_state().begun.load())
        throw Error(Errc::unsupported, "weftgpu: the interpreter exits, so no more work is taken");
}

void require_own_driver(const char* call) {
    Exit& state = exit_state();
    if (state.forked.load())
        throw Error(Errc::unsupported,
                    std::string(call) +
                        ": this process was forked after its parent had opened a driver, which does not "
                        "survive that; use multiprocessing.get_context(\"spawn\")");
    state.opened.store(true);
}

WithoutLock::WithoutLock() {
    under_way_.emplace();  // before another thread can begin the exit
    state_ = PyEval_SaveThread();
}

WithoutLock::~WithoutLock() {
    under_way_.reset();  // the exit waits for the work, not for the lock
    if (exit_state().begun.load() && !on_main_thread()) park();
    PyEval_RestoreThread(state_);
}

Call::Call(const Where& where, std::uint64_t bytes, nb::handle progress, bool abandon, BatchOptions options)
    : watched_((wait_for_writers(), bytes >= watched_bytes(where.first()) && on_main_thread())),
      abandon_(abandon),
      stop_(watched_ ? std::stop_source() : exit_state().stop),
      options_(std::move(options)) {
    options_.cancel = stop_.get_token();
    if (!progress.is_none()) options_.progress = show(progress, options_.cancel);
}

void Call::run(const std::function<void()>& work) {
    const WithoutLock unlocked;
    require_running();  // under way, so that a thread of the caller is parked instead of failing at the exit
    work();
}

void Call::run_watched(std::function<void()> work) {
    require_running();
    const auto shared = std::make_shared<WatchedWork>();
    shared->work = std::move(work);
    wait_for(shared, std::thread(do_work, shared, std::make_unique<UnderWay>()), abandon_,
             [this] { stop_.request_stop(); });
}

void run_alone(std::function<void()> work) {
    if (!on_main_thread()) {
        const WithoutLock unlocked;
        return work();
    }
    const auto shared = std::make_shared<WatchedWork>();
    shared->work = std::move(work);
    wait_for(shared, std::thread(do_work, shared, nullptr), true, [] {});
}

void wait_alone(std::function<void()> wait) {
    run_alone([wait = std::move(wait), under_way = std::make_shared<UnderWay>()] { wait(); });
}

void finish_writing(std::function<void()> finish, bool wait) {
    if (wait && !on_main_thread()) {
        const WithoutLock unlocked;
        return finish();
    }
    const auto shared = std::make_shared<WatchedWork>();
    shared->work = std::move(finish);
    std::thread worker(do_work, shared, std::make_unique<UnderWay>());
    if (wait) return wait_for(shared, std::move(worker), false, [] {});
    {
        const WithoutLock unlocked;
        std::unique_lock lock(shared->mutex);
        shared->changed.wait_for(lock, kWriterPatience, [&] { return shared->done; });
    }
    if (!leave(*shared, worker, true)) worker.join();
}

bool wait_with_signals(const std::function<bool(std::chrono::nanoseconds)>& wait,
                       std::optional<double> timeout_s) {
    const auto begin = Clock::now();
    for (;;) {
        std::chrono::nanoseconds slice = kSignalInterval;
        bool last = false;
        if (timeout_s) {
            const std::chrono::duration<double> left =
                std::chrono::duration<double>(*timeout_s) - (Clock::now() - begin);
            if (left <= slice) {
                slice = std::max(std::chrono::nanoseconds(0),
                                 std::chrono::duration_cast<std::chrono::nanoseconds>(left));
                last = true;
            }
        }
        bool done = false;
        {
            const WithoutLock unlocked;
            require_running();
            done = wait(slice);
        }
        if (done) return true;
        check_signals();
        if (last) return false;
    }
}

void wait_for_writers() {
    const std::atomic<int>& writers = exit_state().writers;
    if (writers.load() == 0) return;
    wait_with_signals(
        [&](std::chrono::nanoseconds slice) {
            for (const auto end = Clock::now() + slice; writers.load() != 0;
                 std::this_thread::sleep_for(std::chrono::milliseconds(1)))
                if (Clock::now() >= end) return false;
            return true;
        },
        std::nullopt);
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
    module.def("_after_fork", &after_fork, "Called in a process that was forked.");
}

}  // namespace weft::python
