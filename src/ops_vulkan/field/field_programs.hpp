// SPDX-License-Identifier: Apache-2.0
// The field shaders as programs: which module, with which constants and parameters.
#pragma once

#include <cstdint>

#include <weft/job.hpp>
#include <weft/ops/field.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "ops/field/field_scalar.hpp"

namespace weft::kernels {

/// `elements` of one call; 0 if they are not known. Errors: as plan_field, Program.
Program make_field_program(Backend& backend, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options);
/// For every device.
Program make_field_program(Devices& devices, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options);
Program make_field_program(const Stream& stream, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options);

/// The parameters of axpy and of reductions. With 0 block_elements, the elements of the workgroups are
/// interleaved.
Parameters axpy_parameters(Field field, const FieldWords& scalar);
Parameters block_parameters(std::uint32_t block_elements);

}  // namespace weft::kernels
