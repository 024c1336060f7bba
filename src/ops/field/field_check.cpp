// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/error.hpp>

#include "base/enum_check.hpp"
#include "base/span_set.hpp"
#include "ops/field/field_scalar.hpp"

namespace weft::kernels {
namespace {

[[noreturn]] void refuse(const char* function, std::size_t job, const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(function) + ": job " + std::to_string(job) + ": " + what);
}

std::string got_need(std::size_t got, const std::string& need) {
    return " (got " + std::to_string(got) + " limbs, need " + need + ")";
}

template <class Limb>
void check_operand(const char* function, std::size_t job, const char* name, std::span<const Limb> limbs,
                   std::size_t need, const char* like) {
    if (limbs.size() != need)
        refuse(function, job, std::string(name) + like + got_need(limbs.size(), std::to_string(need)));
    if (limbs.data() == nullptr && !limbs.empty())
        refuse(function, job,
               std::string(name) + " is null" + got_need(limbs.size(), "memory behind them or length 0"));
}

template <class Limb>
core::JobSpan span_of(std::size_t job, std::span<const Limb> limbs, bool written = false) {
    return core::span_of(limbs.data(), limbs.size_bytes(), job, written);
}

template <class Limb>
void check_shapes(const char* function, const FieldInfo& field, FieldOp op, std::size_t index,
                  const FieldVectors<Limb>& job) {
    constexpr const char* kUnlikeA = " and a differ in length";
    const std::string multiple = std::to_string(field.limbs);
    if (job.a.size() % field.limbs != 0)
        refuse(function, index,
               "a does not hold whole elements" + got_need(job.a.size(), "a multiple of " + multiple));
    if (job.a.size() / field.limbs > UINT32_MAX)
        refuse(function, index,
               "too many elements" + got_need(job.a.size(), "fewer than " + multiple + " * 2^32"));
    check_operand<Limb>(function, index, "a", job.a, job.a.size(), kUnlikeA);
    if (takes_b(op))
        check_operand<Limb>(function, index, "b", job.b, job.a.size(), kUnlikeA);
    else if (!job.b.empty())
        refuse(function, index, std::string(to_string(op)) + " takes no b" + got_need(job.b.size(), "0"));
    if (op != FieldOp::axpy && !job.scalar.empty())
        refuse(function, index,
               std::string(to_string(op)) + " takes no scalar" + got_need(job.scalar.size(), "0"));
    if (is_reduction(op))
        check_operand<Limb>(function, index, "out", job.out, field.limbs, " is not one element");
    else
        check_operand<Limb>(function, index, "out", job.out, job.a.size(), kUnlikeA);
}

template <class Limb>
void check_job(const char* function, const FieldInfo& field, FieldOp op, std::size_t index,
               const FieldVectors<Limb>& job) {
    check_shapes(function, field, op, index, job);
    if (job.a.empty()) return;
    const std::span<const Limb> out = job.out;
    for (const std::span<const Limb> in : {job.a, job.b}) {
        if (!core::share_memory(span_of(index, out, true), span_of(index, in))) continue;
        if (out.data() == in.data() && !is_reduction(op)) continue;
        refuse(function, index,
               std::string("out overlaps ") + (in.data() == job.a.data() ? "a" : "b") +
                   (is_reduction(op) ? " (got an element of it, need other memory)"
                                     : " in part (got a shifted range, need the same range or none of it)"));
    }
}

// The results of reductions are written by the host, one after the other, so run_batch does not see them.
template <class Limb>
void check_results(const char* function, std::span<const FieldVectors<Limb>> jobs) {
    std::vector<core::JobSpan> results;
    for (std::size_t i = 0; i < jobs.size(); ++i)
        results.push_back(span_of<Limb>(i, jobs[i].out, true));
    if (const auto found = core::find_overlap(results))
        refuse(function, found->b.job,
               "out overlaps out of job " + std::to_string(found->a.job) + " (got shared memory, need none)");
}

// An input value that is not below p.
struct Stray {
    std::size_t job = 0, element = 0;
    bool in_b = false;
};

// The top limb decides for all but one value in 2^60, so the scan runs at the speed of memory.
template <class Limb>
bool canonical(const FieldInfo& field, const Limb* element) {
    for (std::size_t i = field.limbs; i-- > 0;) {
        const auto p = static_cast<Limb>(field.modulus[i]);
        if (element[i] != p) return element[i] < p;
    }
    return false;
}

// Elements [first, last) of all jobs laid end to end.
template <class Limb>
std::optional<Stray> find_stray(const FieldInfo& field, std::span<const FieldVectors<Limb>> jobs,
                                std::size_t first, std::size_t last) {
    std::size_t job_first = 0;
    for (std::size_t j = 0; j < jobs.size() && job_first < last; ++j) {
        const FieldVectors<Limb>& job = jobs[j];
        const std::size_t count = job.a.size() / field.limbs;
        const std::size_t end = std::min(count, last - job_first);
        for (std::size_t i = first > job_first ? first - job_first : 0; i < end; ++i) {
            if (!canonical(field, &job.a[i * field.limbs])) return Stray{j, i, false};
            if (!job.b.empty() && !canonical(field, &job.b[i * field.limbs])) return Stray{j, i, true};
        }
        job_first += count;
    }
    return std::nullopt;
}

template <class Limb>
std::optional<Stray> find_stray_threaded(const FieldInfo& field, std::span<const FieldVectors<Limb>> jobs,
                                         std::size_t total, std::size_t threads) {
    std::vector<std::optional<Stray>> found(threads);
    auto scan = [&](std::size_t t) {
        found[t] = find_stray(field, jobs, total / threads * t,
                              t + 1 == threads ? total : total / threads * (t + 1));
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

}  // namespace

void check_field_enums(const char* function, Field field, FieldOp op, FieldForm form, FieldShader shader) {
    core::check_enum(function, "field", field, Field::mersenne31);
    core::check_enum(function, "operation", op, FieldOp::inner_product);
    core::check_enum(function, "form", form, FieldForm::montgomery);
    core::check_enum(function, "shader", shader, FieldShader::limbs64);
}

template <class Limb>
void check_field_jobs(const char* function, Field field, FieldOp op,
                      std::span<const FieldVectors<Limb>> jobs) {
    const FieldInfo& info = field_info(field);
    if (info.limb_bytes != sizeof(Limb))
        throw Error(Errc::invalid_argument, std::string(function) + ": limbs of the wrong size for " +
                                                to_string(field) + " (got " +
                                                std::to_string(8 * sizeof(Limb)) + " bits, need " +
                                                std::to_string(8 * info.limb_bytes) + ")");
    for (std::size_t i = 0; i < jobs.size(); ++i) check_job(function, info, op, i, jobs[i]);
    if (is_reduction(op) && jobs.size() > 1) check_results(function, jobs);
}

template <class Limb>
void check_canonical(const char* function, Field field, std::span<const FieldVectors<Limb>> jobs,
                     std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs; a share should be worth several of that.
    constexpr std::size_t kBytesPerThread = 2u << 20;
    const FieldInfo& info = field_info(field);
    std::size_t total = 0;
    for (const FieldVectors<Limb>& job : jobs) total += job.a.size() / info.limbs;
    const std::size_t useful = std::min<std::size_t>(threads, total * info.element_bytes / kBytesPerThread);
    const std::optional<Stray> stray =
        useful > 1 ? find_stray_threaded(info, jobs, total, useful) : find_stray(info, jobs, 0, total);
    if (!stray) return;
    const FieldVectors<Limb>& job = jobs[stray->job];
    const std::span<const Limb> values = stray->in_b ? job.b : job.a;
    const FieldWords got = to_words(values.subspan(stray->element * info.limbs, info.limbs));
    refuse(function, stray->job,
           "element " + std::to_string(stray->element) + " of " + (stray->in_b ? "b" : "a") +
               " is not canonical (got " + hex(field, got) +
               ", need below p = " + hex(field, field_constants(field).p) + ")");
}

template void check_field_jobs(const char*, Field, FieldOp, std::span<const FieldJob>);
template void check_field_jobs(const char*, Field, FieldOp, std::span<const Field31Job>);
template void check_canonical(const char*, Field, std::span<const FieldJob>, std::uint32_t);
template void check_canonical(const char*, Field, std::span<const Field31Job>, std::uint32_t);

}  // namespace weft::kernels
