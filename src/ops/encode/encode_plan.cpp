// SPDX-License-Identifier: Apache-2.0
#include "ops/encode/encode_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <weft/error.hpp>

namespace weft::kernels {
namespace {

constexpr std::uint32_t kLaneSlabBits = 10;  // at most; the shaders' arrays have room for them

std::uint32_t workgroup_limit(const DeviceInfo& device) {
    return std::bit_floor(
        std::max(1u, std::min(device.limits.max_workgroup_size[0], device.limits.max_workgroup_invocations)));
}

// Software devices load and store lane by lane, so an access costs more than arithmetic on the value. Every
// invocation of a lane variant makes an element by itself, in accesses of 32 bytes, and shares nothing. Below
// 16 amplitudes there are no such units.
bool takes_lanes(const EncodePlan& plan, const DeviceInfo& device) {
    constexpr std::uint32_t kLeastQubits = 4;
    return device.type == DeviceType::cpu && device.shader_float64 && plan.qubits >= kLeastQubits;
}

// A workgroup is one vector of lanes, of which most processors have eight. Larger slabs repeat fewer sines;
// smaller ones leave no lane idle if samples are few.
void plan_lanes(EncodePlan& plan, const DeviceInfo& device, EncodeKernel kernel,
                std::uint32_t most_slab_bits) {
    constexpr std::uint32_t kUsualLanes = 8, kMostLanes = 64;
    const std::uint32_t lanes = std::bit_floor(std::max(1u, device.limits.subgroup_size));
    plan.lanes = true;
    plan.kernel = kernel;
    plan.local_size = std::min(std::clamp(lanes, kUsualLanes, kMostLanes), workgroup_limit(device));
    plan.slab_bits = std::min(plan.qubits, most_slab_bits);
}

// On lavapipe, invocations pass barriers in loops too early.
bool keeps_barriers(const DeviceInfo& device) {
    return device.type != DeviceType::cpu;
}

// As many invocations hold a row as load it well. What they hold must fit their registers, or the cache of a
// processor: on lavapipe amplitude_long is faster from 14 qubits on.
bool plan_kept_row(EncodePlan& plan, const DeviceInfo& device, std::uint32_t most_lanes) {
    constexpr std::uint32_t kMostKept = 8, kTeam = 16, kWorkgroup = 256;
    const std::uint32_t pairs = 1u << (plan.qubits - 1);
    plan.team_size = std::min({pairs, std::max(kTeam, pairs / kMostKept), most_lanes});
    plan.kept_pairs = plan.held_pairs = pairs / plan.team_size;
    plan.local_size = std::min(most_lanes, std::max(plan.team_size, kWorkgroup));
    return plan.kept_pairs <= kMostKept && (device.type != DeviceType::cpu || plan.qubits < 14);
}

// The size of subgroups if they are whole and can shuffle and their size is known, else 0.
std::uint32_t shuffling_subgroup(const DeviceInfo& device, std::uint32_t local_size) {
    const std::uint32_t size = device.limits.subgroup_size;
    const bool known = device.subgroup_shuffles && device.full_subgroups && device.subgroup_size_control;
    return known && size > 1 && local_size % size == 0 ? size : 0;
}

// Workgroups that share a row should run at the same time. A card runs some hundred of them, a small GPU 32.
bool plan_shared_row(EncodePlan& plan, const DeviceInfo& device, std::uint32_t most_lanes) {
    const bool card = device.type == DeviceType::discrete;
    // The 64 values that an invocation of a card holds take half of its registers.
    const std::uint32_t most_qubits = card ? 20 : 17, lanes = 128;
    const std::uint32_t block_bits = std::min(plan.qubits, card ? 13u : 12u);
    if (!keeps_barriers(device) || plan.qubits > most_qubits) return false;
    plan.kernel = EncodeKernel::amplitude_shared;
    plan.task_bits = block_bits;
    plan.local_size = std::min(lanes, most_lanes);
    plan.kept_pairs = plan.held_pairs = (1u << block_bits) / 2 / plan.local_size;
    plan.subgroup_size = shuffling_subgroup(device, plan.local_size);
    plan.workgroups_per_row =
        static_cast<std::uint32_t>((plan.features + (1u << block_bits) - 1) >> block_bits);
    plan.task_words = 8 + 12 * plan.workgroups_per_row;
    return true;
}

void plan_amplitude(EncodePlan& plan, const DeviceInfo& device) {
    const std::uint32_t most_lanes = workgroup_limit(device);
    constexpr std::uint32_t kMostLaneQubits = 16;  // above, blocks of a row are made at the same time
    if (takes_lanes(plan, device) && plan.qubits <= kMostLaneQubits && plan.row_fits())
        return plan_lanes(plan, device, EncodeKernel::amplitude, kMostLaneQubits);
    plan.slab_bits = plan.element_bits = plan.qubits;
    if (plan.row_fits() &&
        (plan_kept_row(plan, device, most_lanes) || plan_shared_row(plan, device, most_lanes)))
        return;
    plan.kernel = EncodeKernel::amplitude_long;
    plan.local_size = std::min(1024u, most_lanes);
}

void plan_product(EncodePlan& plan, const DeviceInfo& device) {
    // Sines and their products pay from 16 amplitudes an invocation on. In small states an invocation makes
    // fewer, so that neighbours write neighbouring bytes and no more than 256 rows share the tables of the
    // shader.
    constexpr std::uint32_t kSmallQubits = 6;
    if (takes_lanes(plan, device)) return plan_lanes(plan, device, EncodeKernel::product, kLaneSlabBits);
    plan.kernel = EncodeKernel::product;
    plan.local_size = std::min(256u, workgroup_limit(device));
    const auto lane_bits = static_cast<std::uint32_t>(std::countr_zero(plan.local_size));
    plan.slab_bits = lane_bits + (plan.qubits <= kSmallQubits ? 1u : 4u);
    // This saves a barrier and costs products: it gains 0.3 % on an H100 and would lose a fifth on a software
    // device.
    plan.alone = plan.qubits >= plan.slab_bits && device.type != DeviceType::cpu;
}

void plan_basis(EncodePlan& plan, const DeviceInfo& device) {
    if (takes_lanes(plan, device)) return plan_lanes(plan, device, EncodeKernel::basis, kLaneSlabBits);
    plan.kernel = EncodeKernel::basis;
    plan.slab_bits = 12;
}

// The most slab bits whose dealt amplitudes, couplings and angles fit shared memory; see encode_iqp.comp.
std::uint32_t most_slab_bits(const EncodePlan& plan, const DeviceInfo& device) {
    constexpr std::uint32_t kTables = 465 + 72 + 256, kRows = 128;
    const std::uint32_t real = plan.real64 ? 8 : 4, most_lanes = workgroup_limit(device);
    std::uint32_t bits = 10;
    const auto fits = [&](std::uint32_t b) {
        const std::uint64_t dealt = ((1u << b) + (1u << (b - 5))) * std::uint64_t{real};
        return dealt + std::uint64_t{kTables} * real + kRows <= device.limits.max_shared_memory_bytes &&
               (1u << (b - 4)) <= most_lanes;
    };
    while (bits < 13 && fits(bits + 1)) ++bits;
    return bits;
}

// A streamed state is made by one dispatch, slabs and the bits above them. Sums have the order that passes
// have, so that a state has the same bits.
void plan_iqp_tasks(EncodePlan& plan, std::uint32_t upper) {
    constexpr std::uint32_t kHeaderWords = 8;
    plan.kernel = EncodeKernel::iqp_tasks;
    plan.workgroups_per_row = (1u << upper) + (1u << (upper - (plan.amplitude_bytes == 16 ? 0 : 1)));
    plan.task_words = kHeaderWords;
    plan.element_bits = plan.qubits;
}

// Plans up to 8 bits above a slab, which has 4096 amplitudes if shared memory has room for them.
bool plan_iqp_upper(EncodePlan& plan, const DeviceInfo& device, bool streamed) {
    constexpr std::uint32_t kUsualSlab = 12, kMostUpper = 8, kTurn = 4;
    const std::uint32_t most = most_slab_bits(plan, device), usual = std::min(kUsualSlab, most);
    if (plan.qubits <= most || plan.qubits > most + kMostUpper || !plan.row_fits()) return false;
    plan.slab_bits = plan.qubits <= usual + kMostUpper ? usual : most;
    plan.local_size = 1u << (plan.slab_bits - 4);
    const std::uint32_t upper = plan.qubits - plan.slab_bits;
    if (streamed && keeps_barriers(device)) {
        plan_iqp_tasks(plan, upper);
        return true;
    }
    const std::uint32_t late = upper > kTurn ? upper - kTurn : 0;
    plan.passes.push_back({plan.slab_bits + late, upper - late});
    if (late != 0) plan.passes.push_back({plan.slab_bits, late});
    return true;
}

// Takes the smallest slab of those that need the fewest passes, because small slabs leave room for more
// workgroups.
void plan_iqp(EncodePlan& plan, const DeviceInfo& device, bool streamed) {
    if (plan.qubits <= 6) {
        plan.kernel = EncodeKernel::iqp_direct;
        plan.local_size = 256;
        plan.slab_bits = 8;
        return;
    }
    plan.kernel = EncodeKernel::iqp;
    // Passes round to complex64 anyway, so the slower arithmetic would gain nothing.
    if (plan.amplitude_bytes == 8 && plan.qubits > most_slab_bits(plan, device)) plan.real64 = false;
    if (plan_iqp_upper(plan, device, streamed)) return;
    constexpr std::uint32_t kPassBits = 4;
    const auto passes_above = [&](std::uint32_t slab) {
        const std::uint32_t bits = plan.qubits - std::min(plan.qubits, slab);
        return (bits + kPassBits - 1) / kPassBits;
    };
    plan.slab_bits = most_slab_bits(plan, device);
    while (plan.slab_bits > 10 && passes_above(plan.slab_bits - 1) == passes_above(plan.slab_bits))
        --plan.slab_bits;
    plan.local_size = 1u << (plan.slab_bits - 4);
    std::uint32_t low = std::min(plan.qubits, plan.slab_bits);
    std::uint32_t left = std::min(plan.qubits, plan.window_bits);
    left -= std::min(left, plan.slab_bits);
    for (std::uint32_t count = (left + kPassBits - 1) / kPassBits; count > 0; --count) {
        const std::uint32_t bits = (left + count - 1) / count;
        plan.passes.push_back({low, bits});
        low += bits;
        left -= bits;
    }
}

}  // namespace

EncodePlan plan_encode(const DeviceInfo& device, EncodeMethod method, EncodeTypes types,
                       const StateShape& shape, std::uint64_t features, bool streamed) {
    const bool wide = types.states == kComplex128;
    if (wide && !device.shader_float64)
        throw Error(Errc::unsupported, "encode: complex128 states need shaderFloat64 (got " + device.name +
                                           " without it, need complex64 states)");
    EncodePlan plan;
    plan.method = method;
    plan.types = types;
    plan.samples = shape.samples;
    plan.qubits = shape.qubits;
    plan.features = features;
    plan.value_bytes = types.values.bytes();
    plan.amplitude_bytes = types.states.bytes();
    plan.real64 = wide || (types.values == kFloat64 && device.shader_float64);
    plan.max_workgroups = std::max(device.limits.max_workgroup_count[0], 1u);
    plan.range_bytes = std::min(device.limits.max_storage_buffer_range, device.limits.max_buffer_bytes);
    plan.alignment = std::max<std::uint64_t>(16, device.limits.storage_buffer_offset_alignment);
    // Shaders count words in 32 bits.
    plan.range_bytes = std::min(plan.range_bytes, std::uint64_t{0xffffffff});
    plan.window_bits = static_cast<std::uint32_t>(
                           std::bit_width((plan.range_bytes - plan.alignment) / plan.amplitude_bytes)) -
                       1;
    switch (method) {
        case EncodeMethod::amplitude:
            plan_amplitude(plan, device);
            break;
        case EncodeMethod::angle:
        case EncodeMethod::phase:
        case EncodeMethod::iqp_z:
            plan_product(plan, device);
            break;
        case EncodeMethod::basis:
            plan_basis(plan, device);
            break;
        case EncodeMethod::iqp:
            plan_iqp(plan, device, streamed);
            break;
    }
    // Half of what iqp computes are indices, which drivers fold if they know the qubits. For large batches
    // that repays a pipeline for each number of qubits.
    constexpr std::uint64_t kManyAmplitudes = std::uint64_t{1} << 22;
    if ((plan.kernel == EncodeKernel::iqp || plan.kernel == EncodeKernel::iqp_direct) &&
        plan.bytes_out() / plan.amplitude_bytes >= kManyAmplitudes)
        plan.fixed_qubits = plan.qubits;
    plan.element_bits = plan.whole_rows() ? plan.qubits : std::min(plan.qubits, plan.slab_bits);
    plan.rows_per_workgroup = plan.lanes                               ? plan.local_size
                              : plan.kernel == EncodeKernel::amplitude ? plan.local_size / plan.team_size
                              : plan.whole_rows() || plan.kernel == EncodeKernel::amplitude_long
                                  ? 1
                                  : 1u << (plan.slab_bits - plan.element_bits);
    return plan;
}

}  // namespace weft::kernels
