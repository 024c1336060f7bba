// SPDX-License-Identifier: Apache-2.0
// For each vector of x: the result of decoding its code, without making the code, and its status byte. `y` may be `x`.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lattice_types.h"
#include "lattice_layout.glsl.h"

layout(set = 0, binding = 0) readonly buffer X { LATTICE_VALUES values[]; };
layout(set = 0, binding = 1) writeonly buffer Y { LATTICE_VALUES y[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uint status[]; };
layout(set = 0, binding = 3) readonly buffer Scales { float scales[]; };  // unused unless kRetries
#include "lattice_interface.glsl.h"
#include "lattice_quantize.glsl.h"
