// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/field.hpp>: field vectors in buffers, recorded on a Stream.
#include <weft/ops/field.hpp>

#include <string>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_ranges.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"

namespace weft {
namespace {

using Words = BufferView<std::uint32_t>;

std::uint64_t offset_of(const ConstDeviceArray& array) {
    return array.first() * array.type().bytes();
}

kernels::FieldRange range_of(const ConstDeviceArray& array) {
    return {detail::Access::object(array).get(), offset_of(array), array.bytes(), array.type()};
}

Words words_of(const ConstDeviceArray& array) {
    return detail::Access::make<Words>(detail::Access::object(array), offset_of(array) / 4,
                                       array.bytes() / 4);
}
BufferView<const std::uint32_t> read_only(const ConstDeviceArray& array) {
    return words_of(array);
}

void record_shares(Stream& stream, const Program& program, bool two, const ConstDeviceArray& a,
                   const ConstDeviceArray& b, const Words& out, std::uint64_t shares) {
    const Parameters parameters = kernels::block_parameters(0);
    if (two)
        stream.dispatch(program, {read_only(a), read_only(b), out}, shares, parameters);
    else
        stream.dispatch(program, {read_only(a), out}, shares, parameters);
}

// Totals of workgroups, then their sum; one workgroup needs no second step.
void record_reduction(Stream& stream, const FieldInfo& field, FieldOp op, const ConstDeviceArray& a,
                      const ConstDeviceArray& b, const DeviceArray& out, const FieldOptions& options) {
    const std::uint64_t elements = a.bytes() / field.element_bytes;
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

void field_apply(Stream& stream, Field field, FieldOp op, const ConstDeviceArray& a,
                 const ConstDeviceArray& b, const ConstHostArray& scalar, const DeviceArray& out,
                 const FieldOptions& options) {
    kernels::check_field_enums("field_apply", field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    kernels::check_field_ranges(info, op, range_of(a), range_of(b), range_of(out), scalar, options);
    if (is_reduction(op)) return record_reduction(stream, info, op, a, b, out, options);
    const std::uint64_t elements = a.bytes() / info.element_bytes;
    Parameters parameters;
    if (op == FieldOp::axpy)
        parameters = kernels::axpy_parameters(
            field, kernels::axpy_words(kernels::field_function(op), field, options.form, scalar));
    const Program program = kernels::make_field_program(stream, field, op, elements, options);
    if (takes_b(op))
        stream.dispatch(program, {read_only(a), read_only(b), words_of(out)}, elements, parameters);
    else
        stream.dispatch(program, {read_only(a), words_of(out)}, elements, parameters);
}

}  // namespace weft
