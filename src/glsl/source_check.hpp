// SPDX-License-Identifier: Apache-2.0
// Checks of a GlslSource before any file is read. Pure.
#pragma once

#include <string>
#include <string_view>

#include <weft/glsl.hpp>

namespace weft::glsl {

/// Errors: invalid_argument - names what is not legal.
void check_source(const GlslSource& source);

/// Why the #version of `text` does not allow a compute shader, as "line: reason"; empty: it does. Checked
/// before the compiler runs, which takes a missing #version for 110 and then prints thousands of lines to the
/// standard output.
std::string refuse_version(std::string_view text);

}  // namespace weft::glsl
