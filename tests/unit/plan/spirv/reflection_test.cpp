// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"
#include "support/spirv_assembly.hpp"

using namespace weft;
using namespace weft::core;
using weft::test::assemble;
using Words = std::vector<std::uint32_t>;
using Size = std::array<std::uint32_t, 3>;

namespace {

constexpr std::uint32_t kSaxpy[] = {
#include "shaders/saxpy.spv.inc"
};
constexpr std::uint32_t kWideTypes[] = {
#include "shaders/wide_types.spv.inc"
};

/// Parts of a module around `main`; empty parts are left out.
struct Module {
    std::string capabilities, decorations, globals, body, functions;
    std::string modes = "OpExecutionMode %main LocalSize 8 1 1\n";

    Words words() const {
        return assemble("OpCapability Shader\n" + capabilities +
                        "OpMemoryModel Logical GLSL450\n"
                        "OpEntryPoint GLCompute %main \"main\"\n" +
                        modes + decorations +
                        "%void = OpTypeVoid\n"
                        "%fn = OpTypeFunction %void\n"
                        "%bool = OpTypeBool\n"
                        "%uint = OpTypeInt 32 0\n"
                        "%float = OpTypeFloat 32\n"
                        "%v2float = OpTypeVector %float 2\n"
                        "%v3uint = OpTypeVector %uint 3\n"
                        "%c0 = OpConstant %uint 0\n"
                        "%c3 = OpConstant %uint 3\n"
                        "%c4 = OpConstant %uint 4\n" +
                        globals +
                        "%main = OpFunction %void None %fn\n"
                        "%entry = OpLabel\n" +
                        body + "OpReturn\nOpFunctionEnd\n" + functions);
    }
};

/// A variable of opaque or block type that main loads; by default at set 1, binding 4.
Module with_resource(const std::string& types, const std::string& storage, const std::string& type,
                     const std::string& body) {
    Module module;
    module.decorations =
        "OpName %thing \"thing\"\nOpDecorate %thing DescriptorSet 1\nOpDecorate %thing Binding 4\n";
    module.globals = types + "%pointer = OpTypePointer " + storage + " " + type +
                     "\n%thing = OpVariable %pointer " + storage + "\n";
    module.body = body;
    return module;
}

template <class Call>
std::string refusal(Errc expected, Call&& call) {
    try {
        call();
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == expected);
        return error.what();
    }
}

std::string refusal(const Words& words) {
    return refusal(Errc::invalid_shader, [&] { reflect(words, {.name = "probe"}); });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::uint32_t> ids_of(const Reflection& reflection) {
    std::vector<std::uint32_t> ids;
    for (const SpecConstantInfo& constant : reflection.spec_constants) ids.push_back(constant.id);
    return ids;
}

void check_binding(const Binding& binding, std::uint32_t number, Access access, const std::string& name) {
    CHECK(binding.binding == number);
    CHECK(to_string(binding.access) == std::string(to_string(access)));
    CHECK(binding.name == name);
}

}  // namespace

TEST_CASE("names of Access") {
    CHECK(to_string(Access::read) == std::string("read"));
    CHECK(to_string(Access::write) == std::string("write"));
    CHECK(to_string(Access::read_write) == std::string("read_write"));
}

TEST_CASE("bindings come in ascending order with their access") {
    const Reflection reflection = reflect(kSaxpy, {});
    REQUIRE(reflection.bindings.size() == 4);
    // Names are tested with assembled modules, because an optimizing shader build drops them.
    const std::pair<std::uint32_t, Access> expected[] = {
        {0, Access::read}, {1, Access::read_write}, {2, Access::write}, {5, Access::read_write}};
    for (std::size_t i = 0; i < 4; ++i)
        check_binding(reflection.bindings[i], expected[i].first, expected[i].second,
                      reflection.bindings[i].name);
    CHECK(reflection.push_constant_bytes == 28);  // two uint, then vec3 at 16
    CHECK(reflection.capabilities == std::vector<std::string>{"Shader"});
}

TEST_CASE("specialization changes the workgroup size and everything that is sized by it") {
    const Reflection defaults = reflect(kSaxpy, {});
    CHECK(ids_of(defaults) == std::vector<std::uint32_t>{3, 7, 9});
    CHECK(defaults.local_size == Size{64, 2, 1});
    CHECK(defaults.shared_memory_bytes == 64 * 2 * 4 + 3 * 48);  // never_used does not count
    const Reflection chosen = reflect(kSaxpy, {.constants = {{9, true}, {3, 96u}, {7, 0.25f}}});
    CHECK(chosen.local_size == Size{96, 2, 1});
    CHECK(chosen.shared_memory_bytes == 96 * 2 * 4 + 3 * 48);
    CHECK(ids_of(chosen) == ids_of(defaults));
}

