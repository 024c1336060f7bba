// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, first step: a workgroup computes the norm of a block of a row. The blocks of a row follow each
// other in `norms`. A row that is too long for one binding takes several dispatches.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    // features: values of a row in the bound range; slab_bits: bits of a place in a block; qubits: blocks of a row;
    // base: blocks of this row before this dispatch; row_base: the first record to write
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer Norms { uvec4 norms[]; };
#include "encode_norm_block.glsl.h"
