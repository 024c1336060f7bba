// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, second step: the norms of a row's blocks become one, by a workgroup a row. The record that
// comes out holds the inverse of the norm where those of blocks hold sums.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;  // features: blocks of a row; row_base: the first row
};
layout(set = 0, binding = 0) readonly buffer Norms { uvec4 norms[]; };
layout(set = 0, binding = 1) writeonly buffer Rows { uvec4 rows[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_norm_row.glsl.h"
