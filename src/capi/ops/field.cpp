// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: fields.
#include <weft/ops/field.hpp>

#include <weft/ops/ntt.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/field_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft::FieldOp op_of(weft_field_op op) {
    return static_cast<weft::FieldOp>(op);
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
        const weft::NttInfo transforms = weft::ntt_info(field_of(field));
        std::copy(transforms.generator.begin(), transforms.generator.end(), all.generator);
        all.two_adicity = transforms.two_adicity;
        all.ntt_max_log_size = transforms.max_log_size;
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
                                     array_of(kName, "out", out, type), field_host_options(kName, options)),
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
        put_report(
            kName,
            weft::field_batch(owner, field_of(field), op_of(op), all, field_host_options(kName, options)),
            report);
    });
}

weft_status weft_stream_field_apply(weft_stream* stream, weft_field field, weft_field_op op, weft_view a,
                                    weft_view b, weft_const_span scalar, weft_view out,
                                    const weft_field_options* options) {
    constexpr const char* kName = "weft_stream_field_apply";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::ElementType type = limb_type(field);
        weft::ConstDeviceArray second;
        if (!is_empty(b)) second = array_of(kName, "b", b, type);
        weft::field_apply(s, field_of(field), op_of(op), array_of(kName, "a", a, type), second,
                          array_of(kName, "scalar", scalar, type), array_of(kName, "out", out, type),
                          field_resident_options(kName, options));
    });
}

weft_status weft_field_program(weft_backend* backend, weft_field field, weft_field_op op,
                               const weft_field_options* options, weft_program** program) {
    constexpr const char* kName = "weft_field_program";
    const Uses uses(backend);
    return create(kName, program, [&] {
        return on_devices(kName, backend, [&](auto& owner) {
            return weft::field_program(owner, field_of(field), op_of(op),
                                       field_resident_options(kName, options));
        });
    });
}
