// SPDX-License-Identifier: Apache-2.0
// The figures of a BatchReport.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <weft/batch.hpp>

#include "base/enums.hpp"
#include "plan/work/batch_check.hpp"
#include "trace/intervals.hpp"

namespace weft {
namespace {

std::array<std::vector<core::Interval>, 3> device_stages(const std::vector<StageInterval>& intervals) {
    std::array<std::vector<core::Interval>, 3> sets;
    for (const StageInterval& i : intervals)
        if (i.stage <= Stage::download)
            sets[static_cast<std::size_t>(i.stage)].push_back({i.begin_s, i.end_s});
    return sets;
}

}  // namespace

const char* to_string(Stage stage) noexcept {
    return core::enum_name<Stage::copy_out>(stage, {"upload", "kernel", "download", "copy-in", "copy-out"});
}

double Progress::per_s() const {
    return done != 0 && elapsed_s > 0 ? static_cast<double>(done) / elapsed_s : 0;
}

double Progress::remaining_s() const {
    const double rate = per_s();
    return rate > 0 && total > done ? static_cast<double>(total - done) / rate : 0;
}

double OpReport::items_per_s() const {
    return wall_s > 0 ? static_cast<double>(items) / wall_s : 0;
}

double BatchReport::gb_per_s() const {
    return wall_s > 0 ? static_cast<double>(bytes_in + bytes_out) / wall_s / 1e9 : 0;
}

double BatchReport::stage_s(Stage stage) const {
    std::vector<core::Interval> of_stage;
    for (const StageInterval& i : intervals)
        if (i.stage == stage) of_stage.push_back({i.begin_s, i.end_s});
    return core::union_length(of_stage);
}

double BatchReport::device_s() const {
    std::vector<core::Interval> all;
    for (const StageInterval& i : intervals) all.push_back({i.begin_s, i.end_s});
    return core::union_length(all);
}

double BatchReport::overlap() const {
    const double busy = device_s();
    return busy > 0 ? core::overlap_length(device_stages(intervals)) / busy : 0;
}

namespace core {

void add_report(BatchReport& sum, const BatchReport& one) {
    const bool first = sum.path == Path::automatic, second = one.path != Path::automatic;
    sum.mixed_paths = sum.mixed_paths || one.mixed_paths || (!first && second && one.path != sum.path);
    if (first) {
        sum.path = one.path;
        sum.split_queues = one.split_queues;
        sum.host_memory = one.host_memory;
        sum.queues = one.queues;
        sum.ring_slots = one.ring_slots;
    }
    sum.jobs += one.jobs;
    sum.elements += one.elements;
    sum.chunks += one.chunks;
    sum.bundles += one.bundles;
    sum.bytes_in += one.bytes_in;
    sum.bytes_out += one.bytes_out;
    sum.copy_in_s += one.copy_in_s;
    sum.copy_out_s += one.copy_out_s;
    sum.waits += one.waits;
    sum.wait_s += one.wait_s;
    sum.chunk_elements = std::max(sum.chunk_elements, one.chunk_elements);
}

}  // namespace core

}  // namespace weft
