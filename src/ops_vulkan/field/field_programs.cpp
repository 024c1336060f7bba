// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/field/field_programs.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <weft/error.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {
namespace {

enum class FieldModule { add, sub, neg, mul, square, scale, axpy, inverse, sum, inner_product };

struct FieldModuleWords {
    FieldModule module;
    std::uint32_t words;  // of an element
    FieldShader shader;
    std::span<const std::uint32_t> spirv;
};

// kFieldModules: shaders/CMakeLists.txt writes this list of the modules that it builds.
#include "shaders/field_modules.inc"

// Of each FieldOp, in their order. A conversion multiplies by a constant.
constexpr std::array kModuleOf{FieldModule::add,   FieldModule::sub,          FieldModule::neg,
                               FieldModule::mul,   FieldModule::square,       FieldModule::inverse,
                               FieldModule::scale, FieldModule::scale,        FieldModule::axpy,
                               FieldModule::sum,   FieldModule::inner_product};
static_assert(kModuleOf.size() == static_cast<std::size_t>(FieldOp::inner_product) + 1);

// The ids are those of shaders/field/field_interface.h.
std::vector<SpecConstant> constants_of(const shared::FieldConstants& f, const FieldProducts& products,
                                       bool has_n0, std::uint32_t local_size) {
    std::vector<SpecConstant> constants;
    constants.reserve(28);
    constants.emplace_back(0u, local_size);
    for (std::uint32_t i = 0; i < f.words; ++i) constants.emplace_back(1u + i, f.p.word[i]);
    if (has_n0) constants.emplace_back(13u, f.n0);
    if (products.passes != 1) constants.emplace_back(14u, products.passes);
    if (products.factor != nullptr)
        for (std::uint32_t i = 0; i < f.words; ++i) constants.emplace_back(20u + i, products.factor->word[i]);
    return constants;
}

// Owner: Backend or Stream. Nothing is cached here, because the owner's pipeline cache makes this a look-up.
template <class Owner>
Program make_program(Owner& owner, Field field, FieldOp op, std::uint64_t elements,
                     const FieldOptions& options) {
    const shared::FieldConstants& f = field_constants(field);
    const FieldModule module = kModuleOf.at(static_cast<std::size_t>(op));
    const FieldProducts products = plan_products(f, op, options.form);
    const FieldPlan plan = plan_field(owner.device(), field_info(field), op, elements, options);
    const auto found =
        std::find_if(std::begin(kFieldModules), std::end(kFieldModules), [&](const FieldModuleWords& m) {
            return m.module == module && m.words == f.words && m.shader == plan.shader;
        });
    if (found == std::end(kFieldModules))
        throw Error(Errc::unsupported,
                    field_function(op) + ": this build has no such shader (got elements of " +
                        std::to_string(f.words) + " words, need one of field_modules.inc)");
    ProgramOptions program{
        .name = field_function(op),
        .constants =
            constants_of(f, products, products.factor != nullptr || op == FieldOp::axpy, plan.local_size),
        .elements_per_workgroup = plan.elements_per_workgroup,
        .max_workgroups = plan.max_workgroups};
    return {owner, found->spirv, program};
}

template <std::size_t kWords>
Parameters first_words(const FieldWords& words) {
    std::array<std::uint32_t, kWords> first;
    std::copy_n(words.word, kWords, first.begin());
    return first;
}

}  // namespace

Program make_field_program(Backend& backend, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options) {
    return make_program(backend, field, op, elements, options);
}
Program make_field_program(Devices& devices, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options) {
    return core::program_for_all(
        devices, [&](Backend& backend) { return make_program(backend, field, op, elements, options); });
}
Program make_field_program(const Stream& stream, Field field, FieldOp op, std::uint64_t elements,
                           const FieldOptions& options) {
    return make_program(stream, field, op, elements, options);
}

Parameters axpy_parameters(Field field, const FieldWords& scalar) {
    switch (field_constants(field).words) {
        case 1:
            return first_words<1>(scalar);
        case 2:
            return first_words<2>(scalar);
        case 8:
            return first_words<8>(scalar);
        default:
            return first_words<12>(scalar);
    }
}

Parameters block_parameters(std::uint32_t block_elements) {
    return block_elements;
}

}  // namespace weft::kernels
