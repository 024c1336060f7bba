// SPDX-License-Identifier: Apache-2.0
// The code of a vector of Z2.
#ifndef WEFT_SHARED_LATTICE_Z2_H
#define WEFT_SHARED_LATTICE_Z2_H

#include "lattice_points.h"
#include "lattice_settings.h"
#define LATTICE_POINT Z2Point
#define LATTICE_CODE Z2Code
#define LATTICE_RESULT Z2Result
#define LATTICE_DIM 2
#define LATTICE_UNITS 1.0f
#define LATTICE_STEP 1.0f
#include "lattice_codec.h"

#endif
