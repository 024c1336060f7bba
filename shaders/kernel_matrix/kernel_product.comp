// SPDX-License-Identifier: Apache-2.0
// Kernel values of product states: the product over the qubits of the fidelities of two qubits that were turned by RY(x)
// and RY(y), which is 1 - q with q = sin^2((x - y) / 2) = ((cos x - cos y)^2 + (sin x - sin y)^2) / 4. If RZ by the same
// angle followed, q has the further factor 1 + sin x sin y. Differences keep the accuracy if states are nearly equal:
// equal samples give exactly 1, and exchanging them changes no bit. A workgroup computes tiles of 64 x 64 values, an
// invocation 8 x 4 of them.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "kernel_interface.glsl.h"

layout(local_size_x = 128) in;
layout(constant_id = 2) const bool kRz = false;  // whether RZ follows RY
// If set, the elements are tiles of the lower triangle, which are mirrored into the upper one. Otherwise they are the
// values [first, first + count) of the job's rows, and `first` is the first value that is bound.
layout(constant_id = 3) const bool kSymmetric = false;
// Over many qubits the rounding errors of factors near 1 add up. Then the deviation from 1 is gathered over 16 qubits,
// with an error relative to itself, before it is subtracted from a product with twice the digits.
layout(constant_id = 4) const bool kLong = false;
// K begins at a multiple of four values, and the length of its rows is a multiple of four.
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
layout(set = 0, binding = 0) readonly buffer PlaneFours { Real4 plane_fours[]; };
// WEFT_TIMES: the buffer has the values of other qubits, which are multiplied by those of these qubits; not with
// kFours.
#if defined(WEFT_TIMES)
layout(set = 0, binding = 1) buffer Values { Real values[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Values { Real values[]; };
layout(set = 0, binding = 1) writeonly buffer Fours { Real4 fours[]; };
#endif
#include "kernel_product.glsl.h"
