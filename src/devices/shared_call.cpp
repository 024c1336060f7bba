// SPDX-License-Identifier: Apache-2.0
#include "devices/shared_call.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/error.hpp>

#include "base/startup.hpp"
#include "host/cpu_set.hpp"
#include "plan/work/batch_check.hpp"

namespace weft::core {
namespace {

/// Expected speed, relative to a discrete GPU.
double prior_of(DeviceType type) {
    switch (type) {
        case DeviceType::discrete:
            return 1;
        case DeviceType::virtual_gpu:
            return 0.5;
        case DeviceType::integrated:
            return 0.1;
        case DeviceType::other:
            return 0.1;
        case DeviceType::cpu:
            return 0.02;
    }
    return 0.1;
}

/// Items of the smallest share that is worth its start: in a shorter one a pipeline does little but fill and
/// empty.
std::uint64_t least_share(std::uint64_t chunk_bytes, const SharedCallOf<DeviceWorker>& call) {
    constexpr std::uint64_t kChunks = 4, kBytes = std::uint64_t{96} << 20;
    if (call.least_items != 0) return call.least_items;
    if (call.chunk_items != 0) return kChunks * call.chunk_items;
    const std::uint64_t bytes = std::max(kBytes, kChunks * chunk_bytes);
    return std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, call.item_bytes));
}

}  // namespace

void add_to(OpReport& sum, const OpReport& one) {
    add_report(sum, one);
    sum.op = one.op;
    sum.method = one.method;
    sum.items += one.items;
    sum.retried += one.retried, sum.unresolved += one.unresolved;
    sum.states_s += one.states_s, sum.product_s += one.product_s;
}

/// One call under way. Its threads share everything below `mutex_`.
class SharedRun {
  public:
    SharedRun(SharedDevices& devices, const SharedCallOf<DeviceWorker>& call);
    OpReport run();
    void add_progress(std::uint64_t units);
    void take_back(std::uint64_t units);

  private:
    /// Of one usable device.
    struct Row {
        std::size_t device = 0;
        DeviceReport report;
        double end_s = 0;            // of its last share
        std::optional<Share> first;  // taken before any device begins, so that all take part
        DeviceWorker worker;
    };

    std::vector<ShareDevice> share_devices() const;
    void serve(std::size_t row);
    std::optional<Share> next_share(std::size_t row);
    void do_share(std::size_t row, const Share& share);
    void finish_share(std::size_t row, const OpReport& report, double began_s);
    void fail_share(std::size_t row, std::uint64_t added);
    void give_up(const std::exception_ptr& error, bool of_callback = false);
    void leave_out_refused();
    void run_threads();
    void wait_and_report();
    void show_progress(std::unique_lock<std::mutex>& lock);
    void throw_failure();
    OpReport finished_report();
    double now_s() const { return seconds_since(begin_); }

    SharedDevices& devices_;
    const SharedCallOf<DeviceWorker>& call_;
    const SteadyTime begin_ = std::chrono::steady_clock::now();
    std::vector<Row> rows_;
    std::stop_source stop_;
    std::optional<std::stop_callback<std::function<void()>>> on_cancel_;
    bool on_caller_ = false;  // the work runs on the caller's thread, which may report progress immediately

    std::mutex mutex_;
    std::condition_variable changed_;
    ShareQueue queue_;
    OpReport sum_;
    std::exception_ptr failure_, last_drop_;
    std::atomic<bool> cancelled_{false};
    std::uint64_t done_units_ = 0, shown_units_ = 0;
    std::size_t running_ = 0;  // threads
};

void ShareWatch::add(std::uint64_t units) {
    added_ += units;
    run_.add_progress(units);
}

SharedRun::SharedRun(SharedDevices& devices, const SharedCallOf<DeviceWorker>& call)
    : devices_(devices), call_(call), queue_(0, 1, {}) {
    for (const std::size_t i : devices_.usable(call.function)) {
        rows_.emplace_back();
        rows_.back().device = i;
        rows_.back().report.device = i;
        rows_.back().report.name = devices_.name(i);
    }
    queue_ = ShareQueue(call.items, call.step, share_devices(), call.both_ends);
    leave_out_refused();
}

