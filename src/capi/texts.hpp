// SPDX-License-Identifier: Apache-2.0
// Texts of errors in the words of <weft/weft.h>.
#pragma once

#include <string>
#include <string_view>

namespace weft::capi {

/// `text` of the C++ API below the C function `function`: begins with that function, and names members as the
/// header does.
std::string text_in_c(std::string_view function, std::string_view text);

}  // namespace weft::capi
