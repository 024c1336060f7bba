// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/gram_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "shaders/gram/gram_layout.h"

namespace weft::kernels {

const char* to_string(GramMethod method) noexcept {
    switch (method) {
        case GramMethod::automatic:
            return "automatic";
        case GramMethod::fp32_4m:
            return "fp32_4m";
        case GramMethod::fp32_3m:
            return "fp32_3m";
        case GramMethod::fp64:
            return "fp64";
        case GramMethod::matrix_split:
            return "matrix_split";
    }
    return "unknown";
}

namespace {

constexpr std::uint64_t kBlockRows = shared::kGramBlockRows;
/// Invocations that fill a large device (132 processors of an H100, three workgroups of 128 each), and
/// workgroups that fill the few threads of a software device.
constexpr std::uint64_t kThreadsWanted = 48 * 1024, kWorkgroupsWantedSoftware = 16;
constexpr std::uint64_t kWorkgroupsWantedLanes = 4;  // they are so much faster that some threads may idle
constexpr std::uint64_t kMostParts = 64;

std::string text(std::uint64_t value) {
    return std::to_string(value);
}

[[noreturn]] void refuse(Errc code, const std::string& what) {
    throw Error(code, "plan_gram: " + what);
}

void check(GramProblem& problem) {
    if (problem.rows == 0 || problem.columns == 0 || problem.amplitudes == 0)
        refuse(Errc::invalid_argument, "nothing to multiply (got " + text(problem.rows) + " x " +
                                           text(problem.columns) + " states of " + text(problem.amplitudes) +
                                           " amplitudes, need at least 1 each)");
    if (problem.widened && problem.precision != GramReal::float64)
        refuse(Errc::invalid_argument, "widened states of float32 (got float32, need float64)");
    if (problem.symmetric && problem.rows != problem.columns)
        refuse(Errc::invalid_argument, "symmetric, but not square (got " + text(problem.rows) + " x " +
                                           text(problem.columns) + ", need as many rows as columns)");
    if (problem.leading == 0) problem.leading = problem.columns;
    if (problem.leading < problem.columns)
        refuse(Errc::invalid_argument, "leading is too small (got " + text(problem.leading) +
                                           ", need at least the " + text(problem.columns) + " columns)");
    // So that sizes in bytes fit 64 bits.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    if (problem.rows > kMost || problem.leading > kMost || problem.amplitudes > kMost)
        refuse(Errc::invalid_argument, "too large (got " + text(problem.rows) + " x " +
                                           text(problem.leading) + " of " + text(problem.amplitudes) +
                                           " amplitudes, need at most 2^31 each)");
}

std::string matrix_obstacle(const GramProblem& problem, const GramDevice& device) {
    if (!device.matrix_khr && !device.matrix_nv) return "the device has no matrix units that fit";
    if (!problem.unit_rows) return "rows may have norms other than 1";
    if (!device.matrix_exact) return "matrix units: " + device.matrix_reason;
    return {};
}

GramMethod choose_method(const GramProblem& problem, const GramDevice& device, GramMethod asked,
                         std::vector<std::string>& reasons) {
    const std::string obstacle = matrix_obstacle(problem, device);
    if (asked == GramMethod::automatic) {
        if (problem.precision == GramReal::float64) {
            asked = GramMethod::fp64;
            reasons.push_back("method fp64: precision float64");
        } else if (obstacle.empty()) {
            asked = GramMethod::matrix_split;
            reasons.push_back("method matrix_split: matrix units that passed the accuracy probe");
        } else {
            asked = device.software ? GramMethod::fp32_4m : GramMethod::fp32_3m;
            reasons.push_back(std::string("method ") + to_string(asked) + ": " + obstacle);
        }
    } else {
        reasons.push_back(std::string("method ") + to_string(asked) + ": asked for");
    }
    if ((asked == GramMethod::fp64) != (problem.precision == GramReal::float64))
        refuse(Errc::invalid_argument, std::string("method ") + to_string(asked) + " for states of " +
                                           (problem.precision == GramReal::float64 ? "float64" : "float32"));
    if (asked == GramMethod::fp64 && !device.float64)
        refuse(Errc::unsupported, "float64 on a device without shaderFloat64");
    if (asked == GramMethod::matrix_split && !obstacle.empty())
        refuse(problem.unit_rows ? Errc::unsupported : Errc::invalid_argument,
               std::string("method ") + to_string(asked) + " is not available: " + obstacle);
    return asked;
}

std::uint64_t tiles_of(const GramProblem& problem, const GramTile& tile) {
    const std::uint64_t down = divide_up(problem.rows, tile.rows),
                        across = divide_up(problem.columns, tile.columns);
    return problem.symmetric ? tile.rows / tile.columns * (down * (down + 1) / 2) : down * across;
}

std::uint64_t workgroups_wanted(const GramTile& tile, const GramDevice& device) {
    if (device.software) return tile.lanes() ? kWorkgroupsWantedLanes : kWorkgroupsWantedSoftware;
    return kThreadsWanted / tile.threads();
}

GramTile choose_tile(GramPlan& plan, const GramDevice& device, const GramOptions& options) {
    const std::vector<GramTile> tiles = gram_tiles(device, plan.method);
    if (options.tile) {
        if (std::find(tiles.begin(), tiles.end(), *options.tile) == tiles.end())
            refuse(Errc::invalid_argument, "the method has no such tile on this device (got " +
                                               text(options.tile->rows) + " x " +
                                               text(options.tile->columns) + ")");
        return *options.tile;
    }
    if (tiles.empty())
        refuse(Errc::unsupported, "no tile fits the device's workgroups (got " +
                                      text(device.limits.max_workgroup_invocations) + " invocations and " +
                                      text(device.limits.max_shared_memory_bytes) +
                                      " bytes of shared memory)");
    // A tile that this device cannot run counts as not measured.
    if (const auto kept = device.tiles.find(gram_class(plan));
        kept != device.tiles.end() && std::find(tiles.begin(), tiles.end(), kept->second) != tiles.end()) {
        plan.tile_measured = true;
        return kept->second;
    }
    const std::uint64_t smaller = std::min(plan.problem.rows, plan.problem.columns);
    for (const GramTile& tile : tiles) {
        if (tiles_of(plan.problem, tile) >= workgroups_wanted(tile, device)) return tile;
        // With few tiles, matrix units gain more from reuse in large tiles whose sums are cut into parts.
        if (plan.matrix() && tile.rows == 64 && smaller > 32) return tile;
    }
    // The first of the smallest, since what lies beyond the edge of K is computed for nothing.
    return *std::min_element(tiles.begin(), tiles.end(),
                             [](const GramTile& a, const GramTile& b) { return a.rows < b.rows; });
}

/// About the square root of the number of terms, which makes both sums equally short.
std::uint32_t choose_flush(const GramPlan& plan, const GramOptions& options) {
    if (options.flush) {
        if (*options.flush == 0 || *options.flush % plan.step != 0)
            refuse(Errc::invalid_argument,
                   "flush (got " + text(*options.flush) + ", need a multiple of " + text(plan.step) + ")");
        return *options.flush;
    }
    const std::uint64_t half = (std::bit_width(plan.problem.amplitudes - 1) + 1) / 2;
    // Shorter sums cost more than they gain. Matrix units lose about 4e-8 of a sum for each amplitude, so few
    // amplitudes are summed in shorter parts, to be as exact as with other methods.
    const std::uint64_t least =
        plan.method == GramMethod::matrix_split && plan.problem.amplitudes <= 1024 ? 32 : 64;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::uint64_t{1} << half, least, 1024));
}

