// SPDX-License-Identifier: Apache-2.0
// Computes the same as operator_apply.comp, for devices that load and store lane by lane, as software devices do. Every
// lane of a subgroup loads one column of K, and all lanes get its numbers from there by broadcast, so that no number is
// loaded twice. A workgroup is one subgroup.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_ballot : require
#define WEFT_FLOAT64  // words of eight bytes are what such devices load fastest
#include "operator_interface.glsl.h"
#include "shaders/shared/lane_units.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint kQubits = 8;   // of a part
layout(constant_id = 3) const uint kNumbers = 3;  // of a qubit
layout(constant_id = 4) const uint kRows = 4;     // of an invocation
layout(constant_id = 5) const uint kWidth = 1;    // columns of V
layout(constant_id = 6) const uint kTile = 64;    // columns of K of the innermost sum
layout(constant_id = 8) const bool kParts = false;  // samples have several parts
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorApplyParameters p;
};
layout(set = 0, binding = 0) readonly buffer RowSamples { dvec4 row_samples[]; };
layout(set = 0, binding = 1) readonly buffer ColumnSamples { dvec4 column_samples[]; };
layout(set = 0, binding = 2) readonly buffer Values { Real v[]; };
layout(set = 0, binding = 3) writeonly buffer Sums { Real sums[]; };  // [split][row][kWidth]

#if defined(WEFT_REAL64)
const uint kUnit = 4;
Real element(dvec4 unit, uint e) {
    return unit[e];
}
#else
const uint kUnit = kUnitFloats;
Real element(dvec4 unit, uint e) {
    return unit_element(unit, e);
}
#endif
const uint kLanes = gl_WorkGroupSize.x;
const uint kUnits = (kQubits * kNumbers + kUnit - 1u) / kUnit, kPadded = kUnits * kUnit;

Real row[kRows][kPadded];  // halved
Real mine[kPadded];        // of the lane's column
Real column[kPadded];
Real value[kRows];
Real held[kRows][kLanes];
Real mine_v[kWidth];
Real sum[kRows][kWidth];    // of a tile
Real total[kRows][kWidth];  // of a split

uint row_of(uint block, uint i) {
    return (block * kRows + i) * kLanes + gl_LocalInvocationIndex;
}

void load_rows(uint block, uint part) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        const uint at = (min(row_of(block, i), p.rows - 1u) * p.parts + part) * kUnits;
        WEFT_UNROLL for (uint u = 0; u < kUnits; ++u) {
            const dvec4 unit = row_samples[at + u];
            WEFT_UNROLL for (uint e = 0; e < kUnit; ++e) row[i][kUnit * u + e] = kHalf * element(unit, e);
        }
    }
}

void load_column(uint at, uint part) {
    WEFT_UNROLL for (uint u = 0; u < kUnits; ++u) {
        const dvec4 unit = column_samples[(min(at, p.columns - 1u) * p.parts + part) * kUnits + u];
        WEFT_UNROLL for (uint e = 0; e < kUnit; ++e) mine[kUnit * u + e] = element(unit, e);
    }
}

// Kernel values of the own rows and the column of a lane, or what a part contributes to them.
void make_values(uint lane) {
    WEFT_UNROLL for (uint c = 0; c < kQubits * kNumbers; ++c) column[c] = subgroupBroadcast(mine[c], lane);
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint q = 0; q < kQubits; ++q) {
        Real factor = kHalf;
        WEFT_UNROLL for (uint c = 0; c < kNumbers; ++c)
            factor = fma(row[i][q * kNumbers + c], column[q * kNumbers + c], factor);
        value[i] = q == 0u ? factor : value[i] * factor;
    }
}

void add_values(uint lane) {
    WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) {
        const Real of_column = subgroupBroadcast(mine_v[k], lane);
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) sum[i][k] = fma(value[i], of_column, sum[i][k]);
    }
}

void take_parts(uint block, uint at) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint t = 0; t < kLanes; ++t) held[i][t] = kOne;
    for (uint part = 0; part < p.parts; ++part) {
        load_rows(block, part);
        load_column(at, part);
        WEFT_UNROLL for (uint t = 0; t < kLanes; ++t) {
            make_values(t);
            WEFT_UNROLL for (uint i = 0; i < kRows; ++i) held[i][t] *= value[i];
        }
    }
    WEFT_UNROLL for (uint t = 0; t < kLanes; ++t) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) value[i] = held[i][t];
        add_values(t);
    }
}

// kLanes columns of K; those from `end` on count as 0.
void take_columns(uint block, uint from, uint end) {
    const uint at = from + gl_LocalInvocationIndex;
    WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) mine_v[k] = v[p.in_base + min(at, p.columns - 1u) * p.width + k];
    if (at >= end) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) mine_v[k] = kZero;
    if (kParts) {
        take_parts(block, at);
        return;
    }
    load_column(at, 0u);
    WEFT_UNROLL for (uint t = 0; t < kLanes; ++t) {
        make_values(t);
        add_values(t);
    }
}

void main() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (workgroup >= count) return;
    const uint rows_of = kRows * kLanes, blocks = (p.rows + rows_of - 1u) / rows_of;
    const uint split = workgroup / blocks, block = workgroup - split * blocks;
    const uint begin = split * p.split, end = min(begin + p.split, p.columns);
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) total[i][k] = kZero;
    if (!kParts) load_rows(block, 0u);
    for (uint from = begin; from < end; from += kTile) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) sum[i][k] = kZero;
        for (uint of_tile = from; of_tile < min(from + kTile, end); of_tile += kLanes) take_columns(block, of_tile, end);
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k)
            total[i][k] += sum[i][k];
    }
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        const uint at = row_of(block, i);
        if (at < p.rows) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k)
            sums[(split * p.rows + at) * kWidth + k] = total[i][k];
    }
}