TEST_CASE("specialization that cannot be applied is the caller's mistake") {
    const auto text = [](std::span<const std::uint32_t> words, std::vector<SpecConstant> constants) {
        return refusal(Errc::invalid_argument, [&] { reflect(words, {.constants = std::move(constants)}); });
    };
    CHECK(
        contains(text(kSaxpy, {{4, 1u}}), "constant 4 is not declared by the shader (it declares 3, 7, 9)"));
    CHECK(contains(text(Module{}.words(), {{0, 1u}}), "it declares none"));
    CHECK(contains(text(kSaxpy, {{3, 1u}, {7, 1.0f}, {3, 1u}}), "constant 3 is given twice"));
    CHECK(contains(text(kWideTypes, {{1, 1u}}), "constant 1 is 64 bits wide"));
    CHECK(contains(refusal(Errc::invalid_shader,
                           [] {
                               reflect(kSaxpy, {.constants = {{3, 0u}}});
                           }),
                   "workgroup size with a 0 (got 0 x 2 x 1"));
}

TEST_CASE("capabilities are named") {
    const Reflection reflection = reflect(kWideTypes, {});
    for (const char* name : {"Shader", "Int64", "Float64", "Float16", "StorageBuffer16BitAccess",
                             "GroupNonUniform", "GroupNonUniformArithmetic", "GroupNonUniformShuffle"}) {
        CAPTURE(std::string(name));
        CHECK(std::count(reflection.capabilities.begin(), reflection.capabilities.end(), name) == 1);
    }
    CHECK(reflection.local_size == Size{32, 1, 1});
    CHECK(reflection.push_constant_bytes == 0);
    CHECK(reflection.shared_memory_bytes == 0);
    CHECK(ids_of(reflection) == std::vector<std::uint32_t>{1});
    Module clip;
    clip.capabilities = "OpCapability ClipDistance\n";
    CHECK(reflect(clip.words(), {}).capabilities == std::vector<std::string>{"Shader", "capability 32"});
}

TEST_CASE("resources other than storage buffers in set 0 are refused by kind, name, set and binding") {
    const std::string kBlock = "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n";
    const std::string kBlockType = "%block = OpTypeStruct %uint\n";
    struct Case {
        const char* kind;
        Module module;
        bool block = false;
    };
    Case cases[] = {
        {"uniform buffer",
         with_resource(kBlockType + "%pu = OpTypePointer Uniform %uint\n", "Uniform", "%block",
                       "%p = OpAccessChain %pu %thing %c0\n%l = OpLoad %uint %p\n"),
         true},
        {"a storage buffer outside set 0",
         with_resource(kBlockType + "%pu = OpTypePointer StorageBuffer %uint\n", "StorageBuffer", "%block",
                       "%p = OpAccessChain %pu %thing %c0\n%l = OpLoad %uint %p\n"),
         true},
        {"an array of storage buffers",
         with_resource(
             kBlockType + "%many = OpTypeArray %block %c3\n%pu = OpTypePointer StorageBuffer %uint\n",
             "StorageBuffer", "%many", "%p = OpAccessChain %pu %thing %c0 %c0\n%l = OpLoad %uint %p\n"),
         true},
        {"storage image", with_resource("%image = OpTypeImage %float 2D 0 0 0 2 R32f\n", "UniformConstant",
                                        "%image", "%l = OpLoad %image %thing\n")},
        {"sampled image", with_resource("%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n", "UniformConstant",
                                        "%image", "%l = OpLoad %image %thing\n")},
        {"combined image sampler",
         with_resource("%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%both = OpTypeSampledImage %image\n",
                       "UniformConstant", "%both", "%l = OpLoad %both %thing\n")},
        {"sampler", with_resource("%sampler = OpTypeSampler\n", "UniformConstant", "%sampler",
                                  "%l = OpLoad %sampler %thing\n")},
        {"acceleration structure", with_resource("%tree = OpTypeAccelerationStructureKHR\n",
                                                 "UniformConstant", "%tree", "%l = OpLoad %tree %thing\n")},
    };
    cases[std::size(cases) - 1].module.capabilities =
        "OpCapability RayQueryKHR\nOpExtension \"SPV_KHR_ray_query\"\n";
    for (Case& c : cases) {
        if (c.block) c.module.decorations += kBlock;
        const std::string text = refusal(c.module.words());
        CAPTURE(text);
        CHECK(contains(text, c.kind));
        CHECK(contains(text, "'thing' at set 1 binding 4"));
        CHECK(contains(text, "Program 'probe': "));
        c.module.body.clear();  // resources that the entry point never uses are not checked
        CHECK(refusal(c.module.words()) == "");
    }
}

