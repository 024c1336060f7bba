// SPDX-License-Identifier: Apache-2.0
// One pass of a transform; see ntt_parameters.h and ntt_pass.glsl.h. `result` may be `a`: a tile is loaded completely
// before it is stored, and no buffer is declared restrict.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "ntt_interface.glsl.h"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 40) const uint kTileBits = 12u;
#define kMostTileBits kTileBits
#if defined(WEFT_NTT_COMPACT)
#define kPassBits p.pass_bits
#define kZeroBits p.zero_bits
#define kFlags p.flags
#else
layout(constant_id = 41) const uint kPassBits = 8u;
layout(constant_id = 42) const uint kZeroBits = 0u;
layout(constant_id = 43) const uint kFlags = 0u;
#if defined(kept_quick)
layout(set = 0, binding = 4) readonly buffer Quick { uvec2 quick[]; };
#endif
#define kFactorRows (1u << (kPassBits * ((kFlags / kNttRowFactors) & 1u)))
#endif
layout(push_constant) uniform Push {
    uint count, first;
    NttParameters p;
};
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) readonly buffer Tables { ElementPart tables[]; };
layout(set = 0, binding = 2) readonly buffer Scales { ElementPart scales[]; };
layout(set = 0, binding = 3) writeonly buffer Out { ElementPart result[]; };

Element load_in(uint i) {
    return LOAD(a, i);
}
void store_out(uint i, Element z) {
    STORE(result, i, z);
}
Element table_at(uint i) {
    return LOAD(tables, i);
}
Element scale_at(uint i) {
    return LOAD(scales, i);
}

#include "ntt_pass.glsl.h"
