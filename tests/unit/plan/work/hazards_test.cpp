// SPDX-License-Identifier: Apache-2.0
// Barriers that commands need, compared with an oracle that checks every byte and every earlier command.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "plan/work/hazards.hpp"

using weft::core::HazardBarrier;
using weft::core::HazardTracker;
using weft::core::RangeUse;
using weft::core::WorkStage;

namespace {

constexpr auto kCopy = WorkStage::transfer, kKernel = WorkStage::kernel;

RangeUse read(std::uint64_t buffer, std::uint64_t begin, std::uint64_t end) {
    return {buffer, begin, end, true, false};
}
RangeUse write(std::uint64_t buffer, std::uint64_t begin, std::uint64_t end) {
    return {buffer, begin, end, false, true};
}
RangeUse both(std::uint64_t buffer, std::uint64_t begin, std::uint64_t end) {
    return {buffer, begin, end, true, true};
}

/// "" for none; otherwise the stages that are waited for, c(opy) and k(ernel), and m if memory must become
/// visible.
std::string text(const HazardBarrier& barrier) {
    return std::string(barrier.after[0] ? "c" : "") + (barrier.after[1] ? "k" : "") +
           (barrier.memory ? "m" : "");
}

struct Step {
    WorkStage stage;
    std::vector<RangeUse> uses;
    std::string barrier;  // before it
};

struct Command {
    WorkStage stage;
    std::vector<RangeUse> uses;
    HazardBarrier barrier;
};

/// All commands and barriers so far, checked byte by byte.
class Oracle {
  public:
    /// What the next command lacks, by stage of the earlier command: 0 nothing, 1 order, 2 visible writes.
    std::array<int, 2> lacks(WorkStage stage, const std::vector<RangeUse>& uses) const {
        std::array<int, 2> missing{};
        for (const RangeUse& use : uses)
            for (std::uint64_t byte = use.begin; byte < use.end; ++byte) look_back(stage, use, byte, missing);
        return missing;
    }
    void add(Command command) { commands_.push_back(std::move(command)); }

  private:
    /// Whether there is a barrier after command i that orders its stage before `to`.
    bool ordered(std::size_t i, WorkStage to, bool memory) const {
        for (std::size_t k = i + 1; k < commands_.size(); ++k)
            if (commands_[k].stage == to &&
                commands_[k].barrier.after[static_cast<std::size_t>(commands_[i].stage)] &&
                (!memory || commands_[k].barrier.memory))
                return true;
        return false;
    }
    void look_back(WorkStage stage, const RangeUse& use, std::uint64_t byte,
                   std::array<int, 2>& missing) const {
        // Searches back to the last write of this byte; earlier accesses are ordered before this write.
        for (std::size_t i = commands_.size(); i-- > 0;) {
            bool wrote = false, has_read = false;
            for (const RangeUse& u : commands_[i].uses) {
                if (u.buffer != use.buffer || byte < u.begin || byte >= u.end) continue;
                wrote = wrote || u.writes;
                has_read = has_read || u.reads;
            }
            int& lack = missing[static_cast<std::size_t>(commands_[i].stage)];
            if (wrote && !ordered(i, stage, true)) lack = 2;
            if (has_read && use.writes && !ordered(i, stage, false)) lack = std::max(lack, 1);
            if (wrote) return;
        }
    }
    std::vector<Command> commands_;
};

}  // namespace

