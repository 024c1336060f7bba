// SPDX-License-Identifier: Apache-2.0
// Vectors of field elements as arguments of calls.
#pragma once

#include <weft/ops/field_info.hpp>

#include "arrays.hpp"

namespace weft::python {

ElementType limb_type(const FieldInfo& info);
/// One element: no axis for fields of one limb.
Shape element_shape(const FieldInfo& info);

/// Errors: InvalidArgument - the last axis is not that of the limbs.
void require_elements(const char* call, const char* name, const FieldInfo& info, const Shape& shape);
/// Elements that `call` reads. Errors: as input() and require_elements().
Array operand(const char* call, const char* name, const FieldInfo& info, nb::handle object,
              const Place& place);

}  // namespace weft::python
