// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "host/copy_workers.hpp"
#include "host/cpu_set.hpp"
#include "host/thread_team.hpp"

namespace {

using weft::core::CpuSet;
using weft::core::NodeBinding;
using weft::core::usable_cpus;

TEST_CASE("cpu set: the kernel's lists") {
    const struct {
        const char* text;
        CpuSet cpus;
    } rows[] = {
        {"", {}},
        {"\n", {}},
        {"0", {0}},
        {"0\n", {0}},
        {"0-3,8-9\n", {0, 1, 2, 3, 8, 9}},
        {"7,2-2,1000", {2, 7, 1000}},
        {"0-3,2-4", {0, 1, 2, 3, 4}},
        {"65535", {65535}},
        // Not lists.
        {"65536", {}},
        {"0-4000000000", {}},
        {"3-1", {}},
        {"1-", {}},
        {"-1", {}},
        {"1,", {}},
        {",1", {}},
        {"1,,2", {}},
        {"1 2", {}},
        {"1-2-3", {}},
        {"0x3", {}},
        {"all", {}},
    };
    for (const auto& row : rows) {
        CAPTURE(std::string(row.text));
        CHECK(weft::core::parse_cpu_list(row.text) == row.cpus);
    }
}

TEST_CASE("cpu set: what two sets have in common") {
    CHECK(weft::core::common_cpus({0, 1, 2, 3}, {2, 3, 9}) == CpuSet{2, 3});
    CHECK(weft::core::common_cpus({0, 1}, {2, 3}).empty());
    CHECK(weft::core::common_cpus({}, {2, 3}).empty());
}

TEST_CASE("cpu set: a bound thread and those it starts stay on the set until its end") {
    const CpuSet before = usable_cpus();
    REQUIRE_FALSE(before.empty());
    CHECK(weft::core::usable_cores() == before.size());
    const CpuSet first{before.front()}, last{before.back()};
    {
        const NodeBinding binding(first);
        CHECK(binding.error() == 0);
        CHECK(usable_cpus() == first);
        std::thread([&] { CHECK(usable_cpus() == first); }).join();
        // Never onto a CPU that the thread may not use.
        const NodeBinding inner(before);
        CHECK(usable_cpus() == first);
        if (first != last) {
            const NodeBinding outside(last);
            CHECK(usable_cpus() == first);
        }
    }
    CHECK(usable_cpus() == before);
    for (const CpuSet& nothing : {CpuSet{}, CpuSet{60000}, CpuSet{before.back() + 1}, before}) {
        const NodeBinding binding(nothing);
        CHECK(binding.error() == 0);
        CHECK(usable_cpus() == before);
    }
    CpuSet more = before;
    more.push_back(60000);
    const NodeBinding binding(more);
    CHECK(usable_cpus() == before);
}

TEST_CASE("cpu set: the threads of a team stay on it, but not their caller") {
    const CpuSet before = usable_cpus(), one{before.front()};
    weft::kernels::ThreadTeam team(3, one);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> inside{0};
    std::atomic<bool> kept{true};
    team.run(2, 1, [&](std::uint64_t, std::uint64_t) {
        // No thread takes both parts: one waits for the other.
        ++inside;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (inside < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
        const bool is_caller = std::this_thread::get_id() == caller;
        if (usable_cpus() != (is_caller ? before : one)) kept = false;
    });
    CHECK(inside == 2);
    CHECK(kept);
    CHECK(usable_cpus() == before);
}

/// Ids of the threads of this process.
std::set<pid_t> threads() {
    std::set<pid_t> ids;
    DIR* const folder = opendir("/proc/self/task");
    REQUIRE(folder != nullptr);
    while (const dirent* entry = readdir(folder))
        if (entry->d_name[0] != '.') ids.insert(static_cast<pid_t>(std::atoi(entry->d_name)));
    closedir(folder);
    return ids;
}

bool is_on(pid_t thread, std::uint32_t cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    return sched_getaffinity(thread, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) == 1 &&
           CPU_ISSET(cpu, &mask);
}

TEST_CASE("cpu set: copy threads stay on it, but not their caller") {
    const CpuSet before = usable_cpus();
    if (before.back() >= CPU_SETSIZE) return;
    const std::set<pid_t> others = threads();
    weft::core::CopyWorkers workers(4, {before.front()});
    const std::vector<char> from(std::size_t{4} << 20, 'x');
    std::vector<char> to(from.size());
    const weft::core::HostCopy copy{to.data(), from.data(), to.size()};
    workers.copy({&copy, 1});
    CHECK(to == from);
    CHECK(usable_cpus() == before);
    std::set<pid_t> made;
    for (const pid_t id : threads())
        if (!others.contains(id)) made.insert(id);
    CHECK(made.size() == 3);
    // A thread that has not begun yet does so soon.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (const pid_t id : made) {
        while (!is_on(id, before.front()) && std::chrono::steady_clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(is_on(id, before.front()));
    }
}

}  // namespace
