#version 460
// SPDX-License-Identifier: Apache-2.0
// A uniform buffer, which weft does not bind.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Block { uint value; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    y[0] = value;
}
