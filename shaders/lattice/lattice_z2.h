// SPDX-License-Identifier: Apache-2.0
// The code of a vector of Z2.
#ifndef WEFT_SHARED_LATTICE_Z2_H
#define WEFT_SHARED_LATTICE_Z2_H

#include "lattice_base4.h"
#include "lattice_points.h"
#include "lattice_settings.h"
#define LATTICE_POINT Z2Point
#define LATTICE_CODE Z2Code
#define LATTICE_RESULT Z2Result
#define LATTICE_DIM 2
#define LATTICE_UNITS 1.0f
#define LATTICE_STEP 1.0f
#define LATTICE_BYTES Z2Bytes
#define LATTICE_QUARTER Z2Quarter
#define LATTICE_WORDS 1
#define LATTICE_BASE4 Z2Base4
#include "lattice_codec.inc"

#endif
