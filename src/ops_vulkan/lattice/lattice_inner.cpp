// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/lattice_inner.hpp>: codes in host memory, and in buffers on a Stream.
#include <weft/ops/lattice_inner.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops_vulkan/lattice/lattice_jobs.hpp"
#include "shaders/lattice.spv.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft {
namespace {

constexpr const char* kFunction = "lattice_inner";

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
    return {owner, spirv::lattice_inner,
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

OpReport lattice_inner(Backend& backend, const LatticeTable& table, const LatticeCode& code,
                       std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, std::span<float> out,
                       const LatticeHostOptions& options) {
    const auto [shape, single] =
        kernels::check_inner(table, code, x, y, out, options, backend.plan().copy_threads);
    // An input that every element reads is bound where it lies, in whole words.
    std::vector<std::uint32_t> row((y.size() + 3) / 4);
    if (single) std::copy(y.begin(), y.end(), reinterpret_cast<std::uint8_t*>(row.data()));
    const std::size_t element_bytes = code_bytes(code, shape.element_vectors);
    const Program program = make_program(backend, table, code, shape.element_rows);
    BatchReport batch = kernels::run_lattice_jobs(
        kFunction, backend, program, shape,
        [&](std::size_t) { return Parameters(parameters_of(code, shape, single)); },
        {{x.data(), x.size(), element_bytes},
         single ? kernels::LatticeInput{row.data(), row.size() * 4, 0}
                : kernels::LatticeInput{y.data(), y.size(), element_bytes},
         {table.words().data(), table.words().size_bytes(), 0}},
        {{out.data(), out.size_bytes(), shape.element_rows * sizeof(float)}}, options.batch);
    return kernels::lattice_report(kFunction, shape, {}, std::move(batch));
}

void lattice_inner(Stream& stream, const LatticeTable& table, const LatticeCode& code,
                   BufferView<const std::uint32_t> x, BufferView<const std::uint32_t> y,
                   BufferView<float> out, const LatticeOptions& options) {
    const kernels::LatticeShape shape = kernels::inner_shape(table, code, out.size(), options.width);
    const bool single = kernels::check_inner_words(code, shape, x.size(), y.size());
    if (shape.rows == 0) return;
    InnerParameters parameters = parameters_of(code, shape, single);
    parameters.element_rows = 1;
    parameters.rows = static_cast<std::uint32_t>(shape.rows);
    constexpr std::uint64_t kTables = 0x7461626c6573;  // no key of another family begins with it
    const BufferView<const std::uint32_t> words =
        core::kept_words(stream, {kTables, static_cast<std::uint64_t>(table.lattice()), table.q()},
                         table.words(), "lattice table");
    stream.dispatch(make_program(stream, table, code, 1), {x, y, words, out}, shape.rows, parameters);
}

}  // namespace weft
