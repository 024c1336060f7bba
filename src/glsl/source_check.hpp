// SPDX-License-Identifier: Apache-2.0
// What can be said against a GlslSource before anything is read. Pure.
#pragma once

#include <string>
#include <string_view>

#include <weft/glsl.hpp>

namespace weft::glsl {

/// Errors: invalid_argument - names what is not legal.
void check_source(const GlslSource& source);

/// Why `text` cannot be a compute shader as far as its #version says, as "line: reason"; empty: it can. Asked
/// ahead of the compiler, which takes a missing one for version 110 and then prints thousands of lines of its
/// own to the standard output.
std::string refuse_version(std::string_view text);

}  // namespace weft::glsl
