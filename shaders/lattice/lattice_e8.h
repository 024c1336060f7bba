// SPDX-License-Identifier: Apache-2.0
// The code of a vector of E8.
#ifndef WEFT_SHARED_LATTICE_E8_H
#define WEFT_SHARED_LATTICE_E8_H

#include "lattice_base4_e8.h"
#include "lattice_points.h"
#include "lattice_settings.h"
#define LATTICE_POINT E8Point
#define LATTICE_CODE E8Code
#define LATTICE_RESULT E8Result
#define LATTICE_DIM 8
#define LATTICE_UNITS 2.0f
#define LATTICE_STEP 0.5f
#define LATTICE_BYTES E8Bytes
#define LATTICE_QUARTER E8Quarter
#define LATTICE_WORDS 2
#define LATTICE_BASE4 E8Base4
#include "lattice_codec.inc"

#endif
