// SPDX-License-Identifier: Apache-2.0
// y = scale * x + y, in place.
#version 450

layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Block {
    uint count;  // filled in by weft: elements of this dispatch
    uint first;  // filled in by weft: index of the first of them in the job
    float scale; // the caller's parameters start here
} block;

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < block.count) y[i] = block.scale * x[i] + y[i];
}
