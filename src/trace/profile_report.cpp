// SPDX-License-Identifier: Apache-2.0
#include "trace/profile_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "trace/intervals.hpp"

namespace weft {

double WorkTimes::gb_per_s() const {
    return busy_s > 0 ? static_cast<double>(timed_bytes) / busy_s / 1e9 : 0;
}

double RingReport::starvation() const {
    return acquires != 0 ? static_cast<double>(waits) / static_cast<double>(acquires) : 0;
}

double PoolReport::hit_rate() const {
    return allocations != 0 ? static_cast<double>(hits) / static_cast<double>(allocations) : 0;
}

double ProfileReport::idle() const {
    return wall_s > 0 ? std::max(0.0, 1 - busy_s / wall_s) : 0;
}

const WorkTimes& ProfileReport::stage(Stage stage) const {
    return stages.at(static_cast<std::size_t>(stage)).times;
}

namespace core {
namespace {

using Set = std::vector<Interval>;

constexpr double kNs = 1e-9;

/// In nanoseconds from the begin of the window, which a double holds exactly for more than a hundred days.
Interval interval_of(const TraceData& data, const StageEvent& event) {
    return {static_cast<double>(event.begin_ns - data.begin_ns),
            static_cast<double>(event.end_ns - data.begin_ns)};
}

/// Of work that was under way when the window began or ended, the part inside counts.
Interval inside(const Interval& i, double window_ns) {
    return {std::clamp(i.begin, 0.0, window_ns), std::clamp(i.end, 0.0, window_ns)};
}

class Times {
  public:
    void add(const StageEvent& event, const Interval& interval) {
        times_.count += event.operations;
        times_.bytes += event.bytes;
        if (!event.timed) {
            times_.untimed += event.operations;
            return;
        }
        const double length = std::max(0.0, interval.end - interval.begin);
        times_.timed_bytes += event.bytes;
        times_.total_s += length * kNs;
        intervals_.push_back(interval);
        if (event.operations != 0) shares_.emplace_back(length / event.operations, event.operations);
    }
    const Set& intervals() const { return intervals_; }

    WorkTimes finish() {
        times_.busy_s = union_length(intervals_) * kNs;
        const std::uint64_t timed = times_.count - times_.untimed;
        if (timed == 0) return times_;
        std::sort(shares_.begin(), shares_.end());
        times_.min_s = shares_.front().first * kNs;
        times_.max_s = shares_.back().first * kNs;
        times_.mean_s = times_.total_s / static_cast<double>(timed);
        times_.median_s = ranked((timed + 1) / 2);
        times_.p99_s = ranked(timed - timed / 100);
        return times_;
    }

  private:
    /// The smallest has rank 1.
    double ranked(std::uint64_t rank) const {
        std::uint64_t seen = 0;
        for (const auto& [length, count] : shares_)
            if ((seen += count) >= rank) return length * kNs;
        return shares_.back().first * kNs;
    }

