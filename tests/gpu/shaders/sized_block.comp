#version 460
// SPDX-License-Identifier: Apache-2.0
// Blocks whose sizes follow a constant: the first may have any, the offsets of the second are those of 4.
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 4;
#ifdef WEFT_OVERLAP
layout(set = 0, binding = 0) buffer Y {
    uint h[N];
    uint y[];
};
#else
layout(set = 0, binding = 0) buffer Y { uint h[N]; };
#endif

void main() {
    for (uint k = 0; k < N; k++) h[k] = 100 + k;
}
