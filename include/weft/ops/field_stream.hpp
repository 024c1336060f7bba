// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors in device memory: operations recorded on a stream, so that a chain of them costs one
// upload and one download.
#pragma once

#include <cstdint>
#include <span>

#include <weft/buffer.hpp>
#include <weft/ops/field.hpp>
#include <weft/stream.hpp>

namespace weft {

/// A range of device memory with field elements: a Buffer or BufferView of uint64_t limbs, or of uint32_t for
/// the fields of 31 bits.
struct FieldInput {
    FieldInput() = default;  ///< none
    template <class T>
    requires(sizeof(T) == 4 || sizeof(T) == 8) FieldInput(const BufferView<T>& view)  // NOLINT
        : object(detail::Access::object(view)),
          offset(view.first() * sizeof(T)),
          bytes(view.bytes()),
          limb_bytes(sizeof(T)) {}
    template <class T>
    FieldInput(const Buffer<T>& buffer) : FieldInput(buffer.view()) {}

    std::shared_ptr<core::BufferObject> object;
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t limb_bytes = 0;
};

/// The same to write to.
struct FieldOutput : FieldInput {
    template <class T>
    requires(!std::is_const_v<T>) FieldOutput(const BufferView<T>& view) : FieldInput(view) {}  // NOLINT
    template <class T>
    FieldOutput(const Buffer<T>& buffer) : FieldInput(buffer) {}
};

/// Records one operation on `stream`, unchecked: values are below p (FieldOptions::checked says what happens
/// to others). Shapes and in-place rules are those of FieldVectors; `scalar` has 64-bit limbs (one for the
/// fields of 31 bits), is read at once, and is given for axpy only. Reductions are exact, so their result
/// does not depend on the device; no elements give 0.
///
/// Errors: invalid_argument - sizes that are no multiple of an element or do not fit, limbs of the wrong
/// size, partial overlap, a scalar that is not below p, a workgroup size the device cannot have; unsupported -
/// limbs64 on a device without shaderInt64; out_of_memory - reductions need a buffer for the totals of their
/// blocks; as Stream::dispatch.
void field_apply(Stream& stream, Field field, FieldOp op, const FieldInput& a, const FieldInput& b,
                 const FieldOutput& out, std::span<const std::uint64_t> scalar = {},
                 const FieldKernelOptions& options = {});

inline void field_add(Stream& stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out) {
    field_apply(stream, field, FieldOp::add, a, b, out);
}
inline void field_sub(Stream& stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out) {
    field_apply(stream, field, FieldOp::sub, a, b, out);
}
inline void field_neg(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::neg, a, {}, out);
}
inline void field_mul(Stream& stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out, const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::mul, a, b, out, {}, options);
}
inline void field_square(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out,
                         const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::square, a, {}, out, {}, options);
}
inline void field_inverse(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out,
                          const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::inverse, a, {}, out, {}, options);
}
inline void field_to_montgomery(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::to_montgomery, a, {}, out);
}
inline void field_from_montgomery(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::from_montgomery, a, {}, out);
}
inline void field_axpy(Stream& stream, Field field, std::span<const std::uint64_t> scalar,
                       const FieldInput& a, const FieldInput& b, const FieldOutput& out,
                       const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::axpy, a, b, out, scalar, options);
}
inline void field_sum(Stream& stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::sum, a, {}, out);
}
inline void field_inner_product(Stream& stream, Field field, const FieldInput& a, const FieldInput& b,
                                const FieldOutput& out, const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::inner_product, a, b, out, {}, options);
}

/// Over bls12-381-fp.
inline void field_add(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
                      BufferView<std::uint64_t> out) {
    field_add(stream, Field::bls12_381_fp, a, b, out);
}
inline void field_sub(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
                      BufferView<std::uint64_t> out) {
    field_sub(stream, Field::bls12_381_fp, a, b, out);
}
inline void field_neg(Stream& stream, BufferView<const std::uint64_t> a, BufferView<std::uint64_t> out) {
    field_neg(stream, Field::bls12_381_fp, a, out);
}

}  // namespace weft
