// SPDX-License-Identifier: Apache-2.0
// Makes the same states as encode_basis.comp, for devices that load and store lane by lane (see
// shaders/kernel_matrix/kernel_product_lanes.comp). Every invocation makes a slab by itself: it stores zeros, and then
// once more the unit that has the amplitude 1.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_FLOAT64
#include "shaders/encode/encode_parameters.h"
#include "encode_turns.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool kStoreWide = false;
layout(constant_id = 2) const uint kInput = 0;      // 0 float, 1 double, 2 int64
layout(constant_id = 3) const uint kSlabBits = 10;  // amplitudes of a slab, as a power of two: 4 to 10
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1) writeonly buffer States { dvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_index.glsl.h"

const uint kUnitBits = kStoreWide ? 1u : 2u;  // amplitudes of a unit of four doubles, as a power of two
const uint kUnits = 1u << (kSlabBits - kUnitBits), kTogether = 4u;

// A unit whose amplitude `place` is 1.
dvec4 unit_with(uint place) {
    dvec4 unit = dvec4(0.0);
    if (kStoreWide)
        unit[2u * place] = 1.0;
    else
        unit[place] = packDouble2x32(uvec2(0x3f800000u, 0u));
    return unit;
}

void store(uint slab, uint place) {
    const uint begin = slab << (kSlabBits - kUnitBits);
    for (uint at = begin; at < begin + kUnits; at += kTogether)
        WEFT_UNROLL for (uint i = 0u; i < kTogether; ++i) states[at + i] = dvec4(0.0);
    if (place < 1u << kSlabBits) states[begin + (place >> kUnitBits)] = unit_with(place & ((1u << kUnitBits) - 1u));
}

void main() {
    const uint block_bits = p.qubits - kSlabBits;
    const uint share = (count + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
    for (uint i = gl_WorkGroupID.x; i < share; i += gl_NumWorkGroups.x) {
        const uint slab = gl_LocalInvocationIndex * share + i;
        if (slab >= count) continue;
        const uint element = p.base + first + slab, row = element >> block_bits;
        const uint block = element & ((1u << block_bits) - 1u);
        const uvec2 index = index_of(row);
        if (!by_row || block == 0u) status[by_row ? p.row_base + row : slab] = uvec2(index.y, 0u);
        if ((p.flags & kEncodeCheckOnly) != 0u) continue;
        const uint none = 1u << kSlabBits;
        store(slab, index.y == kEncodeGood ? index.x - (block << kSlabBits) : none);
    }
}