TEST_CASE("two views of one binding are one buffer with the access of both; missing names stay empty") {
    Module module;
    module.decorations =
        "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
        "OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 6\nOpDecorate %in NonWritable\n"
        "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 6\nOpDecorate %out NonReadable\n"
        "OpDecorate %only DescriptorSet 0\nOpDecorate %only Binding 1\n"
        "OpDecorate %only NonReadable\nOpDecorate %only NonWritable\n";
    module.globals =
        "%block = OpTypeStruct %uint\n%pb = OpTypePointer StorageBuffer %block\n"
        "%pu = OpTypePointer StorageBuffer %uint\n"
        "%in = OpVariable %pb StorageBuffer\n%out = OpVariable %pb StorageBuffer\n"
        "%only = OpVariable %pb StorageBuffer\n";
    module.body =
        "%a = OpAccessChain %pu %in %c0\n%b = OpAccessChain %pu %out %c0\n%c = OpAccessChain %pu %only %c0\n"
        "%v = OpLoad %uint %a\nOpStore %b %v\n";
    const Reflection reflection = reflect(module.words(), {});
    REQUIRE(reflection.bindings.size() == 2);
    check_binding(reflection.bindings[0], 1, Access::read, "");
    check_binding(reflection.bindings[1], 6, Access::read_write, "");
    module.decorations = "OpName %block \"Block\"\nOpName %in \"in\"\n" + module.decorations;
    const Reflection named = reflect(module.words(), {});
    check_binding(named.bindings.at(0), 1, Access::read, "Block");  // the variable has none, its block has
    check_binding(named.bindings.at(1), 6, Access::read_write, "in");
}

TEST_CASE("a buffer that is declared but never used is not reflected, even if a compiler left it in") {
    Module module;
    module.decorations =
        "OpName %used \"used\"\nOpName %spare \"spare\"\n"
        "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
        "OpDecorate %used DescriptorSet 0\nOpDecorate %used Binding 2\n"
        "OpDecorate %spare DescriptorSet 0\nOpDecorate %spare Binding 1\n";
    module.globals =
        "%block = OpTypeStruct %uint\n%pb = OpTypePointer StorageBuffer %block\n"
        "%pu = OpTypePointer StorageBuffer %uint\n"
        "%used = OpVariable %pb StorageBuffer\n%spare = OpVariable %pb StorageBuffer\n";
    module.body = "%p = OpAccessChain %pu %used %c0\nOpStore %p %c3\n";
    const Reflection reflection = reflect(module.words(), {});
    REQUIRE(reflection.bindings.size() == 1);
    CHECK(binding_text(reflection.bindings[0]) == "binding 2 \"used\"");
    CHECK(binding_text({7, Access::read, ""}) == "binding 7, read");
    CHECK(listed_binding(reflection.bindings[0]) == "binding 2 \"used\", read_write");
    CHECK(listed_binding({7, Access::read, ""}) == "binding 7, read");
}

TEST_CASE("shared memory counts variables that the entry point uses, also through calls") {
    const std::string kTypes =
        "%pw = OpTypePointer Workgroup %uint\n"
        "%array = OpTypeArray %v2float %c3\n%cell = OpTypeStruct %array %bool %v3uint\n"
        "%cells = OpTypeArray %cell %c4\n%pc = OpTypePointer Workgroup %cells\n"
        "%one = OpVariable %pw Workgroup\n%many = OpVariable %pc Workgroup\n%spare = OpVariable %pc "
        "Workgroup\n";
    Module module;
    module.globals = kTypes;
    const std::string kTouchMany = "%p = OpAccessChain %pw %many %c0 %c2x %c0\n%l = OpLoad %uint %p\n";
    module.globals += "%c2x = OpConstant %uint 2\n";
    CHECK(reflect(module.words(), {}).shared_memory_bytes == 0);
    module.body = "OpStore %one %c0\n";
    CHECK(reflect(module.words(), {}).shared_memory_bytes == 4);
    const auto function = [](const std::string& name, const std::string& body) {
        return "%" + name + " = OpFunction %void None %fn\n%" + name + "_entry = OpLabel\n" + body +
               "OpReturn\nOpFunctionEnd\n";
    };
    module.functions = function("stranger", kTouchMany);
    CHECK(reflect(module.words(), {}).shared_memory_bytes == 4);
    module.functions =
        function("first", "%called2 = OpFunctionCall %void %second\n") + function("second", kTouchMany);
    module.body += "%called = OpFunctionCall %void %first\n";
    CHECK(reflect(module.words(), {}).shared_memory_bytes == 4 + 4 * (3 * 8 + 4 + 12));
}

