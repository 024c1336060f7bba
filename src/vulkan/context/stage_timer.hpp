// SPDX-License-Identifier: Apache-2.0
// Device times of work that is recorded once and submitted once or often, as a Stream does.
//
// How to use them:
//
//   recording    RangeTimer, if context.trace.active() at begin(): timer.begin_recording(); then around each
//                step, or around a run of steps between two barriers: timer.begin(commands, event) ...
//                timer.end(commands). Times of steps that run simultaneously cannot be separated, so a run of
//                independent dispatches of one program is one range with `operations` of them.
//   submitting   timer.before_submit() right before, which resets the queries, timer.submitted(token) right
//                after, and timer.finish() before the next before_submit(): queries hold one run's times
//                only.
//   replaying    a recording made without a listener holds no queries, and one that may be under way
//                twice must not have any. SubmissionTimer times such a submission as a whole:
//                {before, after} = timer.take(event); submit before, commands, after together; finish() when
//                the token has passed. context.trace.replay(stream, dispatches) counts it.
//
// Neither waits for anything, and without a listener neither writes into a command buffer. Both are in
// Context::timers, so that a listener gets all work that is done, whether or not a caller waited for it. That
// is the only reason for their locks.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "vulkan/context/context.hpp"
#include "vulkan/context/open_timers.hpp"

namespace weft::core {

/// Timestamps inside one command buffer. One thread at a time, except for gather(); must not outlive the
/// context.
class RangeTimer final : public OpenTimer {
  public:
    RangeTimer(Context& context, QueueRole role);
    ~RangeTimer() override;
    RangeTimer(const RangeTimer&) = delete;
    RangeTimer& operator=(const RangeTimer&) = delete;

    /// Forgets the ranges of the last recording. Its commands must not be submitted again.
    void begin_recording();
    /// `event`: everything except row and times. Ranges are counted but not timed if the queue has no
    /// timestamps or after kMostRanges ranges. Errors: out_of_memory, driver.
    void begin(VkCommandBuffer commands, const StageEvent& event);
    /// Adds one step to the range that begin() opened.
    void extend(const StageEvent& event);
    void end(VkCommandBuffer commands);

    void before_submit();
    void submitted(Token token);
    /// Reads the queries of a submission that is done and reports every range once, if there is a listener.
    /// Errors: device_lost, driver.
    void finish();
    void gather() override { finish(); }

    static constexpr std::uint32_t kMostRanges = 8192;

  private:
    static constexpr std::uint32_t kStampsPerPool = 512;
    void make_room(std::uint32_t stamps);
    void stamp(VkCommandBuffer commands);
    template <class Act>
    void each_pool(const Act& act) const;
    void read();

    Context& context_;
    QueueRole role_;
    bool has_queries_;
    std::mutex mutex_;  // guards all below
    std::vector<VkQueryPool> pools_;
    std::vector<StageEvent> ranges_;  // the timed ones come first
    /// Range i lies between stamps i and i + 1. Between two ranges there is only a barrier, and a stamp makes
    /// the device pause, so one stamp ends a range and begins the next.
    std::uint32_t stamps_ = 0;
    std::vector<std::uint64_t> ticks_;
    bool open_ = false;
    Token submitted_;  // value 0: nothing to read
};

/// Command buffers that take one timestamp each, for before and after a submission of any commands.
class SubmissionTimer final : public OpenTimer {
  public:
    SubmissionTimer(Context& context, QueueRole role);
    ~SubmissionTimer() override;
    SubmissionTimer(const SubmissionTimer&) = delete;
    SubmissionTimer& operator=(const SubmissionTimer&) = delete;

    struct Around {
        VkCommandBuffer before = VK_NULL_HANDLE, after = VK_NULL_HANDLE;  // null: the queue has no timestamps
    };
    /// For one submission. Several may be under way; after kMostTimed they are not timed. Their objects are
    /// made kBlock at a time and kept, so that a steady state makes none. Errors: out_of_memory, driver.
    Around take(const StageEvent& event);
    /// The submission of the last take() has this token; value 0: it did not take place.
    void submitted(Token token);
    /// Reports submissions that are done and makes their objects available again. Errors: device_lost,
    /// driver.
    void finish();
    void gather() override { finish(); }

    static constexpr std::size_t kMostTimed = 1024, kBlock = 64;

  private:
    struct Pair {
        VkQueryPool queries = VK_NULL_HANDLE;
        std::uint32_t first = 0;  // of its two queries
        VkCommandBuffer before = VK_NULL_HANDLE, after = VK_NULL_HANDLE;
    };
    struct Running {
        Pair pair;
        StageEvent event;
        Token token;
    };
    void make_block();
    void record(VkCommandBuffer commands, VkQueryPool queries, std::uint32_t query);
    void report(const Running& running);

    Context& context_;
    QueueRole role_;
    std::mutex mutex_;  // guards all below
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<VkQueryPool> queries_;
    std::vector<Pair> idle_;
    std::deque<Running> running_;
};

}  // namespace weft::core
