// SPDX-License-Identifier: Apache-2.0
// Decodes lattice codes to vectors. Digits outside [0, q), and a status that no encoder with these settings writes,
// decode to a vector of NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lattice_types.h"
#include "lattice_layout.glsl.h"

layout(set = 0, binding = 0) readonly buffer Codes { uint codes[]; };
layout(set = 0, binding = 1) readonly buffer Status { uint status[]; };  // one word unless kRetries
layout(set = 0, binding = 2) writeonly buffer Y { LATTICE_VALUES y[]; };
layout(set = 0, binding = 3) readonly buffer Scales { float scales[]; };  // unused unless kRetries
#include "lattice_interface.glsl.h"
#include "lattice_decode.glsl.h"
