// SPDX-License-Identifier: Apache-2.0
// Refuses operations on field vectors that cannot run, in host memory and in device memory of any API, before
// anything touches a device. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <weft/ops/field.hpp>

namespace weft::kernels {

/// "field_to_montgomery"
std::string field_function(FieldOp op);

/// The type of limbs: kUint64, or kUint32 for the fields of 31 bits.
ElementType limb_type(const FieldInfo& field);
/// "a has float32 elements (got float32, need uint64 limbs of bn254-fr)"
std::string wrong_limbs(const FieldInfo& field, const char* name, ElementType got);

/// Errors: invalid_argument - an enum that holds none of its values, or limbs64 for a field of 31 bits;
/// `function` opens the text.
void check_field_enums(const char* function, Field field, FieldOp op, FieldForm form, FieldShader shader);

/// For CUDA, which has one kernel for every FieldShader. Errors: invalid_argument - a shader was chosen;
/// `options` names the struct.
void refuse_field_shader(const std::string& function, const char* options, FieldShader shader);

/// A call of field_batch, or of field_apply: error texts do not number its one job.
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

/// Checks types, shapes, pointers and in-place rules of each job and, for reductions, that no two results
/// share memory. run_batch finds overlaps between jobs of other operations. Errors: invalid_argument.
void check_field_jobs(const FieldCall& call);

/// Reads every input with up to `threads` threads, including the caller's, and refuses values >= p. The error
/// names the first such element of the first such job. The jobs must have passed check_field_jobs. Errors:
/// invalid_argument.
void check_canonical(const FieldCall& call, std::uint32_t threads);

/// A range of device memory: bytes [offset, offset + bytes) of `memory`, which is null if there is none.
struct FieldRange {
    const void* memory = nullptr;
    std::uint64_t offset = 0, bytes = 0;
    ElementType type{};
};
inline FieldRange range_of(const ConstDeviceArray& array) {
    const std::uint64_t offset = array.first() * array.type().bytes();
    return {detail::Access::object(array).get(), offset, array.bytes(), array.type()};
}

/// `options`: block_elements is refused for operations that are no reduction. Errors: invalid_argument - as
/// field_apply; nothing is recorded then.
void check_field_ranges(const FieldInfo& field, FieldOp op, const FieldRange& a, const FieldRange& b,
                        const FieldRange& out, const ConstHostArray& scalar, const FieldOptions& options);

}  // namespace weft::kernels
