// SPDX-License-Identifier: Apache-2.0
#include <weft/field_stream.hpp>

#include <string>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "kernels/field_check.hpp"
#include "kernels/field_host.hpp"
#include "kernels/field_kernel.hpp"
#include "kernels/field_plan.hpp"

namespace weft {
namespace {

using Words = BufferView<std::uint32_t>;

std::string function_of(FieldOp op) {
    std::string name = std::string("field_") + to_string(op);
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
}

[[noreturn]] void refuse(FieldOp op, const std::string& what) {
    throw Error(Errc::invalid_argument, function_of(op) + ": " + what);
}

std::uint64_t limbs_of(const FieldInfo& field, const FieldInput& range) {
    return range.bytes / field.limb_bytes;
}

void check_limbs(const FieldInfo& field, FieldOp op, const FieldInput& range, const char* name) {
    if (range.object == nullptr) refuse(op, std::string(name) + " is missing (got no buffer)");
    if (range.limb_bytes != field.limb_bytes)
        refuse(op, std::string(name) + " has limbs of the wrong size for " + to_string(field.field) +
                       " (got " + std::to_string(8 * range.limb_bytes) + " bits, need " +
                       std::to_string(8 * field.limb_bytes) + ")");
}

// Ranges of one buffer may overlap only as a whole; the device would read what it has just written.
void check_input(const FieldInfo& field, FieldOp op, const FieldInput& in, const char* name,
                 const FieldOutput& out, std::uint64_t need_bytes, const char* like) {
    check_limbs(field, op, in, name);
    if (in.bytes % field.element_bytes != 0 || in.bytes != need_bytes)
        refuse(op, std::string(name) + " does not fit " + like + " (got " +
                       std::to_string(limbs_of(field, in)) + " limbs, need " +
                       std::to_string(need_bytes / field.limb_bytes) + " and a multiple of " +
                       std::to_string(field.limbs) + ")");
    const bool apart = in.offset + in.bytes <= out.offset || out.offset + out.bytes <= in.offset;
    if (in.object != out.object || apart || (in.offset == out.offset && !is_reduction(op))) return;
    if (is_reduction(op))
        refuse(op,
               std::string("out overlaps ") + name + " (got an element of " + name + ", need other memory)");
    const std::uint64_t distance = in.offset > out.offset ? in.offset - out.offset : out.offset - in.offset;
    refuse(op, std::string("out overlaps ") + name + " in part (got a distance of " +
                   std::to_string(distance / field.limb_bytes) + " limbs, need 0 or at least " +
                   std::to_string(limbs_of(field, in)) + ")");
}

void check_ranges(const FieldInfo& field, FieldOp op, const FieldInput& a, const FieldInput& b,
                  const FieldOutput& out, std::span<const std::uint64_t> scalar) {
    check_limbs(field, op, out, "out");
    if (is_reduction(op) && out.bytes != field.element_bytes)
        refuse(op, "out is not one element (got " + std::to_string(limbs_of(field, out)) + " limbs, need " +
                       std::to_string(field.limbs) + ")");
    check_input(field, op, a, "a", out, is_reduction(op) ? a.bytes : out.bytes,
                is_reduction(op) ? "elements" : "out");
    if (takes_b(op))
        check_input(field, op, b, "b", out, a.bytes, is_reduction(op) ? "a" : "out");
    else if (b.object != nullptr)
        refuse(op, "there is no b (got a buffer, need none)");
    if (op != FieldOp::axpy && !scalar.empty())
        refuse(op, "there is no scalar (got " + std::to_string(scalar.size()) + " limbs, need 0)");
}

Words words_of(const FieldInput& range) {
    return {range.object, range.offset / 4, range.bytes / 4};
}
BufferView<const std::uint32_t> read_only(const FieldInput& range) {
    return words_of(range);
}

void record_shares(Stream& stream, const Program& program, bool two, const FieldInput& a, const FieldInput& b,
                   const Words& out, std::uint64_t shares) {
    const Parameters parameters = kernels::block_parameters(0);
    if (two)
        stream.dispatch(program, {read_only(a), read_only(b), out}, shares, parameters);
    else
        stream.dispatch(program, {read_only(a), out}, shares, parameters);
}

// Totals of workgroups, then their sum; one workgroup needs no second step.
void record_reduction(Stream& stream, const FieldInfo& field, FieldOp op, const FieldInput& a,
                      const FieldInput& b, const FieldOutput& out, const FieldKernelOptions& options) {
    const std::uint64_t elements = a.bytes / field.element_bytes;
    if (elements == 0) return stream.fill(words_of(out), 0);
    const std::uint32_t shares = kernels::plan_field_shares(stream.device(), field, op, elements, options);
    const Program program = kernels::make_field_program(stream, field.field, op, elements, options);
    if (shares == 1) return record_shares(stream, program, takes_b(op), a, b, words_of(out), 1);
    const Buffer<std::uint32_t> totals(stream, shares * field.element_bytes / 4, "field totals");
    const Program sum = kernels::make_field_program(stream, field.field, FieldOp::sum, shares, options);
    record_shares(stream, program, takes_b(op), a, b, totals.view(), shares);
    record_shares(stream, sum, false, totals, {}, words_of(out), 1);
}

}  // namespace

void field_apply(Stream& stream, Field field, FieldOp op, const FieldInput& a, const FieldInput& b,
                 const FieldOutput& out, std::span<const std::uint64_t> scalar,
                 const FieldKernelOptions& options) {
    kernels::check_field_enums("field_apply", field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    check_ranges(info, op, a, b, out, scalar);
    if (is_reduction(op)) return record_reduction(stream, info, op, a, b, out, options);
    const std::uint64_t elements = a.bytes / info.element_bytes;
    Parameters parameters;
    if (op == FieldOp::axpy)
        parameters = kernels::axpy_parameters(
            field, kernels::axpy_words(function_of(op), field, options.form, scalar));
    const Program program = kernels::make_field_program(stream, field, op, elements, options);
    if (takes_b(op))
        stream.dispatch(program, {read_only(a), read_only(b), words_of(out)}, elements, parameters);
    else
        stream.dispatch(program, {read_only(a), words_of(out)}, elements, parameters);
}

}  // namespace weft
