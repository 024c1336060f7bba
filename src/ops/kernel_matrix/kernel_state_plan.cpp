// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_state_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <weft/error.hpp>

#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kPackRows = 64;  // packed rows come in blocks of as many

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

std::uint64_t larger_side(const KernelMatrixShape& shape) {
    return std::max(shape.samples, shape.columns());
}

void plan_passes(KernelMatrixPlan& plan, const KernelMatrixDevice& device) {
    const DeviceLimits& limits = device.gram.limits;
    const std::uint32_t most =
        std::bit_floor(std::max(16u, std::min(limits.max_workgroup_size[0], limits.max_workgroup_invocations)));
    std::uint32_t lanes = std::min(plan.real64 ? 128u : 256u, most);
    while (lanes > 16 && shared_bytes_of_states(lanes, plan.real_bytes()) > limits.max_shared_memory_bytes)
        lanes /= 2;
    plan.states.most_lanes = lanes;
    plan.states.passes =
        state_passes(plan.shape.qubits, static_cast<std::uint32_t>(std::bit_width(lanes)) - 1 + 4);
    plan.states.two_buffers = plan.states.passes.size() > 1 && plan.layers > 1;
}

// Enough states for a GPU's workgroups, few enough that they take little compared to what is packed.
std::uint64_t chunk_rows(const KernelMatrixPlan& plan, const KernelMatrixDevice& device) {
    constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;
    const DeviceLimits& limits = device.gram.limits;
    const std::uint64_t slack = std::max<std::uint64_t>(256, limits.storage_buffer_offset_alignment);
    const std::uint64_t most =
        std::min({limits.max_storage_buffer_range - slack, limits.max_buffer_bytes, std::uint64_t{1} << 35});
    const std::uint64_t row = std::max(plan.states.state_bytes, plan.states.gram.row_bytes);
    const std::uint64_t wanted = std::min(kChunkBytes, most) / row / kPackRows * kPackRows;
    return std::min({std::max(kPackRows, wanted), round_up(larger_side(plan.shape), kPackRows)});
}

GramProblem problem_of(const KernelMatrixPlan& plan, const CircuitFacts& circuit, bool normalize) {
    const StatePlan& s = plan.states;
    GramProblem problem;
    problem.amplitudes = std::uint64_t{1} << plan.shape.qubits;
    problem.precision = plan.real64 ? GramReal::float64 : GramReal::float32;
    problem.output = plan.type == kFloat64 ? GramReal::float64 : GramReal::float32;
    problem.unit_rows = !circuit.given;
    problem.scaled = s.renormalize && !normalize;
    const bool whole = s.bulk && !circuit.on_host;
    const std::uint64_t part = circuit.on_host ? s.block : s.tile;
    problem.rows = whole ? plan.shape.samples : std::min(part, plan.shape.samples);
    problem.columns = whole ? plan.shape.columns() : std::min(part, plan.shape.columns());
    problem.symmetric = whole && plan.shape.square();
    problem.leading = circuit.on_host ? s.block : plan.shape.columns();
    return problem;
}

// Rows and columns of K on their way to host memory: long enough rows for copies, few enough bytes for two of
// them.
std::uint64_t block_of(const KernelMatrixPlan& plan) {
    // Products of many amplitudes outlast any copy, and want blocks that fill the device. Of few, copies
    // decide: then page-locked memory, which costs a quarter of a millisecond a megabyte, has to be little,
    // and blocks several.
    const bool many = plan.shape.qubits >= 14;
    const std::uint64_t most = many ? 4096 : 2048;
    const std::uint64_t side = round_up(larger_side(plan.shape), kPackRows);
    const std::uint64_t part = many ? side : round_up((side + 3) / 4, kPackRows);
    return std::min(
        {most, plan.states.tile, std::max<std::uint64_t>(part, std::min<std::uint64_t>(side, 512))});
}

// Matrix units take rows one by one: a pass over states writes whole lines of them. Other methods take them
// side by side, and a workgroup has to hold enough of them for whole sectors of memory, or others read and
// write the rest in between; a software device stores number by number whichever way.
void plan_packing(KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool normalize) {
    constexpr std::uint64_t kSectorBytes = 32;
    StatePlan& s = plan.states;
    const StatePass& last = s.passes.back();
    s.workgroup_rows = lanes_of(s, last) >> (last.window - 4);
    s.turned = !device.gram.software;
    const bool whole =
        s.gram.matrix() || device.gram.software || s.workgroup_rows * plan.real_bytes() >= kSectorBytes;
    s.fused = plan.layers != 0 && !device.packs_apart && whole;
    const std::uint32_t bits = std::max(plan.shape.qubits, 4u);
    s.squares = s.fused && (s.renormalize || normalize) ? 1u << (bits - last.window) : 0;
}

