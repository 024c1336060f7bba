// SPDX-License-Identifier: Apache-2.0
// Lattice codes and a status byte for each vector of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/lattice_types.h"
#include "shared/lattice_layout.h"
#include "shared/lattice_form.h"

layout(set = 0, binding = 0) readonly buffer X { LATTICE_VALUES values[]; };
layout(set = 0, binding = 1) writeonly buffer Codes { uint codes[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uint status[]; };
#include "shared/lattice_encode.h"
