// SPDX-License-Identifier: Apache-2.0
// Records transforms that were checked.
#pragma once

#include <cstdint>

#include <weft/backend.hpp>
#include <weft/stream.hpp>

#include "ops/ntt/ntt_check.hpp"

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;

/// What `weft tune ntt` stored for the device; 0: nothing.
std::uint64_t ntt_tile_bytes(const PlanReport& plan);

/// Elements as words of a buffer.
Words ntt_words(const ConstDeviceArray& array);

void record_ntt(Stream& stream, const NttRequest& request, const Words& in, const Words& out);
void record_ntt_extend(Stream& stream, const NttExtension& extension, const Words& in, const Words& out);
void record_ntt_product(Stream& stream, const NttProduct& product, FieldForm form, const Words& a,
                        const Words& b, const Words& out);

}  // namespace weft::kernels
