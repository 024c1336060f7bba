// SPDX-License-Identifier: Apache-2.0
// Calls of weft that may take long: without the interpreter's lock, ended by Ctrl-C and by the exit of the
// interpreter.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <nanobind/nanobind.h>

#include <weft/backend.hpp>
#include <weft/batch.hpp>

#include "devices.hpp"

namespace weft::python {

namespace nb = nanobind;

/// A thread within weft, during its life. The exit of the interpreter waits for it.
class UnderWay {
  public:
    UnderWay();
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
};

/// Refuses new work when the interpreter has begun to exit. Errors: Unavailable.
void require_running();
/// Refuses calls in a process that was forked after a driver was opened. Errors: Unavailable.
void require_own_driver(const char* call);

/// Gives up the interpreter's lock during its life, under way. If the exit has begun meanwhile, the thread is
/// parked: taking the lock would end it inside a C++ frame.
class WithoutLock {
  public:
    WithoutLock();
    ~WithoutLock();
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;

  private:
    std::optional<UnderWay> under_way_;
    PyThreadState* state_;
};

/// One call on host memory. `bytes` is about what it moves or computes: small calls run on the caller's
/// thread. Long calls of the main thread run on another one, while the main thread looks for signals; a
/// signal handler that raises cancels the call, and is then passed on. `progress` is None or a callable
/// (done, total, per second, seconds left).
///
/// A call that is cancelled ends with the chunk or tile under way, which may take seconds on a software
/// device. Nobody waits for that longer than a moment: the work keeps its arrays until it ends. If other code
/// may know its output (not `abandon`), later calls wait until it has ended.
class Call {
  public:
    Call(const Where& where, std::uint64_t bytes, nb::handle progress, bool abandon,
         BatchOptions options = {});

    /// `work(options)`; returns its result. `work` owns the arrays that it uses.
    template <class Work>
    auto operator()(Work work) {
        using Result = decltype(work(options_));
        struct Task {
            Work work;
            BatchOptions options;
            std::optional<Result> result;
        };
        if (!watched_) {
            std::optional<Result> result;
            run([&] { result.emplace(work(std::as_const(options_))); });
            return std::move(*result);
        }
        const auto task = std::make_shared<Task>(Task{std::move(work), options_, std::nullopt});
        run_watched([task] { task->result.emplace(task->work(std::as_const(task->options))); });
        return std::move(*task->result);
    }

  private:
    void run(const std::function<void()>& work);
    void run_watched(std::function<void()> work);

    bool watched_, abandon_;
    std::stop_source stop_;
    BatchOptions options_;
};

/// Long work of the host on memory of its own, without the interpreter's lock. A signal handler that raises
/// ends the call at once; the work ends by itself then, and holds no object of Python.
void run_alone(std::function<void()> work);

/// Waits for the device, which takes as long as its work: as run_alone, and the exit of the interpreter waits
/// for it too.
void wait_alone(std::function<void()> wait);
/// Destroys `object`, which may wait for the device, in the same way. The object is gone for the caller even
/// if a signal ends the call.
template <class Pointer>
void destroy_alone(Pointer& object) {
    if (!object) return;
    wait_alone([held = std::make_shared<Pointer>(std::move(object))] { held->reset(); });
}

/// `finish` waits for work that writes to arrays of the caller, which it keeps. A signal handler that raises,
/// or no `wait`, leaves it to itself after a moment, and later calls wait until it has ended.
void finish_writing(std::function<void()> finish, bool wait);

/// Calls `wait` with short times until it returns true, and looks for signals between them. Without a timeout
/// it waits forever. Returns false when the time was up.
bool wait_with_signals(const std::function<bool(std::chrono::nanoseconds)>& wait,
                       std::optional<double> timeout_s);

/// Waits for calls that a signal ended while their work may still write to arrays of the caller. Looks for
/// signals.
void wait_for_writers();

/// Destroys `object`, which may wait for the device or for a thread that needs the interpreter's lock.
template <class Pointer>
void destroy_without_lock(Pointer& object) noexcept {
    if (!object) return;
    const WithoutLock unlocked;
    object.reset();
}

/// Backends that are waited for when the interpreter exits.
void remember(const std::shared_ptr<Backend>& backend);

/// The report of the last call on host memory of this thread.
OpReport& last_report();

}  // namespace weft::python