// `built`: states at a time, at most.
void replan(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit, std::uint64_t tile,
            std::uint64_t built, bool bulk, bool normalize) {
    plan.states.tile = tile;
    plan.states.bulk = bulk;
    plan.states.block = block_of(plan);
    plan.states.gram = plan_gram(problem_of(plan, circuit, normalize), device.gram);
    plan.states.chunk_rows = std::min(chunk_rows(plan, device), built);
    plan_packing(plan, device, normalize);
}

}  // namespace

std::uint64_t shared_bytes_of_states(std::uint32_t lanes, std::uint64_t real_bytes) noexcept {
    // Amplitudes dealt, 128 gates of 8 numbers, 256 factors of 2: as kernel_states.comp has them.
    return real_bytes * (std::uint64_t{lanes} * 17 + 128 * 8 + 256 * 2);
}

std::vector<StatePass> state_passes(std::uint32_t qubits, std::uint32_t most_window) {
    constexpr std::uint32_t kHeld = 4, kCarried = 4;
    std::vector<StatePass> passes{{std::clamp(qubits, kHeld, most_window), 0, 0, 0, true}};
    for (std::uint32_t done = passes[0].window; done < qubits;) {
        const std::uint32_t bits = std::clamp(qubits - done, kHeld, most_window - kCarried);
        // Bits that have their gates come along where too few are left for a block.
        passes.push_back({bits + kCarried, kCarried, std::min(done, qubits - bits), done, false});
        done += bits;
    }
    return passes;
}

std::uint32_t lanes_of(const StatePlan& states, const StatePass& pass) noexcept {
    // The shader's tables hold 16 blocks of a workgroup.
    return std::min(states.most_lanes, 16u << (pass.window - 4));
}

bool one_block(const KernelMatrixPlan& plan) noexcept {
    return larger_side(plan.shape) <= plan.states.block;
}

std::uint64_t block_bytes(const KernelMatrixPlan& plan) noexcept {
    const std::uint64_t images = plan.shape.square() && !one_block(plan) ? 2 : 1;
    return images * plan.states.block * plan.states.block * plan.value_bytes();
}

std::uint64_t built_bytes(const KernelMatrixPlan& plan) noexcept {
    const StatePlan& s = plan.states;
    if (s.fused && s.passes.size() == 1 && plan.layers == 1) return 0;
    return s.chunk_rows * s.state_bytes * (s.two_buffers ? 2 : 1);
}

double gram_flops(const KernelMatrixPlan& plan) noexcept {
    return 8 * std::ldexp(static_cast<double>(plan.shape.pairs()), static_cast<int>(plan.shape.qubits));
}

bool tunes_first(const KernelMatrixPlan& plan, const GramDevice& device,
                 const KernelMatrixOptions& options) noexcept {
    return options.autotune != Choice::off && plan.method == KernelMatrixMethod::states && plan.obstacle.empty() &&
           !plan.states.gram.tile_measured && gram_tuning_pays(device, gram_flops(plan));
}

void plan_states(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
                 const KernelMatrixOptions& options) {
    constexpr std::uint32_t kMostQubits = 30;
    if (plan.shape.qubits > kMostQubits) {
        plan.obstacle = "2^" + std::to_string(plan.shape.qubits) + " amplitudes a state, need at most 2^30";
        return;
    }
    plan.stride = round_up(plan.shape.samples + plan.shape.others, 4);
    if (device.gram.software) plan.states.norm_lanes = 8;
    plan.states.state_bytes = (plan.real64 ? std::uint64_t{16} : std::uint64_t{8}) << plan.shape.qubits;
    // Every gate of rounded numbers changes the norm by some 1e-7; K has its fourth power.
    plan.states.renormalize = !circuit.given && !plan.real64;
    plan_passes(plan, device);
    const std::uint64_t side = round_up(larger_side(plan.shape), kPackRows);
    const std::uint64_t available = available_bytes(device, options);
    const auto fits = [&] { return states_memory(plan, device, circuit.on_host) <= available; };
    try {
        const std::uint64_t asked =
            options.state_tile < 0
                ? side
                : std::min(side, round_up(static_cast<std::uint64_t>(options.state_tile), kPackRows));
        if (options.bulk_states != Choice::off) {
            replan(plan, device, circuit, side, asked, true, options.normalize);
            if (options.bulk_states == Choice::on || fits()) return;
        }
        replan(plan, device, circuit, asked, asked, false, options.normalize);
        if (options.state_tile > 0) return;
        for (std::uint64_t tile = std::bit_floor(side); !fits() && tile >= kPackRows; tile /= 2)
            replan(plan, device, circuit, tile, tile, false, options.normalize);
    } catch (const Error& error) {
        // 64 states, or 64 rows of K, that no binding spans.
        if (error.code() != Errc::unsupported) throw;
        plan.obstacle = error.what();
        plan.obstacle.erase(0, plan.obstacle.find(": ") + 2);  // the function
    }
}

}  // namespace weft::kernels
