// SPDX-License-Identifier: Apache-2.0
// What a block of a storage buffer takes, with the chosen constants, and constants that break its layout.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"
#include "support/spirv_assembly.hpp"

using namespace weft;
using namespace weft::core;
using Words = std::vector<std::uint32_t>;

namespace {

/// One storage buffer for each block type; all blocks are used, by a chain to their first member.
struct Blocks {
    std::string decorations, types;
    std::vector<std::string> blocks;        // ids of struct types
    std::vector<std::uint32_t> bindings{};  // 0, 1, 2 .. if empty
    std::string modes = "OpExecutionMode %main LocalSize 1 1 1\n";

    Words words() const {
        std::string decorate = decorations, variables, body;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::string v = "%v" + std::to_string(i), p = "%p" + std::to_string(i);
            const std::uint32_t binding = bindings.empty() ? static_cast<std::uint32_t>(i) : bindings[i];
            decorate += "OpDecorate " + blocks[i] + " Block\nOpDecorate " + v +
                        " DescriptorSet 0\nOpDecorate " + v + " Binding " + std::to_string(binding) + "\n";
            variables += p + " = OpTypePointer StorageBuffer " + blocks[i] + "\n" + v + " = OpVariable " + p +
                         " StorageBuffer\n";
            body += "%l" + std::to_string(i) + " = OpCopyObject " + p + " " + v + "\n";
        }
        return weft::test::assemble(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n" +
            modes + decorate +
            "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"
            "%float = OpTypeFloat 32\n%vec3 = OpTypeVector %float 3\n%uvec4 = OpTypeVector %uint 4\n"
            "%four = OpConstant %uint 4\n" +
            types + variables + "%main = OpFunction %void None %fn\n%entry = OpLabel\n" + body +
            "OpReturn\nOpFunctionEnd\n");
    }
};

std::vector<std::uint64_t> least_bytes(const Blocks& blocks, const ProgramOptions& options = {}) {
    std::vector<std::uint64_t> sizes;
    for (const Binding& binding : reflect(blocks.words(), options).bindings)
        sizes.push_back(binding.least_bytes);
    return sizes;
}
using Sizes = std::vector<std::uint64_t>;

std::string refusal(const Words& words, const ProgramOptions& options = {}) {
    try {
        reflect(words, options);
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_shader);
        return error.what();
    }
}

bool contains(const std::string& text, const std::string& part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

/// `buffer Y { uint h[N]; uint y[]; }`, with offsets for N = 4, which is what a compiler writes.
Blocks sized_by(const std::string& length) {
    return {.decorations =
                "OpDecorate %n SpecId 0\nOpDecorate %head ArrayStride 4\n"
                "OpDecorate %rest ArrayStride 4\n"
                "OpMemberDecorate %y 0 Offset 0\nOpMemberDecorate %y 1 Offset 16\n",
            .types = length +
                     "%head = OpTypeArray %uint %length\n%rest = OpTypeRuntimeArray %uint\n"
                     "%y = OpTypeStruct %head %rest\n",
            .blocks = {"%y"}};
}

}  // namespace

TEST_CASE("a block takes its fixed part and one element of its array of unknown length") {
    const Blocks blocks{
        .decorations =
            "OpDecorate %floats ArrayStride 4\nOpDecorate %fixed ArrayStride 4\n"
            "OpDecorate %wide ArrayStride 16\nOpDecorate %rows ArrayStride 16\n"
            "OpMemberDecorate %a 0 Offset 0\nOpMemberDecorate %b 0 Offset 0\nOpMemberDecorate %c 0 Offset 0\n"
            "OpMemberDecorate %c 1 Offset 4\nOpMemberDecorate %c 2 Offset 16\nOpMemberDecorate %c 3 Offset "
            "32\n"
            "OpMemberDecorate %d 0 Offset 0\nOpMemberDecorate %e 0 Offset 0\nOpMemberDecorate %f 0 Offset "
            "0\n",
        .types =
            "%many = OpConstant %uint 1024\n%floats = OpTypeRuntimeArray %float\n"
            "%fixed = OpTypeArray %float %many\n%wide = OpTypeRuntimeArray %vec3\n"
            "%row = OpTypeArray %float %four\n%rows = OpTypeRuntimeArray %row\n"
            "%a = OpTypeStruct %floats\n%b = OpTypeStruct %fixed\n"
            "%c = OpTypeStruct %uint %uint %uvec4 %floats\n%d = OpTypeStruct %wide\n"
            "%e = OpTypeStruct %rows\n%f = OpTypeStruct %vec3\n",
        .blocks = {"%a", "%b", "%c", "%d", "%e", "%f"}};
    Blocks strided = blocks;
    strided.decorations += "OpDecorate %row ArrayStride 4\n";
    CHECK(least_bytes(strided) == Sizes{4, 4096, 36, 16, 16, 12});
}

