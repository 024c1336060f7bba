// SPDX-License-Identifier: Apache-2.0
// Lattice codes of vectors in CUDA device memory: lattice.hpp's functions with a CUDA stream. Target
// weft::cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <weft/cuda/device.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>

namespace weft::cuda {

/// Shapes, results (bit for bit) and errors are those of the functions of the same name on a weft::Stream.
/// Ranges begin at multiples of 16 bytes. Nothing waits, nothing is allocated.
///
/// Errors besides: no_device - no NVIDIA driver or no device, said by name; invalid_argument - memory that is
/// not aligned; driver - as CUDA says.
void lattice_encode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                    DeviceSpan<std::uint32_t> codes, DeviceSpan<std::uint32_t> status, std::size_t width = 0);
void lattice_decode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const std::uint32_t> codes,
                    std::optional<DeviceSpan<const std::uint32_t>> status, DeviceSpan<float> x,
                    std::size_t width = 0, std::uint32_t depth = 0);
/// `y` may be `x`.
void lattice_quantize(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                      DeviceSpan<float> y, DeviceSpan<std::uint32_t> status, std::size_t width = 0);
/// `table_words` is a copy of table.words().
void lattice_inner(StreamHandle stream, const LatticeTable& table,
                   DeviceSpan<const std::uint32_t> table_words, const LatticeCode& code,
                   DeviceSpan<const std::uint32_t> x, DeviceSpan<const std::uint32_t> y,
                   DeviceSpan<float> out, std::size_t width = 0);

}  // namespace weft::cuda
