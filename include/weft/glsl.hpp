// SPDX-License-Identifier: Apache-2.0
// GLSL compute shaders compiled at run time. Needs the library weft::glsl in addition to weft::weft.
//
// Example:
//     weft::Backend backend;
//     const weft::Program program(backend, weft::compile_glsl({.file = "saxpy.comp"}));
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// `#define name value` ahead of the first line of a shader.
struct GlslMacro {
    std::string name;
    std::string value{};  ///< one line, may be empty
};

enum class GlslOptimization { none, size, performance };

/// A compute shader in GLSL and how to compile it. Exactly one of `file` and `text` is given.
///
/// #include "x" is searched in the folder of the file that includes it, then in `include_dirs`; #include <x>
/// only in `include_dirs`; "weft.glsl", which weft contains, after both. A name that leads out of a folder of
/// `include_dirs` (/etc/x, ../x) is not searched there. Relative paths start at the working folder; `text`
/// has no folder. #include of a macro is not supported: write the name out. The macro WEFT_GLSL is 1.
struct GlslSource {
    std::filesystem::path file{};
    std::string text{};
    std::string name{};  ///< of `text` in messages; empty: "shader"
    std::vector<std::filesystem::path> include_dirs{};
    std::vector<GlslMacro> macros{};  ///< each name once
    /// Shaders that contain `precise` are compiled with `none`, because the optimizer of SPIRV-Tools loses it
    /// in loops that it unrolls. Drivers optimize in any case.
    GlslOptimization optimization = GlslOptimization::performance;
    bool debug_info = false;  ///< names and source lines in the SPIR-V, for debuggers and profilers
    bool warnings_as_errors = false;
    /// Results on disk; unset: variable WEFT_CACHE (1, 0), else on.
    std::optional<bool> cache{};
    /// Folder of the caches, as Config::cache_dir; results are in `glsl` below it. Empty: variable
    /// WEFT_CACHE_DIR, else $XDG_CACHE_HOME/weft, else ~/.cache/weft.
    std::filesystem::path cache_dir{};
};

/// A compiled shader, from which a Program is made as from any SPIR-V. It converts to a span that is valid as
/// long as `words`.
struct SpirV {
    std::vector<std::uint32_t> words;
    std::string name;  ///< of the source: the file as it was given, or GlslSource::name
    std::vector<std::filesystem::path> included;  ///< each file once, in order of first use
    std::string warnings;                         ///< lines of `file:line: warning: message`; usually empty
    bool from_cache = false;
    std::string cache_note;  ///< why a result on disk was not used or could not be written; usually empty

    operator std::span<const std::uint32_t>() const noexcept { return words; }
};

/// SPIR-V 1.5 for Vulkan 1.2 of a compute shader with the entry point `main`.
///
/// Results are kept on disk. A result is used again if the compiler, its version and the whole source are the
/// same: text, macros, options, every included file, and every path at which an include was searched and not
/// found. Otherwise, or if the file is damaged, the shader is compiled again. It is no error if a result
/// cannot be kept.
///
/// Threads: any number simultaneously. A fork waits for the compilations under way.
///
/// Errors: invalid_argument - options that contradict each other or are not legal; io - `file` cannot be
/// read, with errno; invalid_shader - the compiler's messages as `compile_glsl: file:line: message`, the
/// first error in the first line; also files that are not text, are larger than 16 MiB, or include each other
/// without end.
SpirV compile_glsl(const GlslSource& source);

}  // namespace weft