std::uint32_t choose_split(const GramPlan& plan, const GramDevice& device, const GramOptions& options) {
    const std::uint64_t blocks_least = std::max<std::uint64_t>(1, plan.flush / plan.step);
    const std::uint64_t most = std::min(kMostParts, divide_up(plan.blocks, blocks_least));
    if (options.split) {
        if (*options.split == 0 || *options.split > plan.blocks)
            refuse(Errc::invalid_argument,
                   "split (got " + text(*options.split) + ", need 1 to " + text(plan.blocks) + ")");
        return *options.split;
    }
    const std::uint64_t wanted = workgroups_wanted(plan.tile, device);
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(divide_up(wanted, tiles_of(plan.problem, plan.tile)), 1, most));
}

void plan_memory(GramPlan& plan, const GramDevice& device) {
    const std::uint64_t range = device.limits.max_storage_buffer_range;
    const std::uint64_t slack = device.limits.storage_buffer_offset_alignment;
    plan.row_bytes = plan.blocks * plan.step * plan.planes * plan.element_bytes;
    plan.panel_rows = range / plan.row_bytes / kBlockRows * kBlockRows;
    if (plan.panel_rows == 0)
        refuse(Errc::unsupported, "64 states do not fit one binding (got " + text(64 * plan.row_bytes) +
                                      " bytes, need at most " + text(range) + ")");
    const std::uint64_t row = plan.problem.leading * plan.output_bytes();
    plan.output_rows = range > slack ? (range - slack) / row / kBlockRows * kBlockRows : 0;
    if (plan.output_rows == 0)
        refuse(Errc::unsupported, "64 rows of K do not fit one binding (got " + text(64 * row) +
                                      " bytes, need at most " + text(range) + ")");
    if (plan.split > 1) {
        const std::uint64_t sums = std::uint64_t{plan.tile.rows} * plan.tile.columns * plan.complex_bytes();
        // Blocks off the diagonal of a symmetric problem are rectangles.
        const std::uint64_t rectangle =
            divide_up(plan.problem.rows, plan.tile.rows) * divide_up(plan.problem.columns, plan.tile.columns);
        plan.scratch_bytes = std::max(rectangle, tiles_of(plan.problem, plan.tile)) * plan.split * sums;
        if (plan.scratch_bytes > range) {
            plan.split = 1;
            plan.scratch_bytes = 0;
        }
    }
}