TEST_CASE("sizes follow constant expressions") {
    const struct {
        const char *expression, *operands;
        std::uint32_t a, b;
        std::uint64_t expected;  // elements
    } cases[] = {
        {"IAdd", "%a %b", 5, 6, 11},
        {"ISub", "%a %b", 5, 3, 2},
        {"IMul", "%a %b", 5, 6, 30},
        {"UDiv", "%a %b", 17, 5, 3},
        {"UMod", "%a %b", 17, 5, 2},
        {"SDiv", "%a %b", 0xfffffff6, 0xfffffffe, 5},  // -10 / -2
        {"SRem", "%a %b", 7, 0xfffffffd, 1},           // sign of the dividend
        {"SMod", "%a %b", 0xfffffff9, 3, 2},           // sign of the divisor
        {"ShiftLeftLogical", "%a %b", 3, 4, 48},
        {"ShiftRightLogical", "%a %b", 0x80000000, 28, 8},
        {"BitwiseAnd", "%a %b", 12, 10, 8},
        {"BitwiseOr", "%a %b", 12, 10, 14},
        {"BitwiseXor", "%a %b", 12, 10, 6},
        {"Not", "%a", 0xfffffff0, 0, 15},
        {"SNegate", "%a", 0xfffffff0, 0, 16},
        {"Select", "%yes %a %b", 7, 9, 7},
        {"CompositeExtract", "%pair 1", 7, 9, 9},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.expression));
        Module module;
        module.decorations = "OpDecorate %a SpecId 0\nOpDecorate %b SpecId 1\n";
        module.globals =
            "%a = OpSpecConstant %uint 1\n%b = OpSpecConstant %uint 1\n%yes = OpSpecConstantTrue %bool\n"
            "%v2uint = OpTypeVector %uint 2\n%pair = OpSpecConstantComposite %v2uint %a %b\n"
            "%count = OpSpecConstantOp %uint " +
            std::string(c.expression) + " " + c.operands +
            "\n%array = OpTypeArray %uint %count\n%pa = OpTypePointer Workgroup %array\n"
            "%pw = OpTypePointer Workgroup %uint\n%tile = OpVariable %pa Workgroup\n";
        module.body = "%p = OpAccessChain %pw %tile %c0\n%l = OpLoad %uint %p\n";
        const Reflection reflection = reflect(module.words(), {.constants = {{0, c.a}, {1, c.b}}});
        CHECK(reflection.shared_memory_bytes == 4 * c.expected);
        if (std::string(c.expression) != "IMul") continue;
        const auto text = refusal(Errc::invalid_shader, [&] {
            reflect(module.words(), {.constants = {{0, 0u}}});
        });
        CHECK(contains(text, "size of a shared array is 0"));
    }
}

TEST_CASE("the size of shared memory saturates instead of overflowing") {
    Module module;
    module.globals = "%most = OpConstant %uint 0x7fffffff\n%a0 = OpTypeArray %uint %most\n";
    for (int i = 1; i < 4; ++i)
        module.globals += "%a" + std::to_string(i) + " = OpTypeArray %a" + std::to_string(i - 1) + " %most\n";
    module.globals +=
        "%pa = OpTypePointer Workgroup %a3\n%pw = OpTypePointer Workgroup %uint\n"
        "%tile = OpVariable %pa Workgroup\n";
    module.body = "%p = OpAccessChain %pw %tile %c0 %c0 %c0 %c0\n%l = OpLoad %uint %p\n";
    CHECK(reflect(module.words(), {}).shared_memory_bytes == ~std::uint64_t{0});
}

TEST_CASE("a chain of constants that doubles at each step is evaluated fast") {
    Module module;
    module.globals = "%s0 = OpSpecConstant %uint 1\n";
    for (int i = 1; i < 2000; ++i) {
        const std::string before = " %s" + std::to_string(i - 1);
        module.globals +=
            "%s" + std::to_string(i) + " = OpSpecConstantOp %uint IAdd" + before + before + "\n";
    }
    CHECK(reflect(module.words(), {}).local_size == Size{8, 1, 1});
}

