// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/gram/gram.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "shaders/gram.spv.hpp"
#include "shaders/gram/gram_layout.h"

namespace weft::kernels {
namespace {

using SpirvWords = std::span<const std::uint32_t>;

constexpr std::uint64_t kBlockRows = shared::kGramBlockRows;

std::uint32_t local_size(const DeviceLimits& limits) {
    constexpr std::uint32_t kWanted = 256;
    return std::min({kWanted, limits.max_workgroup_invocations, limits.max_workgroup_size[0]});
}

/// Of one part of the sums of a tile.
double tile_operations(const GramPlan& plan) {
    return 8.0 * static_cast<double>(plan.tile.rows) * static_cast<double>(plan.tile.columns) *
           static_cast<double>(plan.problem.amplitudes) / static_cast<double>(plan.split);
}

/// The kernels only ask whether the sums of a tile are cut. So products of other sizes need no other
/// pipeline.
std::uint32_t part_sums(const GramPlan& plan) {
    return std::min(plan.split, 2u);
}

Program matrix_program(const Stream& stream, const GramPlan& plan) {
    const SpirvWords words =
        plan.khr ? SpirvWords(spirv::gram_matrix_split_khr) : SpirvWords(spirv::gram_matrix_split_nv);
    const DeviceInfo& device = stream.device();
    ProgramOptions options{.name = "gram_matrix",
                           .constants = {{0u, plan.tile.threads()},
                                         {1u, plan.tile.rows / (4 * plan.tile.thread_rows)},
                                         {2u, plan.tile.columns / (8 * plan.tile.thread_columns)},
                                         {3u, plan.problem.output == GramReal::float64},
                                         {4u, plan.flush / plan.step},
                                         {5u, part_sums(plan)},
                                         {6u, plan.tile.stages},
                                         {7u, plan.tile.threads()},
                                         {8u, plan.tile.thread_rows / 4},
                                         {9u, plan.problem.scaled}},
                           .elements_per_workgroup = 1,
                           .operations_per_element = tile_operations(plan)};
    if (device.subgroup_size_control) options.subgroup_size = 32;
    options.require_full_subgroups = device.full_subgroups;
    return {stream, words, options};
}

// Bindings x, y, out, mirrored out, parts of sums, factors. An element is a tile, or a part of the sums of
// one.
Program tile_program(const Stream& stream, const GramPlan& plan) {
    if (plan.matrix()) return matrix_program(stream, plan);
    const GramTile& tile = plan.tile;
    ProgramOptions options{.name = "gram_tile",
                           .constants = {{3u, plan.problem.output == GramReal::float64},
                                         {4u, plan.flush / plan.step},
                                         {5u, part_sums(plan)},
                                         {9u, plan.problem.scaled}},
                           .elements_per_workgroup = 1,
                           .operations_per_element = tile_operations(plan)};
    if (tile.lanes()) return {stream, SpirvWords(spirv::gram_lanes), options};
    options.constants.insert(options.constants.end(), {{0u, tile.threads()},
                                                       {1u, tile.rows / tile.thread_rows},
                                                       {2u, tile.columns / tile.thread_columns},
                                                       {6u, tile.stages}});
    const SpirvWords words = plan.method == GramMethod::fp64      ? SpirvWords(spirv::gram_tile_real64)
                             : plan.method == GramMethod::fp32_3m ? SpirvWords(spirv::gram_tile_3m)
                                                                  : SpirvWords(spirv::gram_tile_4m);
    return {stream, words, options};
}

// Bindings states, planes. An element is 64 rows by 16 amplitudes.
Program pack_program(const Stream& stream, const GramPlan& plan) {
    ProgramOptions options{.name = "gram_pack",
                           .constants = {{0u, local_size(stream.device().limits)}},
                           .elements_per_workgroup = 1};
    if (plan.method == GramMethod::fp64) options.constants.emplace_back(1u, plan.problem.widened);
    const SpirvWords words = plan.matrix()                     ? SpirvWords(spirv::gram_pack_matrix)
                             : plan.method == GramMethod::fp64 ? SpirvWords(spirv::gram_pack_real64)
                                                               : SpirvWords(spirv::gram_pack_real32);
    return {stream, words, options};
}

// Bindings parts of sums, out, mirrored out, factors. An element is a number of a tile.
Program reduce_program(const Stream& stream, const GramPlan& plan) {
    return {stream,
            plan.method == GramMethod::fp64 ? SpirvWords(spirv::gram_reduce_real64)
                                            : SpirvWords(spirv::gram_reduce_real32),
            {.name = "gram_reduce",
             .constants = {{0u, local_size(stream.device().limits)},
                           {1u, plan.tile.rows},
                           {2u, plan.tile.columns},
                           {3u, plan.problem.output == GramReal::float64},
                           {9u, plan.problem.scaled}}}};
}

void require(bool good, const std::string& what, std::uint64_t got, const char* relation,
             std::uint64_t need) {
    if (good) return;
    throw Error(Errc::invalid_argument, "GramProduct: " + what + " (got " + std::to_string(got) + ", need " +
                                            relation + " " + std::to_string(need) + ")");
}

void check_factors(const GramPlan& plan, const char* name, const GramRows& rows) {
    const std::uint64_t unit = plan.method == GramMethod::fp64 ? 8 : 4;
    const std::uint64_t got = rows.factors ? rows.factors->range.bytes / unit : 0;
    const std::uint64_t need = plan.problem.scaled ? (rows.factors ? rows.factors->first : 0) + rows.rows : 0;
    require(got >= need, std::string("factors of ") + name + " are too few", got, "at least", need);
}

void check_rows(const GramPlan& plan, const char* name, const GramRows& rows, std::uint64_t most) {
    require(rows.first % 64 == 0, std::string(name) + " begin within 64 packed rows", rows.first,
            "a multiple of", 64);
    require(rows.rows <= most, std::string(name) + " are more than planned", rows.rows, "at most", most);
    const std::uint64_t need = rows.first * plan.row_bytes + plan.packed_bytes(rows.rows);
    require(rows.planes.bytes >= need, std::string("planes of ") + name + " are too small", rows.planes.bytes,
            "at least", need);
    check_factors(plan, name, rows);
}

void check_block(const GramPlan& plan, const GramRows& x, const GramRows& y, const GramTarget& target) {
    const GramPlace& place = target.place;
    check_rows(plan, "rows", x, plan.problem.rows);
    check_rows(plan, "columns", y, plan.problem.columns);
    if (x.rows == 0 || y.rows == 0) return;
    require(place.leading <= plan.problem.leading, "leading is larger than planned", place.leading, "at most",
            plan.problem.leading);
    require(place.leading >= y.rows, "leading is too small", place.leading, "at least", y.rows);
    const std::uint64_t element = plan.output_bytes();
    const std::uint64_t end = place.origin + (x.rows - 1) * place.leading + y.rows;
    require(end <= target.range.bytes / element, "output is too small", target.range.bytes / element,
            "at least", end);
    if (!place.mirror) return;
    require(place.leading >= x.rows, "leading is too small", place.leading, "at least", x.rows);
    const std::uint64_t mirror_end = place.mirror_origin + (y.rows - 1) * place.leading + x.rows;
    require(mirror_end <= target.range.bytes / element, "output is too small", target.range.bytes / element,
            "at least", mirror_end);
}

BufferView<std::uint32_t> byte_view(const GramRange& range, std::uint64_t byte, std::uint64_t bytes) {
    return detail::Access::make<BufferView<std::uint32_t>>(range.object, (range.first + byte) / 4, bytes / 4);
}

/// A range that is bound at the aligned offset before it.
struct Bound {
    BufferView<std::uint32_t> words;
    std::uint64_t before;  ///< bytes
};

Bound bind(const GramRange& range, std::uint64_t byte, std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t before = (range.first + byte) % alignment;
    return {byte_view(range, byte - before, before + bytes), before};
}

std::uint64_t factor_of(const GramRows& rows) {
    return rows.factors ? rows.factors->first : 0;
}

}  // namespace

std::uint64_t gram_programs_digest() {
    static const std::uint64_t digest = [] {
        std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over words
        for (const SpirvWords words :
             {SpirvWords(spirv::gram_tile_4m), SpirvWords(spirv::gram_lanes), SpirvWords(spirv::gram_tile_3m),
              SpirvWords(spirv::gram_tile_real64), SpirvWords(spirv::gram_reduce_real32),
              SpirvWords(spirv::gram_reduce_real64), SpirvWords(spirv::gram_matrix_split_khr),
              SpirvWords(spirv::gram_matrix_split_nv)})
            for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3u;
        return hash;
    }();
    return digest;
}

GramProduct::GramProduct(const Stream& stream, const GramPlan& plan,
                         std::optional<BufferView<std::uint32_t>> sums)
    : plan_(plan), tile_(tile_program(stream, plan)), sums_(std::move(sums)) {
    if (plan.split == 1) return;
    reduce_ = std::make_unique<Program>(reduce_program(stream, plan));
    if (!sums_) sums_ = Buffer<std::uint32_t>(stream, plan.scratch_bytes / 4, "gram sums").view();
}

void GramProduct::pack(Stream& stream, const GramRange& states, std::uint64_t rows, const GramRange& planes,
                       std::uint64_t first) {
    const std::uint64_t row = plan_.problem.amplitudes * plan_.source_bytes();
    const DeviceLimits& limits = stream.device().limits;
    const std::uint64_t alignment = limits.storage_buffer_offset_alignment;
    require(first % kBlockRows == 0, "packed rows begin within 64", first, "a multiple of", kBlockRows);
    require(states.bytes >= rows * row, "states is too small", states.bytes, "at least", rows * row);
    const std::uint64_t need = first * plan_.row_bytes + plan_.packed_bytes(rows);
    require(planes.bytes >= need, "planes is too small", planes.bytes, "at least", need);
    // 64 rows are a multiple of any alignment, so all panels of states begin as far from one as the first.
    const std::uint64_t before = states.first % alignment;
    const std::uint64_t room = (limits.max_storage_buffer_range - before) / row / kBlockRows * kBlockRows;
    if (room == 0)
        throw Error(Errc::unsupported, "GramProduct: 64 states do not fit one binding (got " +
                                           std::to_string(64 * row) + " bytes, need at most " +
                                           std::to_string(limits.max_storage_buffer_range) + ")");
    if (!pack_) pack_ = std::make_unique<Program>(pack_program(stream, plan_));
    const std::uint64_t step = std::min(room, plan_.panel_rows);
    const std::uint64_t across = divide_up(plan_.blocks * plan_.step, shared::kGramPackAmplitudes);
    for (std::uint64_t at = 0; at < rows; at += step) {
        const std::uint64_t count = std::min(step, rows - at);
        const Bound source = bind(states, at * row, count * row, alignment);
        const shared::GramPackParameters parameters{word(count), word(plan_.problem.amplitudes),
                                                    word(plan_.blocks),
                                                    word(source.before / plan_.source_bytes()), word(across)};
        stream.dispatch(*pack_,
                        {BufferView<const std::uint32_t>(source.words),
                         byte_view(planes, (first + at) * plan_.row_bytes, plan_.packed_bytes(count))},
                        divide_up(count, kBlockRows) * across, parameters);
    }
}

void GramProduct::run(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target,
                      const GramBlock& block, bool square) {
    const std::uint64_t alignment = stream.device().limits.storage_buffer_offset_alignment;
    const std::uint64_t element = plan_.output_bytes(), leading = target.place.leading;
    const auto planes = [&](const GramRows& rows, std::uint64_t from, std::uint64_t count) {
        return BufferView<const std::uint32_t>(
            byte_view(rows.planes, (rows.first + from) * plan_.row_bytes, plan_.packed_bytes(count)));
    };
    const auto output = [&](std::uint64_t origin, std::uint64_t down, std::uint64_t across) {
        return bind(target.range, origin * element, ((down - 1) * leading + across) * element, alignment);
    };
    GramDispatch d = gram_dispatch(plan_, block, target.place, square, factor_of(x), factor_of(y));
    shared::GramParameters& p = d.parameters.p;
    const Bound out = output(d.origin, block.rows, block.columns);
    const Bound mirrored = p.mirror != 0 ? output(d.mirror_origin, block.columns, block.rows) : out;
    p.origin = word(out.before / element);
    p.mirror_origin = word(mirrored.before / element);
    const auto x_planes = planes(x, block.row, block.rows), y_planes = planes(y, block.column, block.columns);
    const auto factors =
        x.factors ? BufferView<const std::uint32_t>(byte_view(x.factors->range, 0, x.factors->range.bytes))
                  : x_planes;
    if (plan_.split == 1) {
        // Nothing is written to the parts of sums then, but their range must hold one element, four numbers.
        // Fewer products are smaller than that, so they bind the planes instead.
        constexpr std::uint64_t kPartBytes = 4 * sizeof(double);
        const BufferView<std::uint32_t> parts =
            out.words.bytes() >= kPartBytes ? out.words
                                            : byte_view(x.planes, (x.first + block.row) * plan_.row_bytes,
                                                        plan_.packed_bytes(block.rows));
        return stream.dispatch(tile_, {x_planes, y_planes, out.words, mirrored.words, parts, factors},
                               d.tiles, p);
    }
    const BufferView<std::uint32_t> scratch = *sums_;
    const std::uint64_t numbers = d.tiles * plan_.tile.rows * plan_.tile.columns;
    const std::uint64_t need = numbers * d.parts * plan_.complex_bytes();
    require(scratch.bytes() >= need, "scratch is too small", scratch.bytes(), "at least", need);
    stream.dispatch(tile_, {x_planes, y_planes, scratch, scratch, scratch, factors}, d.tiles * d.parts, p);
    stream.dispatch(*reduce_, {BufferView<const std::uint32_t>(scratch), out.words, mirrored.words, factors},
                    numbers, d.parameters);
}

void GramProduct::multiply(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target) {
    check_block(plan_, x, y, target);
    GramBlocks blocks(plan_, x.rows, y.rows, false);
    for (GramBlock block; blocks.next(block);) run(stream, x, y, target, block, false);
}

void GramProduct::square(Stream& stream, const GramRows& x, const GramTarget& target) {
    check_block(plan_, x, x, target);
    GramBlocks blocks(plan_, x.rows, x.rows, true);
    for (GramBlock block; blocks.next(block);) run(stream, x, x, target, block, true);
}

}  // namespace weft::kernels
