// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_plan.hpp"

#include <bit>
#include <cmath>

#include <weft/error.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"

namespace weft::kernels {
namespace {

// Mesa's software devices end every loop of an invocation after 65535 iterations. For one tile of K, this
// many qubits take 45056 iterations in kernel_product.comp and half as many in kernel_product_lanes.comp.
constexpr std::uint32_t kSoftwarePartQubits = 16384;
// With at most this many qubits, one workgroup can take all 66 tiles that the engine gives it for a job of
// one row.
constexpr std::uint32_t kSoftwareJobQubits = 256;

// Rows of K that one dispatch writes: bound whole, counted in 32 bits, and in whole tiles if there is at
// least one.
std::uint64_t rows_within(const KernelMatrixPlan& plan, std::uint64_t bytes) {
    constexpr std::uint64_t kMostValues = std::uint64_t{1} << 31;
    const std::uint64_t columns = plan.shape.columns();
    const std::uint64_t rows = std::min(bytes / plan.real_bytes(), kMostValues) / columns;
    return std::min(plan.shape.samples, rows < kProductTile ? rows : rows / kProductTile * kProductTile);
}

void plan_product(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
                  const KernelMatrixOptions& options) {
    // Enough for the device's copies. Larger jobs would begin later and taper worse.
    constexpr std::uint64_t kJobBytes = std::uint64_t{48} << 20, kSmallBytes = std::uint64_t{1} << 20;
    const DeviceLimits& limits = device.gram.limits;
    plan.rz = circuit.map == FeatureMap::ryrz;
    plan.long_variant = !plan.real64 && plan.shape.qubits > kLongQubits;
    plan.lane_variant = device.gram.software && device.gram.float64 && !plan.long_variant;
    const std::uint64_t unit = plan.lane_variant ? kLaneSamples : 4;  // samples that are loaded together
    plan.others_at = plan.shape.square() ? 0 : round_up(plan.shape.samples, unit);
    plan.stride = round_up(plan.others_at + plan.shape.columns(), unit);
    // A small K is one dispatch and one copy; jobs would wait for the planes in between.
    plan.by_panels = (device.gram.software && plan.shape.qubits > kSoftwareJobQubits) ||
                     plan.matrix_bytes() <= kSmallBytes;
    plan.part_qubits =
        device.gram.software ? std::min(plan.shape.qubits, kSoftwarePartQubits) : plan.shape.qubits;
    // A binding may have to start before the first value.
    const std::uint64_t range =
        limits.max_storage_buffer_range - std::max<std::uint64_t>(limits.storage_buffer_offset_alignment, 8);
    plan.symmetric = plan.shape.square() && plan.matrix_bytes() <= range;
    plan.panel_rows = rows_within(plan, range);
    plan.job_rows = std::max(rows_within(plan, std::min(kJobBytes, range)),
                             std::min<std::uint64_t>(kProductTile, plan.panel_rows));
    const std::uint64_t available = available_bytes(device, options);
    while (plan.job_rows > 1 && product_memory(plan, device, true) > available) {
        const std::uint64_t half = plan.job_rows / 2;
        plan.job_rows = half < kProductTile ? half : half / kProductTile * kProductTile;
    }
}

constexpr std::uint64_t kPackRows = 64;  // rows of a block of packed states

std::uint64_t larger_side(const KernelMatrixShape& shape) {
    return std::max(shape.samples, shape.columns());
}

void plan_passes(KernelMatrixPlan& plan, const KernelMatrixDevice& device) {
    const DeviceLimits& limits = device.gram.limits;
    const std::uint32_t most = std::bit_floor(
        std::max(16u, std::min(limits.max_workgroup_size[0], limits.max_workgroup_invocations)));
    std::uint32_t lanes = std::min(plan.real64 ? 128u : 256u, most);
    while (lanes > 16 && shared_bytes_of_states(lanes, plan.real_bytes()) > limits.max_shared_memory_bytes)
        lanes /= 2;
    plan.states.most_lanes = lanes;
    plan.states.passes =
        state_passes(plan.shape.qubits, static_cast<std::uint32_t>(std::bit_width(lanes)) - 1 + 4);
    plan.states.two_buffers = plan.states.passes.size() > 1 && plan.layers > 1;
}

// Enough states for the workgroups of a GPU, but few enough that they take little memory compared to packed
// states.
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
    problem.widened = plan.real64 && circuit.given && !circuit.given64;
    problem.output = plan.type == kFloat64 ? GramReal::float64 : GramReal::float32;
    problem.unit_rows = !circuit.given;
    problem.scaled = s.renormalize && !normalize;
    const bool whole = s.bulk && !circuit.on_host;
    const std::uint64_t part = circuit.on_host ? s.block : s.tile;
    problem.rows = whole ? plan.shape.samples : std::min(part, plan.shape.samples);
    problem.columns = whole ? plan.shape.columns() : std::min(part, plan.shape.columns());
    // Blocks of a product may be turned.
    if (circuit.block != 0) problem.rows = problem.columns = std::max(problem.rows, problem.columns);
    problem.symmetric = whole && plan.shape.square();
    problem.leading = circuit.on_host ? s.block : plan.shape.columns();
    return problem;
}

// Rows and columns of K that go to host memory at a time. Rows must be long enough for copies, and the bytes
// few enough for several blocks.
std::uint64_t block_of(const KernelMatrixPlan& plan, const CircuitFacts& circuit) {
    // Products of many amplitudes take longer than any copy, so their blocks should fill the device. With few
    // amplitudes the copies decide. Then blocks should be several and small, because page-locked memory costs
    // a quarter of a millisecond a megabyte.
    const bool many = plan.shape.qubits >= 14;
    const std::uint64_t most = many ? 4096 : 2048;
    const std::uint64_t side = round_up(larger_side(plan.shape), kPackRows);
    if (circuit.block != 0) return std::min({circuit.block, plan.states.tile, side});
    const std::uint64_t part = many ? side : round_up((side + 3) / 4, kPackRows);
    return std::min(
        {most, plan.states.tile, std::max<std::uint64_t>(part, std::min<std::uint64_t>(side, 512))});
}

// For matrix units, packed rows lie one after the other, and a pass over states writes whole lines. For other
// methods rows are interleaved, and a workgroup must hold enough of them to write whole sectors of memory. A
// software device stores single numbers in either case.
void plan_packing(KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool normalize) {
    constexpr std::uint64_t kPackSectorBytes = 32;
    StatePlan& s = plan.states;
    const StatePass& last = s.passes.back();
    s.workgroup_rows = lanes_of(s, last) >> (last.window - 4);
    s.turned = !device.gram.software;
    const bool whole =
        s.gram.matrix() || device.gram.software || s.workgroup_rows * plan.real_bytes() >= kPackSectorBytes;
    s.fused = plan.layers != 0 && !device.packs_apart && whole;
    const std::uint32_t bits = std::max(plan.shape.qubits, 4u);
    s.squares = s.fused && (s.renormalize || normalize) ? 1u << (bits - last.window) : 0;
}

// `built`: the most states that are built at a time.
void replan(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
            std::uint64_t tile, std::uint64_t built, bool bulk, bool normalize) {
    plan.states.tile = tile;
    plan.states.bulk = bulk;
    plan.states.block = block_of(plan, circuit);
    plan.states.gram = plan_gram(problem_of(plan, circuit, normalize), device.gram);
    plan.states.chunk_rows = std::min(chunk_rows(plan, device), built);
    plan_packing(plan, device, normalize);
}

void plan_states(KernelMatrixPlan& plan, const KernelMatrixDevice& device, const CircuitFacts& circuit,
                 const KernelMatrixOptions& options) {
    constexpr std::uint32_t kMostQubits = 30;
    if (plan.shape.qubits > kMostQubits) {
        plan.obstacle = "2^" + std::to_string(plan.shape.qubits) + " amplitudes a state, need at most 2^30";
        return;
    }
    plan.stride = round_up(plan.shape.samples + plan.shape.others, 4);
    plan.others_at = plan.shape.square() ? 0 : plan.shape.samples;
    if (device.gram.software) plan.states.norm_lanes = 8;
    const bool wide_states = circuit.given ? circuit.given64 : plan.real64;
    plan.states.state_bytes = (wide_states ? std::uint64_t{16} : std::uint64_t{8}) << plan.shape.qubits;
    // Every gate changes the norm by about 1e-7 through rounding, and K has its fourth power.
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
        // No binding spans 64 states, or 64 rows of K.
        if (error.code() != Errc::unsupported) throw;
        plan.obstacle = error.what();
        plan.obstacle.erase(0, plan.obstacle.find(": ") + 2);  // the name of the function
    }
}

}  // namespace