TEST_CASE("a block of more than 32 bits of bytes is measured in full") {
    const Blocks blocks{.decorations = "OpDecorate %fixed ArrayStride 16\nOpMemberDecorate %a 0 Offset 0\n",
                        .types =
                            "%many = OpConstant %uint 268435457\n%fixed = OpTypeArray %uvec4 %many\n"
                            "%a = OpTypeStruct %fixed\n",
                        .blocks = {"%a"}};
    CHECK(least_bytes(blocks) == Sizes{(std::uint64_t{1} << 32) + 16});
}

TEST_CASE("blocks that share a binding: the largest fixed part, and the smallest element") {
    const std::string types =
        "%floats = OpTypeRuntimeArray %float\n%fours = OpTypeRuntimeArray %uvec4\n"
        "%narrow = OpTypeStruct %floats\n%wide = OpTypeStruct %fours\n%head = OpTypeStruct %uint %uvec4\n"
        "%after = OpTypeStruct %uint %floats\n";
    const std::string decorations =
        "OpDecorate %floats ArrayStride 4\nOpDecorate %fours ArrayStride 16\n"
        "OpMemberDecorate %narrow 0 Offset 0\nOpMemberDecorate %wide 0 Offset 0\n"
        "OpMemberDecorate %head 0 Offset 0\nOpMemberDecorate %head 1 Offset 16\n"
        "OpMemberDecorate %after 0 Offset 0\nOpMemberDecorate %after 1 Offset 4\n";
    const auto shared = [&](std::vector<std::string> blocks) {
        return least_bytes({decorations, types, blocks, std::vector<std::uint32_t>(blocks.size(), 5)});
    };
    CHECK(shared({"%narrow", "%wide"}) == Sizes{4});  // a range of one float takes the narrow view
    CHECK(shared({"%wide"}) == Sizes{16});
    CHECK(shared({"%head", "%narrow"}) == Sizes{32});
    CHECK(shared({"%after", "%wide"}) == Sizes{8});
}

TEST_CASE("constants change what a block takes") {
    const Blocks blocks{
        .decorations =
            "OpDecorate %n SpecId 0\nOpDecorate %head ArrayStride 4\nOpMemberDecorate %y 0 Offset 0\n",
        .types =
            "%n = OpSpecConstant %uint 4\n%length = OpSpecConstantOp %uint IMul %n %four\n"
            "%head = OpTypeArray %uint %length\n%y = OpTypeStruct %head\n",
        .blocks = {"%y"}};
    CHECK(least_bytes(blocks) == Sizes{64});
    CHECK(least_bytes(blocks, {.constants = {{0, 256u}}}) == Sizes{4096});
}

TEST_CASE("constants that make members of a block overlap are refused before a driver sees them") {
    for (const std::string length : {"%length = OpSpecConstant %uint 4\n",
                                     "%zero = OpConstant %uint 0\n%n = OpSpecConstant %uint 4\n"
                                     "%length = OpSpecConstantOp %uint IAdd %n %zero\n"}) {
        Blocks blocks = sized_by(length);
        if (length.find("%n ") == std::string::npos)
            blocks.decorations.replace(blocks.decorations.find("%n"), 2, "%length");
        const Words words = blocks.words();
        CHECK(refusal(words) == "");
        CHECK(refusal(words, {.constants = {{0, 4u}}}) == "");
        CHECK(refusal(words, {.constants = {{0, 2u}}}) == "");
        const std::string text = refusal(words, {.name = "probe", .constants = {{0, 8u}}});
        CHECK(contains(text, "Program 'probe': invalid SPIR-V with the constants 0 = 8: "));
        CHECK(contains(text, "overlap"));
        CHECK(contains(refusal(words, {.constants = {{0, 0u}}}), "with the constants 0 = 0: "));
    }
}

TEST_CASE("constants that size arrays outside of blocks are free, except for sizes that no array has") {
    const Words words = Blocks{.decorations = "OpDecorate %length SpecId 0\n",
                               .types =
                                   "%length = OpSpecConstant %uint 4\n%own = OpTypeArray %uint %length\n"
                                   "%po = OpTypePointer Private %own\n%array = OpVariable %po Private\n"}
                            .words();
    for (const std::uint32_t length : {1u, 3u, 4u, 300u})
        CHECK(refusal(words, {.constants = {{0, length}}}) == "");
    CHECK(contains(refusal(words, {.constants = {{0, 0u}}}), "with the constants 0 = 0: "));
}

TEST_CASE("an unknown environment in a text of the validator is named") {
    Blocks blocks{.types = "%one = OpConstant %uint 1\n",
                  .modes = "OpExecutionModeId %main LocalSizeId %one %one %one\n"};
    Words words = blocks.words();
    CHECK(contains(refusal(words), "Vulkan 1.2 (compile with --target-env=vulkan1.2)"));
}