bool fits(const GramTile& tile, GramMethod method, const DeviceLimits& limits) {
    if (tile.threads() > limits.max_workgroup_invocations || tile.threads() > limits.max_workgroup_size[0])
        return false;
    std::uint32_t bytes = 0;
    if (method == GramMethod::matrix_split)
        bytes = (tile.rows + tile.columns) * 144u;
    else if (!tile.lanes())
        bytes = (tile.rows + tile.columns) * shared::kGramStep * (method == GramMethod::fp32_3m ? 3u : 2u) *
                (method == GramMethod::fp64 ? 8u : 4u);
    return bytes * tile.stages <= limits.max_shared_memory_bytes;
}

std::string tile_text(const GramTile& tile) {
    return text(tile.rows) + " x " + text(tile.columns) + " by " + text(tile.threads()) + " invocations";
}

// In the order measured on an H200. Through NVIDIA's extension, reads of shared memory cost more, so large
// tiles come first, and of these the one with subgroups of 16 x 64.
std::vector<GramTile> matrix_tiles(bool khr) {
    constexpr GramTile kSmall{64, 64, 8, 4, 1}, kHigh{128, 64, 8, 4, 1}, kFlat{128, 128, 4, 8, 1},
        kLarge{128, 128, 8, 4, 1}, kLeast{32, 32, 8, 4, 1};
    if (khr) return {kSmall, kHigh, kFlat, kLarge, kLeast};
    return {kFlat, kHigh, kSmall, kLarge, kLeast};
}

/// Rows of each panel except the last.
std::uint64_t panel_of(const GramPlan& plan, std::uint64_t rows) {
    const std::uint64_t most = std::min(plan.panel_rows, plan.output_rows);
    if (rows <= most) return std::max<std::uint64_t>(rows, 1);
    // Whole tiles, because the rest of a tile that begins in the next panel would be computed for nothing.
    const std::uint64_t unit = std::max<std::uint64_t>(kBlockRows, plan.tile.rows);
    if (most < unit) return most;
    const std::uint64_t panels = divide_up(rows, most / unit * unit);
    return divide_up(divide_up(rows, panels), unit) * unit;
}

}  // namespace

GramBlocks::GramBlocks(const GramPlan& plan, std::uint64_t rows, std::uint64_t columns, bool square)
    : rows_(rows),
      columns_(columns),
      high_(panel_of(plan, rows)),
      wide_(panel_of(plan, columns)),
      down_(divide_up(rows, high_)),
      across_(divide_up(columns, wide_)),
      square_(square) {}

bool GramBlocks::next(GramBlock& block) {
    for (; turn_ < across_; ++turn_, panel_ = 0)
        while (panel_ < down_) {
            const std::uint64_t i = panel_++;
            // Blocks of one turn lie on a diagonal, or in a square K on an antidiagonal.
            const std::uint64_t j = square_ ? (turn_ + across_ - i) % across_ : (turn_ + i) % across_;
            if (square_ && j > i) continue;
            const std::uint64_t row = i * high_, column = j * wide_;
            block = {row, std::min(high_, rows_ - row), column, std::min(wide_, columns_ - column)};
            return true;
        }
    return false;
}

