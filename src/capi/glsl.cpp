// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: GLSL. The functions exist in every build; without weft::glsl they say so.
#include <string>

#ifdef WEFT_CAPI_GLSL
#include <weft/glsl.hpp>
#endif

#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

#ifdef WEFT_CAPI_GLSL

struct weft_spirv : Handle<weft::SpirV> {
    using Handle::Handle;
};

namespace {

weft::GlslSource source_of(const char* function, const weft_glsl_source& given_source) {
    using weft::GlslOptimization;
    static constexpr GlslOptimization kLevels[] = {GlslOptimization::performance, GlslOptimization::size,
                                                   GlslOptimization::none};
    weft::GlslSource source;
    source.file = text_of(given_source.file);
    source.text = text_of(given_source.text);
    source.name = text_of(given_source.name);
    for (std::uint32_t i = 0; i < given_source.include_dir_count; ++i) {
        given(function, "weft_glsl_source.include_dirs", given_source.include_dirs);
        source.include_dirs.emplace_back(&given(function, "an include folder", given_source.include_dirs[i]));
    }
    for (std::uint32_t i = 0; i < given_source.macro_count; ++i) {
        const weft_glsl_macro& macro = (&given(function, "weft_glsl_source.macros", given_source.macros))[i];
        source.macros.push_back({&given(function, "the name of a macro", macro.name), text_of(macro.value)});
    }
    source.optimization =
        enum_of(function, "weft_glsl_source.optimization", given_source.optimization, kLevels);
    source.debug_info = flag_of(function, "weft_glsl_source.debug_info", given_source.debug_info);
    source.warnings_as_errors =
        flag_of(function, "weft_glsl_source.warnings_as_errors", given_source.warnings_as_errors);
    const weft::Choice cache = choice_of(function, "weft_glsl_source.cache", given_source.cache);
    if (cache != weft::Choice::automatic) source.cache = cache == weft::Choice::on;
    source.cache_dir = text_of(given_source.cache_dir);
    return source;
}

}  // namespace

weft_status weft_compile_glsl(const weft_glsl_source* source, weft_spirv** spirv) {
    constexpr const char* kName = "weft_compile_glsl";
    return create(kName, spirv, [&] {
        given(kName, "source", source);
        return weft::compile_glsl(source_of(kName, read_options(kName, "weft_glsl_source", source)));
    });
}

weft_const_span weft_spirv_words(const weft_spirv* spirv) {
    if (spirv == nullptr) return {nullptr, 0};
    return {spirv->object.words.data(), spirv->object.words.size() * sizeof(std::uint32_t)};
}

const char* weft_spirv_warnings(const weft_spirv* spirv) {
    return spirv == nullptr ? "" : spirv->object.warnings.c_str();
}

#else

struct weft_spirv : Handle<int> {
    using Handle::Handle;
};

weft_status weft_compile_glsl(const weft_glsl_source*, weft_spirv** spirv) {
    return create("weft_compile_glsl", spirv, []() -> int {
        throw weft::Error(
            weft::Errc::unsupported,
            "weft_compile_glsl: this library was built without the compiler; compile with glslc and give "
            "the words to weft_program_create");
    });
}

weft_const_span weft_spirv_words(const weft_spirv*) {
    return {nullptr, 0};
}

const char* weft_spirv_warnings(const weft_spirv*) {
    return "";
}

#endif

WEFT_DEFINE_HANDLE(weft_spirv)
