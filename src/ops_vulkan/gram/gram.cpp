// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/gram/gram.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "ops_vulkan/gram/gram_programs.hpp"
#include "shaders/gram/gram_interface.h"
#include "shaders/gram/gram_layout.h"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kBlockRows = shared::kGramBlockRows;

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "GramProduct: " + what);
}

BufferView<std::uint32_t> byte_view(const GramRange& range, std::uint64_t byte, std::uint64_t bytes) {
    return detail::Access::make<BufferView<std::uint32_t>>(range.object, (range.first + byte) / 4, bytes / 4);
}

/// A range bound at an aligned offset before it.
struct Bound {
    BufferView<std::uint32_t> words;
    std::uint64_t before;  ///< bytes
};

Bound bind(const GramRange& range, std::uint64_t byte, std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t begin = range.first + byte, aligned = begin / alignment * alignment;
    return {detail::Access::make<BufferView<std::uint32_t>>(range.object, aligned / 4,
                                                            (begin - aligned + bytes) / 4),
            begin - aligned};
}

std::uint32_t factor_of(const GramRows& rows, std::uint64_t row) {
    return rows.factors ? word(rows.factors->first + row) : 0;
}

void require_bytes(const char* what, std::uint64_t bytes, std::uint64_t need) {
    if (bytes >= need) return;
    refuse(std::string(what) + " is too small (got " + std::to_string(bytes) + " bytes, need " +
           std::to_string(need) + ")");
}

}  // namespace

/// What one dispatch computes: a block of K from rows that fit their bindings.
struct GramProduct::Tiles {
    const GramRows& x;
    const GramRows& y;
    const GramTarget& target;
    GramBlock block;  ///< also in the target
    bool square;
};

template <class Owner>
GramProduct::GramProduct(Owner& owner, const GramPlan& plan, int)
    : plan_(plan), tile_(gram_tile_program(owner, plan)) {
    if (plan.split == 1) return;
    reduce_ = std::make_unique<Program>(gram_reduce_program(owner, plan));
    scratch_ = std::make_unique<Buffer<std::uint32_t>>(owner, plan.scratch_bytes / 4, "gram sums");
}

GramProduct::GramProduct(Backend& backend, const GramPlan& plan) : GramProduct(backend, plan, 0) {}
GramProduct::GramProduct(const Stream& stream, const GramPlan& plan) : GramProduct(stream, plan, 0) {}

void GramProduct::pack(Stream& stream, const GramRange& states, std::uint64_t rows, const GramRange& planes,
                       std::uint64_t first) {
    const std::uint64_t row = plan_.problem.amplitudes * (plan_.method == GramMethod::fp64 ? 16u : 8u);
    const DeviceLimits& limits = stream.device().limits;
    const std::uint64_t alignment = limits.storage_buffer_offset_alignment;
    if (first % kBlockRows != 0)
        refuse("packed rows begin at " + std::to_string(first) + ", need a multiple of 64");
    require_bytes("states", states.bytes, rows * row);
    require_bytes("planes", planes.bytes, first * plan_.row_bytes + plan_.packed_bytes(rows));
    // 64 rows are a multiple of any alignment: all panels of states begin as far from one as the first.
    const std::uint64_t before = states.first % alignment;
    const std::uint64_t room = (limits.max_storage_buffer_range - before) / row / kBlockRows * kBlockRows;
    if (room == 0)
        throw Error(Errc::unsupported, "GramProduct: 64 states do not fit one binding (got " +
                                           std::to_string(64 * row) + " bytes, need at most " +
                                           std::to_string(limits.max_storage_buffer_range) + ")");
    if (!pack_) pack_ = std::make_unique<Program>(gram_pack_program(stream, plan_));
    const std::uint64_t step = std::min(room, plan_.panel_rows);
    for (std::uint64_t at = 0; at < rows; at += step) {
        const std::uint64_t count = std::min(step, rows - at);
        const Bound source = bind(states, at * row, count * row, alignment);
        const std::uint64_t across = divide_up(plan_.blocks * plan_.step, shared::kGramPackAmplitudes);
        const shared::GramPackParameters parameters{
            word(count), word(plan_.problem.amplitudes), word(plan_.blocks),
            word(source.before / (row / plan_.problem.amplitudes)), word(across)};
        stream.dispatch(*pack_,
                        {BufferView<const std::uint32_t>(source.words),
                         byte_view(planes, (first + at) * plan_.row_bytes, plan_.packed_bytes(count))},
                        divide_up(count, kBlockRows) * across, parameters);
    }
}