void SharedRun::leave_out_refused() {
    for (std::size_t row = 0; row < rows_.size() && !call_.refused.empty(); ++row) {
        const std::exception_ptr& why = call_.refused[rows_[row].device];
        if (!why) continue;
        queue_.drop(row, false);
        try {
            std::rethrow_exception(why);
        } catch (const Error& e) {
            const bool lost = e.code() == Errc::device_lost;
            if (lost) devices_.set_lost(rows_[row].device);
            rows_[row].report.lost = lost;
            rows_[row].report.note = lost ? std::string("lost: ") + e.what() : e.what();
        }
        if (queue_.stranded()) failure_ = why;
    }
}

/// Rates of earlier calls tell devices of different kinds apart. Those of one kind count as equal, because a
/// first call also compiles and allocates.
std::vector<ShareDevice> SharedRun::share_devices() const {
    const bool alike = std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) {
        return row.report.name == rows_.front().report.name;
    });
    std::vector<ShareDevice> devices;
    for (const Row& row : rows_) {
        const std::size_t i = row.device;
        devices.push_back({row.report.name, prior_of(devices_.type(i)),
                           alike ? 0 : devices_.rate(call_.rates, i),
                           least_share(devices_.chunk_bytes(i), call_)});
    }
    return devices;
}

OpReport SharedRun::run() {
    throw_failure();
    on_cancel_.emplace(call_.options.cancel, [this] {
        stop_.request_stop();
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
        changed_.notify_all();
    });
    if (const std::optional<std::size_t> only = queue_.only_device()) {
        on_caller_ = true;
        serve(*only);
        on_caller_ = false;
    }
    if (!queue_.finished() && !failure_ && !cancelled_) run_threads();
    on_cancel_.reset();
    throw_failure();
    return finished_report();
}

void SharedRun::run_threads() {
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (!queue_.dropped(row)) rows_[row].first = queue_.take(row, now_s());
    std::vector<std::jthread> threads;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        {
            const std::lock_guard lock(mutex_);
            ++running_;
        }
        try {
            threads.emplace_back([this, row] {
                serve(row);
                const std::lock_guard lock(mutex_);
                --running_;
                changed_.notify_all();
            });
        } catch (const std::system_error& e) {
            const std::lock_guard lock(mutex_);
            --running_;
            queue_.drop(row, false);
            changed_.notify_all();
            rows_[row].report.note = std::string("no thread could be started: ") + e.what();
            if (queue_.stranded())
                give_up(std::make_exception_ptr(
                    Error(Errc::out_of_memory,
                          std::string(call_.function) + ": cannot start a thread (got \"" + e.what() + "\")",
                          e.code().value())));
        }
    }
    wait_and_report();
}

/// Reports progress on the caller's thread until all threads have ended.
void SharedRun::wait_and_report() {
    std::unique_lock lock(mutex_);
    while (running_ != 0) {
        changed_.wait(lock, [&] { return running_ == 0 || done_units_ > shown_units_; });
        show_progress(lock);
    }
    show_progress(lock);  // of what was done while the callback ran
}

void SharedRun::show_progress(std::unique_lock<std::mutex>& lock) {
    if (done_units_ <= shown_units_ || failure_) {
        shown_units_ = std::max(shown_units_, done_units_);
        return;
    }
    shown_units_ = done_units_;
    if (!call_.options.progress) return;
    const Progress progress{shown_units_, call_.progress_total, now_s()};
    lock.unlock();
    std::exception_ptr thrown;
    try {
        call_.options.progress(progress);
    } catch (...) {
        thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) give_up(thrown, true);
}

void SharedRun::add_progress(std::uint64_t units) {
    if (units == 0) return;
    std::unique_lock lock(mutex_);
    done_units_ += units;
    if (!on_caller_) return changed_.notify_all();
    show_progress(lock);
    if (failure_) std::rethrow_exception(failure_);
}

void SharedRun::take_back(std::uint64_t units) {
    const std::lock_guard lock(mutex_);
    done_units_ -= units;
}

void ShareWatch::take_back(std::uint64_t units) {
    run_.take_back(units);
    added_ = 0;
}

void SharedRun::serve(std::size_t row) {
    // Page-locked memory that is made meanwhile then lies near the device.
    const NodeBinding near(devices_.node_cpus(rows_[row].device));
    while (const std::optional<Share> share = next_share(row)) do_share(row, *share);
}

/// Waits while other devices have everything that is left: one of them may be lost.
std::optional<Share> SharedRun::next_share(std::size_t row) {
    std::unique_lock lock(mutex_);
    if (rows_[row].first && !failure_ && !cancelled_) return std::exchange(rows_[row].first, std::nullopt);
    for (;;) {
        if (failure_ || cancelled_ || queue_.finished() || queue_.stranded()) return std::nullopt;
        if (const std::optional<Share> share = queue_.take(row, now_s())) return share;
        if (on_caller_ || queue_.dropped(row)) return std::nullopt;
        changed_.wait(lock);
    }
}

