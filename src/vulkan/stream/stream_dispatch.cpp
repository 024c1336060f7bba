// SPDX-License-Identifier: Apache-2.0
// Completes stream_state.hpp: dispatches, and how long ones are cut.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "vulkan/stream/stream_state.hpp"

namespace weft::core {
namespace {

constexpr std::size_t kMostPushBytes = 256;
constexpr double kUnmeasured = 8;  // budgets

/// The push constants of a part: those of the dispatch, and behind them the grid of the whole.
class PartPush {
  public:
    PartPush(const DispatchWork& whole, const CutPipeline& cut) {
        std::copy(whole.push.begin(), whole.push.end(), bytes_.begin());
        size_ = whole.push.size();
        if (!cut.grid_offset) return;
        std::memcpy(bytes_.data() + *cut.grid_offset, whole.workgroups.data(), sizeof whole.workgroups);
        size_ = *cut.grid_offset + sizeof whole.workgroups;
    }
    std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }

  private:
    std::array<std::byte, kMostPushBytes> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace

void StreamState::dispatch(const DispatchWork& work, double amount) {
    const DispatchPace pace = work.pipeline->cuts->pace();
    const double expected = expected_seconds(amount, pace, context_.budget);
    const bool single = work.workgroups[0] == 1 && work.workgroups[1] == 1;
    // A recording cannot measure and keeps what it decides, so an assumed pace must be far too slow.
    const double most = (deferred() && pace.seconds <= 0 ? kUnmeasured : 1) * context_.budget.seconds;
    const CutPipeline* cut = nullptr;
    if (expected > most && !single) {
        list();  // refuses a stream that cannot record before a pipeline is made
        cut = context_.pipelines.cut(*work.pipeline);
    }
    if (cut != nullptr) return dispatch_parts(work, *cut, amount);
    list().dispatch(work);
    note_load(*work.pipeline, amount, pace.seconds > 0 ? expected : 0);
}

/// A list that is expected to take longer than one dispatch may is submitted, because some drivers watch
/// submissions and not dispatches.
void StreamState::note_load(const Pipeline& pipeline, double amount, double expected) {
    if (deferred()) return;
    load_.add(pipeline, amount, expected);
    if (load_.expected_s > context_.budget.seconds) submit_list();
}

/// Steps before the first part and parts are submissions of their own. Where the pace is not known well, the
/// host waits for the part, so that the size of the next one is right.
void StreamState::dispatch_parts(const DispatchWork& whole, const CutPipeline& cut, double amount) {
    const WorkgroupGrid grid{whole.workgroups[0], whole.workgroups[1]};
    const std::uint64_t all = std::uint64_t{grid.x} * grid.y;
    const double each = amount / static_cast<double>(all);
    const PartPush push(whole, cut);
    PipelineCuts& cuts = *whole.pipeline->cuts;
    DispatchWork part = whole;
    part.cut = &cut;
    part.push = push.bytes();
    for (std::uint64_t first = 0; first < all;) {
        const DispatchPace pace = cuts.pace();
        const WorkgroupPart at =
            part_at(grid, first, workgroups_within(all - first, each, pace, context_.budget));
        const double work = each * static_cast<double>(at.count());
        part.base = {at.x, at.y};
        part.workgroups = {at.columns, at.rows, 1};
        part.share = work / amount;
        first += at.count();
        if (deferred()) {
            list().dispatch(part);
            continue;
        }
        submit_list();
        const bool measures = worth_measuring(work, pace) && may_wait();
        if (measures) context_.timelines.wait(done_);
        const SteadyTime begin = std::chrono::steady_clock::now();
        list().dispatch(part);
        submit_list();
        if (!measures) continue;
        context_.timelines.wait(done_);
        cuts.set_pace(measured_pace(pace, work, seconds_since(begin)));
    }
}

/// An event of the application may be reached only after this call has returned.
bool StreamState::may_wait() {
    return (!wait_for_ || !wait_for_->external) && context_.timelines.passed(external_wait_);
}

/// Called after a wait for the list that was submitted last. If it was long, its programs are slower than was
/// known.
void StreamState::learn_from_wait(SteadyTime begin) {
    const double seconds = seconds_since(begin);
    if (!is_long_wait(seconds, context_.budget)) return;
    for (std::size_t i = 0; i < last_load_.programs; ++i) {
        PipelineCuts& cuts = *last_load_.pipelines[i]->cuts;
        cuts.set_pace(slower_pace(cuts.pace(), last_load_.work, seconds));
    }
    last_load_ = {};
}

void DispatchLoad::add(const Pipeline& pipeline, double amount, double expected) {
    work += amount;
    expected_s += expected;
    const auto end = pipelines.begin() + static_cast<std::ptrdiff_t>(programs);
    if (programs < pipelines.size() && std::find(pipelines.begin(), end, &pipeline) == end)
        pipelines[programs++] = &pipeline;
}

}  // namespace weft::core
