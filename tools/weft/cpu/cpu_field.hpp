// SPDX-License-Identifier: Apache-2.0
// Field arithmetic on the processor: the baseline of reports and the reference for checks of results. It
// shares no code with the shaders.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/field.hpp>

namespace weft::tool {

/// As FieldJob; Limb is the limb type of the field.
template <class Limb>
struct CpuFieldJob {
    std::span<const Limb> a, b{}, scalar{};
    std::span<Limb> out;
    FieldForm form = FieldForm::plain;
};

/// The result of field_apply, for values below p. `threads`: the most that are used.
template <class Limb>
void cpu_field(const FieldInfo& field, FieldOp op, const CpuFieldJob<Limb>& job, unsigned threads);

/// Values below p: pseudo-random ones, and in each thousand one 0 and one p - 1.
template <class Limb>
void fill_field(const FieldInfo& field, std::uint64_t seed, std::span<Limb> out);

}  // namespace weft::tool
