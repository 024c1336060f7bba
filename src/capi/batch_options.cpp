// SPDX-License-Identifier: Apache-2.0
#include "capi/batch_options.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capi/structs.hpp"

namespace weft::capi {

namespace {

weft_report figures_of(const BatchReport& report) {
    weft_report all{};
    all.path = static_cast<weft_path>(report.path);
    all.mixed_paths = report.mixed_paths ? 1 : 0;
    all.split_queues = report.split_queues ? 1 : 0;
    all.ring_slots = report.ring_slots;
    all.items = report.jobs;
    all.jobs = report.jobs;
    all.elements = report.elements;
    all.chunks = report.chunks;
    all.bundles = report.bundles;
    all.chunk_elements = report.chunk_elements;
    all.bytes_in = report.bytes_in;
    all.bytes_out = report.bytes_out;
    all.waits = report.waits;
    all.wall_s = report.wall_s;
    all.wait_s = report.wait_s;
    all.copy_in_s = report.copy_in_s;
    all.copy_out_s = report.copy_out_s;
    for (std::size_t stage = 0; stage < kStages; ++stage)
        all.stage_s[stage] = report.stage_s(static_cast<Stage>(stage));
    all.device_s = report.device_s();
    all.overlap = report.overlap();
    all.gb_per_s = report.gb_per_s();
    all.items_per_s = report.wall_s > 0 ? static_cast<double>(report.jobs) / report.wall_s : 0;
    put_text(all.op, "run_batch");
    put_text(all.host_memory, report.host_memory);
    put_text(all.queues, report.queues);
    all.devices = report.devices.size();
    return all;
}

/// Of the last report that the thread got.
std::vector<DeviceReport>& last_rows() {
    thread_local std::vector<DeviceReport> rows;
    return rows;
}

void put(const char* function, const weft_report& all, std::vector<DeviceReport>&& rows,
         weft_report* target) {
    write_report(function, "weft_report", all, target);
    last_rows() = std::move(rows);
}

}  // namespace

Path path_of(const char* function, const char* name, weft_path path) {
    return enum_of<Path>(function, name, path, WEFT_PATH_HOST + 1);
}

QueueMode queue_mode_of(const char* function, const char* name, weft_queue_mode mode) {
    return enum_of<QueueMode>(function, name, mode, WEFT_QUEUES_SPLIT + 1);
}

Choice choice_of(const char* function, const char* name, weft_choice choice) {
    return enum_of<Choice>(function, name, choice, WEFT_ON + 1);
}

BatchOptions batch_options(const char* function, const weft_batch_options* given_options) {
    const weft_batch_options given = read_options(function, "weft_batch_options", given_options);
    static constexpr BatchMode kModes[] = {BatchMode::pipelined, BatchMode::sequential};
    BatchOptions options;
    options.mode = enum_of(function, "weft_batch_options.mode", given.mode, kModes);
    options.path = path_of(function, "weft_batch_options.path", given.path);
    options.queues = queue_mode_of(function, "weft_batch_options.queues", given.queues);
    options.chunk_elements = given.chunk_elements;
    options.ring_slots = given.ring_slots;
    options.stage_times = choice_of(function, "weft_batch_options.stage_times", given.stage_times);
    if (given.progress != nullptr)
        options.progress = [call = given.progress, user = given.user](const Progress& at) {
            const weft_progress now{at.done, at.total, at.elapsed_s, at.per_s(), at.remaining_s()};
            if (call(user, &now) != 0) throw Stopped{};
        };
    return options;
}

void put_report(const char* function, OpReport&& report, weft_report* target) {
    if (target == nullptr) return;
    weft_report all = figures_of(report);
    all.items = report.items;
    all.items_per_s = report.items_per_s();
    all.retried = report.retried;
    all.unresolved = report.unresolved;
    all.states_s = report.states_s;
    all.product_s = report.product_s;
    put_text(all.op, report.op);
    put_text(all.method, report.method);
    put(function, all, std::move(report.devices), target);
}

void put_report(const char* function, BatchReport&& report, weft_report* target) {
    if (target != nullptr) put(function, figures_of(report), std::move(report.devices), target);
}

std::chrono::nanoseconds timeout_of(std::uint64_t timeout_ns) {
    using std::chrono::nanoseconds;
    constexpr auto kMost = static_cast<std::uint64_t>((nanoseconds::max)().count());
    return nanoseconds(static_cast<nanoseconds::rep>(std::min(timeout_ns, kMost)));
}

}  // namespace weft::capi

weft_status weft_last_report_device(uint64_t at, weft_device_report* row) {
    constexpr const char* kName = "weft_last_report_device";
    return weft::capi::guarded(kName, [&] {
        const std::vector<weft::DeviceReport>& rows = weft::capi::last_rows();
        if (at >= rows.size())
            weft::capi::refuse(std::string(kName) + ": no such row (got " + std::to_string(at) +
                               ", need below " + std::to_string(rows.size()) + ")");
        const weft::DeviceReport& found = rows[static_cast<std::size_t>(at)];
        weft_device_report all{};
        all.device = static_cast<std::uint32_t>(found.device);
        all.name = found.name.c_str();
        all.note = found.note.c_str();
        all.shares = found.shares;
        all.jobs = found.jobs;
        all.items = found.items;
        all.bytes_in = found.bytes_in;
        all.bytes_out = found.bytes_out;
        all.busy_s = found.busy_s;
        all.idle_end_s = found.idle_end_s;
        all.lost = found.lost ? 1 : 0;
        weft::capi::write_report(kName, "weft_device_report", all, row);
    });
}
