// SPDX-License-Identifier: Apache-2.0
// Kernel values of product states: K = product over the qubits of 1 - |r - s|^2 / 4, r and s the Bloch vectors
// of the two samples. This form of the fidelity (1 + r.s) / 2 loses nothing where states are nearly equal: equal
// samples give exactly 1, and exchanging them changes no bit.
// A workgroup takes tiles of 64 x 64 values, an invocation 8 x 4 of them.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "kernel_interface.glsl.h"

layout(local_size_x = 128) in;
layout(constant_id = 2) const uint kParts = 2;  // of a Bloch vector: 2 in a plane, else 3
// Of the lower triangle of tiles each, mirrored into the upper one; else the values [first, first + count) of the
// job's rows, of which the first bound one is `first`.
layout(constant_id = 3) const bool kSymmetric = false;
// Rounding of every factor near 1 adds up over many qubits. There the deviation from 1 is gathered over 16
// qubits, with an error relative to itself, before it is taken from a product of twice the digits.
layout(constant_id = 4) const bool kLong = false;
// K begins at a multiple of four values, and its rows are as long.
layout(constant_id = 5) const bool kFours = false;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelProductParameters p;
};
#if defined(WEFT_REAL64)
#define Real4 dvec4
#else
#define Real4 vec4
#endif
layout(set = 0, binding = 0) readonly buffer Planes { Real planes[]; };
// WEFT_TIMES: the values of other qubits are there, and are multiplied by those of these; not by fours.
#if defined(WEFT_TIMES)
layout(set = 0, binding = 1) buffer Values { Real values[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Values { Real values[]; };
layout(set = 0, binding = 1) writeonly buffer Fours { Real4 fours[]; };
#endif
#include "kernel_product.glsl.h"
