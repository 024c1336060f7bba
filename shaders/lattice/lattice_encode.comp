// SPDX-License-Identifier: Apache-2.0
// Lattice codes and a status byte for each vector of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lattice_types.h"
#include "lattice_layout.glsl.h"

layout(set = 0, binding = 0) readonly buffer X { LATTICE_VALUES values[]; };
layout(set = 0, binding = 1) writeonly buffer Codes { uint codes[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uint status[]; };
layout(set = 0, binding = 3) readonly buffer Scales { float scales[]; };  // unused unless kRetries
#include "lattice_interface.glsl.h"
#include "lattice_encode.glsl.h"
