// SPDX-License-Identifier: Apache-2.0
// Modules that read the number of all workgroups from push constants.
#include "plan/spirv/spirv_grid.hpp"

#include <spirv-tools/libspirv.h>

#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/spirv/reflection.hpp"
#include "support/spirv_assembly.hpp"

using namespace weft::core;
using Words = std::span<const std::uint32_t>;

namespace {

constexpr std::uint32_t kForm0[] = {
#include "shaders/fold_form_0.spv.inc"
};
constexpr std::uint32_t kForm2[] = {
#include "shaders/fold_form_2.spv.inc"
};
constexpr std::uint32_t kForm3[] = {
#include "shaders/fold_form_3.spv.inc"
};
constexpr std::uint32_t kForm9[] = {
#include "shaders/fold_form_9.spv.inc"
};
constexpr std::uint32_t kPlain[] = {
#include "shaders/saxpy.spv.inc"
};
constexpr std::uint32_t kMatrix[] = {
#include "shaders/gram_matrix_split_khr.spv.inc"
};

constexpr std::uint32_t kMost = 128;

/// What the validator says; empty: nothing.
std::string complaint(const std::vector<std::uint32_t>& words, spv_target_env environment) {
    const spv_context context = spvContextCreate(environment);
    spv_diagnostic diagnostic = nullptr;
    spv_const_binary_t binary{words.data(), words.size()};
    const spv_result_t result = spvValidate(context, &binary, &diagnostic);
    std::string text = diagnostic != nullptr ? diagnostic->error : result == SPV_SUCCESS ? "" : "invalid";
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return text;
}

std::size_t count_of(Words words, const std::vector<std::uint32_t>& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; at + what.size() <= words.size(); ++at)
        count +=
            std::equal(what.begin(), what.end(), words.begin() + static_cast<std::ptrdiff_t>(at)) ? 1 : 0;
    return count;
}

/// A module whose main contains `body`. `block`: declarations of push constants.
std::vector<std::uint32_t> module_of(const std::string& body, const std::string& decorations = {},
                                     const std::string& globals = {}, const std::string& functions = {}) {
    return weft::test::assemble(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        "OpEntryPoint GLCompute %main \"main\" %workgroups\nOpExecutionMode %main LocalSize 8 1 1\n"
        "OpDecorate %workgroups BuiltIn NumWorkgroups\n" +
        decorations +
        "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n"
        "%uint = OpTypeInt 32 0\n%v3 = OpTypeVector %uint 3\n%in3 = OpTypePointer Input %v3\n"
        "%in1 = OpTypePointer Input %uint\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n"
        "%workgroups = OpVariable %in3 Input\n" +
        globals + functions + "%main = OpFunction %void None %fn\n%begin = OpLabel\n" + body +
        "OpReturn\nOpFunctionEnd\n");
}

const std::string kLoadsWhole = "%a = OpLoad %v3 %workgroups\n";
const std::string kLoadsPart = "%p = OpAccessChain %in1 %workgroups %one\n%a = OpLoad %uint %p\n";

}  // namespace

TEST_CASE("a shader that does not read the number of workgroups stays as it is") {
    const auto same = with_pushed_grid(kPlain, 12, kMost);
    REQUIRE(same);
    CHECK(std::equal(same->words.begin(), same->words.end(), std::begin(kPlain), std::end(kPlain)));
    CHECK_FALSE(same->grid_offset);
}

TEST_CASE("compiled shaders: the block grows, the interface stays, and the validator has no complaint") {
    for (const Words words : {Words(kForm0), Words(kForm2), Words(kForm3), Words(kForm9)}) {
        const Reflection before = reflect(words, {});
        REQUIRE(before.push_constant_bytes == 4);
        const auto made = with_pushed_grid(words, before.push_constant_bytes, kMost);
        REQUIRE(made);
        CHECK(made->grid_offset == 16u);
        CHECK(complaint(made->words, SPV_ENV_VULKAN_1_2) == "");
        const Reflection after = reflect(made->words, {});
        CHECK(after.push_constant_bytes == 28);
        CHECK(after.bindings.size() == before.bindings.size());
        CHECK(after.local_size == before.local_size);
        CHECK_FALSE(after.folds);  // nothing reads NumWorkgroups any more
    }
}

