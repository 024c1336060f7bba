// SPDX-License-Identifier: Apache-2.0
// One pass of building circuit states. Amplitudes come from a product state or from memory, and pass the ring of CNOTs
// where a layer begins. Then the gates of some wires are applied; RX, RZ and RY of a wire form one 2 x 2 matrix. A
// block has 2^window amplitudes, which differ in the lowest `carried` bits of the index, so that neighbouring
// invocations load neighbouring amplitudes, and in the bits from `from` on. An invocation holds 16 of them and applies
// 4 gates to them; then the amplitudes of a block are redistributed through shared memory. Small states share a
// workgroup. The last pass packs the states (WEFT_PACKED) for the Gram product, in planes of float, of double
// (WEFT_REAL64) or of float16 (WEFT_MATRIX), and adds up their squares for the norms.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/gram/gram_layout.h"
#include "kernel_interface.glsl.h"
#include "kernel_ring.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const bool kGenerate = false;  // amplitudes come from a product state, else from memory
layout(constant_id = 3) const bool kRing = false;      // amplitudes pass the ring
layout(constant_id = 4) const uint kLanes = 256;       // the same as local_size_x
layout(push_constant) uniform Push {
    uint count;  // blocks
    uint first;
    KernelStateParameters p;
};

#if defined(WEFT_REAL64)
#define Real2 dvec2
#else
#define Real2 vec2
#endif
layout(set = 0, binding = 0) readonly buffer Planes { Real planes[]; };    // of half angles
layout(set = 0, binding = 1) readonly buffer Weights { Real2 weights[]; };  // cosine and sine of half of each weight
layout(set = 0, binding = 2) readonly buffer Source { Real2 source[]; };
#if defined(WEFT_PACKED)
layout(constant_id = 5) const bool kSquares = false;  // sums of squares are stored
layout(constant_id = 6) const bool kTurned = true;    // amplitudes are transposed first, for wide stores
#if defined(WEFT_MATRIX)
layout(set = 0, binding = 3) writeonly buffer Packed { uint packed_planes[]; };
#else
layout(set = 0, binding = 3) writeonly buffer Packed { Real packed_planes[]; };
#endif
layout(set = 0, binding = 4) writeonly buffer Squares { Real squares[]; };  // of each block of a sample
#else
layout(set = 0, binding = 3) writeonly buffer States { Real2 states[]; };
#endif
#include "kernel_states.glsl.h"
