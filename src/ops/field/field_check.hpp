// SPDX-License-Identifier: Apache-2.0
// Refuses field jobs in host memory that cannot run, before anything touches a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// Errors: invalid_argument - an enum that holds none of its values; `function` opens the text.
void check_field_enums(const char* function, Field field, FieldOp op, FieldForm form, FieldShader shader);

/// For CUDA, whose kernels serve every FieldShader. Errors: invalid_argument - a choice; `options` names the
/// struct.
void refuse_field_shader(const std::string& function, const char* options, FieldShader shader);

/// A call of field_batch, or of field_apply, whose one job has no number in error texts.
struct FieldCall {
    const FieldInfo& field;
    FieldOp op;
    std::span<const FieldJob> jobs;
    bool batch;

    std::string function() const;              ///< "field_batch" or "field_add"
    std::string place(std::size_t job) const;  ///< "field_batch: job 3" or "field_add"
    std::uint64_t elements(const FieldJob& job) const { return job.a.size / field.limbs; }
    std::uint64_t elements() const;  ///< of all jobs
};

/// Types, shapes, pointers and in-place rules of each job by itself; for reductions also that no two results
/// share memory. Overlap between jobs of other operations is found by run_batch. Errors: invalid_argument.
void check_field_jobs(const FieldCall& call);

/// Reads every input with up to `threads` threads, the caller's included, and refuses values >= p. The error
/// names the lowest job and in it the lowest element. Jobs have passed check_field_jobs.
/// Errors: invalid_argument.
void check_canonical(const FieldCall& call, std::uint32_t threads);

}  // namespace weft::kernels
