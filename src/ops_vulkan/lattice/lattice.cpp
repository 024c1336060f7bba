// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/lattice.hpp> and <weft/ops/lattice_search.hpp>: vectors in host memory, and in buffers
// on a Stream.
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_search.hpp>

#include <array>
#include <optional>
#include <utility>

#include <weft/program.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/lattice_search.hpp"
#include "ops/lattice/status_counter.hpp"
#include "ops_vulkan/lattice/lattice_jobs.hpp"
#include "ops_vulkan/lattice/lattice_scales.hpp"
#include "ops_vulkan/lattice/lattice_shaders.hpp"
#include "shaders/lattice/lattice_settings.h"

namespace weft {
namespace {

using kernels::LatticeOp;
using kernels::LatticeParameters;
using kernels::LatticeShape;
using Resident = kernels::ResidentVectors;

// Owner: Backend or Stream. The owner's pipeline cache makes this a look-up after the first call.
template <class Owner>
Program make_program(Owner& owner, LatticeOp op, const LatticeCode& code, bool retries,
                     std::size_t element_vectors, bool ragged) {
    kernels::LatticePlan plan = kernels::plan_lattice(owner.device(), op, code, retries, element_vectors);
    if (plan.staged && !ragged) plan.constants.emplace_back(kernels::kStagedId, true);
    return {owner, kernels::lattice_words(op, code.lattice, ragged),
            ProgramOptions{.name = kernels::function_of(op),
                           .constants = std::move(plan.constants),
                           .elements_per_workgroup = plan.elements_per_workgroup,
                           .max_workgroups = plan.max_workgroups}};
}

// The parameters of each job of a call. Dither counts vectors through all jobs.
kernels::LatticeParametersOf of_each_job(const LatticeParameters& parameters) {
    return [parameters](std::size_t first_vector) {
        LatticeParameters p = parameters;
        const std::uint64_t index =
            (std::uint64_t{p.settings.index_high} << 32 | p.settings.index_low) + first_vector;
        p.settings.index_low = static_cast<std::uint32_t>(index);
        p.settings.index_high = static_cast<std::uint32_t>(index >> 32);
        return Parameters(p);
    };
}

kernels::LatticeInput scales_input(const HostBuffer<float>& scales) {
    return {scales.data(), scales.bytes(), 0};
}

// Leaves out of the report what each job read beside the arrays of the call.
void count_arrays_alone(BatchReport& batch, std::size_t tables_bytes) {
    batch.bytes_in -= batch.jobs * tables_bytes;
}

std::size_t codes_bytes(const LatticeShape& shape, const LatticeCode& code) {
    return code_bytes(code, shape.element_vectors);
}

// lattice_encode and lattice_quantize: x to statuses and to `out`, which has `out_element_bytes` for an
// element.
OpReport forward(Backend& backend, LatticeOp op, const LatticeCode& code, std::span<const float> x,
                 const kernels::NamedSpan& out, void* out_data, std::size_t out_element_bytes,
                 const LatticeShape& shape, std::span<std::uint8_t> status,
                 const LatticeHostOptions& options) {
    const char* function = kernels::function_of(op);
    const kernels::Statuses statuses(function, status, shape.vectors());
    kernels::check_forward(function, x, out, statuses.span(), op == LatticeOp::quantize);
    if (options.check_values)
        kernels::check_finite(function, x, shape.given_width, backend.plan().copy_threads);
    const Program program =
        make_program(backend, op, code, code.max_retries != 0, shape.element_vectors, shape.ragged);
    const auto scales = kernels::host_scales(backend, code);
    kernels::StatusCounter counter(statuses.span());
    BatchReport batch = kernels::run_lattice_jobs(
        function, backend, program, shape, of_each_job(parameters_of(code, shape)),
        {{x.data(), x.size_bytes(), shape.element_value_bytes()}, scales_input(*scales)},
        {{out_data, out.bytes, out_element_bytes},
         {statuses.span().data(), statuses.span().size(), shape.element_vectors}},
        options.batch, [&](std::size_t vectors) { counter.in_place(vectors); });
    count_arrays_alone(batch, scales->bytes());
    return kernels::forward_report(function, shape, x, counter.finish(backend.plan().copy_threads),
                                   std::move(batch));
}

}  // namespace

OpReport lattice_encode(Backend& backend, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                        const LatticeHostOptions& options) {
    const char* function = "lattice_encode";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    return forward(backend, LatticeOp::encode, code, x, {"codes", codes.data(), codes.size()}, codes.data(),
                   codes_bytes(shape, code), shape, status, options);
}

OpReport lattice_quantize(Backend& backend, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status,
                          const LatticeHostOptions& options) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "y", "values", y.size(), x.size());
    return forward(backend, LatticeOp::quantize, code, x, {"y", y.data(), y.size_bytes()}, y.data(),
                   shape.element_value_bytes(), shape, status, options);
}

