// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <weft/error.hpp>
#include <weft/glsl.hpp>

#include "glsl/cache_folder.hpp"
#include "glsl/include_search.hpp"
#include "glsl/messages.hpp"
#include "glsl/shaderc_front.hpp"
#include "glsl/source_check.hpp"
#include "glsl/source_file.hpp"

namespace weft {

namespace {

using namespace glsl;

std::string name_of(const GlslSource& source) {
    if (!source.file.empty()) return source.file.string();
    return source.name.empty() ? "shader" : source.name;
}

SearchRoots search_roots(const GlslSource& source) {
    SearchRoots roots;
    roots.name = name_of(source);
    std::error_code error;
    roots.working = std::filesystem::current_path(error);
    if (error)
        throw Error(Errc::io, "compile_glsl: the working folder cannot be found (" + error.message() + ")",
                    error.value());
    roots.source_folder = source.file.parent_path();
    roots.has_folder = !source.file.empty();
    roots.include_dirs = source.include_dirs;
    return roots;
}

std::string text_of(const GlslSource& source, const SearchRoots& roots) {
    if (source.file.empty()) {
        std::string text = source.text;
        if (const std::string reason = refuse_text(text); !reason.empty())
            throw Error(Errc::invalid_shader, "compile_glsl: " + roots.name + ": " + reason);
        return text;
    }
    core::FileRead read = read_source(roots.working / source.file);
    if (!read.refused.empty())
        throw Error(read.error != 0 ? Errc::io : Errc::invalid_shader,
                    "compile_glsl: " + roots.name + ": " + read.refused, read.error);
    return std::move(read.bytes);
}

std::vector<std::filesystem::path> files_in(const std::vector<Dependency>& dependencies) {
    std::vector<std::filesystem::path> files;
    for (const Dependency& dependency : dependencies)
        if (dependency.present) files.push_back(dependency.path);
    return files;
}

}  // namespace

SpirV compile_glsl(const GlslSource& source) {
    check_source(source);
    const SearchRoots roots = search_roots(source);
    const std::string text = text_of(source, roots);
    if (const std::string reason = refuse_version(text); !reason.empty())
        throw Error(Errc::invalid_shader, "compile_glsl: " + roots.name + ":" + reason);
    SpirV result;
    result.name = roots.name;
    const std::filesystem::path folder = cache_folder(source, result.cache_note);
    const Digest key = cache_key(source, roots, text, compiler_identity());
    if (!folder.empty()) {
        Loaded loaded = load_entry(roots.working / folder, key);
        if (loaded.hit) {
            result.words = std::move(loaded.entry.words);
            result.included = files_in(loaded.entry.dependencies);
            result.warnings = std::move(loaded.entry.warnings);
            result.from_cache = true;
            return result;
        }
        result.cache_note = std::move(loaded.note);
    }
    IncludeSearch includes(roots);
    Compiled compiled = compile_with_shaderc(source, roots.name, text, includes);
    const std::vector<Message> messages = parse_messages(compiled.messages);
    if (compiled.words.empty()) throw Error(Errc::invalid_shader, error_text(messages, roots.name));
    result.words = std::move(compiled.words);
    result.included = files_in(includes.dependencies());
    result.warnings = warning_text(messages);
    if (!folder.empty()) {
        const std::string failure = store_entry(roots.working / folder, key,
                                                {includes.dependencies(), result.warnings, result.words});
        if (!failure.empty()) result.cache_note = failure;
    }
    return result;
}

}  // namespace weft
