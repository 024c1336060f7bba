// SPDX-License-Identifier: Apache-2.0
// GLSL alone: the constants that make a shader of a lattice_*.comp, and its push constants.
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const float kQ = 4.0;
layout(constant_id = 2) const float kInverseQ = 0.25;
layout(constant_id = 3) const uint kLevels = 2;
layout(constant_id = 4) const uint kBits = 8;       // of a digit in the code
layout(constant_id = 5) const uint kPerThread = 4;  // neighbours of a thread; 1: see lattice_group.h
layout(constant_id = 6) const bool kDither = false;
layout(constant_id = 7) const bool kRetries = false;
layout(constant_id = 8) const bool kStaged = false;  // see lattice_staged.h

layout(push_constant) uniform Push {
    uint count, first;
    LatticeSettings settings;
    LatticeLayout shape;
};
