// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: number-theoretic transforms.
#include <weft/ops/ntt.hpp>

#include <algorithm>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/field_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft::NttDirection direction_of(weft_ntt_direction direction) {
    return static_cast<weft::NttDirection>(direction);  // weft refuses other numbers
}

weft::NttShape shape_of(const weft_ntt_shape& shape) {
    return {.log_size = shape.log_size,
            .batch = shape.batch,
            .layout = static_cast<weft::NttLayout>(shape.layout),
            .inputs = shape.inputs};
}

[[noreturn]] void refuse_member(const char* function, const char* member, const char* where) {
    refuse(std::string(function) + ": weft_ntt_options." + member + " applies to " + where + " alone");
}

/// The members that both kinds of options have.
template <class Options>
Options common_options(const char* function, weft_field field, const weft_ntt_options& all) {
    const weft::ElementType type = limb_type(field);
    Options options;
    options.order = static_cast<weft::NttOrder>(all.order);
    options.form = static_cast<weft::FieldForm>(all.form);
    options.shader = static_cast<weft::FieldShader>(all.shader);
    options.coset = array_of(function, "weft_ntt_options.coset", all.coset, type);
    options.root = array_of(function, "weft_ntt_options.root", all.root, type);
    return options;
}

weft::NttHostOptions host_options(const char* function, weft_field field, const weft_ntt_options* options) {
    const weft_ntt_options all = read_options(function, "weft_ntt_options", options);
    if (all.tile_bits != 0) refuse_member(function, "tile_bits", "streams");
    if (all.pass_bits != 0) refuse_member(function, "pass_bits", "streams");
    auto made = common_options<weft::NttHostOptions>(function, field, all);
    made.check_values = flag_of(function, "weft_ntt_options.check_values", all.check_values);
    made.batch = batch_options(function, all.batch);
    return made;
}

weft::NttOptions resident_options(const char* function, weft_field field, const weft_ntt_options* options) {
    const weft_ntt_options all = read_options(function, "weft_ntt_options", options);
    if (all.check_values != 0) refuse_member(function, "check_values", "host memory");
    if (all.batch != nullptr) refuse_member(function, "batch", "host memory");
    auto made = common_options<weft::NttOptions>(function, field, all);
    made.tile_bits = all.tile_bits;
    made.pass_bits = all.pass_bits;
    return made;
}

}  // namespace

weft_status weft_ntt(weft_backend* backend, weft_field field, weft_ntt_direction direction,
                     weft_const_span in, weft_span out, weft_ntt_shape shape, const weft_ntt_options* options,
                     weft_report* report) {
    constexpr const char* kName = "weft_ntt";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const weft::ElementType type = limb_type(field);
        put_report(kName,
                   weft::ntt(owner, field_of(field), direction_of(direction), array_of(kName, "in", in, type),
                             array_of(kName, "out", out, type), shape_of(shape),
                             host_options(kName, field, options)),
                   report);
    });
}

weft_status weft_stream_ntt(weft_stream* stream, weft_field field, weft_ntt_direction direction, weft_view in,
                            weft_view out, weft_ntt_shape shape, const weft_ntt_options* options) {
    constexpr const char* kName = "weft_stream_ntt";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::ElementType type = limb_type(field);
        weft::ntt(s, field_of(field), direction_of(direction), array_of(kName, "in", in, type),
                  array_of(kName, "out", out, type), shape_of(shape),
                  resident_options(kName, field, options));
    });
}

weft_status weft_ntt_extend(weft_backend* backend, weft_field field, weft_const_span in, weft_span out,
                            weft_ntt_shape shape, uint32_t blowup, const weft_ntt_options* options,
                            weft_report* report) {
    constexpr const char* kName = "weft_ntt_extend";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const weft::ElementType type = limb_type(field);
        put_report(kName,
                   weft::ntt_extend(owner, field_of(field), array_of(kName, "in", in, type),
                                    array_of(kName, "out", out, type), shape_of(shape), blowup,
                                    host_options(kName, field, options)),
                   report);
    });
}

weft_status weft_stream_ntt_extend(weft_stream* stream, weft_field field, weft_view in, weft_view out,
                                   weft_ntt_shape shape, uint32_t blowup, const weft_ntt_options* options) {
    constexpr const char* kName = "weft_stream_ntt_extend";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::ElementType type = limb_type(field);
        weft::ntt_extend(s, field_of(field), array_of(kName, "in", in, type),
                         array_of(kName, "out", out, type), shape_of(shape), blowup,
                         resident_options(kName, field, options));
    });
}

weft_status weft_ntt_product(weft_backend* backend, weft_field field, weft_const_span a, weft_const_span b,
                             weft_span out, const weft_field_options* options, weft_report* report) {
    constexpr const char* kName = "weft_ntt_product";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const weft::ElementType type = limb_type(field);
        put_report(kName,
                   weft::ntt_product(owner, field_of(field), array_of(kName, "a", a, type),
                                     array_of(kName, "b", b, type), array_of(kName, "out", out, type),
                                     field_host_options(kName, options)),
                   report);
    });
}

weft_status weft_stream_ntt_product(weft_stream* stream, weft_field field, weft_view a, weft_view b,
                                    weft_view out, const weft_field_options* options) {
    constexpr const char* kName = "weft_stream_ntt_product";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::ElementType type = limb_type(field);
        weft::ntt_product(s, field_of(field), array_of(kName, "a", a, type), array_of(kName, "b", b, type),
                          array_of(kName, "out", out, type), field_resident_options(kName, options));
    });
}

weft_status weft_ntt_root(weft_field field, uint32_t log_size, uint64_t root[6]) {
    constexpr const char* kName = "weft_ntt_root";
    return guarded(kName, [&] {
        given(kName, "root", root);
        const std::array<std::uint64_t, 6> found = weft::ntt_root(field_of(field), log_size);
        std::copy(found.begin(), found.end(), root);
    });
}
