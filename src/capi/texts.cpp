// SPDX-License-Identifier: Apache-2.0
#include "capi/texts.hpp"

#include <algorithm>
#include <iterator>

namespace weft::capi {
namespace {

struct Name {
    std::string_view of_cpp, of_c;
};

/// What stands before the member of a class. Values of enumerations are in upper case.
constexpr Name kClasses[] = {
    {"Backend", "weft_backend_"},
    {"BatchOptions", "weft_batch_options."},
    {"Config", "weft_backend_options."},
    {"EncodeHostOptions", "weft_encode_options."},
    {"EncodeOptions", "weft_encode_options."},
    {"Event", "weft_event_"},
    {"FieldHostOptions", "weft_field_options."},
    {"FieldOptions", "weft_field_options."},
    {"FieldShader", "WEFT_SHADER_"},
    {"GlslSource", "weft_glsl_source."},
    {"JobPipeline", "weft_pipeline_"},
    {"KernelApplyHostOptions", "weft_kernel_apply_options."},
    {"KernelApplyOptions", "weft_kernel_apply_options."},
    {"KernelEigenOptions", "weft_kernel_solve_options."},
    {"KernelMatrixCircuit", "weft_kernel_circuit."},
    {"KernelMatrixHostOptions", "weft_kernel_options."},
    {"KernelMatrixOptions", "weft_kernel_options."},
    {"KernelMatrixShape", "weft_kernel_shape."},
    {"KernelOperatorOptions", "weft_kernel_options."},
    {"KernelSolveOptions", "weft_kernel_solve_options."},
    {"LatticeCode", "weft_lattice_code."},
    {"LatticeDecodeHostOptions", "weft_lattice_options."},
    {"LatticeDecodeOptions", "weft_lattice_options."},
    {"LatticeHostOptions", "weft_lattice_options."},
    {"LatticeOptions", "weft_lattice_options."},
    {"LatticeSearchOptions", "weft_lattice_search_options."},
    {"NttHostOptions", "weft_ntt_options."},
    {"NttLayout", "WEFT_NTT_"},
    {"NttOptions", "weft_ntt_options."},
    {"NttShape", "weft_ntt_shape."},
    {"Profile", "weft_profile_"},
    {"ProgramOptions", "weft_program_options."},
    {"Stream", "weft_stream_"},
};
/// Objects and calls, where they stand alone.
constexpr Name kNouns[] = {{" new Backend", " new backend"},
                           {" new Devices", " new backend"},
                           {" first Backend", " first backend"},
                           {" call kernel_matrix with it", " call weft_kernel_store_fill with it"},
                           {" another KernelMatrixStore", " another weft_kernel_store"},
                           {"; kernel_matrix stores such K", "; weft_kernel_matrix stores such K"}};

bool in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Without the function that begins it, if one does.
std::string_view without_function(std::string_view text) {
    const std::size_t end = text.find(": ");
    if (end == std::string_view::npos || end == 0) return text;
    const std::string_view first = text.substr(0, end);
    const bool one_name =
        std::all_of(first.begin(), first.end(), [](char c) { return in_name(c) || c == ':'; });
    // A function of the driver says what failed.
    return one_name && !first.starts_with("vk") && !first.starts_with("cu") ? text.substr(end + 2) : text;
}

void replace_nouns(std::string& text) {
    for (const Name& noun : kNouns)
        if (const std::size_t at = text.find(noun.of_cpp); at != std::string::npos)
            text.replace(at, noun.of_cpp.size(), noun.of_c);
}

void replace_members(std::string& text) {
    for (std::size_t at = text.find("::"); at != std::string::npos; at = text.find("::", at + 1)) {
        std::size_t begin = at;
        while (begin != 0 && in_name(text[begin - 1])) --begin;
        const std::string_view name = std::string_view(text).substr(begin, at - begin);
        const auto* const known = std::find_if(std::begin(kClasses), std::end(kClasses),
                                               [&](const Name& each) { return each.of_cpp == name; });
        if (known == std::end(kClasses)) continue;
        if (known->of_c.front() == 'W')
            for (std::size_t i = at + 2; i < text.size() && in_name(text[i]); ++i)
                if (text[i] >= 'a' && text[i] <= 'z') text[i] = static_cast<char>(text[i] - 'a' + 'A');
        text.replace(begin, at + 2 - begin, known->of_c);
        at = begin;
    }
}

}  // namespace

std::string text_in_c(std::string_view function, std::string_view text) {
    if (text.starts_with(function) && text.substr(function.size()).starts_with(": "))
        return std::string(text);
    std::string rest(without_function(text));
    replace_members(rest);
    replace_nouns(rest);
    return std::string(function) + ": " + rest;
}

}  // namespace weft::capi
