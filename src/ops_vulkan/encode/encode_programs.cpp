// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/encode/encode_programs.hpp"

#include <algorithm>
#include <string>

#include "shaders/encode.spv.hpp"
#include "shaders/encode/encode_parameters.h"

namespace weft::kernels {
namespace {

using SpirvWords = std::span<const std::uint32_t>;

/// The variants of a shader by type of values and of arithmetic.
struct Variants {
    const char* name;
    SpirvWords in32_real32, in32_real64, in64_real32, in64_real64;
};

constexpr Variants kAmplitude{"encode_amplitude", spirv::encode_amplitude_in32_real32,
                              spirv::encode_amplitude_in32_real64, spirv::encode_amplitude_in64_real32,
                              spirv::encode_amplitude_in64_real64};
constexpr Variants kAmplitudeShared{"encode_amplitude_shared", spirv::encode_amplitude_shared_in32_real32,
                                    spirv::encode_amplitude_shared_in32_real64,
                                    spirv::encode_amplitude_shared_in64_real32,
                                    spirv::encode_amplitude_shared_in64_real64};
constexpr Variants kAmplitudeShuffled{
    "encode_amplitude_shared_shuffled", spirv::encode_amplitude_shared_shuffled_in32_real32,
    spirv::encode_amplitude_shared_shuffled_in32_real64, spirv::encode_amplitude_shared_shuffled_in64_real32,
    spirv::encode_amplitude_shared_shuffled_in64_real64};
constexpr Variants kProduct{"encode_product", spirv::encode_product_in32_real32,
                            spirv::encode_product_in32_real64, spirv::encode_product_in64_real32,
                            spirv::encode_product_in64_real64};
// Lane variants are chosen on devices with double only, and then values of 64 bits are not computed in 32
// bits.
constexpr Variants kAmplitudeLanes{"encode_amplitude_lanes",
                                   spirv::encode_amplitude_lanes_in32_real32,
                                   spirv::encode_amplitude_lanes_in32_real64,
                                   {},
                                   spirv::encode_amplitude_lanes_in64_real64};
constexpr Variants kProductLanes{"encode_product_lanes",
                                 spirv::encode_product_lanes_in32_real32,
                                 spirv::encode_product_lanes_in32_real64,
                                 {},
                                 spirv::encode_product_lanes_in64_real64};
constexpr Variants kIqp{"encode_iqp", spirv::encode_iqp_in32_real32, spirv::encode_iqp_in32_real64,
                        spirv::encode_iqp_in64_real32, spirv::encode_iqp_in64_real64};
constexpr Variants kIqpTasks{"encode_iqp_tasks", spirv::encode_iqp_tasks_in32_real32,
                             spirv::encode_iqp_tasks_in32_real64, spirv::encode_iqp_tasks_in64_real32,
                             spirv::encode_iqp_tasks_in64_real64};
constexpr Variants kIqpDirect{"encode_iqp_direct", spirv::encode_iqp_direct_in32_real32,
                              spirv::encode_iqp_direct_in32_real64, spirv::encode_iqp_direct_in64_real32,
                              spirv::encode_iqp_direct_in64_real64};
constexpr Variants kNormBlock{"encode_norm_block", spirv::encode_norm_block_in32_real32,
                              spirv::encode_norm_block_in32_real64, spirv::encode_norm_block_in64_real32,
                              spirv::encode_norm_block_in64_real64};
constexpr Variants kScale{"encode_scale", spirv::encode_scale_in32_real32, spirv::encode_scale_in32_real64,
                          spirv::encode_scale_in64_real32, spirv::encode_scale_in64_real64};
constexpr Variants kNormRow{"encode_norm_row", spirv::encode_norm_row_real32, spirv::encode_norm_row_real64,
                            spirv::encode_norm_row_real32, spirv::encode_norm_row_real64};
constexpr Variants kBasis{"encode_basis", spirv::encode_basis, spirv::encode_basis, spirv::encode_basis,
                          spirv::encode_basis};
constexpr Variants kBasisLanes{"encode_basis_lanes", spirv::encode_basis_lanes, spirv::encode_basis_lanes,
                               spirv::encode_basis_lanes, spirv::encode_basis_lanes};

const Variants& variants_of(const EncodePlan& plan, EncodeStep step) {
    switch (step) {
        case EncodeStep::norm_block:
            return kNormBlock;
        case EncodeStep::norm_row:
            return kNormRow;
        case EncodeStep::scale:
            return kScale;
        default:
            break;
    }
    switch (plan.kernel) {
        case EncodeKernel::product:
            return plan.lanes ? kProductLanes : kProduct;
        case EncodeKernel::basis:
            return plan.lanes ? kBasisLanes : kBasis;
        case EncodeKernel::iqp_direct:
            return kIqpDirect;
        case EncodeKernel::iqp:
            return kIqp;
        case EncodeKernel::iqp_tasks:
            return kIqpTasks;
        case EncodeKernel::amplitude_shared:
            return plan.subgroup_size != 0 ? kAmplitudeShuffled : kAmplitudeShared;
        case EncodeKernel::amplitude:
        case EncodeKernel::amplitude_long:
            break;
    }
    return plan.lanes ? kAmplitudeLanes : kAmplitude;
}

SpirvWords words_of(const Variants& variants, const EncodePlan& plan) {
    if (plan.types.values == kFloat32) return plan.real64 ? variants.in32_real64 : variants.in32_real32;
    return plan.real64 ? variants.in64_real64 : variants.in64_real32;
}

ProgramOptions element_wise(const char* name, const EncodePlan& plan) {
    constexpr std::uint32_t kLocalSize = 256;
    return {.name = name,
            .constants = {{0u, std::min(kLocalSize, plan.local_size)}},
            .max_workgroups = plan.max_workgroups};
}

void add_lane_constants(ProgramOptions& options, const EncodePlan& plan, std::uint32_t before) {
    constexpr std::uint32_t kEight = 8;
    // Shaders that compute in float have no such constant.
    if (plan.types.states == kComplex128) options.constants.emplace_back(1u, true);
    switch (plan.kernel) {
        case EncodeKernel::amplitude:
            options.constants.emplace_back(2u, plan.features % kEight == 0 && before % kEight == 0);
            return;
        case EncodeKernel::product:
            options.constants.emplace_back(2u, product_method(plan.method));
            break;
        default:
            options.constants.emplace_back(2u, input_of_basis(plan.types.values));
            break;
    }
    options.constants.emplace_back(3u, plan.slab_bits);
}

}  // namespace

template <class Owner>
Program encode_program(Owner& owner, const EncodePlan& plan, EncodeStep step, std::uint32_t before) {
    const Variants& variants = variants_of(plan, step);
    ProgramOptions options{.name = variants.name,
                           .constants = {{0u, plan.local_size}},
                           .elements_per_workgroup = plan.rows_per_workgroup,
                           .max_workgroups = plan.max_workgroups};
    const bool wide = plan.types.states == kComplex128;
    switch (step) {
        case EncodeStep::norm_block:
        case EncodeStep::norm_row:
            options.elements_per_workgroup = 1;
            return {owner, words_of(variants, plan), options};
        case EncodeStep::scale:
            options = element_wise(variants.name, plan);
            options.constants.emplace_back(1u, wide);
            return {owner, words_of(variants, plan), options};
        default:
            break;
    }
    if (plan.lanes) {
        add_lane_constants(options, plan, before);
        return {owner, words_of(variants, plan), options};
    }
    options.constants.emplace_back(1u, wide);
    if (plan.kernel == EncodeKernel::amplitude || plan.kernel == EncodeKernel::amplitude_shared)
        options.constants.emplace_back(2u, plan.kept_pairs);
    if (plan.kernel == EncodeKernel::amplitude) options.constants.emplace_back(3u, plan.team_size);
    if (plan.subgroup_size != 0) {
        options.constants.emplace_back(3u, plan.subgroup_size);
        options.subgroup_size = plan.subgroup_size;
        options.require_full_subgroups = true;
    }
    options.workgroups_per_element = plan.workgroups_per_row;
    if (plan.kernel == EncodeKernel::product) {
        options.constants.emplace_back(2u, product_method(plan.method));
        options.constants.emplace_back(3u, plan.alone);
    }
    if (plan.kernel == EncodeKernel::iqp || plan.kernel == EncodeKernel::iqp_tasks)
        options.constants.emplace_back(2u, plan.slab_bits);
    if (plan.fixed_qubits != 0) options.constants.emplace_back(4u, plan.fixed_qubits);
    if (plan.kernel == EncodeKernel::iqp_tasks) {
        options.constants.emplace_back(3u, plan.qubits - plan.slab_bits);
        options.written_first = {1};
    }
    if (plan.kernel == EncodeKernel::basis) {
        options.constants.emplace_back(2u, input_of_basis(plan.types.values));
        // Each invocation makes 8 stores.
        const std::uint32_t stores = (1u << plan.element_bits) / (wide ? 1u : 2u);
        options.elements_per_workgroup = std::max(1u, 8u * plan.local_size / stores);
    }
    return {owner, words_of(variants, plan), options};
}

template Program encode_program<Backend>(Backend&, const EncodePlan&, EncodeStep, std::uint32_t);
template Program encode_program<const Stream>(const Stream&, const EncodePlan&, EncodeStep, std::uint32_t);

Program wht_program(const Stream& stream, const EncodePlan& plan, std::uint32_t bits) {
    ProgramOptions options = element_wise("encode_wht", plan);
    options.constants.emplace_back(1u, bits);
    const bool wide = plan.types.states == kComplex128;
    return {stream, wide ? SpirvWords(spirv::encode_wht_real64) : SpirvWords(spirv::encode_wht_real32),
            options};
}

Program wht_pair_program(const Stream& stream, const EncodePlan& plan) {
    const bool wide = plan.types.states == kComplex128;
    return {stream,
            wide ? SpirvWords(spirv::encode_wht_pair_real64) : SpirvWords(spirv::encode_wht_pair_real32),
            element_wise("encode_wht_pair", plan)};
}

}  // namespace weft::kernels
