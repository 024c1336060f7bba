// SPDX-License-Identifier: Apache-2.0
// Sharing a call among devices, by simulated devices with their own clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plan/work/share_queue.hpp"

using weft::core::Share;
using weft::core::ShareDevice;
using weft::core::ShareQueue;

namespace {

struct Simulated {
    ShareDevice device;
    double rate = 1;           // true items a second
    double start_s = 0;        // of each share
    double lost_after_s = -1;  // negative: never
};

struct Outcome {
    double end_s = 0;
    std::vector<std::uint64_t> items, shares;
    std::vector<double> last_s;  // end of the last share of each device
    std::vector<std::uint64_t> first_item, last_item;
    std::vector<bool> covered;
    std::vector<std::string> reasons;
    bool once = true;  // no item was done twice
};

/// Runs until nothing is left that a device would take.
Outcome simulate(std::uint64_t items, std::uint64_t step, const std::vector<Simulated>& devices,
                 bool both_ends = false) {
    std::vector<ShareDevice> known;
    for (const Simulated& s : devices) known.push_back(s.device);
    ShareQueue queue(items, step, known, both_ends);
    const std::size_t n = devices.size();
    Outcome out;
    out.items.assign(n, 0), out.shares.assign(n, 0), out.last_s.assign(n, 0),
        out.covered.assign(items, false);
    out.first_item.assign(n, items), out.last_item.assign(n, 0);
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> free_s(n, kNever);
    std::vector<std::optional<Share>> share(n);
    std::vector<bool> lost(n, false);
    const auto take = [&](double now) {
        for (std::size_t d = 0; d < n; ++d) {
            if (share[d] || lost[d]) continue;
            share[d] = queue.take(d, now);
            if (!share[d]) continue;
            CHECK(share[d]->count != 0);
            CHECK((share[d]->first % step == 0));
            free_s[d] = now + devices[d].start_s + static_cast<double>(share[d]->count) / devices[d].rate;
        }
    };
    for (double now = 0;;) {
        take(now);
        const auto next = std::min_element(free_s.begin(), free_s.end());
        if (*next == kNever) break;
        now = *next;
        const auto d = static_cast<std::size_t>(next - free_s.begin());
        free_s[d] = kNever;
        if (devices[d].lost_after_s >= 0 && now >= devices[d].lost_after_s) {
            lost[d] = true;
            CHECK(queue.drop(d) == !share[d]->again);
        } else {
            queue.done(d, now);
            for (std::uint64_t i = 0; i < share[d]->count; ++i) {
                out.once = out.once && !out.covered[share[d]->first + i];
                out.covered[share[d]->first + i] = true;
            }
            out.items[d] += share[d]->count;
            out.first_item[d] = std::min(out.first_item[d], share[d]->first);
            out.last_item[d] = std::max(out.last_item[d], share[d]->first + share[d]->count - 1);
            ++out.shares[d];
            out.last_s[d] = now;
        }
        share[d].reset();
        out.end_s = now;
    }
    for (std::size_t d = 0; d < n; ++d) out.reasons.push_back(queue.reason(d));
    CHECK(queue.finished() == std::all_of(out.covered.begin(), out.covered.end(), [](bool c) { return c; }));
    CHECK(queue.stranded() == (!queue.finished() &&
                               std::count(lost.begin(), lost.end(), true) == static_cast<std::ptrdiff_t>(n)));
    return out;
}

bool all_done(const Outcome& outcome) {
    return std::all_of(outcome.covered.begin(), outcome.covered.end(), [](bool c) { return c; });
}

Simulated gpu(double rate, std::uint64_t least = 100) {
    return {{"gpu", 1, 0, least}, rate, 0, -1};
}

}  // namespace

TEST_CASE("equal devices share within three percent") {
    for (const std::size_t n : {2u, 3u, 4u, 8u}) {
        CAPTURE(n);
        const std::vector<Simulated> devices(n, gpu(1000));
        const Outcome out = simulate(100000, 1, devices);
        REQUIRE(all_done(out));
        CHECK(out.once);
        CHECK(out.end_s < 1.03 * 100.0 / static_cast<double>(n));
        for (const std::uint64_t items : out.items) {
            CHECK(static_cast<double>(items) > 0.97 * 100000.0 / static_cast<double>(n));
            CHECK(static_cast<double>(items) < 1.03 * 100000.0 / static_cast<double>(n));
        }
    }
}

TEST_CASE("devices whose rates differ by a little share within a few percent") {
    for (const std::size_t n : {2u, 4u, 8u}) {
        CAPTURE(n);
        std::vector<Simulated> devices;
        double rates = 0;
        for (std::size_t i = 0; i < n; ++i) {
            devices.push_back(gpu(1000 * (1 + 0.002 * static_cast<double>(i * 5 % 8))));
            rates += devices.back().rate;
        }
        const Outcome out = simulate(100000, 1, devices);
        REQUIRE(all_done(out));
        CHECK(out.once);
        CHECK(out.end_s < 1.03 * 100000.0 / rates);
    }
}

TEST_CASE("equal devices take few shares, because each share fills and empties a pipeline") {
    std::vector<Simulated> devices(2, gpu(1000, 1000));
    const Outcome out = simulate(1000000, 1, devices);
    CHECK(out.shares[0] <= 8);
    CHECK(out.shares[1] <= 8);
}

TEST_CASE("devices of one kind that are not equally fast are balanced") {
    const Outcome out = simulate(100000, 1, {gpu(1000), gpu(600)});
    REQUIRE(all_done(out));
    CHECK(out.once);
    CHECK(out.end_s < 1.05 * 100000 / 1600);
}

