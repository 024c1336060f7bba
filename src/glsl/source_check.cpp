// SPDX-License-Identifier: Apache-2.0
#include "glsl/source_check.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include <weft/error.hpp>

namespace weft::glsl {

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "compile_glsl: " + what);
}

// A line feed would add a line to the shader, and a NUL would end it.
bool fits_one_line(std::string_view text) {
    return text.find_first_of(std::string_view("\n\r\0", 3)) == std::string_view::npos;
}

bool is_identifier(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

void check_macro(const GlslMacro& macro) {
    if (!is_identifier(macro.name))
        refuse("a macro must have a name of letters, digits and _, not starting with a digit (got \"" +
               macro.name + "\")");
    if (macro.name == "WEFT_GLSL" || macro.name == "defined" || macro.name.starts_with("GL_"))
        refuse("macro " + macro.name + " is reserved (got it in macros, need another name)");
    if (!fits_one_line(macro.value)) refuse("macro " + macro.name + " has a value of more than one line");
    if (macro.value.ends_with('\\')) refuse("macro " + macro.name + " has a value that ends in a backslash");
}

/// Removes blanks, line ends and comments at the front, and counts lines.
void skip_to_token(std::string_view& text, std::size_t& line) {
    const auto skip = [&](std::size_t count) {
        count = std::min(count, text.size());
        line += static_cast<std::size_t>(std::ranges::count(text.substr(0, count), '\n'));
        text.remove_prefix(count);
    };
    while (!text.empty()) {
        if (text.starts_with("//")) {
            skip(text.find('\n'));
        } else if (text.starts_with("/*")) {
            const std::size_t end = text.find("*/", 2);
            skip(end == std::string_view::npos ? end : end + 2);
        } else if (std::string_view(" \t\r\n\v\f").find(text.front()) != std::string_view::npos) {
            skip(1);
        } else {
            return;
        }
    }
}

/// Removes `word` and the blanks after it, if the text begins with it.
bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return true;
}

void check_path(const char* what, const std::filesystem::path& path) {
    if (!fits_one_line(path.native()))
        refuse(std::string(what) + " must be a path without line feeds and NUL bytes");
}

}  // namespace

void check_source(const GlslSource& source) {
    if (source.file.empty() == source.text.empty())
        refuse(source.file.empty() ? "neither file nor text is given (need one of them)"
                                   : "both file and text are given (need one of them)");
    if (!source.file.empty() && !source.name.empty())
        refuse("name goes with text; a file is called by its path (got file " + source.file.string() +
               " and name \"" + source.name + "\")");
    if (!fits_one_line(source.name)) refuse("name must be one line without NUL bytes");
    check_path("file", source.file);
    check_path("cache_dir", source.cache_dir);
    for (const auto& folder : source.include_dirs) {
        check_path("include_dirs", folder);
        if (folder.empty())
            refuse("include_dirs must hold folders (got an empty path; \".\" is the working one)");
    }
    for (auto macro = source.macros.begin(); macro != source.macros.end(); ++macro) {
        check_macro(*macro);
        const auto same = [&](const GlslMacro& other) { return other.name == macro->name; };
        if (std::find_if(source.macros.begin(), macro, same) != macro)
            refuse("macro " + macro->name + " is given twice");
    }
    if (source.optimization < GlslOptimization::none || source.optimization > GlslOptimization::performance)
        refuse("optimization must be one of GlslOptimization");
}

std::string refuse_version(std::string_view text) {
    std::size_t line = 1;
    skip_to_token(text, line);
    const std::string at = std::to_string(line) + ": ";
    if (!take(text, "#") || !take(text, "version"))
        return at + "a shader starts with its version (need #version 450 or similar ahead of all else)";
    unsigned version = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), version).ec == std::errc::invalid_argument)
        return at + "#version names no number (need #version 450 or similar)";
    // A number that is too large stays 0, and the compiler refuses it.
    if (version != 0 && (version < 310 || (version > 320 && version < 420)))
        return at + "GLSL " + std::to_string(version) + " has no compute shaders (need 310 es, 430 or later)";
    return {};
}

}  // namespace weft::glsl