OpReport lattice_decode(Backend& backend, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    const kernels::DecodeCall call =
        kernels::check_decode(code, codes, status, x, options, backend.plan().copy_threads);
    const LatticeShape& shape = call.shape;
    LatticeParameters parameters = kernels::parameters_of(code, shape);
    parameters.layout.depth = call.depth;
    const Program program =
        make_program(backend, LatticeOp::decode, code, call.retries, shape.element_vectors, shape.ragged);
    const auto scales = kernels::host_scales(backend, code);
    const kernels::LatticeInput scales_in = scales_input(*scales);
    const kernels::LatticeInput status_in =
        call.retries ? kernels::LatticeInput{status.data(), status.size(), shape.element_vectors}
                     : scales_in;  // words that no invocation reads
    BatchReport batch = kernels::run_lattice_jobs(
        "lattice_decode", backend, program, shape, of_each_job(parameters),
        {{codes.data(), codes.size(), codes_bytes(shape, code)}, status_in, scales_in},
        {{x.data(), x.size_bytes(), shape.element_value_bytes()}}, options.batch);
    count_arrays_alone(batch, (call.retries ? 1 : 2) * scales->bytes());
    return kernels::lattice_report("lattice_decode", shape, call.count, std::move(batch));
}

LatticeSearch lattice_search_beta(Backend& backend, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    return kernels::search_beta(
        code, sample, options, backend.plan().copy_threads,
        [&](const LatticeCode& trial, std::span<const float> x, std::span<float> y,
            const LatticeHostOptions& each) { return lattice_quantize(backend, trial, x, y, {}, each); });
}

namespace {

// `bound`: the first arguments, all that the kernel works on.
void dispatch(Stream& stream, LatticeOp op, const LatticeCode& code, const Resident& r, bool retries,
              const std::array<Stream::Argument, 3>& bound) {
    if (r.elements == 0) return;
    const Program program = make_program(stream, op, code, retries, r.shape.element_vectors, r.shape.ragged);
    // Without retries no invocation reads the table, and an input stands for it.
    const Stream::Argument scales = code.max_retries != 0 && retries
                                        ? Stream::Argument(kernels::resident_scales(stream, code))
                                        : bound[0];
    stream.dispatch(program, {bound[0], bound[1], bound[2], scales}, r.elements, r.parameters);
}

}  // namespace

void lattice_encode(Stream& stream, const LatticeCode& code, BufferView<const float> x,
                    BufferView<std::uint32_t> codes, BufferView<std::uint32_t> status,
                    const LatticeOptions& options) {
    const Resident r = kernels::resident_encode(code, x.size(), codes.size(), status.size(), options);
    dispatch(stream, LatticeOp::encode, code, r, code.max_retries != 0, {x, codes, status});
}

void lattice_quantize(Stream& stream, const LatticeCode& code, BufferView<const float> x, BufferView<float> y,
                      BufferView<std::uint32_t> status, const LatticeOptions& options) {
    const Resident r = kernels::resident_quantize(
        code, {detail::Access::object(x).get(), x.first(), x.size()},
        {detail::Access::object(y).get(), y.first(), y.size()}, status.size(), options);
    dispatch(stream, LatticeOp::quantize, code, r, code.max_retries != 0, {x, y, status});
}

void lattice_decode(Stream& stream, const LatticeCode& code, BufferView<const std::uint32_t> codes,
                    std::optional<BufferView<const std::uint32_t>> status, BufferView<float> x,
                    const LatticeDecodeOptions& options) {
    const Resident r = kernels::resident_decode(
        code, x.size(), codes.size(), status ? std::optional(status->size()) : std::nullopt, options);
    dispatch(stream, LatticeOp::decode, code, r, status.has_value(), {codes, status ? *status : codes, x});
}

}  // namespace weft
