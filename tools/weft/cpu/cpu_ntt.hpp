// SPDX-License-Identifier: Apache-2.0
// Number-theoretic transforms on the processor: the baseline of bench_ntt and the reference for checks of its
// results. They share no code with the shaders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/ops/field_info.hpp>

namespace weft::tool {

/// Powers of the roots that a transform of 2^log_size elements takes, in the form that cpu_ntt reads; made
/// once. Limb is the limb type of the field.
template <class Limb>
std::vector<Limb> cpu_ntt_powers(const FieldInfo& field, std::uint32_t log_size);

/// Forward transforms in place of a batch in rows: natural order in, bit-reversed order out. `threads`: the
/// most that are used.
template <class Limb>
void cpu_ntt(const FieldInfo& field, std::uint32_t log_size, std::span<const Limb> powers,
             std::span<Limb> batch, unsigned threads);

}  // namespace weft::tool
