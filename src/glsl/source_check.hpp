// SPDX-License-Identifier: Apache-2.0
// What can be said against a GlslSource before anything is read. Pure.
#pragma once

#include <weft/glsl.hpp>

namespace weft::glsl {

/// Errors: invalid_argument - names what is not legal.
void check_source(const GlslSource& source);

}  // namespace weft::glsl
