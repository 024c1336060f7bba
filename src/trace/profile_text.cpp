// SPDX-License-Identifier: Apache-2.0
// Completes weft/profile.hpp: a ProfileReport as a table for people, as JSON and as CSV.
#include <array>
#include <cstdio>
#include <string>

#include <weft/profile.hpp>

#include "base/json.hpp"

namespace weft {
namespace {

using core::json_number;
using core::json_string;
using core::printable;

template <class... Values>
std::string line(const char* format, Values... values) {
    std::array<char, 256> text;
    const int length = std::snprintf(text.data(), text.size(), format, values...);
    return length > 0 ? std::string(text.data()) + '\n' : std::string();
}

using Count = unsigned long long;

/// Two decimal places, or three significant digits of a number that is too small for that.
std::string visible(double value) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), value != 0 && value < 0.0995 ? "%.3g" : "%.2f", value);
    return text.data();
}

std::string times_line(const std::string& name, const WorkTimes& t) {
    const bool timed = t.count > t.untimed;
    const std::string megabytes = visible(static_cast<double>(t.bytes) / 1e6);
    std::string out =
        line("%-28s %8llu %10.3f %10.3f %9.2f %9.2f %9.2f %9.2f %9s %9s", printable(name, 28).c_str(),
             static_cast<Count>(t.count), t.busy_s * 1e3, t.total_s * 1e3, t.min_s * 1e6, t.mean_s * 1e6,
             t.p99_s * 1e6, t.max_s * 1e6, megabytes.c_str(), visible(t.gb_per_s()).c_str());
    if (!timed && t.count != 0)
        return line("%-28s %8llu   not timed: the queue has no timestamps%37s", printable(name, 28).c_str(),
                    static_cast<Count>(t.count), megabytes.c_str());
    if (t.untimed != 0) out += line("  of these not timed: %llu", static_cast<Count>(t.untimed));
    return out;
}

std::string rows_text(const char* title, const std::vector<TrackReport>& rows) {
    if (rows.empty()) return {};
    std::string out = line("\n%-52s %8s %10s %12s", title, "events", "busy ms", "utilisation");
    for (const TrackReport& row : rows) {
        const std::string name = printable(row.name, 52);
        out += row.timed ? line("%-52s %8llu %10.3f %11.1f%%", name.c_str(), static_cast<Count>(row.events),
                                row.busy_s * 1e3, row.utilisation * 100)
                         : line("%-52s %8llu   not timed", name.c_str(), static_cast<Count>(row.events));
    }
    return out;
}

std::string streams_text(const ProfileReport& r) {
    if (r.streams.size() < 2) return {};
    std::string out = line("\n%-52s %8s %10s", "stream", "events", "busy ms");
    for (const StreamReport& s : r.streams)
        out += line("%-52s %8llu %10.3f", s.name.empty() ? "(batches)" : printable(s.name, 52).c_str(),
                    static_cast<Count>(s.events), s.busy_s * 1e3);
    return out + line("balance of streams: %.2f", r.stream_balance);
}

std::string totals_text(const ProfileReport& r) {
    std::string out = "\n";
    out += line("device busy %.3f ms of %.3f ms; two stages or more simultaneously %.1f%% of that",
                r.device_s * 1e3, r.wall_s * 1e3, r.overlap * 100);
    out += line("no stage busy, on device or host, in %.1f%% of the %.3f ms", r.idle() * 100, r.wall_s * 1e3);
    out += line("device copies hidden behind kernels %.1f%%; host copies hidden behind the device %.1f%%",
                r.copy_hidden * 100, r.host_copy_hidden * 100);
    out += line("balance of queues %.2f; replays %llu", r.queue_balance, static_cast<Count>(r.replays));
    out +=
        line("memory: %.2f MB at start, %.2f MB now, %.2f MB at most",
             static_cast<double>(r.memory.start_bytes) / 1e6, static_cast<double>(r.memory.live_bytes) / 1e6,
             static_cast<double>(r.memory.peak_bytes) / 1e6);
    out += line("pool: %llu allocations, %.1f%% without the driver", static_cast<Count>(r.memory.allocations),
                r.memory.hit_rate() * 100);
    out += line("ring: %llu slots taken, %llu waits (starvation %.1f%%), %.3f ms waited",
                static_cast<Count>(r.ring.acquires), static_cast<Count>(r.ring.waits),
                r.ring.starvation() * 100, r.ring.wait_s * 1e3);
    if (r.dropped_events != 0)
        out += line("INCOMPLETE: %llu events were dropped; raise ProfileOptions::max_events",
                    static_cast<Count>(r.dropped_events));
    if (r.dropped_names != 0)
        out += line("%llu events have names beyond the limit", static_cast<Count>(r.dropped_names));
    return out;
}

class Object {
  public:
    Object& text(const char* key, const std::string& value) { return put(key, json_string(value)); }
    Object& number(const char* key, double value) { return put(key, json_number(value)); }
    Object& count(const char* key, std::uint64_t value) { return put(key, std::to_string(value)); }
    Object& flag(const char* key, bool value) { return put(key, value ? "true" : "false"); }
    Object& put(const char* key, const std::string& json) {
        text_ += (text_.empty() ? "" : ", ") + json_string(key) + ": " + json;
        return *this;
    }
    std::string close() const { return "{" + text_ + "}"; }

