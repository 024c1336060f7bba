// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors: resident ones on a Stream or a CUDA stream, and those in host memory on a Backend.
//
// Example:
//     weft::Backend backend;
//     const std::vector<std::uint64_t> a(6000, 1), b(6000, 2);  // 1000 elements of 6 limbs each
//     std::vector<std::uint64_t> sum(6000);
//     weft::field_add(backend, weft::Field::bls12_381_fp, a, b, sum, {.check_values = true});
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/ops/field_info.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

namespace weft {

/// With R = 2^(8 * element_bytes), Montgomery form of x is x * R mod p.
enum class FieldForm { plain, montgomery };

/// out[i] = ... mod p, for every element; sum and inner_product give one element.
enum class FieldOp {
    add,              ///< a[i] + b[i]
    sub,              ///< a[i] - b[i]
    neg,              ///< -a[i]
    mul,              ///< a[i] * b[i]
    square,           ///< a[i] * a[i]
    inverse,          ///< 1 / a[i]; 0 for 0
    to_montgomery,    ///< a[i] * R; FieldForm makes no difference
    from_montgomery,  ///< a[i] / R; FieldForm makes no difference
    axpy,             ///< scalar * a[i] + b[i]
    sum,              ///< a[0] + a[1] + ...
    inner_product,    ///< a[0] * b[0] + a[1] * b[1] + ...
};
const char* to_string(FieldOp op) noexcept;  ///< "to-montgomery"
bool takes_b(FieldOp op) noexcept;           ///< add, sub, mul, axpy, inner_product
bool is_reduction(FieldOp op) noexcept;      ///< sum, inner_product

/// Which shader serves an operation.
enum class FieldShader {
    automatic,  ///< the shader that measured faster on this kind of device
    limbs32,    ///< 32-bit integers, no optional feature
    limbs64,    ///< 64-bit integers, needs shaderInt64; refused for fields of 31 bits, which have none
};

/// Of operations on resident vectors, and of programs.
struct FieldOptions {
    FieldForm form = FieldForm::plain;            ///< of a, b, scalar and out
    FieldShader shader = FieldShader::automatic;  ///< not on CUDA, which has one kernel for both
    std::uint32_t workgroup_size = 0;  ///< a power of two, for reductions at most 256; 0: as planned
    std::uint32_t block_elements = 0;  ///< for reductions alone: elements of a workgroup; 0: as planned
};

/// Of operations in host memory.
struct FieldHostOptions {
    FieldForm form = FieldForm::plain;            ///< of a, b, scalar and out
    FieldShader shader = FieldShader::automatic;  ///< not on CUDA
    /// Refuses values >= p before anything runs; the error names job and element. Unchecked, such values give
    /// the right result of add if a + b < 2p, of products and conversions if one operand is below p, of
    /// inverse always, and of neg for p itself. Otherwise they give a wrong number in that element alone, or
    /// as the result of a reduction. docs/field.md has the table.
    bool check_values = false;
    BatchOptions batch = {};
};

/// One vector operation in host memory. Limbs are uint64_t, or uint32_t for the fields of 31 bits.
///
///   a, b     [n, limbs]; b is empty for operations that take none
///   scalar   [limbs] for axpy, in the same form as a and b; else empty; read during the call
///   out      [n, limbs], for reductions [limbs]
///
/// `out` may be exactly `a` or `b` (in place); otherwise it must not overlap them. The `out` of a reduction
/// must not overlap them at all. `a` and `b` may be the same.
struct FieldJob {
    ConstHostArray a{}, b{}, scalar{};
    HostArray out{};
};

/// One operation on every element of every job. Without elements, outputs stay as they are, and reductions
/// give 0. Reductions are cut into blocks, whose totals are added on the host. The items of the report are
/// elements, and its method is the shader for fields that have two.
///
/// Errors: invalid_argument - limbs of another type, limb counts that are no multiple of an element or
/// differ, null with a length, overlap that is not in place, a `b` or `scalar` that is missing or not taken,
/// a scalar that is not below p, and with check_values "not canonical" with job and element; nothing has run
/// then and outputs are untouched. unsupported - limbs64 on a device without shaderInt64. As run_batch
/// otherwise.
OpReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options = {});
OpReport field_batch(Devices& devices, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options = {});
/// The same for one job. Error texts begin with "field_add" and the like, and name no job.
OpReport field_apply(Backend& backend, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options = {});
OpReport field_apply(Devices& devices, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options = {});

