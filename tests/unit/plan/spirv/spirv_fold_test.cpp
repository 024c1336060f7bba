// SPDX-License-Identifier: Apache-2.0
// Detection of shaders that compute their index from both axes of a dispatch.
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/spirv/reflection.hpp"
#include "support/spirv_assembly.hpp"

using namespace weft::core;

namespace {

constexpr std::uint32_t kForm0[] = {
#include "shaders/fold_form_0.spv.inc"
};
constexpr std::uint32_t kForm1[] = {
#include "shaders/fold_form_1.spv.inc"
};
constexpr std::uint32_t kForm2[] = {
#include "shaders/fold_form_2.spv.inc"
};
constexpr std::uint32_t kForm3[] = {
#include "shaders/fold_form_3.spv.inc"
};
constexpr std::uint32_t kForm4[] = {
#include "shaders/fold_form_4.spv.inc"
};
constexpr std::uint32_t kForm5[] = {
#include "shaders/fold_form_5.spv.inc"
};
constexpr std::uint32_t kForm6[] = {
#include "shaders/fold_form_6.spv.inc"
};
constexpr std::uint32_t kForm7[] = {
#include "shaders/fold_form_7.spv.inc"
};
constexpr std::uint32_t kForm8[] = {
#include "shaders/fold_form_8.spv.inc"
};
constexpr std::uint32_t kForm9[] = {
#include "shaders/fold_form_9.spv.inc"
};

bool folds(std::span<const std::uint32_t> words) {
    return reflect(words, {}).folds;
}

/// A module whose main contains `body`, as compilers produce it without optimization.
bool folds(const std::string& body, const std::string& functions = {}, const std::string& entry = "main") {
    return reflect(
               weft::test::assemble(
                   "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
                   "OpEntryPoint GLCompute %main \"main\" %workgroup %workgroups\n"
                   "OpEntryPoint GLCompute %other \"other\" %workgroup %workgroups\n"
                   "OpExecutionMode %main LocalSize 8 1 1\nOpExecutionMode %other LocalSize 8 1 1\n"
                   "OpDecorate %workgroup BuiltIn WorkgroupId\nOpDecorate %workgroups BuiltIn NumWorkgroups\n"
                   "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"
                   "%v3 = OpTypeVector %uint 3\n%pv3 = OpTypePointer Input %v3\n"
                   "%pin = OpTypePointer Input %uint\n%pfn = OpTypePointer Function %uint\n"
                   "%pfv3 = OpTypePointer Function %v3\n%linear_type = OpTypeFunction %uint %pfv3 %uint\n"
                   "%c0 = OpConstant %uint 0\n%c1 = OpConstant %uint 1\n"
                   "%workgroup = OpVariable %pv3 Input\n%workgroups = OpVariable %pv3 Input\n"
                   "%main = OpFunction %void None %fn\n%entry = OpLabel\n" +
                   body +
                   "OpReturn\nOpFunctionEnd\n"
                   "%other = OpFunction %void None %fn\n%entry2 = OpLabel\nOpReturn\nOpFunctionEnd\n" +
                   functions),
               {.entry = entry})
        .folds;
}

const std::string kY = "%yp = OpAccessChain %pin %workgroup %c1\n%y = OpLoad %uint %yp\n";
const std::string kX = "%xp = OpAccessChain %pin %workgroups %c0\n%n = OpLoad %uint %xp\n";

}  // namespace

TEST_CASE("expressions of an index, as compilers produce them") {
    const std::span<const std::uint32_t> yes[] = {kForm0, kForm1, kForm2, kForm3, kForm4};
    const std::span<const std::uint32_t> no[] = {kForm5, kForm6, kForm7, kForm8, kForm9};
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(i);
        CHECK(folds(yes[i]));
        CHECK_FALSE(folds(no[i]));
    }
}

TEST_CASE("values are followed through variables, members, vectors and calls") {
    CHECK(folds(kY + kX + "%m = OpIMul %uint %n %y\n"));
    CHECK_FALSE(folds(kY + kX + "%m = OpIAdd %uint %n %y\n"));
    CHECK_FALSE(folds(kY + kX + "%m = OpIMul %uint %y %y\n%k = OpIMul %uint %n %n\n"));
    CHECK(folds("%v = OpVariable %pfn Function\n" + kY + kX +
                "OpStore %v %y\n%l = OpLoad %uint %v\n%m = OpIMul %uint %l %n\n"));
    // A member is stored and the whole struct is loaded.
    const std::string member = "%v = OpVariable %pfv3 Function\n" + kY + kX +
                               "%vp = OpAccessChain %pfn %v %c1\nOpStore %vp %y\n%l = OpLoad %v3 %v\n";
    CHECK(folds(member + "%e = OpCompositeExtract %uint %l 1\n%m = OpIMul %uint %e %n\n"));
    CHECK_FALSE(folds(member + "%e = OpCompositeExtract %uint %l 2\n%m = OpIMul %uint %e %n\n"));
    CHECK(folds(kY + kX + "%c = OpCompositeConstruct %v3 %c0 %c0 %y\n%e = OpCompositeExtract %uint %c 2\n" +
                "%m = OpIMul %uint %e %n\n"));
    // A product of vectors: y is multiplied by the x of NumWorkgroups only if both are in the same component.
    const std::string vectors = "%g = OpLoad %v3 %workgroup\n%k = OpLoad %v3 %workgroups\n";
    CHECK_FALSE(folds(vectors + "%m = OpIMul %v3 %g %k\n"));
    CHECK(folds(vectors + "%s = OpVectorShuffle %v3 %k %k 1 0 2\n%m = OpIMul %v3 %g %s\n"));
    CHECK_FALSE(folds(vectors + "%s = OpVectorShuffle %v3 %k %k 1 2 0\n%m = OpIMul %v3 %g %s\n"));
}

TEST_CASE("calls: parameters, results, functions that are not reached, other entry points") {
    const std::string call =
        "%v = OpVariable %pfv3 Function\n" + kX +
        "%g = OpLoad %v3 %workgroup\nOpStore %v %g\n%r = OpFunctionCall %uint %linear %v %n\n";
    const auto linear = [](const std::string& result) {
        return "%linear = OpFunction %uint None %linear_type\n%a = OpFunctionParameter %pfv3\n"
               "%b = OpFunctionParameter %uint\n%e3 = OpLabel\n%ap = OpAccessChain %pfn %a %c1\n"
               "%ay = OpLoad %uint %ap\n" +
               result + "OpFunctionEnd\n";
    };
    CHECK(folds(call, linear("%m = OpIMul %uint %ay %b\nOpReturnValue %m\n")));
    CHECK(folds(call + "%m = OpIMul %uint %r %n\n", linear("OpReturnValue %ay\n")));
    CHECK_FALSE(folds(call, linear("OpReturnValue %ay\n")));
    const std::string product = kY + kX + "%m = OpIMul %uint %n %y\n";
    CHECK_FALSE(folds(product, "", "other"));
    CHECK_FALSE(folds("", "%stranger = OpFunction %void None %fn\n%e4 = OpLabel\n" + product +
                              "OpReturn\nOpFunctionEnd\n"));
}