void GramProduct::run(Stream& stream, const Tiles& t) {
    const std::uint64_t alignment = stream.device().limits.storage_buffer_offset_alignment;
    const std::uint64_t element = plan_.problem.output == GramReal::float64 ? 8 : 4;
    const auto planes = [&](const GramRows& rows, std::uint64_t from, std::uint64_t count) {
        return BufferView<const std::uint32_t>(
            byte_view(rows.planes, (rows.first + from) * plan_.row_bytes, plan_.packed_bytes(count)));
    };
    const auto output = [&](std::uint64_t origin, std::uint64_t down, std::uint64_t across) {
        return bind(t.target.range, origin * element, ((down - 1) * t.target.leading + across) * element,
                    alignment);
    };
    const std::uint64_t leading = t.target.leading;
    const Bound out =
        output(t.target.origin + t.block.row * leading + t.block.column, t.block.rows, t.block.columns);
    const bool mirror = t.square || t.target.mirror;
    const std::uint64_t mirror_origin = t.square ? t.target.origin : t.target.mirror_origin;
    const Bound mirrored =
        mirror ? output(mirror_origin + t.block.column * leading + t.block.row, t.block.columns, t.block.rows)
               : out;

    const std::uint64_t down = divide_up(t.block.rows, plan_.tile.rows),
                        across = divide_up(t.block.columns, plan_.tile.columns);
    const bool diagonal = t.square && t.block.row == t.block.column;
    const std::uint64_t tiles =
        diagonal ? plan_.tile.rows / plan_.tile.columns * (down * (down + 1) / 2) : down * across;
    const std::uint64_t part = divide_up(plan_.blocks, plan_.split), parts = divide_up(plan_.blocks, part);
    shared::GramReduceParameters parameters{
        {word(t.block.rows), word(t.block.columns), word(plan_.blocks), diagonal ? 0u : word(across),
         word(leading), word(out.before / element), word(mirrored.before / element), mirror ? 1u : 0u,
         word(tiles), word(part), factor_of(t.x, t.block.row), factor_of(t.y, t.block.column)},
        word(parts)};
    const auto x = planes(t.x, t.block.row, t.block.rows), y = planes(t.y, t.block.column, t.block.columns);
    const auto factors =
        t.x.factors
            ? BufferView<const std::uint32_t>(byte_view(t.x.factors->range, 0, t.x.factors->range.bytes))
            : x;
    if (plan_.split == 1) {
        stream.dispatch(tile_, {x, y, out.words, mirrored.words, out.words, factors}, tiles, parameters.p);
        return;
    }
    const BufferView<std::uint32_t> scratch = scratch_->view();
    require_bytes(
        "scratch", scratch.bytes(),
        tiles * parts * plan_.tile.rows * plan_.tile.columns * (plan_.method == GramMethod::fp64 ? 16 : 8));
    stream.dispatch(tile_, {x, y, scratch, scratch, scratch, factors}, tiles * parts, parameters.p);
    stream.dispatch(*reduce_, {BufferView<const std::uint32_t>(scratch), out.words, mirrored.words, factors},
                    tiles * plan_.tile.rows * plan_.tile.columns, parameters);
}

void GramProduct::multiply(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target) {
    check_block(plan_, x, y, target);
    GramBlocks blocks(plan_, x.rows, y.rows, false);
    for (GramBlock block; blocks.next(block);) run(stream, {x, y, target, block, false});
}

void GramProduct::square(Stream& stream, const GramRows& x, const GramTarget& target) {
    check_block(plan_, x, x, target);
    GramBlocks blocks(plan_, x.rows, x.rows, true);
    for (GramBlock block; blocks.next(block);) run(stream, {x, x, target, block, true});
}

void GramProduct::multiply(Stream& stream, const GramRange& x, const GramRange& y, const GramRange& out) {
    const GramProblem& problem = plan_.problem;
    const GramTarget target{out, problem.leading};
    const GramRows rows{x, 0, problem.rows};
    if (problem.symmetric)
        square(stream, rows, target);
    else
        multiply(stream, rows, {y, 0, problem.columns}, target);
}

}  // namespace weft::kernels
