// SPDX-License-Identifier: Apache-2.0
#include "ops/ntt/ntt_check.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include <weft/error.hpp>

#include "base/enums.hpp"
#include "base/refusal.hpp"
#include "host/thread_parts.hpp"
#include "ops/field/field_plan.hpp"

namespace weft::kernels {
namespace {

void check_enums(const NttArguments& a) {
    core::check_enum(a.function, "direction", a.direction, NttDirection::inverse);
    core::check_enum(a.function, "order", a.order, NttOrder::rn);
    core::check_enum(a.function, "layout", a.shape.layout, NttLayout::columns);
    check_field_enums(a.function, a.field, FieldOp::mul, a.form, a.shader);
    require_ntt_field(a.function, a.field);
}

/// `extra`: bits that a low-degree extension adds.
void check_transform_size(const DeviceInfo& device, const NttArguments& a, std::uint32_t extra) {
    const std::uint32_t field_most = ntt_info(a.field).max_log_size;
    const std::uint32_t device_most = ntt_max_log_size(device, a.field);
    const std::uint32_t most = std::min(field_most, device_most);
    const std::uint32_t log_size = a.shape.log_size;
    if (log_size == 0 || log_size > most || log_size + extra > most)
        core::refuse(a.function,
                     "no such size (got log_size " + std::to_string(log_size) +
                         (extra != 0 ? " and " + std::to_string(extra) + " bits more" : std::string()) +
                         ", need 1 to " + std::to_string(most - std::min(most, extra)) + " for " +
                         to_string(a.field) +
                         (device_most < field_most ? " in one binding of " + device.name + ")" : ")"));
    const std::uint64_t bytes = field_info(a.field).element_bytes;
    const std::uint64_t batches =
        std::min<std::uint64_t>(0xffffffffu, (std::uint64_t{1} << 62) / bytes >> (log_size + extra));
    if (a.shape.batch > batches)
        core::refuse(a.function, "too many transforms (got " + std::to_string(a.shape.batch) +
                                     ", need at most " + std::to_string(batches) + ")");
}

void check_range(const std::string& function, const FieldInfo& field, const char* name,
                 const FieldRange& range, std::uint64_t elements) {
    if (range.memory == nullptr && elements != 0)
        core::refuse(function, std::string(name) + " is missing (got no memory)");
    if (range.memory != nullptr && range.type != limb_type(field))
        core::refuse(function, wrong_limbs(field, name, range.type));
    const std::uint64_t got = range.bytes / field.limb_bytes, need = elements * field.limbs;
    if (got != need)
        core::refuse(function, std::string(name) + " does not fit the shape (got " + std::to_string(got) +
                                   " limbs, need " + std::to_string(need) + ")");
}

bool overlap(const FieldRange& a, const FieldRange& b) {
    return a.memory == b.memory && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

void check_apart(const std::string& function, const char* name, const FieldRange& in, const FieldRange& out,
                 bool in_place) {
    if (!overlap(in, out)) return;
    const bool same = in.offset == out.offset && in.bytes == out.bytes;
    if (same && in_place) return;
    core::refuse(function, std::string("out overlaps ") + name +
                               (in_place ? " in part (got a shifted range, need the same range or none of it)"
                                         : " (got shared memory, need other memory)"));
}

NttRequest request_of(const NttArguments& a, const NttScalars& scalars) {
    NttRequest r;
    r.field = a.field;
    r.direction = a.direction;
    r.order = a.order;
    r.layout = a.shape.layout;
    r.log_size = a.shape.log_size;
    r.batch = a.shape.batch;
    r.inputs = a.shape.inputs != 0 ? a.shape.inputs : a.shape.size();
    r.outputs = a.shape.size();
    r.scalars = scalars;
    r.tile_bits = a.tile_bits;
    r.pass_bits = a.pass_bits;
    r.shader = a.shader;
    return r;
}

}  // namespace

FieldRange ntt_range(const ConstHostArray& array) {
    static constexpr char kHost = 0;
    if (array.data == nullptr) return {nullptr, 0, array.bytes(), array.type};
    return {&kHost, reinterpret_cast<std::uintptr_t>(array.data), array.bytes(), array.type};
}

NttRequest check_ntt(const DeviceInfo& device, const NttArguments& a, const FieldRange& in,
                     const FieldRange& out) {
    check_enums(a);
    check_transform_size(device, a, 0);
    const NttShape& shape = a.shape;
    if (shape.inputs != 0 && (a.direction == NttDirection::inverse || a.order == NttOrder::rn))
        core::refuse(a.function,
                     std::string("inputs are counted for forward transforms of natural order alone (got "
                                 "inputs of ") +
                         to_string(a.direction) + " " + to_string(a.order) + ", need 0)");
    if (shape.inputs > shape.size())
        core::refuse(a.function, "more inputs than points (got " + std::to_string(shape.inputs) +
                                     ", need at most " + std::to_string(shape.size()) + ")");
    const NttRequest request =
        request_of(a, ntt_scalars(a.function, a.field, shape.log_size, a.form, a.root, a.coset));
    const FieldInfo& field = field_info(a.field);
    check_range(a.function, field, "in", in, shape.batch * request.inputs);
    check_range(a.function, field, "out", out, shape.elements());
    check_apart(a.function, "in", in, out, request.inputs == shape.size());
    return request;
}

NttExtension check_ntt_extend(const DeviceInfo& device, const NttArguments& a, std::uint32_t blowup,
                              const FieldRange& in, const FieldRange& out) {
    check_enums(a);
    if (blowup < 2 || blowup > 16 || !std::has_single_bit(blowup))
        core::refuse(a.function, "no such blowup (got " + std::to_string(blowup) + ", need 2, 4, 8 or 16)");
    const auto extra = static_cast<std::uint32_t>(std::countr_zero(blowup));
    check_transform_size(device, a, extra);
    if (a.shape.inputs != 0)
        core::refuse(a.function,
                     "inputs does not apply (got " + std::to_string(a.shape.inputs) + ", need 0)");
    const FieldInfo& field = field_info(a.field);
    check_range(a.function, field, "in", in, a.shape.elements());
    check_range(a.function, field, "out", out, a.shape.elements() * blowup);
    check_apart(a.function, "in", in, out, false);
    NttArguments large = a, small = a;
    large.shape.log_size += extra;
    large.shape.inputs = a.shape.size();
    large.direction = NttDirection::forward;
    large.order = a.order == NttOrder::rn ? NttOrder::nn : a.order;
    small.direction = NttDirection::inverse;
    small.order = a.order == NttOrder::rn ? NttOrder::rn : NttOrder::nn;
    const NttScalars scalars =
        ntt_scalars(a.function, a.field, large.shape.log_size, a.form, a.root, a.coset);
    const NttScalars on_powers{ntt_power(a.field, scalars.root, blowup), field_constants(a.field).r, false};
    return {request_of(small, on_powers), request_of(large, scalars)};
}

NttProduct check_ntt_product(const DeviceInfo& device, Field field, FieldForm form, FieldShader shader,
                             const FieldRange& a, const FieldRange& b, const FieldRange& out) {
    const std::string function = "ntt_product";
    check_field_enums(function.c_str(), field, FieldOp::mul, form, shader);
    require_ntt_field(function, field);
    const FieldInfo& info = field_info(field);
    const std::uint64_t m = a.bytes / info.element_bytes, n = b.bytes / info.element_bytes;
    check_range(function, info, "a", a, m);
    check_range(function, info, "b", b, n);
    if (m == 0 || n == 0)
        core::refuse(function,
                     std::string(m == 0 ? "a" : "b") + " is empty (got 0 elements, need at least 1)");
    check_range(function, info, "out", out, m + n - 1);
    check_apart(function, "a", a, out, false);
    check_apart(function, "b", b, out, false);
    NttArguments to{"ntt_product", field};
    to.shape.log_size = std::max(1u, static_cast<std::uint32_t>(std::bit_width(m + n - 2)));
    to.shader = shader;
    to.order = NttOrder::nr;
    check_transform_size(device, to, 0);
    const NttScalars scalars = ntt_scalars(function, field, to.shape.log_size, form, {}, {});
    NttArguments back = to;
    back.direction = NttDirection::inverse;
    back.order = NttOrder::rn;
    NttProduct product{request_of(to, scalars), request_of(to, scalars), request_of(back, scalars)};
    product.a.inputs = m;
    product.b.inputs = n;
    product.out.outputs = m + n - 1;
    return product;
}

void check_ntt_columns(const DeviceInfo& device, const NttArguments& a, const FieldRange& in,
                       const FieldRange& out) {
    const std::uint64_t most = device.limits.max_storage_buffer_range, got = std::max(in.bytes, out.bytes);
    if (a.shape.layout == NttLayout::columns && got > most)
        core::refuse(a.function, "the columns do not fit one binding of " + device.name + " (got " +
                                     std::to_string(got) + " bytes, need at most " + std::to_string(most) +
                                     "; use fewer columns or NttLayout::rows)");
}

void check_ntt_values(const char* function, Field field, const char* name, const ConstHostArray& array,
                      const NttShape& shape, std::uint64_t count, std::uint32_t threads) {
    constexpr std::uint64_t kBytesPerThread = 2u << 20;
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    const FieldInfo& info = field_info(field);
    const shared::FieldConstants& f = field_constants(field);
    const auto* const elements = static_cast<const std::byte*>(array.data);
    std::vector<std::uint64_t> found(std::max(threads, 1u), kNone);
    in_parts(array.size / info.limbs, kBytesPerThread / info.element_bytes, threads,
             [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
                 for (std::uint64_t i = first; i < last && found[part] == kNone; ++i)
                     if (!is_canonical(f, elements + i * info.element_bytes)) found[part] = i;
             });
    const std::uint64_t at = *std::min_element(found.begin(), found.end());
    if (at == kNone) return;
    std::string place = "element " + std::to_string(at);
    if (count != 0) {
        const bool rows = shape.layout == NttLayout::rows;
        place = "element " + std::to_string(rows ? at % count : at / shape.batch) + " of transform " +
                std::to_string(rows ? at / count : at % shape.batch);
    }
    core::refuse(function, place + " of " + name + " is not canonical (got " +
                               hex(field, to_words(info, elements, at)) +
                               ", need below p = " + hex(field, f.p) + ")");
}

}  // namespace weft::kernels
