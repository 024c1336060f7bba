// SPDX-License-Identifier: Apache-2.0
// Selects the lattice WEFT_LATTICE: defines the names that lattice_interface.glsl.h and the kernels use. With
// WEFT_ROWS, rows have any width and their last tile is padded with zeros. Without it, vectors follow each
// other and are read and written with wide accesses.
#ifndef WEFT_SHARED_LATTICE_TYPES_H
#define WEFT_SHARED_LATTICE_TYPES_H

#if WEFT_LATTICE == 2
#include "lattice_z2.h"
#define Point Z2Point
#define Code Z2Code
#define Result Z2Result
#define Base4 Z2Base4
#define Bytes Z2Bytes
#define LATTICE_BYTE_WORDS 1
#define WIDE vec2
#elif WEFT_LATTICE == 4
#include "lattice_d4.h"
#define Point D4Point
#define Code D4Code
#define Result D4Result
#define Base4 D4Base4
#define Bytes D4Bytes
#define LATTICE_BYTE_WORDS 1
#define WIDE vec4
#else
#include "lattice_e8.h"
#define Point E8Point
#define Code E8Code
#define Result E8Result
#define Base4 E8Base4
#define Bytes E8Bytes
#define LATTICE_BYTE_WORDS 2
#define WIDE vec4
#endif

#if defined(WEFT_ROWS)
#define LATTICE_VALUES float
#define LATTICE_STAGED 0
#else
#define LATTICE_STAGED (WEFT_LATTICE == 8)  // see lattice_staged.glsl.h
#define LATTICE_VALUES WIDE
#endif

#endif
