// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors in CUDA device memory: field_stream.hpp's functions with a CUDA stream. Target
// weft::cuda.
#pragma once

#include <cstdint>
#include <span>

#include <weft/cuda/device.hpp>
#include <weft/ops/field.hpp>

namespace weft::cuda {

/// A range of device memory with field elements: a DeviceSpan of uint64_t limbs, or of uint32_t for the
/// fields of 31 bits. It begins at a multiple of 16 bytes, or of an element where that is smaller.
struct FieldInput {
    FieldInput() = default;  ///< none
    template <class T>
    requires(sizeof(T) == 4 || sizeof(T) == 8)
        FieldInput(DeviceSpan<T> span)
        : data(span.data()), bytes(span.bytes()), limb_bytes(sizeof(T)) {}

    const void* data = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t limb_bytes = 0;
};

/// The same to write to.
struct FieldOutput {
    template <class T>
    requires(!std::is_const_v<T> && (sizeof(T) == 4 || sizeof(T) == 8))
        FieldOutput(DeviceSpan<T> span)
        : data(span.data()), bytes(span.bytes()), limb_bytes(sizeof(T)) {}

    void* data;
    std::uint64_t bytes;
    std::uint32_t limb_bytes;
};

/// Puts one operation on `stream`. Results, shapes, in-place rules and errors are those of weft::field_apply,
/// bit for bit and word for word; FieldKernelOptions::shader changes nothing. Nothing waits. Totals of
/// reductions lie in memory that the stream orders and that is kept for the next call.
///
/// Errors besides: no_device - no NVIDIA driver or no device, said by name; invalid_argument - memory that is
/// not aligned; driver, out_of_memory - as CUDA says.
void field_apply(StreamHandle stream, Field field, FieldOp op, const FieldInput& a, const FieldInput& b,
                 const FieldOutput& out, std::span<const std::uint64_t> scalar = {},
                 const FieldKernelOptions& options = {});

inline void field_add(StreamHandle stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out) {
    field_apply(stream, field, FieldOp::add, a, b, out);
}
inline void field_sub(StreamHandle stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out) {
    field_apply(stream, field, FieldOp::sub, a, b, out);
}
inline void field_neg(StreamHandle stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::neg, a, {}, out);
}
inline void field_mul(StreamHandle stream, Field field, const FieldInput& a, const FieldInput& b,
                      const FieldOutput& out, const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::mul, a, b, out, {}, options);
}
inline void field_square(StreamHandle stream, Field field, const FieldInput& a, const FieldOutput& out,
                         const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::square, a, {}, out, {}, options);
}
inline void field_inverse(StreamHandle stream, Field field, const FieldInput& a, const FieldOutput& out,
                          const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::inverse, a, {}, out, {}, options);
}
inline void field_to_montgomery(StreamHandle stream, Field field, const FieldInput& a,
                                const FieldOutput& out) {
    field_apply(stream, field, FieldOp::to_montgomery, a, {}, out);
}
inline void field_from_montgomery(StreamHandle stream, Field field, const FieldInput& a,
                                  const FieldOutput& out) {
    field_apply(stream, field, FieldOp::from_montgomery, a, {}, out);
}
inline void field_axpy(StreamHandle stream, Field field, std::span<const std::uint64_t> scalar,
                       const FieldInput& a, const FieldInput& b, const FieldOutput& out,
                       const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::axpy, a, b, out, scalar, options);
}
inline void field_sum(StreamHandle stream, Field field, const FieldInput& a, const FieldOutput& out) {
    field_apply(stream, field, FieldOp::sum, a, {}, out);
}
inline void field_inner_product(StreamHandle stream, Field field, const FieldInput& a, const FieldInput& b,
                                const FieldOutput& out, const FieldKernelOptions& options = {}) {
    field_apply(stream, field, FieldOp::inner_product, a, b, out, {}, options);
}

}  // namespace weft::cuda
