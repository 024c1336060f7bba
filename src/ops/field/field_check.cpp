// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/enums.hpp"
#include "base/span_set.hpp"
#include "host/thread_parts.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_scalar.hpp"

namespace weft::kernels {
namespace {

[[noreturn]] void refuse(const FieldCall& call, std::size_t job, const std::string& what) {
    throw Error(Errc::invalid_argument, call.place(job) + ": " + what);
}

std::string got_need(std::uint64_t got, const std::string& need) {
    return " (got " + std::to_string(got) + " limbs, need " + need + ")";
}

// A default-constructed array is empty, and its type does not matter.
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

// The host writes the results of reductions, so run_batch does not check them.
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
            if (!is_canonical(f, a + at)) return Stray{j, i, false};
            if (b != nullptr && !is_canonical(f, b + at)) return Stray{j, i, true};
        }
        job_first += count;
    }
    return std::nullopt;
}

[[noreturn]] void refuse(FieldOp op, const std::string& what) {
    throw Error(Errc::invalid_argument, field_function(op) + ": " + what);
}

std::uint64_t limbs_of(const FieldInfo& field, const FieldRange& range) {
    return range.bytes / field.limb_bytes;
}

void check_limbs(const FieldInfo& field, FieldOp op, const FieldRange& range, const char* name) {
    if (range.memory == nullptr) refuse(op, std::string(name) + " is missing (got no buffer)");
    if (range.type != limb_type(field)) refuse(op, wrong_limbs(field, name, range.type));
}

// Ranges of one buffer may be equal but must not overlap in part: the device would read what it has written.
void check_input(const FieldInfo& field, FieldOp op, const FieldRange& in, const char* name,
                 const FieldRange& out, std::uint64_t need_bytes, const char* like) {
    check_limbs(field, op, in, name);
    if (in.bytes % field.element_bytes != 0 || in.bytes != need_bytes)
        refuse(op, std::string(name) + " does not fit " + like + " (got " +
                       std::to_string(limbs_of(field, in)) + " limbs, need " +
                       std::to_string(need_bytes / field.limb_bytes) + " and a multiple of " +
                       std::to_string(field.limbs) + ")");
    const bool apart = in.offset + in.bytes <= out.offset || out.offset + out.bytes <= in.offset;
    if (in.memory != out.memory || apart || (in.offset == out.offset && !is_reduction(op))) return;
    if (is_reduction(op))
        refuse(op,
               std::string("out overlaps ") + name + " (got an element of " + name + ", need other memory)");
    const std::uint64_t distance = in.offset > out.offset ? in.offset - out.offset : out.offset - in.offset;
    refuse(op, std::string("out overlaps ") + name + " in part (got a distance of " +
                   std::to_string(distance / field.limb_bytes) + " limbs, need 0 or at least " +
                   std::to_string(limbs_of(field, in)) + ")");
}

}  // namespace

std::string field_function(FieldOp op) {
    std::string name = std::string("field_") + to_string(op);
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
}

ElementType limb_type(const FieldInfo& field) {
    return field.limb_bytes == 8 ? kUint64 : kUint32;
}

std::string wrong_limbs(const FieldInfo& field, const char* name, ElementType got) {
    const std::string type = to_string(got);
    return std::string(name) + " has " + type + " elements (got " + type + ", need " +
           to_string(limb_type(field)) + " limbs of " + to_string(field.field) + ")";
}

void check_field_enums(const char* function, Field field, FieldOp op, FieldForm form, FieldShader shader) {
    core::check_enum(function, "field", field, Field::mersenne31);
    core::check_enum(function, "operation", op, FieldOp::inner_product);
    core::check_enum(function, "form", form, FieldForm::montgomery);
    core::check_enum(function, "shader", shader, FieldShader::limbs64);
    if (shader == FieldShader::limbs64 && field_info(field).limb_bytes == 4)
        throw Error(Errc::invalid_argument, std::string(function) +
                                                ": FieldShader::limbs64 does not apply to fields of 31 bits "
                                                "(got limbs64 for " +
                                                to_string(field) + ", need automatic or limbs32)");
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
    // Starting a thread costs as much as reading about 512 KiB, so each thread should read several times
    // that.
    constexpr std::size_t kBytesPerThread = 2u << 20;
    std::vector<std::optional<Stray>> found(std::max(threads, 1u));
    in_parts(call.elements(), kBytesPerThread / call.field.element_bytes, threads,
             [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
                 found[part] = find_stray(call, first, last);
             });
    const auto stray =
        std::find_if(found.begin(), found.end(), [](const auto& one) { return one.has_value(); });
    if (stray == found.end()) return;
    const Field field = call.field.field;
    const Stray at = **stray;
    const FieldJob& job = call.jobs[at.job];
    const FieldWords got = to_words(call.field, (at.in_b ? job.b : job.a).data, at.element);
    refuse(call, at.job,
           "element " + std::to_string(at.element) + " of " + (at.in_b ? "b" : "a") +
               " is not canonical (got " + hex(field, got) +
               ", need below p = " + hex(field, field_constants(field).p) + ")");
}

void check_field_ranges(const FieldInfo& field, FieldOp op, const FieldRange& a, const FieldRange& b,
                        const FieldRange& out, const ConstHostArray& scalar, const FieldOptions& options) {
    check_limbs(field, op, out, "out");
    if (is_reduction(op) && out.bytes != field.element_bytes)
        refuse(op, "out is not one element (got " + std::to_string(limbs_of(field, out)) + " limbs, need " +
                       std::to_string(field.limbs) + ")");
    check_input(field, op, a, "a", out, is_reduction(op) ? a.bytes : out.bytes,
                is_reduction(op) ? "elements" : "out");
    if (takes_b(op))
        check_input(field, op, b, "b", out, a.bytes, is_reduction(op) ? "a" : "out");
    else if (b.memory != nullptr)
        refuse(op, "there is no b (got a buffer, need none)");
    if (op != FieldOp::axpy && !scalar.empty())
        refuse(op, "there is no scalar (got " + std::to_string(scalar.size) + " limbs, need 0)");
    if (!is_reduction(op) && options.block_elements != 0)
        refuse(op, "FieldOptions::block_elements does not apply (got " +
                       std::to_string(options.block_elements) + ", need 0)");
}

}  // namespace weft::kernels