TEST_CASE("each entry point of a module has a separate interface") {
    Module module;
    module.modes =
        "OpEntryPoint GLCompute %second \"second\"\nOpEntryPoint Fragment %third \"third\"\n"
        "OpExecutionMode %main LocalSize 8 1 1\nOpExecutionMode %second LocalSize 4 5 6\n"
        "OpExecutionMode %third OriginUpperLeft\n";
    module.decorations =
        "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 8\n"
        "OpDecorate %mine DescriptorSet 0\nOpDecorate %mine Binding 0\n"
        "OpDecorate %theirs DescriptorSet 0\nOpDecorate %theirs Binding 3\n";
    module.globals =
        "%block = OpTypeStruct %uint %uint\n%pb = OpTypePointer StorageBuffer %block\n"
        "%pu = OpTypePointer StorageBuffer %uint\n%pp = OpTypePointer PushConstant %block\n"
        "%ppu = OpTypePointer PushConstant %uint\n"
        "%mine = OpVariable %pb StorageBuffer\n%theirs = OpVariable %pb StorageBuffer\n"
        "%push = OpVariable %pp PushConstant\n";
    module.body = "%p = OpAccessChain %pu %mine %c0\n%l = OpLoad %uint %p\n";
    module.functions =
        "%second = OpFunction %void None %fn\n%e2 = OpLabel\n%p2 = OpAccessChain %ppu %push %c0\n"
        "%l2 = OpLoad %uint %p2\n%q2 = OpAccessChain %pu %theirs %c0\nOpStore %q2 "
        "%l2\nOpReturn\nOpFunctionEnd\n"
        "%third = OpFunction %void None %fn\n%e3 = OpLabel\nOpReturn\nOpFunctionEnd\n";
    const Words words = module.words();
    const Reflection first = reflect(words, {}), second = reflect(words, {.entry = "second"});
    REQUIRE(first.bindings.size() == 1);
    CHECK(first.bindings[0].binding == 0);
    CHECK(first.push_constant_bytes == 0);
    CHECK(first.local_size == Size{8, 1, 1});
    REQUIRE(second.bindings.size() == 1);
    CHECK(second.bindings[0].binding == 3);
    CHECK(second.push_constant_bytes == 12);
    CHECK(second.local_size == Size{4, 5, 6});
    const auto text = [&](const char* entry) {
        return refusal(Errc::invalid_shader, [&] { reflect(words, {.entry = entry}); });
    };
    CHECK(contains(text("third"), "got Fragment"));
    CHECK(contains(text("fourth"), "(the module has 'main', 'second', 'third')"));
}

TEST_CASE("a push-constant array sized by a constant follows it") {
    Module module;
    module.decorations =
        "OpDecorate %count SpecId 2\nOpDecorate %array ArrayStride 4\n"
        "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 16\n";
    module.globals =
        "%count = OpSpecConstant %uint 2\n%array = OpTypeArray %uint %count\n%block = OpTypeStruct %uint "
        "%array\n"
        "%pb = OpTypePointer PushConstant %block\n%pu = OpTypePointer PushConstant %uint\n"
        "%push = OpVariable %pb PushConstant\n";
    module.body = "%p = OpAccessChain %pu %push %c0\n%l = OpLoad %uint %p\n";
    CHECK(reflect(module.words(), {}).push_constant_bytes == 24);
    CHECK(reflect(module.words(), {.constants = {{2, 6u}}}).push_constant_bytes == 40);
}

TEST_CASE("the number that begins at byte 8 of the block is known with its kind, width and name") {
    const auto first = [](const std::string& member, const std::string& offset = "8",
                          const std::string& name = "OpMemberName %block 1 \"scale\"\n") {
        Module module;
        module.decorations = name +
                             "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
                             "OpMemberDecorate %block 1 Offset " +
                             offset + "\n";
        module.globals = "%block = OpTypeStruct %uint " + member +
                         "\n%pb = OpTypePointer PushConstant %block\n%pu = OpTypePointer PushConstant %uint\n"
                         "%push = OpVariable %pb PushConstant\n";
        module.body = "%p = OpAccessChain %pu %push %c0\n%l = OpLoad %uint %p\n";
        return reflect(module.words(), {}).first_parameter;
    };
    const auto real = first("%float");
    CHECK((real.known && real.floating && real.bytes == 4 && real.name == "scale"));
    const auto whole = first("%uint", "8", "");
    CHECK((whole.known && !whole.floating && whole.bytes == 4 && whole.name.empty()));
    CHECK_FALSE(first("%float", "16").known);
    CHECK_FALSE(reflect(Module().words(), {}).first_parameter.known);
}

TEST_CASE("well-formed words that are not valid SPIR-V are refused with the reason") {
    Module module;
    module.body = "%sum = OpIAdd %uint %c0 %nowhere\n";
    CHECK(contains(refusal(module.words()), "invalid SPIR-V: "));
    Module sizeless;
    sizeless.modes = "";
    CHECK(refusal(sizeless.words()) != "");
}