TEST_CASE("hazards: directed sequences") {
    const std::vector<std::pair<const char*, std::vector<Step>>> cases{
        {"first command", {{kKernel, {both(1, 0, 64)}, ""}}},
        {"read after write", {{kCopy, {write(1, 0, 64)}, ""}, {kKernel, {read(1, 0, 64)}, "cm"}}},
        {"write after read needs order alone",
         {{kKernel, {read(1, 0, 64)}, ""}, {kCopy, {write(1, 0, 64)}, "k"}}},
        {"write after write", {{kKernel, {write(1, 0, 64)}, ""}, {kKernel, {write(1, 0, 64)}, "km"}}},
        {"reads of one range", {{kKernel, {read(1, 0, 64)}, ""}, {kKernel, {read(1, 0, 64)}, ""}}},
        {"neighbouring ranges", {{kKernel, {write(1, 0, 64)}, ""}, {kKernel, {write(1, 64, 128)}, ""}}},
        {"one byte in common", {{kKernel, {write(1, 0, 65)}, ""}, {kKernel, {write(1, 64, 128)}, "km"}}},
        {"other buffers", {{kKernel, {write(1, 0, 64)}, ""}, {kKernel, {write(2, 0, 64)}, ""}}},
        {"a barrier serves everything before it",
         {{kCopy, {write(1, 0, 64)}, ""},
          {kCopy, {write(2, 0, 64)}, ""},
          {kKernel, {read(1, 0, 64)}, "cm"},
          {kKernel, {read(2, 0, 64)}, ""}}},
        {"but not what comes after it",
         {{kCopy, {write(1, 0, 64)}, ""},
          {kKernel, {read(1, 0, 64)}, "cm"},
          {kCopy, {write(2, 0, 64)}, ""},
          {kKernel, {read(2, 0, 64)}, "cm"}}},
        {"order alone does not make writes visible",
         {{kKernel, {read(1, 0, 64), write(2, 0, 64)}, ""},
          {kCopy, {write(1, 0, 64)}, "k"},
          {kCopy, {read(2, 0, 64)}, "km"}}},
        {"hole in the middle",
         {{kKernel, {write(1, 0, 100)}, ""},
          {kCopy, {write(1, 40, 60)}, "km"},
          {kKernel, {read(1, 0, 40)}, "km"},
          {kKernel, {read(1, 40, 60)}, "cm"},
          {kKernel, {read(1, 60, 100)}, ""}}},
        {"both stages in one access",
         {{kKernel, {write(1, 0, 64)}, ""},
          {kCopy, {write(1, 64, 128)}, ""},
          {kKernel, {read(1, 0, 128)}, "ckm"}}},
        {"past 4 GiB",
         {{kKernel, {write(1, 0, std::uint64_t{1} << 32)}, ""},
          {kKernel, {write(1, std::uint64_t{1} << 32, std::uint64_t{1} << 33)}, ""},
          {kKernel, {read(1, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32)}, "km"}}},
        {"empty ranges",
         {{kKernel, {write(1, 8, 8)}, ""},
          {kKernel, {write(1, 0, 64)}, ""},
          {kKernel, {read(1, 32, 32)}, ""}}},
        {"one command may use a range twice",
         {{kKernel, {read(1, 0, 64), write(1, 0, 64)}, ""}, {kKernel, {read(1, 0, 64)}, "km"}}},
    };
    for (const auto& [name, steps] : cases) {
        CAPTURE(std::string(name));
        HazardTracker tracker;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            CAPTURE(i);
            CHECK(text(tracker.next(steps[i].stage, steps[i].uses)) == steps[i].barrier);
        }
        tracker.clear();
        CHECK(text(tracker.next(steps.back().stage, steps.back().uses)) == "");
    }
}

TEST_CASE("hazards: every barrier that is needed exists, and no other") {
    std::mt19937 random(20261128);
    const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        HazardTracker tracker;
        Oracle oracle;
        for (int i = 0; i < 40; ++i) {
            const WorkStage stage = pick(2) == 0 ? kCopy : kKernel;
            std::vector<RangeUse> uses;
            for (std::uint32_t n = 1 + pick(3); n != 0; --n) {
                const std::uint64_t begin = pick(24), bytes = pick(9);
                uses.push_back({pick(2) + 7, begin, begin + bytes, pick(2) == 0, pick(3) == 0});
            }
            const std::array<int, 2> lacks = oracle.lacks(stage, uses);
            const HazardBarrier got = tracker.next(stage, uses);
            CAPTURE(i);
            REQUIRE(got.after[0] == (lacks[0] != 0));
            REQUIRE(got.after[1] == (lacks[1] != 0));
            REQUIRE(got.memory == (lacks[0] == 2 || lacks[1] == 2));
            oracle.add({stage, uses, got});
        }
    }
}