void SharedRun::do_share(std::size_t row, const Share& share) {
    ShareWatch watch(*this, stop_.get_token());
    const double began_s = now_s();
    try {
        Row& own = rows_[row];
        if (!own.worker) own.worker = call_.worker(own.device);
        finish_share(row, own.worker(share, watch), began_s);
    } catch (...) {
        fail_share(row, watch.added());
    }
}

void SharedRun::finish_share(std::size_t row, const OpReport& report, double began_s) {
    const std::lock_guard lock(mutex_);
    Row& own = rows_[row];
    own.end_s = now_s();
    queue_.done(row, own.end_s);
    add_to(sum_, report);
    DeviceReport& r = own.report;
    ++r.shares;
    r.jobs += report.jobs;
    r.items += report.items != 0 ? report.items : report.elements;
    r.bytes_in += report.bytes_in, r.bytes_out += report.bytes_out;
    r.busy_s += own.end_s - began_s;
    changed_.notify_all();
}

/// Called in a handler. A device that is lost, or that cannot do this work, leaves the call.
void SharedRun::fail_share(std::size_t row, std::uint64_t added) {
    const std::exception_ptr error = std::current_exception();
    std::optional<Errc> code;
    std::string text;
    try {
        throw;
    } catch (const Error& e) {
        code = e.code(), text = e.what();
    } catch (...) {
    }
    if (code == Errc::device_lost) devices_.set_lost(rows_[row].device);
    const std::lock_guard lock(mutex_);
    done_units_ -= added;
    const bool leaves = code == Errc::device_lost || code == Errc::out_of_memory ||
                        code == Errc::unsupported || code == Errc::no_device;
    if (leaves) {
        rows_[row].report.lost = code == Errc::device_lost;
        rows_[row].report.note = code == Errc::device_lost ? "lost: " + text : text;
        const bool first_time = queue_.drop(row, code == Errc::device_lost);
        const bool untouched = call_.repeatable || code == Errc::unsupported || code == Errc::no_device;
        last_drop_ = error;
        if (first_time && untouched && !queue_.stranded()) return changed_.notify_all();
    }
    give_up(error);
}

/// The first failure ends the call; what other devices report because they are stopped does not count.
/// An exception of the caller's callback goes before a stop that the callback asked for.
void SharedRun::give_up(const std::exception_ptr& error, bool of_callback) {
    if (!failure_ && (of_callback || !cancelled_)) failure_ = error;
    stop_.request_stop();
    changed_.notify_all();
}

void SharedRun::throw_failure() {
    if (failure_) std::rethrow_exception(failure_);
    if (cancelled_ && !queue_.finished())
        throw Error(Errc::cancelled, std::string(call_.function) + ": cancelled by its stop token (" +
                                         std::to_string(shown_units_) + " of " +
                                         std::to_string(call_.progress_total) + " were done)");
}

OpReport SharedRun::finished_report() {
    sum_.wall_s = now_s();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        DeviceReport& report = rows_[row].report;
        report.idle_end_s = sum_.wall_s - rows_[row].end_s;
        if (report.note.empty()) report.note = queue_.reason(row);
        if (report.note.empty() && report.shares == 0) report.note = "the other devices had taken everything";
        if (call_.single_job) report.jobs = report.shares != 0 ? 1 : 0;
        devices_.note_rate(call_.rates, rows_[row].device, queue_.measured_rate(row));
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto own =
            std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.device == i; });
        if (own != rows_.end()) {
            sum_.devices.push_back(std::move(own->report));
        } else {
            DeviceReport gone{.name = devices_.name(i), .device = i, .idle_end_s = sum_.wall_s};
            gone.lost = true;
            gone.note = "lost in an earlier call";
            sum_.devices.push_back(std::move(gone));
        }
    }
    return std::move(sum_);
}

BatchOptions ShareWatch::options(const BatchOptions& of_caller) {
    BatchOptions options = of_caller;
    options.cancel = stop_;
    if (!of_caller.progress) return options;
    options.progress = [this, last = std::uint64_t{0}](const Progress& progress) mutable {
        add(progress.done - std::exchange(last, progress.done));
    };
    return options;
}

OpReport run_shares(SharedDevices& devices, const SharedCallOf<DeviceWorker>& call) {
    return SharedRun(devices, call).run();
}

}  // namespace weft::core
