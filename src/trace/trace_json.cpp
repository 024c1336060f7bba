// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_json.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace weft::core {
namespace {

constexpr std::size_t kTextBytes = std::size_t{64} << 10;

class Writer {
  public:
    Writer(const TraceData& data, std::int64_t process, const TextSink& sink)
        : data_(data), process_(std::to_string(process)), sink_(sink) {}

    void run() {
        text_ = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"device\": " + json_string(data_.device) +
                ", \"clock\": " + json_string(data_.clock) +
                ", \"dropped_events\": " + std::to_string(data_.dropped_events) +
                ", \"dropped_names\": " + std::to_string(data_.dropped_names) + "},\n\"traceEvents\": [";
        metadata("process_name", 0, "weft: " + data_.device);
        for (std::size_t row = 0; row < data_.rows.size(); ++row) {
            metadata("thread_name", row, data_.rows[row].name);
            begin("M", "thread_sort_index", row);
            text_ += ", \"args\": {\"sort_index\": " + std::to_string(row) + "}}";
        }
        write_stages();
        for (const InstantEvent& event : data_.instants) write_instant(event);
        text_ += "\n]}\n";
        sink_(text_);
    }

  private:
    void begin(const char* phase, std::string_view name, std::size_t row) {
        if (text_.size() >= kTextBytes) {
            sink_(text_);
            text_.clear();
        }
        text_ += first_ ? "\n" : ",\n";
        first_ = false;
        text_ += std::string("{\"ph\": \"") + phase + "\", \"name\": " + json_string(name) +
                 ", \"pid\": " + process_ + ", \"tid\": " + std::to_string(row);
    }
    void time(const char* key, std::int64_t ns) {
        text_ += std::string(", \"") + key + "\": " + json_microseconds(ns);
    }
    void metadata(const char* what, std::size_t row, const std::string& name) {
        begin("M", what, row);
        text_ += ", \"args\": {\"name\": " + json_string(name) + "}}";
    }
    std::string name(NameId id) const {
        return json_string(id < data_.names.size() ? std::string_view(data_.names[id]) : "");
    }

    /// Sorted by begin, the longer event first: viewers nest later events in earlier ones.
    void write_stages() {
        std::vector<const StageEvent*> order;
        order.reserve(data_.stages.size());
        for (const StageEvent& event : data_.stages)
            if (event.timed) order.push_back(&event);
        std::stable_sort(order.begin(), order.end(), [](const StageEvent* a, const StageEvent* b) {
            return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
        });
        for (const StageEvent* event : order) write_stage(*event);
    }

    void write_stage(const StageEvent& event) {
        begin("X", to_string(event.stage), event.row);
        text_ += ", \"cat\": \"weft\"";
        time("ts", event.begin_ns);
        time("dur", std::max<std::int64_t>(0, event.end_ns - event.begin_ns));
        text_ += ", \"args\": {\"bytes\": " + std::to_string(event.bytes);
        if (event.slot != kNoSlot) text_ += ", \"slot\": " + std::to_string(event.slot);
        if (event.jobs != 0) {
            const bool named = event.job_name != 0;
            text_ += ", \"job\": " +
                     (named ? name(event.job_name) : json_string("job " + std::to_string(event.job))) +
                     ", \"jobs\": " + std::to_string(event.jobs);
        }
        if (event.program != 0) text_ += ", \"program\": " + name(event.program);
        if (event.stream != 0) text_ += ", \"stream\": " + name(event.stream);
        if (event.stage == Stage::kernel) text_ += ", \"dispatches\": " + std::to_string(event.operations);
        text_ += "}}";
    }

    void write_instant(const InstantEvent& event) {
        const char* const kNames[] = {"ring wait", "replay", "allocation", "release"};
        begin("i", kNames[event.kind], 0);
        text_ += R"(, "s": "p")";
        time("ts", event.at_ns);
        const std::string value = std::to_string(event.value);
        if (event.kind == InstantEvent::ring_wait) {
            text_ +=
                ", \"args\": {\"waited_us\": " + json_microseconds(static_cast<std::int64_t>(event.value)) +
                "}}";
            return;
        }
        if (event.kind == InstantEvent::replay) {
            text_ += ", \"args\": {\"dispatches\": " + value + ", \"stream\": " + name(event.name) + "}}";
            return;
        }
        text_ += ", \"args\": {\"bytes\": " + value + ", \"buffer\": " + name(event.name) + "}}";
        begin("C", "memory", 0);
        time("ts", event.at_ns);
        text_ += ", \"args\": {\"live_bytes\": " + std::to_string(event.live_bytes) + "}}";
    }

    const TraceData& data_;
    std::string process_;
    const TextSink& sink_;
    std::string text_;
    bool first_ = true;
};

}  // namespace

void write_trace_json(const TraceData& data, std::int64_t process, const TextSink& sink) {
    Writer(data, process, sink).run();
}

}  // namespace weft::core
