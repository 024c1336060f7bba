// SPDX-License-Identifier: Apache-2.0
// The table of powers of 2^alpha that the lattice kernels read (lattice_scales in
// ops/lattice/lattice_plan.hpp), made once for each alpha and number of retries and kept by the backend.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/backend.hpp>
#include <weft/buffer.hpp>
#include <weft/host_buffer.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/stream.hpp>

namespace weft::kernels {

/// The table for jobs. It is page-locked, because a job takes the path of page-locked memory only if all of
/// its spans are. Errors: out_of_memory.
std::shared_ptr<const HostBuffer<float>> host_scales(Backend& backend, const LatticeCode& code);

/// The table in device memory, for a step of `stream`. Errors: as core::kept_words.
BufferView<const std::uint32_t> resident_scales(const Stream& stream, const LatticeCode& code);

}  // namespace weft::kernels
