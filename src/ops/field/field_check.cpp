// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_check.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/error.hpp>

#include "base/enum_check.hpp"
#include "base/span_set.hpp"
#include "ops/field/field_ranges.hpp"
#include "ops/field/field_scalar.hpp"

namespace weft::kernels {
namespace {

[[noreturn]] void refuse(const FieldCall& call, std::size_t job, const std::string& what) {
    throw Error(Errc::invalid_argument, call.place(job) + ": " + what);
}

std::string got_need(std::uint64_t got, const std::string& need) {
    return " (got " + std::to_string(got) + " limbs, need " + need + ")";
}

// A default-made array is empty and has no type of its own.
void check_type(const FieldCall& call, std::size_t job, const char* name, const ConstHostArray& array) {
    if (array.data == nullptr && array.empty()) return;
    if (array.type != limb_type(call.field)) refuse(call, job, wrong_limbs(call.field, name, array.type));
}

void check_operand(const FieldCall& call, std::size_t job, const char* name, const ConstHostArray& array,
                   std::uint64_t need, const char* like) {
    check_type(call, job, name, array);
    if (array.size != need)
        refuse(call, job, std::string(name) + like + got_need(array.size, std::to_string(need)));
    if (array.data == nullptr && !array.empty())
        refuse(call, job,
               std::string(name) + " is null" + got_need(array.size, "memory behind them or length 0"));
}

core::JobSpan span_of(std::size_t job, const ConstHostArray& array, bool written = false) {
    return core::span_of(array.data, array.bytes(), job, written);
}

void check_shapes(const FieldCall& call, std::size_t index) {
    constexpr const char* kUnlikeA = " and a differ in length";
    const FieldInfo& field = call.field;
    const FieldJob& job = call.jobs[index];
    const std::string multiple = std::to_string(field.limbs);
    check_type(call, index, "a", job.a);
    if (job.a.size % field.limbs != 0)
        refuse(call, index,
               "a does not hold whole elements" + got_need(job.a.size, "a multiple of " + multiple));
    if (call.elements(job) > UINT32_MAX)
        refuse(call, index, "too many elements" + got_need(job.a.size, "fewer than " + multiple + " * 2^32"));
    check_operand(call, index, "a", job.a, job.a.size, kUnlikeA);
    if (takes_b(call.op))
        check_operand(call, index, "b", job.b, job.a.size, kUnlikeA);
    else if (!job.b.empty())
        refuse(call, index, std::string(to_string(call.op)) + " takes no b" + got_need(job.b.size, "0"));
    if (call.op != FieldOp::axpy && !job.scalar.empty())
        refuse(call, index,
               std::string(to_string(call.op)) + " takes no scalar" + got_need(job.scalar.size, "0"));
    if (is_reduction(call.op))
        check_operand(call, index, "out", job.out, field.limbs, " is not one element");
    else
        check_operand(call, index, "out", job.out, job.a.size, kUnlikeA);
}

void check_job(const FieldCall& call, std::size_t index) {
    check_shapes(call, index);
    const FieldJob& job = call.jobs[index];
    if (job.a.empty()) return;
    const bool reduction = is_reduction(call.op);
    for (const ConstHostArray* in : {&job.a, &job.b}) {
        if (!core::share_memory(span_of(index, job.out, true), span_of(index, *in))) continue;
        if (job.out.data == in->data && !reduction) continue;
        refuse(call, index,
               std::string("out overlaps ") + (in->data == job.a.data ? "a" : "b") +
                   (reduction ? " (got an element of it, need other memory)"
                              : " in part (got a shifted range, need the same range or none of it)"));
    }
}

// The results of reductions are written by the host, one after the other, so run_batch does not see them.
void check_results(const FieldCall& call) {
    std::vector<core::JobSpan> results;
    for (std::size_t i = 0; i < call.jobs.size(); ++i) results.push_back(span_of(i, call.jobs[i].out, true));
    if (const auto found = core::find_overlap(results))
        refuse(call, found->b.job,
               "out overlaps out of job " + std::to_string(found->a.job) + " (got shared memory, need none)");
}

// An input value that is not below p.
struct Stray {
    std::size_t job = 0, element = 0;
    bool in_b = false;
};

// Elements lie as their 32-bit words do. The top word decides for all but one value in 2^27 or more, so the
// scan runs at the speed of memory.
bool canonical(const shared::FieldConstants& f, const std::byte* element) {
    for (std::size_t i = f.words; i-- > 0;) {
        std::uint32_t word;
        std::memcpy(&word, element + i * sizeof word, sizeof word);
        if (word != f.p.word[i]) return word < f.p.word[i];
    }
    return false;
}

// Elements [first, last) of all jobs laid end to end.
std::optional<Stray> find_stray(const FieldCall& call, std::uint64_t first, std::uint64_t last) {
    const shared::FieldConstants& f = field_constants(call.field.field);
    std::uint64_t job_first = 0;
    for (std::size_t j = 0; j < call.jobs.size() && job_first < last; ++j) {
        const FieldJob& job = call.jobs[j];
        const auto* const a = static_cast<const std::byte*>(job.a.data);
        const auto* const b = static_cast<const std::byte*>(job.b.empty() ? nullptr : job.b.data);
        const std::uint64_t count = call.elements(job), end = std::min(count, last - job_first);
        for (std::uint64_t i = first > job_first ? first - job_first : 0; i < end; ++i) {
            const std::uint64_t at = i * call.field.element_bytes;
            if (!canonical(f, a + at)) return Stray{j, i, false};
            if (b != nullptr && !canonical(f, b + at)) return Stray{j, i, true};
        }
        job_first += count;
    }
    return std::nullopt;
}

std::optional<Stray> find_stray_threaded(const FieldCall& call, std::uint64_t total, std::size_t threads) {
    std::vector<std::optional<Stray>> found(threads);
    auto scan = [&](std::size_t t) {
        found[t] =
            find_stray(call, total / threads * t, t + 1 == threads ? total : total / threads * (t + 1));
    };
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    std::size_t started = 1;
    try {
        for (; started < threads; ++started) workers.emplace_back(scan, started);
    } catch (const std::system_error&) {  // no more threads to be had: the caller's scans the rest
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

void refuse_field_shader(const std::string& function, const char* options, FieldShader shader) {
    if (shader == FieldShader::automatic) return;
    throw Error(Errc::invalid_argument, function + ": " + options + "::shader does not apply (got " +
                                            (shader == FieldShader::limbs64 ? "limbs64" : "limbs32") +
                                            ", need automatic)");
}

std::string FieldCall::function() const {
    return batch ? "field_batch" : field_function(op);
}

std::string FieldCall::place(std::size_t job) const {
    return batch ? "field_batch: job " + std::to_string(job) : field_function(op);
}

std::uint64_t FieldCall::elements() const {
    std::uint64_t all = 0;
    for (const FieldJob& job : jobs) all += elements(job);
    return all;
}

void check_field_jobs(const FieldCall& call) {
    for (std::size_t i = 0; i < call.jobs.size(); ++i) check_job(call, i);
    if (is_reduction(call.op) && call.jobs.size() > 1) check_results(call);
}

void check_canonical(const FieldCall& call, std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs; a share should be worth several of that.
    constexpr std::size_t kBytesPerThread = 2u << 20;
    const std::uint64_t total = call.elements();
    const std::size_t useful =
        std::min<std::size_t>(threads, total * call.field.element_bytes / kBytesPerThread);
    const std::optional<Stray> stray =
        useful > 1 ? find_stray_threaded(call, total, useful) : find_stray(call, 0, total);
    if (!stray) return;
    const Field field = call.field.field;
    const FieldJob& job = call.jobs[stray->job];
    const FieldWords got = to_words(call.field, (stray->in_b ? job.b : job.a).data, stray->element);
    refuse(call, stray->job,
           "element " + std::to_string(stray->element) + " of " + (stray->in_b ? "b" : "a") +
               " is not canonical (got " + hex(field, got) +
               ", need below p = " + hex(field, field_constants(field).p) + ")");
}

}  // namespace weft::kernels
