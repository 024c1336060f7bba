// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, second step: a workgroup joins the norms of a row's blocks. The record that it writes holds the
// inverse of the norm in the place where records of blocks hold sums.
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
