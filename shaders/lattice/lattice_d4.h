// SPDX-License-Identifier: Apache-2.0
// The code of a vector of D4.
#ifndef WEFT_SHARED_LATTICE_D4_H
#define WEFT_SHARED_LATTICE_D4_H

#include "lattice_base4.h"
#include "lattice_points.h"
#include "lattice_settings.h"
#define LATTICE_POINT D4Point
#define LATTICE_CODE D4Code
#define LATTICE_RESULT D4Result
#define LATTICE_DIM 4
#define LATTICE_UNITS 1.0f
#define LATTICE_STEP 1.0f
#define LATTICE_BYTES D4Bytes
#define LATTICE_QUARTER D4Quarter
#define LATTICE_WORDS 1
#define LATTICE_BASE4 D4Base4
#include "lattice_codec.inc"

#endif
