// SPDX-License-Identifier: Apache-2.0
// Declared constants, values that are set, and the resulting workgroup size.
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"
#include "plan/spirv/spec_constants.hpp"
#include "support/spirv_assembly.hpp"

using namespace weft;
using namespace weft::core;
using Size = std::array<std::uint32_t, 3>;

namespace {

/// x and z of the workgroup are constants 7 and 3, y is 4; `more` declares others.
std::vector<std::uint32_t> module(const std::string& decorations = {}, const std::string& more = {},
                                  const std::string& x = "%x = OpSpecConstant %uint 16\n") {
    return weft::test::assemble(
        "OpCapability Shader\nOpCapability Int64\nOpMemoryModel Logical GLSL450\n"
        "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 16 4 1\n"
        "OpName %z \"depth\"\n" +
        decorations +
        "OpDecorate %z SpecId 3\n"
        "OpDecorate %size BuiltIn WorkgroupSize\n"
        "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"
        "%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%ulong = OpTypeInt 64 0\n"
        "%v3 = OpTypeVector %uint 3\n%c4 = OpConstant %uint 4\n" +
        more + x +
        "%z = OpSpecConstant %uint 1\n%size = OpSpecConstantComposite %v3 %x %c4 %z\n"
        "%main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n");
}
const std::string kX = "OpDecorate %x SpecId 7\n";

Size size_of(const std::vector<std::uint32_t>& words, const ProgramOptions& options) {
    return reflect(words, options).local_size;
}

std::string refusal(Errc code, const std::vector<std::uint32_t>& words, ProgramOptions options) {
    options.name = "probe";
    try {
        reflect(words, options);
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
}

}  // namespace

TEST_CASE("names of SpecType") {
    const std::pair<SpecType, std::string> names[] = {{SpecType::boolean, "bool"},
                                                      {SpecType::int32, "int"},
                                                      {SpecType::uint32, "uint"},
                                                      {SpecType::float32, "float"},
                                                      {SpecType::other, "other"}};
    for (const auto& [type, name] : names) CHECK(to_string(type) == name);
}

TEST_CASE("declared constants have id, name, type and default, in ascending order") {
    const auto words = module("OpName %b \"flag\"\nOpName %l \"wide\"\n" + kX +
                                  "OpDecorate %b SpecId 0\n"
                                  "OpDecorate %i SpecId 9\nOpDecorate %f SpecId 8\nOpDecorate %l SpecId 20\n",
                              "%b = OpSpecConstantTrue %bool\n%i = OpSpecConstant %int -5\n"
                              "%f = OpSpecConstant %float 1.5\n%l = OpSpecConstant %ulong 4294967297\n");
    const struct {
        std::uint32_t id;
        const char* name;
        SpecType type;
        std::uint64_t bits;
    } expected[] = {{0, "flag", SpecType::boolean, 1},    {3, "depth", SpecType::uint32, 1},
                    {7, "", SpecType::uint32, 16},        {8, "", SpecType::float32, 0x3fc00000},
                    {9, "", SpecType::int32, 0xfffffffb}, {20, "wide", SpecType::other, 4294967297}};
    // Setting values does not change the declarations.
    for (const ProgramOptions& options : {ProgramOptions{}, ProgramOptions{.constants = {{7, 2u}}}}) {
        const Reflection reflection = reflect(words, options);
        REQUIRE(reflection.spec_constants.size() == std::size(expected));
        for (std::size_t i = 0; i < std::size(expected); ++i) {
            const SpecConstantInfo& info = reflection.spec_constants[i];
            CHECK(info.id == expected[i].id);
            CHECK(info.name == expected[i].name);
            CHECK(to_string(info.type) == std::string(to_string(expected[i].type)));
            CHECK(info.default_bits == expected[i].bits);
        }
    }
}

TEST_CASE("a value is not converted: floats for other constants and the reverse are refused") {
    const auto words = module("OpDecorate %b SpecId 0\nOpDecorate %i SpecId 9\nOpDecorate %f SpecId 8\n" + kX,
                              "%b = OpSpecConstantTrue %bool\n%i = OpSpecConstant %int -5\n"
                              "%f = OpSpecConstant %float 1.5\n");
    CHECK(refusal(Errc::invalid_argument, words, {.constants = {{8, 2}}}) ==
          "Program 'probe': specialization constant 8 is of type float (got an integer or bool, need a float "
          "such as 1.0f)");
    CHECK(refusal(Errc::invalid_argument, words, {.constants = {{9, 2.0f}}}) ==
          "Program 'probe': specialization constant 9 is of type int (got a float, need an integer or bool)");
    CHECK(
        refusal(Errc::invalid_argument, words, {.constants = {{0, 1.0f}}}) ==
        "Program 'probe': specialization constant 0 is of type bool (got a float, need an integer or bool)");
    const Reflection reflection = reflect(words, {.constants = {{8, 2.0f}, {9, 2u}, {0, 1}, {7, 8}}});
    CHECK(reflection.constants.size() == 4);
}

TEST_CASE("local_size sets the constants of the axes that a shader leaves open") {
    const auto words = module(kX);
    CHECK(size_of(words, {}) == Size{16, 4, 1});
    CHECK(size_of(words, {.local_size = {64, 0, 0}}) == Size{64, 4, 1});
    CHECK(size_of(words, {.local_size = {0, 0, 8}}) == Size{16, 4, 8});
    CHECK(size_of(words, {.local_size = {2, 4, 3}}) == Size{2, 4, 3});  // y is fixed by the shader
    CHECK(size_of(words, {.constants = {{7, 5u}}, .local_size = {0, 0, 2}}) == Size{5, 4, 2});
    CHECK(size_of(words, {.constants = {{7, 5u}}, .local_size = {5, 0, 0}}) == Size{5, 4, 1});
    const Reflection reflection = reflect(words, {.constants = {{3, 2u}}, .local_size = {64, 0, 0}});
    REQUIRE(reflection.constants.size() == 2);  // the constants for the driver
    CHECK(reflection.constants[0].id == 3);
    CHECK(reflection.constants[1].id == 7);
    CHECK(reflection.constants[1].bits == 64);
}

TEST_CASE("local_size for an axis that the shader fixes is refused with axis and size") {
    const auto words = module(kX);
    CHECK(refusal(Errc::invalid_argument, words, {.local_size = {0, 8, 0}}) ==
          "Program 'probe': ProgramOptions::local_size along y, which the shader fixes (got 8, need 4, or "
          "local_size_y_id in the shader)");
    CHECK(refusal(Errc::invalid_argument, words, {.constants = {{7, 5u}}, .local_size = {6, 0, 0}}) ==
          "Program 'probe': specialization constant 7 is given twice: local_size sets it along x (got 5 and "
          "6)");
    // A size that is computed from a constant cannot be set.
    const auto computed = module("OpDecorate %w SpecId 7\n", "%w = OpSpecConstant %uint 2\n",
                                 "%x = OpSpecConstantOp %uint IMul %w %c4\n");
    CHECK(size_of(computed, {.constants = {{7, 5u}}}) == Size{20, 4, 1});
    CHECK(refusal(Errc::invalid_argument, computed, {.local_size = {16, 0, 0}})
              .find("along x, which the shader fixes (got 16, need 8") != std::string::npos);
}

TEST_CASE("a size of 0 by constant is refused; one by local_size means the shader's own") {
    const auto words = module(kX);
    CHECK(refusal(Errc::invalid_shader, words, {.constants = {{7, 0u}}})
              .find("workgroup size with a 0 (got 0 x 4 x 1") != std::string::npos);
    CHECK(size_of(words, {.local_size = {0, 0, 0}}) == Size{16, 4, 1});
}

TEST_CASE("two axes may share a constant") {
    const auto words = module("OpDecorate %x SpecId 3\n");
    CHECK(size_of(words, {.local_size = {6, 0, 6}}) == Size{6, 4, 6});
    CHECK(refusal(Errc::invalid_argument, words, {.local_size = {6, 0, 2}})
              .find("given twice: local_size sets it along z (got 6 and 2)") != std::string::npos);
}