GramDispatch gram_dispatch(const GramPlan& plan, const GramBlock& block, const GramPlace& place, bool square,
                           std::uint64_t factor_row, std::uint64_t factor_column) {
    const GramTile& tile = plan.tile;
    const std::uint64_t down = divide_up(block.rows, tile.rows),
                        across = divide_up(block.columns, tile.columns);
    const bool mirror = square || place.mirror, diagonal = square && block.row == block.column;
    const std::uint64_t part = divide_up(plan.blocks, plan.split);
    GramDispatch d;
    d.tiles = diagonal ? tile.rows / tile.columns * (down * (down + 1) / 2) : down * across;
    d.parts = divide_up(plan.blocks, part);
    d.origin = place.origin + block.row * place.leading + block.column;
    d.mirror_origin =
        (square ? place.origin : place.mirror_origin) + block.column * place.leading + block.row;
    d.parameters = {{word(block.rows), word(block.columns), word(plan.blocks), diagonal ? 0u : word(across),
                     word(place.leading), 0, 0, mirror ? 1u : 0u, word(d.tiles), word(part),
                     word(factor_row + block.row), word(factor_column + block.column)},
                    word(d.parts)};
    return d;
}

std::vector<GramTile> gram_tiles(const GramDevice& device, GramMethod method) {
    std::vector<GramTile> tiles;
    switch (method) {
        case GramMethod::automatic:
            break;
        case GramMethod::fp32_4m:
            tiles = {{64, 64, 8, 4, 2}, {64, 64, 8, 4, 1},  {32, 32, 8, 4, 2},
                     {32, 32, 8, 4, 1}, {128, 64, 8, 4, 1}, {64, 32, 8, 4, 2}};
            if (device.software && device.float64) tiles.insert(tiles.begin(), {64, 64, 8, 8, 1});
            break;
        case GramMethod::fp32_3m:
            tiles = {{64, 64, 8, 4, 1}, {64, 64, 8, 4, 2},  {32, 32, 8, 4, 2},
                     {32, 32, 8, 4, 1}, {128, 64, 8, 4, 1}, {64, 32, 8, 4, 2}};
            break;
        case GramMethod::fp64:
            tiles = {{64, 64, 4, 4, 1},
                     {64, 64, 4, 4, 2},
                     {32, 32, 4, 4, 2},
                     {32, 32, 4, 4, 1},
                     {64, 32, 4, 4, 2}};
            break;
        case GramMethod::matrix_split:
            tiles = matrix_tiles(device.matrix_khr);
            break;
    }
    std::erase_if(tiles, [&](const GramTile& tile) { return !fits(tile, method, device.limits); });
    return tiles;
}

GramPlan plan_gram(const GramProblem& problem, const GramDevice& device, const GramOptions& options) {
    GramPlan plan;
    plan.problem = problem;
    check(plan.problem);
    plan.method = choose_method(plan.problem, device, options.method, plan.reasons);
    plan.khr = plan.matrix() && device.matrix_khr;
    plan.planes = plan.matrix() ? shared::kGramMatrixPlanes : shared::kGramPlanes;
    plan.step = plan.matrix() ? shared::kGramMatrixStep : shared::kGramStep;
    plan.element_bytes = plan.matrix() ? 2 : plan.method == GramMethod::fp64 ? 8 : 4;
    plan.blocks = divide_up(problem.amplitudes, plan.step);
    plan.tile = choose_tile(plan, device, options);
    plan.flush = choose_flush(plan, options);
    plan.split = choose_split(plan, device, options);
    plan_memory(plan, device);
    plan.reasons.push_back("tile " + tile_text(plan.tile) +
                           (plan.tile_measured ? " (measured on this device)" : "") + ", outer sum every " +
                           text(plan.flush) + " amplitudes" +
                           (plan.split > 1 ? ", sums in " + text(plan.split) + " parts: few tiles" : ""));
    if (plan.panel_rows < std::max(problem.rows, problem.columns) ||
        plan.output_rows < std::max(problem.rows, problem.columns))
        plan.reasons.push_back("panels: " + text(plan.panel_rows) + " states and " + text(plan.output_rows) +
                               " rows of K in one binding");
    return plan;
}

std::string to_string(const GramTile& tile) {
    return std::to_string(tile.rows) + "x" + std::to_string(tile.columns) + "/" +
           std::to_string(tile.thread_rows) + "x" + std::to_string(tile.thread_columns) + "/" +
           std::to_string(tile.stages);
}

std::string gram_class(const GramPlan& plan) {
    const std::uint64_t smaller = std::min(plan.problem.rows, plan.problem.columns);
    const std::uint64_t rows = std::bit_ceil(std::clamp<std::uint64_t>(smaller, 64, kMostClassRows));
    const std::uint64_t amplitudes = std::bit_ceil(std::min(plan.problem.amplitudes, kMostClassAmplitudes));
    return std::string(to_string(plan.method)) + (plan.matrix() ? plan.khr ? " khr" : " nv" : "") + " " +
           std::to_string(rows) + " of " + std::to_string(amplitudes);
}

}  // namespace weft::kernels
