// SPDX-License-Identifier: Apache-2.0
// Distinguishes builds of a shared library.
#pragma once

#include <string>

namespace weft::glsl {

/// Build id, else size and time, of the shared library that holds `address`; empty where that is part of the
/// same file as this function.
std::string shared_library_identity(const void* address);

}  // namespace weft::glsl
