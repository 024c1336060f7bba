// SPDX-License-Identifier: Apache-2.0
#include "capi/ops/field_options.hpp"

#include <string>

#include "capi/batch_options.hpp"
#include "capi/structs.hpp"

namespace weft::capi {

namespace {

void refuse_setting(const char* function, const char* name, const char* where) {
    refuse(std::string(function) + ": weft_field_options." + name + " applies to " + where + " alone");
}

}  // namespace

ElementType limb_type(weft_field field) {
    if (field > WEFT_MERSENNE31) return kUint64;
    return field_info(field_of(field)).limb_bytes == 4 ? kUint32 : kUint64;
}

FieldHostOptions field_host_options(const char* function, const weft_field_options* options) {
    const weft_field_options all = read_options(function, "weft_field_options", options);
    if (all.workgroup_size != 0) refuse_setting(function, "workgroup_size", "streams and programs");
    if (all.block_elements != 0) refuse_setting(function, "block_elements", "streams and programs");
    return {.form = static_cast<FieldForm>(all.form),
            .shader = static_cast<FieldShader>(all.shader),
            .check_values = flag_of(function, "weft_field_options.check_values", all.check_values),
            .batch = batch_options(function, all.batch)};
}

FieldOptions field_resident_options(const char* function, const weft_field_options* options) {
    const weft_field_options all = read_options(function, "weft_field_options", options);
    if (all.check_values != 0) refuse_setting(function, "check_values", "host memory");
    if (all.batch != nullptr) refuse_setting(function, "batch", "host memory");
    return {.form = static_cast<FieldForm>(all.form),
            .shader = static_cast<FieldShader>(all.shader),
            .workgroup_size = all.workgroup_size,
            .block_elements = all.block_elements};
}

}  // namespace weft::capi
