// SPDX-License-Identifier: Apache-2.0
// Number-theoretic transforms in CUDA device memory: the functions of <weft/ops/ntt.hpp> with a CUDA stream.
// Target weft::cuda.
//
// Example:
//     const weft::cuda::DeviceSpan<std::uint64_t> x;        // of memory from cudaMalloc
//     const weft::cuda::StreamHandle stream = nullptr;      // a cudaStream_t
//     weft::cuda::ntt(stream, weft::Field::goldilocks, weft::NttDirection::forward, x, x, {.log_size = 20});
#pragma once

#include <weft/cuda/device.hpp>
#include <weft/ops/ntt.hpp>

namespace weft::cuda {

/// Puts transforms on `stream`. Results, shapes, in-place rules and errors are those of weft::ntt on a
/// Stream, bit for bit and word for word. Arrays begin at a multiple of 16 bytes, or of the element size if
/// that is smaller.
///
/// The first call with a size, root and coset makes tables of powers, waits for them, and cannot be captured
/// into a graph. The process keeps those of the last calls, up to 1 GiB. Later calls do not wait. Scratch
/// memory is used in the order of the stream and kept for the next call.
///
/// Further errors: no_device - no NVIDIA driver or no device, the text says which; invalid_argument - memory
/// that is not aligned, NttOptions::shader, which does not apply; driver, out_of_memory.
void ntt(StreamHandle stream, Field field, NttDirection direction, const ConstDeviceArray& in,
         const DeviceArray& out, const NttShape& shape, const NttOptions& options = {});

/// The same of weft::ntt_extend.
void ntt_extend(StreamHandle stream, Field field, const ConstDeviceArray& in, const DeviceArray& out,
                const NttShape& shape, std::uint32_t blowup, const NttOptions& options = {});

/// The same of weft::ntt_product.
void ntt_product(StreamHandle stream, Field field, const ConstDeviceArray& a, const ConstDeviceArray& b,
                 const DeviceArray& out, const FieldOptions& options = {});

}  // namespace weft::cuda
