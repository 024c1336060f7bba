// SPDX-License-Identifier: Apache-2.0
// Makes the same states as encode_amplitude.comp, for devices that load and store lane by lane (see
// shaders/kernel_matrix/kernel_product_lanes.comp). Every invocation makes a state by itself, eight values at a time:
// it reads the row for the norm and once more for the state. Up to 18 qubits, because Mesa's software devices end every
// loop of an invocation after 65535 iterations.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_FLOAT64  // words of eight bytes are what such devices load fastest
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
// Rows have a multiple of eight values, and the first one begins at such a multiple.
layout(constant_id = 2) const bool kTogether = false;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 0) readonly buffer ValueUnits { dvec4 value_units[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };

const uint kEight = 8u;
uint row_begin;
Raw eight[kEight];

Raw value_at(uint i) {
    return values[row_begin + i];
}
#include "encode_norm.glsl.h"

// Loads eight values from value i of the row on. Those after its end are 0.
void load_eight(uint i) {
    if (kTogether) {
#if defined(WEFT_IN64)
        const uint at = (row_begin + i) / 4u;
        const dvec4 units[2] = {value_units[at], value_units[at + 1u]};
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) eight[e] = unpackDouble2x32(units[e / 4u][e % 4u]);
#else
        const dvec4 unit = value_units[(row_begin + i) / 8u];
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) eight[e] = unpackDouble2x32(unit[e / 2u])[e % 2u];
#endif
    } else {
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) eight[e] = i + e < p.features ? value_at(i + e) : Raw(0u);
    }
}

Norm norm_of_row() {
    Norm norm;
    norm.sum = kZero;
    norm.rest = kZero;
    norm.exponent = kPlain;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    for (uint i = 0u; i < p.features; i += kEight) {
        load_eight(i);
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) add_square(norm.sum, norm.rest, plain(eight[e]));
    }
    if (sums_exactly(norm.sum)) return norm;
    Extremes found = no_extremes();
    for (uint i = 0u; i < p.features; i += kEight) {
        load_eight(i);
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) note_value(found, eight[e], i + e);
    }
    norm = unsummed_norm(found);
    const uint summed = norm.fault == kEncodeGood ? p.features : 0u;
    for (uint i = 0u; i < summed; i += kEight) {
        load_eight(i);
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e)
            add_square(norm.sum, norm.rest, scaled(eight[e], norm.exponent));
    }
    return norm;
}

// Stores eight amplitudes, the first of them amplitude `at` of the dispatch.
void store_eight(uint at, Real of[kEight]) {
    WEFT_UNROLL for (uint e = 0u; e < kEight; e += 2u) {
        const Complex a = complex(of[e], kZero), b = complex(of[e + 1u], kZero);
        if (kStoreWide) {
            states[at + e] = packed(a, a);
            states[at + e + 1u] = packed(b, b);
        } else {
            states[(at + e) / 2u] = packed(a, b);
        }
    }
}

void store_state(uint row, Norm norm) {
    const bool good = norm.fault == kEncodeGood;
    const Real scale = good ? inverse_root(norm.sum, norm.rest) : kZero;
    const uint to = row << p.qubits, size = 1u << p.qubits;
    Real of[kEight];
    // Most rows need the first loop only.
    for (uint i = 0u; i < (norm.exponent == kPlain && good ? p.features : 0u); i += kEight) {
        load_eight(i);
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) {
            WEFT_PRECISE Real value = plain(eight[e]) * scale;
            of[e] = value;
        }
        store_eight(to + i, of);
    }
    for (uint i = 0u; i < (norm.exponent != kPlain && good ? p.features : 0u); i += kEight) {
        load_eight(i);
        WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) {
            WEFT_PRECISE Real value = scaled(eight[e], norm.exponent) * scale;
            of[e] = value;
        }
        store_eight(to + i, of);
    }
    WEFT_UNROLL for (uint e = 0u; e < kEight; ++e) of[e] = kZero;
    for (uint i = good ? (p.features + kEight - 1u) / kEight * kEight : 0u; i < size; i += kEight)
        store_eight(to + i, of);
}

void main() {
    // The rows of an invocation follow each other in memory.
    const uint share = (count + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    for (uint i = gl_WorkGroupID.x; i < share; i += gl_NumWorkGroups.x) {
        const uint row = gl_LocalInvocationIndex * share + i;
        if (row >= count) continue;
        row_begin = p.in_base + row * p.features;
        const Norm norm = norm_of_row();
        status[p.row_base + row] = uvec2(norm.fault, norm.position);
        if ((p.flags & kEncodeCheckOnly) == 0u) store_state(row, norm);
    }
}
