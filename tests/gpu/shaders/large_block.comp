#version 460
// SPDX-License-Identifier: Apache-2.0
// The block is larger than the limit of every device.
layout(local_size_x = 1) in;
layout(push_constant) uniform Push { uint count, first; uint table[128]; };
layout(set = 0, binding = 0) writeonly buffer Out { uint y[]; };

void main() {
    y[0] = table[count];
}
