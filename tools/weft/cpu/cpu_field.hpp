// SPDX-License-Identifier: Apache-2.0
// Field arithmetic on the processor: the baseline of reports and the check of results. Shares no code with
// the shaders.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/field.hpp>

namespace weft::tool {

/// out[i] = a[i] op b[i] mod p for add, sub, neg and mul, elements below p in plain form, as FieldJob has
/// them. Limb is the field's. `threads`: at most.
void cpu_field(const FieldInfo& field, FieldOp op, std::span<const std::uint64_t> a,
               std::span<const std::uint64_t> b, std::span<std::uint64_t> out, unsigned threads);
void cpu_field(const FieldInfo& field, FieldOp op, std::span<const std::uint32_t> a,
               std::span<const std::uint32_t> b, std::span<std::uint32_t> out, unsigned threads);

/// Values below p: pseudo-random ones, and of each thousand one 0 and one p - 1.
void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<std::uint64_t> out);
void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<std::uint32_t> out);

}  // namespace weft::tool
