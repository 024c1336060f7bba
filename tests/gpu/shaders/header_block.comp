#version 460
// SPDX-License-Identifier: Apache-2.0
// A block whose array begins after a header of 32 bytes.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer List {
    uint used, spare;
    uvec4 head;
    float x[];
};

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < x.length()) x[i] = float(used) + float(i);
}
