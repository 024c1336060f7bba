// SPDX-License-Identifier: Apache-2.0
// The only file that knows shaderc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/glsl.hpp>

#include "glsl/include_search.hpp"

namespace weft::glsl {

struct Compiled {
    std::vector<std::uint32_t> words;  // empty: it failed
    std::string messages;              // as the compiler wrote them
};

/// Errors: out_of_memory - no thread could be started.
Compiled compile_with_shaderc(const GlslSource& source, const std::string& name, const std::string& text,
                              IncludeSearch& includes);

/// Differs between compilers that may give different results. Does not start the compiler.
const std::string& compiler_identity();

/// Whether this process has started the compiler, which costs more than most compilations.
bool compiler_started();

}  // namespace weft::glsl
