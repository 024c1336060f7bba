// SPDX-License-Identifier: Apache-2.0
// Fields and options of operations over them, for vectors and transforms.
#pragma once

#include <weft/weft.h>
#include <weft/ops/field.hpp>

namespace weft::capi {

/// weft refuses numbers that are no field, operation, form or shader.
inline Field field_of(weft_field field) {
    return static_cast<Field>(field);
}
/// uint64 for numbers that are no field, which the call refuses.
ElementType limb_type(weft_field field);

/// Errors: invalid_argument - members that do not apply.
FieldHostOptions field_host_options(const char* function, const weft_field_options* options);
FieldOptions field_resident_options(const char* function, const weft_field_options* options);

}  // namespace weft::capi