TEST_CASE("a slow device never makes a fast one wait") {
    for (const double slower : {1.5, 3.0, 10.0, 30.0, 100.0, 1000.0, 1e5})
        for (const double prior : {1.0, 0.3, 0.1, 0.05, 0.02}) {
            // Ten times too high is as wrong as an expectation may be.
            if (1 / slower < prior / 10) continue;
            for (const std::uint64_t items : {1000ull, 10000ull, 300000ull}) {
                CAPTURE(slower);
                CAPTURE(prior);
                CAPTURE(items);
                const Simulated slow{{"other", prior, 0, 100}, 1000 / slower, 0, -1};
                const Outcome out = simulate(items, 1, {gpu(1000), slow});
                REQUIRE(all_done(out));
                CHECK(out.once);
                CHECK(out.end_s <= static_cast<double>(items) / 1000 / 0.97);
            }
        }
}

TEST_CASE("a device far below the others takes nothing and says why") {
    const Outcome out = simulate(100000, 1, {gpu(1000), {{"cpu", 0.02, 0, 100}, 1, 0, -1}});
    CHECK(out.items[1] == 0);
    CHECK(out.reasons[1] == "too slow beside the other devices to save time");
}

TEST_CASE("rates of earlier calls are used from the start") {
    const Simulated fast{{"a", 1, 1000, 100}, 1000, 0, -1}, slow{{"b", 1, 250, 100}, 250, 0, -1};
    const Outcome out = simulate(100000, 1, {fast, slow});
    CHECK(out.end_s < 1.03 * 100000 / 1250);
    CHECK(out.shares[0] <= 8);
}

TEST_CASE("little work stays on the fastest device, with the reason") {
    const Outcome out = simulate(150, 1, {gpu(1000), {{"b", 2, 0, 100}, 2000, 0, -1}});
    CHECK(out.items == std::vector<std::uint64_t>{0, 150});
    CHECK(out.reasons[0] == "too little work to share");
    CHECK(out.reasons[1].empty());
    const ShareQueue one(1, 1, {ShareDevice{"gpu"}});
    CHECK(one.only_device() == 0);
    const ShareQueue none(0, 1, {ShareDevice{"gpu"}, ShareDevice{"gpu"}});
    CHECK(none.finished());
}

TEST_CASE("shares begin at whole steps and the last takes the rest") {
    for (const std::uint64_t items : {1001ull, 4096ull, 99999ull}) {
        const Outcome out = simulate(items, 64, {gpu(1000), gpu(700)});  // simulate() checks the steps
        CHECK(all_done(out));
        CHECK(out.once);
    }
}

TEST_CASE("shares from both ends: those of two devices do not mix") {
    for (const std::uint64_t step : {1ull, 64ull}) {
        CAPTURE(step);
        const Outcome out = simulate(100001, step, {gpu(1000), gpu(950)}, true);
        CHECK(all_done(out));
        CHECK(out.once);
        CHECK(out.first_item[0] == 0);
        CHECK(out.last_item[1] == 100000);
        CHECK(out.last_item[0] < out.first_item[1]);
        CHECK(out.end_s < 1.03 * 100001 / 1950);
    }
    Simulated lost = gpu(1000);
    lost.lost_after_s = 10;
    for (const auto& devices : {std::vector{gpu(1000), lost}, std::vector{lost, gpu(1000)},
                                std::vector{gpu(1000), gpu(500), lost, gpu(700)}}) {
        const Outcome out = simulate(100001, 64, devices, true);
        CHECK(all_done(out));
        CHECK(out.once);
    }
}

TEST_CASE("a lost device gives its share back once") {
    SUBCASE("the others finish") {
        Simulated lost = gpu(1000);
        lost.lost_after_s = 0;
        const Outcome out = simulate(100000, 1, {gpu(1000), lost, gpu(1000)});
        CHECK(all_done(out));
        CHECK(out.once);
        CHECK(out.items[1] == 0);
    }
    SUBCASE("after it has done some") {
        Simulated lost = gpu(1000);
        lost.lost_after_s = 45;
        const Outcome out = simulate(100000, 1, {gpu(1000), lost});
        CHECK(all_done(out));
        CHECK(out.once);
        CHECK(out.items[1] > 0);
    }
    SUBCASE("the only device of a small call hands over") {
        Simulated lost = gpu(2000);
        lost.device.prior = 2;
        lost.lost_after_s = 0;
        const Outcome out = simulate(150, 1, {lost, gpu(1000)});
        CHECK(all_done(out));
        CHECK(out.items == std::vector<std::uint64_t>{0, 150});
    }
    SUBCASE("all are lost") {
        Simulated lost = gpu(1000);
        lost.lost_after_s = 0;
        const Outcome out = simulate(100000, 1, {lost, lost});
        CHECK_FALSE(all_done(out));
    }
    SUBCASE("a share that two devices fail on is reported") {
        ShareQueue queue(1000, 1, {ShareDevice{"a"}, ShareDevice{"a"}, ShareDevice{"a"}});
        const Share first = *queue.take(0, 0);
        CHECK_FALSE(first.again);
        CHECK(queue.drop(0));
        std::optional<Share> again = queue.take(1, 0);
        REQUIRE(again);
        CHECK(again->again);
        CHECK_FALSE(queue.drop(1));
    }
}

TEST_CASE("a device that was refused takes over when the fast one is lost") {
    ShareQueue queue(100000, 1, {ShareDevice{"gpu", 1, 0, 100}, ShareDevice{"cpu", 0.02, 0, 100}});
    REQUIRE(queue.take(0, 0));
    CHECK_FALSE(queue.take(1, 0));
    CHECK(queue.drop(0));
    const std::optional<Share> share = queue.take(1, 1);
    REQUIRE(share);
    CHECK(share->again);
    CHECK(queue.reason(1).empty());
    CHECK_FALSE(queue.stranded());
}
