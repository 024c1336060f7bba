#version 460
// SPDX-License-Identifier: Apache-2.0
// A binding number beyond those that weft lays out.
layout(local_size_x = 1) in;
layout(set = 0, binding = 16) writeonly buffer Out { uint y[]; };

void main() {
    y[0] = 1;
}
