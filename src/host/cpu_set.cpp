// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_set.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace weft::core {
namespace {

constexpr std::uint32_t kMostCpus = 1u << 16;
constexpr std::uint32_t kCpusOfPart = CPU_SETSIZE;

struct CpuRange {
    std::uint32_t first = 0, last = 0;
};

/// "7" or "0-15"
std::optional<CpuRange> parse_range(std::string_view text) {
    const char* const end = text.data() + text.size();
    CpuRange range;
    auto [at, error] = std::from_chars(text.data(), end, range.first);
    if (error != std::errc{}) return std::nullopt;
    range.last = range.first;
    if (at != end) {
        if (*at != '-') return std::nullopt;
        const auto second = std::from_chars(at + 1, end, range.last);
        if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
    }
    if (range.last < range.first || range.last >= kMostCpus) return std::nullopt;
    return range;
}

int set_affinity(const CpuSet& cpus) {
    std::vector<cpu_set_t> mask(cpus.back() / kCpusOfPart + 1);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(bytes, mask.data());
    for (const std::uint32_t cpu : cpus) CPU_SET_S(cpu, bytes, mask.data());
    return pthread_setaffinity_np(pthread_self(), bytes, mask.data());
}

}  // namespace

CpuSet parse_cpu_list(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    CpuSet cpus;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::optional<CpuRange> range = parse_range(text.substr(0, comma));
        if (!range || comma + 1 == text.size()) return {};
        for (std::uint32_t cpu = range->first; cpu <= range->last; ++cpu) cpus.push_back(cpu);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

CpuSet common_cpus(const CpuSet& a, const CpuSet& b) {
    CpuSet common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    return common;
}

CpuSet usable_cpus() {
    // The kernel refuses a mask that is smaller than its own.
    for (std::uint32_t room = kCpusOfPart; room <= kMostCpus; room *= 2) {
        std::vector<cpu_set_t> mask(room / kCpusOfPart);
        const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
        CPU_ZERO_S(bytes, mask.data());
        if (sched_getaffinity(0, bytes, mask.data()) != 0) {
            if (errno == EINVAL) continue;
            return {};
        }
        CpuSet cpus;
        for (std::uint32_t cpu = 0; cpu < room; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, mask.data())) cpus.push_back(cpu);
        return cpus;
    }
    return {};
}

std::uint32_t usable_cores() {
    const std::size_t usable = usable_cpus().size();
    return usable != 0 ? static_cast<std::uint32_t>(usable)
                       : std::max(1u, std::thread::hardware_concurrency());
}

NodeBinding::NodeBinding(const CpuSet& cpus) noexcept {
    if (cpus.empty()) return;
    try {
        CpuSet before = usable_cpus();
        const CpuSet common = common_cpus(cpus, before);
        if (common.empty() || common == before) return;
        error_ = set_affinity(common);
        if (error_ == 0) before_ = std::move(before);
    } catch (const std::bad_alloc&) {
        error_ = ENOMEM;
    }
}

NodeBinding::~NodeBinding() {
    if (before_.empty()) return;
    try {
        set_affinity(before_);
    } catch (const std::bad_alloc&) {
        // The thread stays where it is.
    }
}

}  // namespace weft::core