  private:
    std::string text_;
};

template <class Range, class ToJson>
std::string array(const Range& range, const ToJson& to_json) {
    std::string out;
    for (const auto& one : range) out += (out.empty() ? "\n    " : ",\n    ") + to_json(one);
    return "[" + out + (out.empty() ? "]" : "\n  ]");
}

Object& add_times(Object& object, const WorkTimes& t) {
    return object.count("count", t.count)
        .count("untimed", t.untimed)
        .count("bytes", t.bytes)
        .count("timed_bytes", t.timed_bytes)
        .number("busy_s", t.busy_s)
        .number("total_s", t.total_s)
        .number("min_s", t.min_s)
        .number("mean_s", t.mean_s)
        .number("median_s", t.median_s)
        .number("p99_s", t.p99_s)
        .number("max_s", t.max_s)
        .number("gb_per_s", t.gb_per_s());
}

std::string row_json(const TrackReport& r) {
    return Object()
        .text("name", r.name)
        .flag("timed", r.timed)
        .count("events", r.events)
        .number("busy_s", r.busy_s)
        .number("utilisation", r.utilisation)
        .close();
}

std::string csv_line(const char* kind, const std::string& name, const WorkTimes& t) {
    std::string out = std::string(kind) + "," + core::csv_field(name);
    for (const std::uint64_t v : {t.count, t.untimed, t.bytes}) out += "," + std::to_string(v);
    for (const double v :
         {t.busy_s, t.total_s, t.min_s, t.mean_s, t.median_s, t.p99_s, t.max_s, t.gb_per_s()})
        out += "," + json_number(v);
    return out + "\n";
}

}  // namespace

std::string ProfileReport::to_table() const {
    std::string out = line("%s", printable(device, 200).c_str()) + line("clock: %s", clock.c_str());
    out += line("\n%-28s %8s %10s %10s %9s %9s %9s %9s %9s %9s", "stage", "count", "busy ms", "total ms",
                "min us", "mean us", "p99 us", "max us", "MB", "GB/s");
    for (const StageReport& s : stages)
        if (s.times.count != 0) out += times_line(to_string(s.stage), s.times);
    for (const KernelReport& k : kernels) out += times_line("  " + k.program, k.times);
    out += rows_text("queue", queues);
    out += rows_text("copies by", copy_tracks);
    return out + streams_text(*this) + totals_text(*this);
}

std::string ProfileReport::to_json() const {
    const std::string ring_json = Object()
                                      .count("acquires", ring.acquires)
                                      .count("waits", ring.waits)
                                      .number("wait_s", ring.wait_s)
                                      .number("starvation", ring.starvation())
                                      .close();
    const std::string memory_json = Object()
                                        .count("start_bytes", memory.start_bytes)
                                        .count("live_bytes", memory.live_bytes)
                                        .count("peak_bytes", memory.peak_bytes)
                                        .count("allocations", memory.allocations)
                                        .count("hits", memory.hits)
                                        .number("hit_rate", memory.hit_rate())
                                        .close();
    std::string out = "{\n";
    const auto put = [&out](const char* key, const std::string& json, bool last = false) {
        out += "  " + json_string(key) + ": " + json + (last ? "\n" : ",\n");
    };
    put("device", json_string(device));
    put("clock", json_string(clock));
    put("wall_s", json_number(wall_s));
    put("busy_s", json_number(busy_s));
    put("device_s", json_number(device_s));
    put("overlap", json_number(overlap));
    put("copy_hidden", json_number(copy_hidden));
    put("host_copy_hidden", json_number(host_copy_hidden));
    put("queue_balance", json_number(queue_balance));
    put("stream_balance", json_number(stream_balance));
    put("stages", array(stages, [](const StageReport& s) {
            Object object;
            return add_times(object.text("stage", weft::to_string(s.stage)), s.times).close();
        }));
    put("kernels", array(kernels, [](const KernelReport& k) {
            Object object;
            return add_times(object.text("program", k.program), k.times).close();
        }));
    put("queues", array(queues, row_json));
    put("copy_tracks", array(copy_tracks, row_json));
    put("streams", array(streams, [](const StreamReport& s) {
            return Object().text("name", s.name).count("events", s.events).number("busy_s", s.busy_s).close();
        }));
    put("memory", memory_json);
    put("ring", ring_json);
    put("replays", std::to_string(replays));
    put("dropped_events", std::to_string(dropped_events));
    put("dropped_names", std::to_string(dropped_names), true);
    return out + "}\n";
}

std::string ProfileReport::to_csv() const {
    std::string out =
        "kind,name,count,untimed,bytes,busy_s,total_s,min_s,mean_s,median_s,p99_s,max_s,gb_per_s\n";
    for (const StageReport& s : stages) out += csv_line("stage", to_string(s.stage), s.times);
    for (const KernelReport& k : kernels) out += csv_line("kernel", k.program, k.times);
    return out;
}

}  // namespace weft