    WorkTimes times_;
    Set intervals_;
    std::vector<std::pair<double, std::uint32_t>> shares_;  // length of one, how many
};

std::string name_of(const TraceData& data, NameId id) {
    return id < data.names.size() ? data.names[id] : std::string();
}

void add_all(Set& to, const Set& from) {
    to.insert(to.end(), from.begin(), from.end());
}

double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

void add_overlaps(const std::array<Times, kStages>& stages, ProfileReport& report) {
    const auto set = [&](Stage stage) { return stages[static_cast<std::size_t>(stage)].intervals(); };
    const std::array<Set, 3> device{set(Stage::upload), set(Stage::kernel), set(Stage::download)};
    Set all, copies = device[0], host = set(Stage::copy_in);
    for (const Set& one : device) add_all(all, one);
    add_all(copies, device[2]);
    add_all(host, set(Stage::copy_out));
    const double busy = union_length(all);
    report.device_s = busy * kNs;
    report.overlap = share(overlap_length(device), busy);
    report.copy_hidden = share(intersection_length(copies, device[1]), union_length(copies));
    report.host_copy_hidden = share(intersection_length(host, all), union_length(host));
    add_all(all, host);
    for (Interval& i : all) i = inside(i, report.wall_s / kNs);
    report.busy_s = union_length(all) * kNs;
}

/// The mean of the busy times over the largest, of those that had any events.
template <class Reports>
double balance(const Reports& reports) {
    double sum = 0, most = 0;
    std::size_t used = 0;
    for (const auto& one : reports) {
        if (one.events == 0) continue;
        ++used;
        sum += one.busy_s;
        most = std::max(most, one.busy_s);
    }
    return used != 0 && most > 0 ? sum / static_cast<double>(used) / most : 0;
}

void add_rows(const TraceData& data, ProfileReport& report) {
    std::vector<Set> busy(data.rows.size());
    std::vector<std::uint64_t> events(data.rows.size(), 0);
    const auto length = static_cast<double>(data.end_ns - data.begin_ns);
    for (const StageEvent& event : data.stages) {
        if (event.row >= data.rows.size()) continue;
        ++events[event.row];
        if (event.timed) busy[event.row].push_back(inside(interval_of(data, event), length));
    }
    for (std::size_t row = 0; row < data.rows.size(); ++row) {
        const TraceTrack& r = data.rows[row];
        const double busy_s = union_length(busy[row]) * kNs;
        const TrackReport one{r.name, r.timed, events[row], busy_s, share(busy_s, report.wall_s)};
        if (r.kind == TraceTrack::queue) report.queues.push_back(one);
        if (r.kind == TraceTrack::copier && one.events != 0) report.copy_tracks.push_back(one);
    }
    report.queue_balance = balance(report.queues);
}

void add_streams(const TraceData& data, ProfileReport& report) {
    std::map<std::string, std::pair<Set, std::uint64_t>> streams;
    for (const StageEvent& event : data.stages) {
        auto& [set, events] = streams[name_of(data, event.stream)];
        ++events;
        // The host's copies are not work of the stream's queue.
        const bool device = event.stage != Stage::copy_in && event.stage != Stage::copy_out;
        if (event.timed && device) set.push_back(interval_of(data, event));
    }
    for (const auto& [name, stream] : streams)
        report.streams.push_back({name, stream.second, union_length(stream.first) * kNs});
    report.stream_balance = balance(report.streams);
}

}  // namespace

ProfileReport summarise(const TraceData& data) {
    ProfileReport report;
    report.device = data.device;
    report.clock = data.clock;
    report.wall_s = static_cast<double>(std::max<std::int64_t>(0, data.end_ns - data.begin_ns)) * kNs;
    std::array<Times, kStages> stages;
    std::map<std::string, Times> kernels;
    for (const StageEvent& event : data.stages) {
        const Interval interval = interval_of(data, event);
        stages[static_cast<std::size_t>(event.stage)].add(event, interval);
        if (event.stage == Stage::kernel) kernels[name_of(data, event.program)].add(event, interval);
    }
    for (std::size_t i = 0; i < kStages; ++i)
        report.stages.push_back({static_cast<Stage>(i), stages[i].finish()});
    for (auto& [program, times] : kernels) report.kernels.push_back({program, times.finish()});
    std::stable_sort(
        report.kernels.begin(), report.kernels.end(),
        [](const KernelReport& a, const KernelReport& b) { return a.times.busy_s > b.times.busy_s; });
    add_overlaps(stages, report);
    add_rows(data, report);
    add_streams(data, report);
    report.memory = {data.start_bytes, data.live_bytes, data.peak_bytes, data.allocations, data.pool_hits};
    report.ring = {data.ring_acquires, data.ring_waits, static_cast<double>(data.ring_wait_ns) * kNs};
    report.replays = data.replays;
    report.dropped_events = data.dropped_events;
    report.dropped_names = data.dropped_names;
    return report;
}

}  // namespace core
}  // namespace weft
