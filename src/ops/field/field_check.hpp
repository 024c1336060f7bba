// SPDX-License-Identifier: Apache-2.0
// Refuses field jobs that cannot run, before anything touches a device. Defined for limbs of 32 and 64 bits.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// Shapes, pointers and in-place rules of each job by itself; for reductions also that no two results share
/// memory. Overlap between jobs of other operations is run_batch's to find. `function` opens the error text.
/// Errors: invalid_argument.
/// Errors: invalid_argument - an enum that holds none of its values.
void check_field_enums(const char* function, Field field, FieldOp op, FieldForm form, FieldShader shader);

template <class Limb>
void check_field_jobs(const char* function, Field field, FieldOp op,
                      std::span<const FieldVectors<Limb>> jobs);

/// Reads every input with up to `threads` threads, the caller's included, and refuses values >= p. The error
/// names the lowest job and in it the lowest element. Jobs have passed check_field_jobs.
/// Errors: invalid_argument.
template <class Limb>
void check_canonical(const char* function, Field field, std::span<const FieldVectors<Limb>> jobs,
                     std::uint32_t threads);

}  // namespace weft::kernels
