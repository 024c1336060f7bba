// SPDX-License-Identifier: Apache-2.0
#include "glsl/source_file.hpp"

namespace weft::glsl {

core::FileRead read_source(const std::filesystem::path& file) {
    core::FileRead result = core::read_file(file, kMaxSourceBytes);
    if (result.refused.empty()) result.refused = refuse_text(result.bytes);
    return result;
}

std::string refuse_text(std::string& text) {
    if (text.size() > kMaxSourceBytes)
        return "too large (got " + std::to_string(text.size()) + " bytes, need at most " +
               std::to_string(kMaxSourceBytes) + ")";
    if (text.starts_with("\x03\x02\x23\x07") || text.starts_with("\x07\x23\x02\x03"))
        return "SPIR-V already, which Program takes as it is";
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return "not UTF-8 but UTF-16, which GLSL compilers do not read";
    if (const std::size_t at = text.find('\0'); at != std::string::npos)
        return "not text (byte " + std::to_string(at) + " is 0)";
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    return {};
}

}  // namespace weft::glsl