std::uint32_t effective_layers(const CircuitFacts& circuit) noexcept {
    return circuit.given || !circuit.reupload || circuit.layers == 0 ? 0 : circuit.layers - 1;
}

KernelMatrixPlan plan_kernel(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                             const CircuitFacts& circuit, ElementType type,
                             const KernelMatrixOptions& options) {
    KernelMatrixPlan plan;
    plan.shape = shape;
    plan.type = type;
    plan.real64 = type == kFloat64 || (circuit.given && circuit.given64);
    if (plan.real64 && !device.gram.float64)
        throw Error(Errc::unsupported, std::string("kernel_matrix: the device lacks shaderFloat64 (got ") +
                                           (type == kFloat64 ? "K of float64, need float32)"
                                                             : "states of complex128, need complex64)"));
    plan.layers = effective_layers(circuit);
    plan.method =
        circuit.given || plan.layers != 0 ? KernelMatrixMethod::states : KernelMatrixMethod::product;
    check_options_apply(options, shape, plan.method);
    if (plan.method == KernelMatrixMethod::product)
        plan_product(plan, device, circuit, options);
    else
        plan_states(plan, device, circuit, options);
    return plan;
}

KernelMatrixPlan plan_that_fits(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                                const CircuitFacts& circuit, ElementType type,
                                const KernelMatrixOptions& options) {
    KernelMatrixPlan plan = plan_kernel(device, shape, circuit, type, options);
    if (!fits(plan, device, circuit.on_host, options))
        throw Error(Errc::out_of_memory,
                    "kernel_matrix: " + estimate_kernel(plan, device, circuit, options).reasons.back());
    return plan;
}

