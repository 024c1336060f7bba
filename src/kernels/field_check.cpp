// SPDX-License-Identifier: Apache-2.0
#include "kernels/field_check.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/error.hpp>

#include "shared/field_bls12_381_fp.h"

namespace weft::kernels {
namespace {

using Limbs = std::span<const std::uint64_t>;

[[noreturn]] void refuse(const char* function, std::size_t job, const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(function) + ": job " + std::to_string(job) + ": " + what);
}

std::string got_need(std::size_t got, const std::string& need) {
    return " (got " + std::to_string(got) + " limbs, need " + need + ")";
}

void check_operand(const char* function, std::size_t job, const char* name, Limbs limbs, Limbs a) {
    if (limbs.size() != a.size())
        refuse(
            function, job,
            std::string(name) + " and a differ in length" + got_need(limbs.size(), std::to_string(a.size())));
    if (limbs.data() == nullptr && !limbs.empty())
        refuse(function, job,
               std::string(name) + " is null" + got_need(limbs.size(), "memory behind them or length 0"));
}

// Addresses as integers: spans of different arrays have no order as pointers.
bool overlaps_partly(Limbs out, Limbs in) {
    const auto out_begin = reinterpret_cast<std::uintptr_t>(out.data());
    const auto in_begin = reinterpret_cast<std::uintptr_t>(in.data());
    if (out_begin == in_begin) return false;
    const std::uintptr_t distance = out_begin > in_begin ? out_begin - in_begin : in_begin - out_begin;
    return distance < out.size_bytes();
}

void check_job(const char* function, FieldOp op, std::size_t index, const FieldJob& job) {
    if (job.a.size() % kBls12381FpLimbs != 0)
        refuse(function, index, "a does not hold whole elements" + got_need(job.a.size(), "a multiple of 6"));
    if (job.a.size() / kBls12381FpLimbs > UINT32_MAX)
        refuse(function, index, "too many elements" + got_need(job.a.size(), "fewer than 6 * 2^32"));
    check_operand(function, index, "a", job.a, job.a);
    if (op != FieldOp::neg)
        check_operand(function, index, "b", job.b, job.a);
    else if (!job.b.empty())
        refuse(function, index, "neg takes no b" + got_need(job.b.size(), "0"));
    check_operand(function, index, "out", job.out, job.a);
    if (job.a.empty()) return;
    for (const Limbs in : {job.a, job.b})
        if (!in.empty() && overlaps_partly(job.out, in))
            refuse(function, index,
                   std::string("out overlaps ") + (in.data() == job.a.data() ? "a" : "b") +
                       " in part (got a shifted range, need the same range or none of it)");
}

// An input value that is not below p.
struct Stray {
    std::size_t job = 0, element = 0;
    bool in_b = false;
};

// The top limb decides for all but one value in 2^60, so the scan runs at the speed of memory.
bool canonical(const std::uint64_t* element) {
    const shared::Limbs6x64 p = shared::bls12_381_fp_modulus64();
    if (element[5] != p.limb[5]) return element[5] < p.limb[5];
    shared::Limbs6x64 a;
    std::copy_n(element, kBls12381FpLimbs, a.limb);
    return shared::is_canonical(a, p);
}

// Elements [first, last) of all jobs laid end to end.
std::optional<Stray> find_stray(std::span<const FieldJob> jobs, std::size_t first, std::size_t last) {
    std::size_t job_first = 0;
    for (std::size_t j = 0; j < jobs.size() && job_first < last; ++j) {
        const FieldJob& job = jobs[j];
        const std::size_t count = job.a.size() / kBls12381FpLimbs;
        const std::size_t end = std::min(count, last - job_first);
        for (std::size_t i = first > job_first ? first - job_first : 0; i < end; ++i) {
            if (!canonical(&job.a[i * kBls12381FpLimbs])) return Stray{j, i, false};
            if (!job.b.empty() && !canonical(&job.b[i * kBls12381FpLimbs])) return Stray{j, i, true};
        }
        job_first += count;
    }
    return std::nullopt;
}

std::optional<Stray> find_stray_threaded(std::span<const FieldJob> jobs, std::size_t total,
                                         std::size_t threads) {
    std::vector<std::optional<Stray>> found(threads);
    auto scan = [&](std::size_t t) {
        found[t] =
            find_stray(jobs, total / threads * t, t + 1 == threads ? total : total / threads * (t + 1));
    };
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    std::size_t started = 1;
    try {
        for (; started < threads; ++started) workers.emplace_back(scan, started);
    } catch (const std::system_error&) {  // no more threads to be had: the rest is the caller's
        for (std::size_t t = started; t < threads; ++t) scan(t);
    }
    scan(0);
    workers.clear();
    for (const std::optional<Stray>& stray : found)
        if (stray) return stray;
    return std::nullopt;
}

std::string hex(const std::uint64_t* element) {
    std::string text = "0x";
    for (std::size_t i = kBls12381FpLimbs; i-- > 0;) {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(element[i]));
        text += digits;
    }
    return text;
}

}  // namespace

void check_field_jobs(const char* function, FieldOp op, std::span<const FieldJob> jobs) {
    for (std::size_t i = 0; i < jobs.size(); ++i) check_job(function, op, i, jobs[i]);
}

void check_canonical(const char* function, std::span<const FieldJob> jobs, std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs; a share should be worth several of that.
    constexpr std::size_t kElementsPerThread = (2u << 20) / 48;
    std::size_t total = 0;
    for (const FieldJob& job : jobs) total += job.a.size() / kBls12381FpLimbs;
    const std::size_t useful = std::min<std::size_t>(threads, total / kElementsPerThread);
    const std::optional<Stray> stray =
        useful > 1 ? find_stray_threaded(jobs, total, useful) : find_stray(jobs, 0, total);
    if (!stray) return;
    const FieldJob& job = jobs[stray->job];
    const Limbs values = stray->in_b ? job.b : job.a;
    refuse(function, stray->job,
           "element " + std::to_string(stray->element) + " of " + (stray->in_b ? "b" : "a") +
               " is not canonical (got " + hex(&values[stray->element * kBls12381FpLimbs]) +
               ", need below p = " + hex(shared::bls12_381_fp_modulus64().limb) + ")");
}

}  // namespace weft::kernels