TEST_CASE("a module with matrices and specialization constants") {
    const weft::ProgramOptions options{.constants = {{0u, 128u}, {1u, 2u}, {2u, 2u}, {7u, 128u}}};
    const Reflection before = reflect(kMatrix, options);
    const auto made = with_pushed_grid(kMatrix, before.push_constant_bytes, 256);
    REQUIRE(made);
    const Reflection after = reflect(made->words, options);
    CHECK(after.spec_constants.size() == before.spec_constants.size());
    CHECK(after.push_constant_bytes == *made->grid_offset + 12);
}

TEST_CASE("without a block one is made, also where the entry point lists all variables") {
    for (const std::uint32_t version : {0x10300u, 0x10500u})
        for (const std::string& body : {kLoadsWhole, kLoadsPart}) {
            std::vector<std::uint32_t> words = module_of(body);
            words[1] = version;
            const auto made = with_pushed_grid(words, 0, kMost);
            REQUIRE(made);
            CHECK(made->grid_offset == 0u);
            CHECK(complaint(made->words, SPV_ENV_VULKAN_1_2) == "");
            CHECK(reflect(made->words, {}).push_constant_bytes == 12);
        }
}

TEST_CASE("a block that is declared before the types it grows by") {
    const std::string decorations = "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n";
    const std::vector<std::uint32_t> words = weft::test::assemble(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        "OpEntryPoint GLCompute %main \"main\" %workgroups\nOpExecutionMode %main LocalSize 8 1 1\n"
        "OpDecorate %workgroups BuiltIn NumWorkgroups\n" +
        decorations +
        "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n"
        "%block = OpTypeStruct %float\n%to_block = OpTypePointer PushConstant %block\n"
        "%push = OpVariable %to_block PushConstant\n"
        "%uint = OpTypeInt 32 0\n%v3 = OpTypeVector %uint 3\n%in3 = OpTypePointer Input %v3\n"
        "%to_number = OpTypePointer PushConstant %uint\n"
        "%workgroups = OpVariable %in3 Input\n"
        "%main = OpFunction %void None %fn\n%begin = OpLabel\n" +
        kLoadsWhole + "OpReturn\nOpFunctionEnd\n");
    const auto made = with_pushed_grid(words, 4, kMost);
    REQUIRE(made);
    CHECK(complaint(made->words, SPV_ENV_VULKAN_1_2) == "");
    CHECK(reflect(made->words, {}).push_constant_bytes == 28);
    CHECK(count_of(made->words, {(4u << 16) | 32u}) == count_of(words, {(4u << 16) | 32u}) + 1);  // pointers
}

TEST_CASE("what is not followed is left alone") {
    CHECK(with_pushed_grid(module_of(kLoadsWhole), 100, 128));  // 112 and 12 more
    CHECK_FALSE(with_pushed_grid(module_of(kLoadsWhole), 116, 128));
    CHECK_FALSE(with_pushed_grid(module_of("%c = OpCopyObject %in3 %workgroups\n" + kLoadsWhole), 0, kMost));
    CHECK_FALSE(with_pushed_grid(
        module_of("%p = OpAccessChain %in1 %workgroups %one\n%c = OpCopyObject %in1 %p\n"), 0, kMost));
    const std::string takes =
        "%take = OpFunction %void None %fn3\n%value = OpFunctionParameter %in3\n%l = OpLabel\nOpReturn\n"
        "OpFunctionEnd\n";
    CHECK_FALSE(with_pushed_grid(module_of("%r = OpFunctionCall %void %take %workgroups\n", {},
                                           "%fn3 = OpTypeFunction %void %in3\n", takes),
                                 0, kMost));
    // A value of the block's type would lack the new member.
    const std::string decorations = "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n";
    const std::string globals =
        "%block = OpTypeStruct %uint\n%to_block = OpTypePointer PushConstant %block\n"
        "%push = OpVariable %to_block PushConstant\n";
    CHECK(with_pushed_grid(module_of(kLoadsWhole, decorations, globals), 4, kMost));
    CHECK_FALSE(with_pushed_grid(
        module_of(kLoadsWhole + "%whole = OpLoad %block %push\n", decorations, globals), 4, kMost));
}
