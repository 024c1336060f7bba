// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/lattice_inner.hpp>

#include <array>
#include <string>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_inner_check.hpp"
#include "ops_vulkan/lattice/lattice_jobs.hpp"
#include "ops/lattice/lattice_plan.hpp"

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
                           .elements_per_workgroup = plan.elements_per_workgroup,
                           .max_workgroups = plan.max_workgroups}};
}

InnerParameters parameters_of(const LatticeCode& code, const kernels::LatticeShape& shape, bool single) {
    return {static_cast<std::uint32_t>(shape.element_rows), ~0u, static_cast<std::uint32_t>(shape.tiles),
            single ? 0u : 1u, code.beta * code.beta};
}

}  // namespace

BatchReport lattice_inner(Backend& backend, const LatticeTable& table, const LatticeCode& code,
                          std::span<const std::uint8_t> x, std::span<const std::uint8_t> y,
                          std::span<float> out, const LatticeInnerOptions& options) {
    const kernels::LatticeShape shape = kernels::inner_shape(table, code, out.size(), options.width);
    const std::size_t need = code_bytes(code, shape.vectors()), one = code_bytes(code, shape.tiles);
    kernels::check_size(kFunction, "x", "bytes", x.size(), need);
    const bool single = kernels::is_one_row(y.size(), one, shape.rows, need, "bytes");
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
    const kernels::LatticeShape shape = kernels::inner_shape(table, code, out.size(), width);
    const bool single =
        kernels::check_inner_words(table, code, shape, table_words.size(), x.size(), y.size());
    if (shape.rows == 0) return;
    InnerParameters parameters = parameters_of(code, shape, single);
    parameters.element_rows = 1;
    parameters.rows = static_cast<std::uint32_t>(shape.rows);
    stream.dispatch(make_program(stream, table, code, 1), {x, y, table_words, out}, shape.rows, parameters);
}

}  // namespace weft