/// Records one operation on `stream`. Values are not checked; FieldHostOptions::check_values describes the
/// results of values that are not below p. Shapes and in-place rules are those of FieldJob; `scalar` is read
/// during the call. Reductions are exact, so their result does not depend on the device; without elements
/// they give 0.
///
/// Errors: invalid_argument - as above; a workgroup size that the device cannot have, block_elements for
/// an operation that is not a reduction; unsupported - limbs64 on a device without shaderInt64; out_of_memory
/// - reductions need a buffer for the totals of their blocks; as Stream::dispatch.
void field_apply(Stream& stream, Field field, FieldOp op, const ConstDeviceArray& a,
                 const ConstDeviceArray& b, const ConstHostArray& scalar, const DeviceArray& out,
                 const FieldOptions& options = {});

/// What field_apply and the functions below take on a `Where`: Backend, Devices, Stream or
/// cuda::StreamHandle.
template <class Where>
using FieldIn = typename ArraysOf<std::remove_cvref_t<Where>>::In;
template <class Where>
using FieldOut = typename ArraysOf<std::remove_cvref_t<Where>>::Out;
template <class Where>
using FieldOptionsOf =
    std::conditional_t<ArraysOf<std::remove_cvref_t<Where>>::host, FieldHostOptions, FieldOptions>;

/// field_apply by name: `where` is a Backend or a Devices for host memory, a Stream for buffers, or a CUDA
/// stream.
template <class Where>
auto field_add(Where&& where, Field field, const FieldIn<Where>& a, const FieldIn<Where>& b,
               const FieldOut<Where>& out, const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::add, a, b, {}, out, options);
}
template <class Where>
auto field_sub(Where&& where, Field field, const FieldIn<Where>& a, const FieldIn<Where>& b,
               const FieldOut<Where>& out, const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::sub, a, b, {}, out, options);
}
template <class Where>
auto field_mul(Where&& where, Field field, const FieldIn<Where>& a, const FieldIn<Where>& b,
               const FieldOut<Where>& out, const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::mul, a, b, {}, out, options);
}
template <class Where>
auto field_neg(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
               const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::neg, a, {}, {}, out, options);
}
template <class Where>
auto field_square(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
                  const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::square, a, {}, {}, out, options);
}
template <class Where>
auto field_inverse(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
                   const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::inverse, a, {}, {}, out, options);
}
template <class Where>
auto field_to_montgomery(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
                         const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::to_montgomery, a, {}, {}, out, options);
}
template <class Where>
auto field_from_montgomery(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
                           const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::from_montgomery, a, {}, {}, out, options);
}
template <class Where>
auto field_axpy(Where&& where, Field field, const ConstHostArray& scalar, const FieldIn<Where>& a,
                const FieldIn<Where>& b, const FieldOut<Where>& out,
                const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::axpy, a, b, scalar, out, options);
}
template <class Where>
auto field_sum(Where&& where, Field field, const FieldIn<Where>& a, const FieldOut<Where>& out,
               const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::sum, a, {}, {}, out, options);
}
template <class Where>
auto field_inner_product(Where&& where, Field field, const FieldIn<Where>& a, const FieldIn<Where>& b,
                         const FieldOut<Where>& out, const FieldOptionsOf<Where>& options = {}) {
    return field_apply(where, field, FieldOp::inner_product, a, b, {}, out, options);
}

/// The program of an element-wise operation, for run_batch, JobPipeline or Stream::dispatch: bindings a,
/// b, out (without b: a, out), an element is element_bytes. Parameters of axpy: the scalar in Montgomery
/// form. Errors: unsupported - limbs64 on a device without shaderInt64; invalid_argument - a reduction, a
/// workgroup size that is no power of two or too large, block_elements.
Program field_program(Backend& backend, Field field, FieldOp op, const FieldOptions& options = {});
Program field_program(Devices& devices, Field field, FieldOp op, const FieldOptions& options = {});

}  // namespace weft
