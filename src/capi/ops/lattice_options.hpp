// SPDX-License-Identifier: Apache-2.0
// Codes and options of lattices.
#pragma once

#include <weft/weft.h>
#include <weft/ops/lattice.hpp>

namespace weft::capi {

/// Errors of all: invalid_argument.
Lattice lattice_of(const char* function, const char* name, weft_lattice lattice);
LatticeCode code_of(const char* function, const weft_lattice_code* code);
LatticeHostOptions lattice_host_options(const char* function, const weft_lattice_options* options);
LatticeDecodeHostOptions lattice_decode_host_options(const char* function,
                                                     const weft_lattice_options* options);
LatticeOptions lattice_options(const char* function, const weft_lattice_options* options);
LatticeDecodeOptions lattice_decode_options(const char* function, const weft_lattice_options* options);

}  // namespace weft::capi
