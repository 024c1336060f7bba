// SPDX-License-Identifier: Apache-2.0
// Assembles SPIR-V, for modules that no GLSL compiler produces.
#pragma once

#include <doctest/doctest.h>
#include <spirv-tools/libspirv.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::test {

inline std::vector<std::uint32_t> assemble(const std::string& text) {
    const spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_3);
    spv_binary binary = nullptr;
    spv_diagnostic diagnostic = nullptr;
    const spv_result_t result = spvTextToBinary(context, text.data(), text.size(), &binary, &diagnostic);
    const std::string why = diagnostic != nullptr ? diagnostic->error : "";
    CAPTURE(why);
    REQUIRE(result == SPV_SUCCESS);
    std::vector<std::uint32_t> words(binary->code, binary->code + binary->wordCount);
    spvBinaryDestroy(binary);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return words;
}

}  // namespace weft::test
