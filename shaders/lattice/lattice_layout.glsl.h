// SPDX-License-Identifier: Apache-2.0
// The specialization constants and the push constants of a lattice_*.comp. GLSL only.
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const float kQ = 4.0;
layout(constant_id = 2) const float kInverseQ = 0.25;
layout(constant_id = 3) const uint kLevels = 2;
layout(constant_id = 4) const uint kBits = 8;  // bits of a digit in the code
layout(constant_id = 5) const uint kPerThread =
    4;  // neighbouring vectors of a thread; 1: see lattice_group.glsl.h
layout(constant_id = 6) const bool kDither = false;
layout(constant_id = 7) const bool kRetries = false;
layout(constant_id = 8) const bool kStaged = false;  // see lattice_staged.glsl.h

layout(push_constant) uniform Push {
    uint count, first;
    LatticeSettings settings;
    LatticeLayout shape;
};
