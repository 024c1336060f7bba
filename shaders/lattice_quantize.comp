// SPDX-License-Identifier: Apache-2.0
// What decoding the code of each vector of x gives, without making the code, and its status byte. `y` may be `x`.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/lattice_types.h"
#include "shared/lattice_layout.h"
#include "shared/lattice_form.h"

layout(set = 0, binding = 0) readonly buffer X { LATTICE_VALUES values[]; };
layout(set = 0, binding = 1) writeonly buffer Y { LATTICE_VALUES y[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uint status[]; };
#include "shared/lattice_quantize.h"