std::uint64_t shared_bytes_of_states(std::uint32_t lanes, std::uint64_t real_bytes) noexcept {
    // As kernel_states.comp has them: dealt amplitudes, 128 gates of 8 numbers, 256 factors of 2 numbers.
    return real_bytes * (std::uint64_t{lanes} * 17 + 128 * 8 + 256 * 2);
}

std::vector<StatePass> state_passes(std::uint32_t qubits, std::uint32_t most_window) {
    constexpr std::uint32_t kHeld = 4, kCarried = 4;
    std::vector<StatePass> passes{{std::clamp(qubits, kHeld, most_window), 0, 0, 0, true}};
    for (std::uint32_t done = passes[0].window; done < qubits;) {
        const std::uint32_t bits = std::clamp(qubits - done, kHeld, most_window - kCarried);
        // If too few bits are left for a block, bits whose gates are done come along.
        passes.push_back({bits + kCarried, kCarried, std::min(done, qubits - bits), done, false});
        done += bits;
    }
    return passes;
}

std::uint32_t lanes_of(const StatePlan& states, const StatePass& pass) noexcept {
    // The tables of the shader hold 16 blocks of a workgroup.
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

bool tuning_pays(const GramDevice& device, double flops) noexcept {
    // A large GPU makes 1e14 in about a second, as long as it takes to compile a few pipelines. A software
    // device makes 1e12 in a minute.
    return flops >= (device.software ? 1e12 : 1e14);
}

bool tunes_first(const KernelMatrixPlan& plan, const GramDevice& device,
                 const KernelMatrixOptions& options) noexcept {
    return options.autotune != Choice::off && plan.method == KernelMatrixMethod::states &&
           plan.obstacle.empty() && !plan.states.gram.tile_measured && tuning_pays(device, gram_flops(plan));
}

void take_measured_tile(KernelMatrixPlan& plan, const KernelMatrixDevice& device, bool on_host,
                        const KernelMatrixOptions& options) {
    const GramProblem problem = plan.states.gram.problem;
    plan.states.gram = plan_gram(problem, device.gram);
    if (states_memory(plan, device, on_host) > available_bytes(device, options))
        plan.states.gram = plan_gram(problem, device.gram, {.split = 1});  // needs no scratch memory
}

std::vector<HostBlock> host_blocks(const KernelMatrixPlan& plan) {
    std::vector<HostBlock> blocks;
    StateRows x, y;
    const std::uint64_t step = plan.states.block;
    each_tile_pair(
        plan.shape, plan.states.tile,
        [&](PackedSide side, const StateRows& rows) { (side == PackedSide::rows ? x : y) = rows; },
        [&](const KernelBlock& pair, bool own) {
            for (std::uint64_t row = 0; row < pair.rows; row += step)
                for (std::uint64_t column = 0; column < (own ? row + 1 : pair.columns); column += step)
                    blocks.push_back({x,
                                      own ? x : y,
                                      own,
                                      {pair.row + row, std::min(step, pair.rows - row), pair.column + column,
                                       std::min(step, pair.columns - column)}});
        });
    return blocks;
}

std::uint64_t pairs_of(const KernelMatrixShape& shape, const KernelBlock& block) noexcept {
    const bool half = shape.square() && block.row == block.column;
    return half ? block.rows * (block.rows + 1) / 2 : block.rows * block.columns;
}

std::uint64_t pairs_of(const KernelMatrixPlan& plan, const RowRange& rows) noexcept {
    const auto before = [&](std::uint64_t row) {
        if (row == plan.shape.samples) return plan.shape.pairs();
        return static_cast<std::uint64_t>(static_cast<double>(plan.shape.pairs()) * static_cast<double>(row) /
                                          static_cast<double>(plan.shape.samples));
    };
    return before(rows.last) - before(rows.first);
}

void cut_for_devices(KernelMatrixPlan& plan, std::uint64_t least) noexcept {
    if (plan.method != KernelMatrixMethod::states) return;  // rows of a closed form are cut anywhere
    constexpr std::uint64_t kStep = 64, kBlocksOfASide = 10;
    const std::uint64_t side = std::max(plan.shape.samples, plan.shape.columns());
    const std::uint64_t rows = std::min(plan.states.block, std::max(least, side / kBlocksOfASide));
    // Blocks of equal size: a device takes as long for a thin one as for several times as many rows.
    const std::uint64_t blocks = std::max<std::uint64_t>(1, (side + rows - 1) / rows);
    const std::uint64_t even = ((side + blocks - 1) / blocks + kStep - 1) / kStep * kStep;
    plan.states.block = std::min(plan.states.block, even);
}

std::array<std::uint32_t, 2> real_words(double value, bool real64) noexcept {
    if (!real64) return {std::bit_cast<std::uint32_t>(static_cast<float>(value)), 0};
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {word(bits), word(bits >> 32)};
}

shared::KernelAngleParameters angle_parameters(const KernelMatrixPlan& plan, ElementType features,
                                               double scale, std::uint64_t column) noexcept {
    const auto [low, high] = real_words(scale, true);
    const bool halved = plan.method == KernelMatrixMethod::states;
    return {plan.shape.qubits, 0, word(column), word(plan.stride), low, high, features == kFloat64 ? 1u : 0u,
            halved ? 1u : 0u};
}

shared::KernelProductParameters product_parameters(const KernelMatrixPlan& plan,
                                                   const KernelMatrixOptions& options) noexcept {
    // Every value of a sample with itself is 1, so only the jitter is left to divide by.
    const double shrink = options.normalize && plan.shape.square() ? 1 / (1 + options.jitter) : 1;
    const auto [low, high] = real_words(shrink, plan.real64);
    return {plan.shape.qubits,
            word(plan.stride),
            0,
            word(plan.others_at),
            word(plan.shape.columns()),
            word(plan.shape.samples),
            0,
            low,
            high};
}

shared::KernelStateParameters state_parameters(const KernelMatrixPlan& plan, const StatePass& pass,
                                               const StateRows& rows, std::uint32_t gates, bool rz) noexcept {
    return {plan.shape.qubits,
            word(plan.stride),
            word((rows.of_y ? plan.others_at : 0) + rows.row),
            pass.window,
            pass.carried,
            pass.from,
            pass.gates_from,
            gates,
            rz ? 1u : 0u,
            word(rows.count),
            word(rows.count),
            word(plan.states.gram.blocks)};
}

shared::KernelNormParameters norm_parameters(const KernelMatrixPlan& plan, const KernelMatrixOptions& options,
                                             const StateRows& rows, std::uint64_t terms) noexcept {
    const double jitter = plan.shape.square() && options.normalize ? options.jitter : 0;
    const auto [low, high] = real_words(jitter, plan.real64);
    return {word(terms), 0, word((rows.of_y ? plan.others_at : 0) + rows.row), low, high};
}

shared::KernelScaleParameters scale_parameters(const KernelMatrixPlan& plan,
                                               const KernelMatrixOptions& options, const KernelBlock& block,
                                               std::uint64_t leading) noexcept {
    return {word(block.columns),
            word(leading),
            0,
            word(block.row),
            word(plan.others_at + block.column),
            plan.shape.square() && options.normalize ? 1u : 0u};
}

std::vector<std::uint32_t> weight_words(const KernelMatrixPlan& plan, const KernelMatrixCircuit& circuit) {
    std::vector<std::uint32_t> words;
    const auto add = [&](double value) {
        const auto parts = real_words(value, plan.real64);
        words.insert(words.end(), parts.begin(), parts.begin() + (plan.real64 ? 2 : 1));
    };
    const ConstHostArray& weights = circuit.weights;
    for (std::uint64_t i = 0; i < plan.layers * std::uint64_t{plan.shape.qubits}; ++i) {
        const double half =
            (weights.type == kFloat32 ? static_cast<double>(static_cast<const float*>(weights.data)[i])
                                      : static_cast<const double*>(weights.data)[i]) /
            2;
        add(std::cos(half));
        add(std::sin(half));
    }
    return words;
}

}  // namespace weft::kernels
