// SPDX-License-Identifier: Apache-2.0
// Distinguishes builds of a shared library.
#pragma once

#include <string>

namespace weft::glsl {

/// The build id, or else size and time, of the shared library that contains `address`; empty if this function
/// is in the same file.
std::string shared_library_identity(const void* address);

}  // namespace weft::glsl
