// SPDX-License-Identifier: Apache-2.0
// Lattice codes of vectors in CUDA device memory: the functions of <weft/ops/lattice.hpp> with a CUDA stream.
// Target weft::cuda.
//
// Example:
//     const weft::cuda::DeviceSpan<float> x;                      // of memory from cudaMalloc
//     const weft::cuda::DeviceSpan<std::uint32_t> codes, status;  // code_words() and status_words() words
//     const weft::cuda::StreamHandle stream = nullptr;            // a cudaStream_t
//     weft::cuda::lattice_encode(stream, {.q = 4, .beta = 0.1f}, x, codes, status);
#pragma once

#include <cstdint>
#include <optional>

#include <weft/cuda/device.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>

namespace weft::cuda {

/// Shapes, results (bit for bit) and errors are those of the functions of the same name on a weft::Stream.
/// Ranges begin at multiples of 16 bytes. The calls do not wait and allocate nothing, except that the first
/// lattice_inner of a device with a table uploads its words, which are kept until the process ends.
///
/// Further errors: no_device - no NVIDIA driver or no device, the text says which; invalid_argument - memory
/// that is not aligned; driver, out_of_memory.
void lattice_encode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                    DeviceSpan<std::uint32_t> codes, DeviceSpan<std::uint32_t> status,
                    const LatticeOptions& options = {});
void lattice_decode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const std::uint32_t> codes,
                    std::optional<DeviceSpan<const std::uint32_t>> status, DeviceSpan<float> x,
                    const LatticeDecodeOptions& options = {});
/// `y` may be `x`.
void lattice_quantize(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                      DeviceSpan<float> y, DeviceSpan<std::uint32_t> status,
                      const LatticeOptions& options = {});
void lattice_inner(StreamHandle stream, const LatticeTable& table, const LatticeCode& code,
                   DeviceSpan<const std::uint32_t> x, DeviceSpan<const std::uint32_t> y,
                   DeviceSpan<float> out, const LatticeOptions& options = {});

}  // namespace weft::cuda
