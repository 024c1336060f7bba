// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: fields.
#include <weft/ops/field.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// weft refuses numbers that are no field, operation, form or shader.
weft::Field field_of(weft_field field) {
    return static_cast<weft::Field>(field);
}
weft::FieldOp op_of(weft_field_op op) {
    return static_cast<weft::FieldOp>(op);
}

weft::ElementType limb_type(weft_field field) {
    if (field > WEFT_MERSENNE31) return weft::kUint64;  // the call refuses it
    return weft::field_info(field_of(field)).limb_bytes == 4 ? weft::kUint32 : weft::kUint64;
}

void refuse_setting(const char* function, const char* name, const char* where) {
    refuse(std::string(function) + ": weft_field_options." + name + " applies to " + where + " alone");
}

weft::FieldHostOptions host_options(const char* function, const weft_field_options* options) {
    const weft_field_options all = read_options(function, "weft_field_options", options);
    if (all.workgroup_size != 0) refuse_setting(function, "workgroup_size", "streams and programs");
    if (all.block_elements != 0) refuse_setting(function, "block_elements", "streams and programs");
    return {.form = static_cast<weft::FieldForm>(all.form),
            .shader = static_cast<weft::FieldShader>(all.shader),
            .check_values = flag_of(function, "weft_field_options.check_values", all.check_values),
            .batch = batch_options(function, all.batch)};
}

weft::FieldOptions resident_options(const char* function, const weft_field_options* options) {
    const weft_field_options all = read_options(function, "weft_field_options", options);
    if (all.check_values != 0) refuse_setting(function, "check_values", "host memory");
    if (all.batch != nullptr) refuse_setting(function, "batch", "host memory");
    return {.form = static_cast<weft::FieldForm>(all.form),
            .shader = static_cast<weft::FieldShader>(all.shader),
            .workgroup_size = all.workgroup_size,
            .block_elements = all.block_elements};
}

}  // namespace

weft_status weft_field_describe(weft_field field, weft_field_info* info) {
    constexpr const char* kName = "weft_field_describe";
    return guarded(kName, [&] {
        const weft::FieldInfo& found = weft::field_info(field_of(field));
        weft_field_info all{};
        all.bits = found.bits;
        all.limbs = found.limbs;
        all.limb_bytes = found.limb_bytes;
        all.element_bytes = found.element_bytes;
        all.name = found.name.data();  // of a literal, so it ends with 0
        std::copy(found.modulus.begin(), found.modulus.end(), all.modulus);
        write_report(kName, "weft_field_info", all, info);
    });
}

weft_status weft_field_find(const char* name, weft_field* field) {
    constexpr const char* kName = "weft_field_find";
    return guarded(kName, [&] {
        given(kName, "field", field);
        const std::optional<weft::Field> found = weft::find_field(&given(kName, "name", name));
        if (!found) {
            std::string all;
            for (const weft::FieldInfo& info : weft::fields())
                all += (all.empty() ? "" : ", ") + std::string(info.name);
            refuse(std::string(kName) + ": no such field (got '" + name + "', need one of " + all + ")");
        }
        *field = static_cast<weft_field>(*found);
    });
}

weft_status weft_field_apply(weft_backend* backend, weft_field field, weft_field_op op, weft_const_span a,
                             weft_const_span b, weft_const_span scalar, weft_span out,
                             const weft_field_options* options, weft_report* report) {
    constexpr const char* kName = "weft_field_apply";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const weft::ElementType type = limb_type(field);
        put_report(kName,
                   weft::field_apply(owner, field_of(field), op_of(op), array_of(kName, "a", a, type),
                                     array_of(kName, "b", b, type), array_of(kName, "scalar", scalar, type),
                                     array_of(kName, "out", out, type), host_options(kName, options)),
                   report);
    });
}

weft_status weft_field_batch(weft_backend* backend, weft_field field, weft_field_op op,
                             const weft_field_job* jobs, uint64_t count, const weft_field_options* options,
                             weft_report* report) {
    constexpr const char* kName = "weft_field_batch";
    return with_devices(kName, backend, [&](auto& owner) {
        if (count != 0) given(kName, "jobs", jobs);
        check_size(kName, "weft_report", report);
        const weft::ElementType type = limb_type(field);
        std::vector<weft::FieldJob> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back({array_of(kName, "a", jobs[i].a, type), array_of(kName, "b", jobs[i].b, type),
                           array_of(kName, "scalar", jobs[i].scalar, type),
                           array_of(kName, "out", jobs[i].out, type)});
        put_report(kName,
                   weft::field_batch(owner, field_of(field), op_of(op), all, host_options(kName, options)),
                   report);
    });
}

weft_status weft_stream_field_apply(weft_stream* stream, weft_field field, weft_field_op op, weft_view a,
                                    weft_view b, weft_const_span scalar, weft_view out,
                                    const weft_field_options* options) {
    constexpr const char* kName = "weft_stream_field_apply";
    const Uses uses(stream);
    return guarded(kName, [&] {
        weft_stream& handle = given(kName, "stream", stream);
        const Owner::Use use(handle.owner, kName);
        const weft::ElementType type = limb_type(field);
        weft::ConstDeviceArray second;
        if (!is_empty(b)) second = array_of(kName, "b", b, type);
        weft::field_apply(handle.object, field_of(field), op_of(op), array_of(kName, "a", a, type), second,
                          array_of(kName, "scalar", scalar, type), array_of(kName, "out", out, type),
                          resident_options(kName, options));
    });
}

weft_status weft_field_program(weft_backend* backend, weft_field field, weft_field_op op,
                               const weft_field_options* options, weft_program** program) {
    constexpr const char* kName = "weft_field_program";
    const Uses uses(backend);
    return create(kName, program, [&] {
        return on_devices(kName, backend, [&](auto& owner) {
            return weft::field_program(owner, field_of(field), op_of(op), resident_options(kName, options));
        });
    });
}
