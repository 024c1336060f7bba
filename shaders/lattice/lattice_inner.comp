// SPDX-License-Identifier: Apache-2.0
// Inner products of rows of lattice codes by table.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/portable.h"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint kQ = 4;
layout(constant_id = 2) const uint kLevels = 2;
layout(constant_id = 3) const uint kBits = 8;
layout(constant_id = 4) const uint kDim = 4;
layout(constant_id = 5) const uint kPoints = 256;  // q^d

layout(push_constant) uniform Push {
    uint count, first;
    uint element_rows, rows;  // rows of an element; number of all rows
    uint tiles;               // vectors of a row
    uint y_step;              // 1, or 0 if y is one row
    float scale;              // beta^2
};
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Y { uint y[]; };
layout(set = 0, binding = 2) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 3) writeonly buffer Out { float result[]; };
#include "lattice_inner.glsl.h"
