// SPDX-License-Identifier: Apache-2.0
// Multiplies a block of K that lies in memory with columns of V: a workgroup makes 32 rows, tile by tile of 64 columns
// of K, and four invocations share a row. Or it takes the diagonal of the block; an element is a value then.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x = 128) in;
layout(constant_id = 2) const uint kWidth = 1;  // columns of V of a pass, 1 to 16
layout(constant_id = 3) const bool kDiagonal = false;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorBlockParameters p;
};
layout(set = 0, binding = 0) readonly buffer Block { Real block[]; };
layout(set = 0, binding = 1) readonly buffer Values { Real v[]; };
layout(set = 0, binding = 2) buffer Out { Real result[]; };
#include "operator_block.glsl.h"
