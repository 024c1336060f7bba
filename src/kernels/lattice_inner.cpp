// SPDX-License-Identifier: Apache-2.0
#include <weft/lattice_table.hpp>

#include <array>
#include <string>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "kernels/lattice_check.hpp"
#include "kernels/lattice_jobs.hpp"
#include "kernels/lattice_plan.hpp"

namespace weft {
namespace {

constexpr const char* kFunction = "lattice_inner";
constexpr std::uint32_t kWords[] = {
#include "shaders/lattice_inner.spv.inc"
};

/// Push constants behind count and first.
struct InnerParameters {
    std::uint32_t element_rows = 1, rows = ~0u, tiles = 1, y_step = 1;
    float scale = 1;
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(kFunction) + ": " + what);
}

void check_table(const LatticeTable& table, const LatticeCode& code, std::size_t tiles) {
    kernels::check_lattice_code(kFunction, code);
    if (table.lattice() != code.lattice || table.q() != code.q)
        refuse(std::string("the table is of another code (got ") + to_string(table.lattice()) +
               ", q = " + std::to_string(table.q()) + ", need " + to_string(code.lattice) +
               ", q = " + std::to_string(code.q) + ")");
    if (code.max_retries != 0)
        refuse("vectors with retries differ in scale (got max_retries " + std::to_string(code.max_retries) +
               ", need 0)");
    if (code.dither_seed) refuse("the dither is not in the table (got a seed, need none)");
    double weight = 0, power = 1;
    for (std::uint32_t m = 0; m < code.levels; ++m, power *= code.q) weight += power;
    const double each = weight * weight * table.largest();
    if (each * static_cast<double>(tiles) >= 2147483648.0)
        refuse("the sum of a row may not fit 32 bits (got " + std::to_string(tiles) +
               " vectors, need at most " + std::to_string(static_cast<std::size_t>(2147483647.0 / each)) +
               " with this code)");
}

// Rows of whole vectors stay rows here, unlike in lattice_shape: each has a result of its own.
kernels::LatticeShape shape_of(const LatticeTable& table, const LatticeCode& code, std::size_t rows,
                               std::size_t width) {
    kernels::LatticeShape shape;
    shape.rows = rows;
    shape.width = width == 0 ? dimension(code.lattice) : width;
    shape.tiles = lattice_tiles(code.lattice, shape.width);
    check_table(table, code, shape.tiles);
    kernels::set_elements(shape, code.lattice);
    return shape;
}

// y may be one row for all.
bool one_row(std::size_t got, std::size_t one, std::size_t rows, std::size_t all, const char* unit) {
    if (got == one && rows != 1) return true;
    kernels::check_size(kFunction, "y", unit, got, all);
    return false;
}

template <class Owner>
Program make_program(Owner& owner, const LatticeTable& table, const LatticeCode& code,
                     std::size_t element_rows) {
    const kernels::LatticePlan plan =
        kernels::plan_lattice(owner.device(), kernels::LatticeOp::decode, code, false, element_rows);
    return {owner, kWords,
            ProgramOptions{.name = kFunction,
                           .constants = {{0u, plan.local_size},
                                         {1u, code.q},
                                         {2u, code.levels},
                                         {3u, digit_bits(code)},
                                         {4u, dimension(code.lattice)},
                                         {5u, table.points()}},
                           .elements_per_group = plan.elements_per_group,
                           .max_groups = plan.max_groups}};
}

InnerParameters parameters_of(const LatticeCode& code, const kernels::LatticeShape& shape, bool single) {
    return {static_cast<std::uint32_t>(shape.element_rows), ~0u, static_cast<std::uint32_t>(shape.tiles),
            single ? 0u : 1u, code.beta * code.beta};
}

}  // namespace

BatchReport lattice_inner(Backend& backend, const LatticeTable& table, const LatticeCode& code,
                          std::span<const std::uint8_t> x, std::span<const std::uint8_t> y,
                          std::span<float> out, const LatticeInnerOptions& options) {
    const kernels::LatticeShape shape = shape_of(table, code, out.size(), options.width);
    const std::size_t need = code_bytes(code, shape.vectors()), one = code_bytes(code, shape.tiles);
    kernels::check_size(kFunction, "x", "bytes", x.size(), need);
    const bool single = one_row(y.size(), one, shape.rows, need, "bytes");
    const std::array<kernels::NamedSpan, 2> inputs{{{"x", x.data(), x.size()}, {"y", y.data(), y.size()}}};
    const std::array<kernels::NamedSpan, 1> outputs{{{"out", out.data(), out.size_bytes()}}};
    kernels::check_lattice_spans(kFunction, inputs, outputs, false);
    // A table is bound as it lies, in whole words.
    std::vector<std::uint32_t> row((y.size() + 3) / 4);
    if (single) std::copy(y.begin(), y.end(), reinterpret_cast<std::uint8_t*>(row.data()));
    const std::size_t element_bytes = code_bytes(code, shape.element_vectors);
    const Program program = make_program(backend, table, code, shape.element_rows);
    return kernels::run_lattice_jobs(
        backend, program, shape, [&](std::size_t) { return Parameters(parameters_of(code, shape, single)); },
        {{x.data(), x.size(), element_bytes},
         single ? kernels::LatticeInput{row.data(), row.size() * 4, 0}
                : kernels::LatticeInput{y.data(), y.size(), element_bytes},
         {table.words().data(), table.words().size_bytes(), 0}},
        {{out.data(), out.size_bytes(), shape.element_rows * sizeof(float)}}, options.batch);
}

void lattice_inner(Stream& stream, const LatticeTable& table, BufferView<const std::uint32_t> table_words,
                   const LatticeCode& code, BufferView<const std::uint32_t> x,
                   BufferView<const std::uint32_t> y, BufferView<float> out, std::size_t width) {
    const kernels::LatticeShape shape = shape_of(table, code, out.size(), width);
    if (shape.vectors() > ~0u - 64)
        refuse("too many vectors (got " + std::to_string(shape.vectors()) + ", need fewer than 2^32 - 64)");
    const std::size_t need = code_words(code, shape.vectors()), one = code_words(code, shape.tiles);
    kernels::check_size(kFunction, "table", "words", table_words.size(), table.words().size());
    kernels::check_size(kFunction, "x", "words", x.size(), need);
    const bool single = one_row(y.size(), one, shape.rows, need, "words");
    if (shape.rows == 0) return;
    InnerParameters parameters = parameters_of(code, shape, single);
    parameters.element_rows = 1;
    parameters.rows = static_cast<std::uint32_t>(shape.rows);
    stream.dispatch(make_program(stream, table, code, 1), {x, y, table_words, out}, shape.rows, parameters);
}

}  // namespace weft
