// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors in CUDA device memory: the functions of <weft/ops/field.hpp> with a CUDA stream.
// Target weft::cuda.
//
// Example:
//     const weft::cuda::DeviceSpan<std::uint64_t> a, b, out;  // of memory from cudaMalloc
//     const weft::cuda::StreamHandle stream = nullptr;        // a cudaStream_t
//     weft::cuda::field_add(stream, weft::Field::bn254_fr, a, b, out);
#pragma once

#include <weft/cuda/device.hpp>
#include <weft/ops/field.hpp>

namespace weft::cuda {

/// Puts one operation on `stream`. Results, shapes, in-place rules and errors are those of weft::field_apply
/// on a Stream, bit for bit and word for word. Arrays begin at a multiple of 16 bytes, or of the element size
/// if that is smaller. The call does not wait. Memory for totals of reductions is used in the order of the
/// stream and kept for the next call.
///
/// Further errors: no_device - no NVIDIA driver or no device, the text says which; invalid_argument - memory
/// that is not aligned, FieldOptions::shader, which does not apply; driver, out_of_memory.
void field_apply(StreamHandle stream, Field field, FieldOp op, const ConstDeviceArray& a,
                 const ConstDeviceArray& b, const ConstHostArray& scalar, const DeviceArray& out,
                 const FieldOptions& options = {});

using weft::field_add, weft::field_sub, weft::field_mul, weft::field_neg, weft::field_square,
    weft::field_inverse, weft::field_to_montgomery, weft::field_from_montgomery, weft::field_axpy,
    weft::field_sum, weft::field_inner_product;

}  // namespace weft::cuda
