// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_ranges.hpp"

#include <weft/error.hpp>

namespace weft::kernels {

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

namespace {

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

// Ranges of one buffer may overlap only as a whole; the device would read what it has just written.
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
