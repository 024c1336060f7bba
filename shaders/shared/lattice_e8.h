// SPDX-License-Identifier: Apache-2.0
// The code of a vector of E8.
#ifndef WEFT_SHARED_LATTICE_E8_H
#define WEFT_SHARED_LATTICE_E8_H

#include "lattice_points.h"
#include "lattice_settings.h"
#define LATTICE_POINT E8Point
#define LATTICE_CODE E8Code
#define LATTICE_RESULT E8Result
#define LATTICE_DIM 8
#define LATTICE_UNITS 2.0f
#define LATTICE_STEP 0.5f
#include "lattice_codec.h"

#endif
