// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/lattice.hpp>: vectors in host memory, and in buffers on a Stream.
#include <weft/ops/lattice.hpp>

#include <array>
#include <memory>

#include <weft/program.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/status_counter.hpp"
#include "ops_vulkan/lattice/lattice_jobs.hpp"
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

// Of each job of a call; dither counts vectors on from job to job.
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

std::size_t codes_bytes(const LatticeShape& shape, const LatticeCode& code) {
    return code_bytes(code, shape.element_vectors);
}

/// The caller's statuses, or an array for the time of the call.
class Statuses {
  public:
    Statuses(const char* function, std::span<std::uint8_t> given, std::size_t vectors) : span_(given) {
        if (!given.empty() || given.data() != nullptr) {
            kernels::check_size(function, "status", "bytes", given.size(), vectors);
            return;
        }
        own_ = std::make_unique_for_overwrite<std::uint8_t[]>(vectors);
        span_ = {own_.get(), vectors};
    }
    std::span<std::uint8_t> span() const { return span_; }

  private:
    std::unique_ptr<std::uint8_t[]> own_;
    std::span<std::uint8_t> span_;
};

// encode and quantize: x to something of `out_element_bytes` for an element, and statuses.
OpReport forward(Backend& backend, LatticeOp op, const LatticeCode& code, std::span<const float> x,
                 const kernels::NamedSpan& out, void* out_data, std::size_t out_element_bytes,
                 const LatticeShape& shape, std::span<std::uint8_t> status,
                 const LatticeHostOptions& options) {
    const char* function = kernels::function_of(op);
    const Statuses statuses(function, status, shape.vectors());
    const std::array<kernels::NamedSpan, 1> inputs{{{"x", x.data(), x.size_bytes()}}};
    const std::array<kernels::NamedSpan, 2> outputs{
        {out, {"status", statuses.span().data(), statuses.span().size()}}};
    kernels::check_lattice_spans(function, inputs, outputs, op == LatticeOp::quantize);
    if (options.check_values)
        kernels::check_finite(function, x, shape.given_width, backend.plan().copy_threads);
    const Program program =
        make_program(backend, op, code, code.max_retries != 0, shape.element_vectors, shape.ragged);
    kernels::StatusCounter counter(statuses.span());
    BatchReport batch =
        kernels::run_lattice_jobs(backend, program, shape, of_each_job(parameters_of(code, shape)),
                                  {{x.data(), x.size_bytes(), shape.element_value_bytes()}},
                                  {{out_data, out.bytes, out_element_bytes},
                                   {statuses.span().data(), statuses.span().size(), shape.element_vectors}},
                                  options.batch, [&](std::size_t vectors) { counter.in_place(vectors); });
    return kernels::forward_report(function, shape, counter.finish(backend.plan().copy_threads),
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
    const char* function = "lattice_decode";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    LatticeParameters parameters = kernels::parameters_of(code, shape);
    parameters.layout.depth = kernels::checked_depth(function, code, options.depth);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    const bool retries = !status.empty() || status.data() != nullptr;
    if (retries) kernels::check_size(function, "status", "bytes", status.size(), shape.vectors());
    const std::array<kernels::NamedSpan, 2> inputs{
        {{"codes", codes.data(), codes.size()}, {"status", status.data(), status.size()}}};
    const std::array<kernels::NamedSpan, 1> outputs{{{"x", x.data(), x.size_bytes()}}};
    kernels::check_lattice_spans(function, inputs, outputs, false);
    const std::uint32_t threads = backend.plan().copy_threads;
    if (options.check_values) kernels::check_digits(function, code, codes, shape.vectors(), threads);
    const kernels::StatusCount count = options.check_values
                                           ? kernels::check_statuses(function, code, status, threads)
                                           : kernels::count_statuses(status, threads);
    const Program program =
        make_program(backend, LatticeOp::decode, code, retries, shape.element_vectors, shape.ragged);
    const std::uint32_t none = 0;  // what is bound where there are no statuses
    const kernels::LatticeInput status_input =
        retries ? kernels::LatticeInput{status.data(), status.size(), shape.element_vectors}
                : kernels::LatticeInput{&none, sizeof none, 0};
    BatchReport batch =
        kernels::run_lattice_jobs(backend, program, shape, of_each_job(parameters),
                                  {{codes.data(), codes.size(), codes_bytes(shape, code)}, status_input},
                                  {{x.data(), x.size_bytes(), shape.element_value_bytes()}}, options.batch);
    return kernels::lattice_report(function, shape, count, std::move(batch));
}

namespace {

void dispatch(Stream& stream, LatticeOp op, const LatticeCode& code, const Resident& r, bool retries,
              std::initializer_list<Stream::Argument> arguments) {
    if (r.elements == 0) return;
    const Program program = make_program(stream, op, code, retries, r.shape.element_vectors, r.shape.ragged);
    stream.dispatch(program, arguments, r.elements, r.parameters);
}

}  // namespace

void lattice_encode(Stream& stream, const LatticeCode& code, BufferView<const float> x,
                    BufferView<std::uint32_t> codes, BufferView<std::uint32_t> status,
                    const LatticeOptions& options) {
    const Resident r = kernels::resident_vectors("lattice_encode", code, x.size(), options.width,
                                                 codes.size(), status.size());
    dispatch(stream, LatticeOp::encode, code, r, code.max_retries != 0, {x, codes, status});
}

void lattice_quantize(Stream& stream, const LatticeCode& code, BufferView<const float> x, BufferView<float> y,
                      BufferView<std::uint32_t> status, const LatticeOptions& options) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    const Resident r = kernels::resident_vectors(function, code, x.size(), options.width,
                                                 code_words(code, shape.vectors()), status.size());
    kernels::check_size(function, "y", "values", y.size(), x.size());
    kernels::check_lattice_overlap(function, detail::Access::object(x) == detail::Access::object(y),
                                   x.first(), y.first(), x.size());
    dispatch(stream, LatticeOp::quantize, code, r, code.max_retries != 0, {x, y, status});
}

void lattice_decode(Stream& stream, const LatticeCode& code, BufferView<const std::uint32_t> codes,
                    std::optional<BufferView<const std::uint32_t>> status, BufferView<float> x,
                    const LatticeDecodeOptions& options) {
    const char* function = "lattice_decode";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    const std::size_t words = status ? status->size() : status_words(shape.vectors());
    Resident r = kernels::resident_vectors(function, code, x.size(), options.width, codes.size(), words);
    r.parameters.layout.depth = kernels::checked_depth(function, code, options.depth);
    dispatch(stream, LatticeOp::decode, code, r, status.has_value(), {codes, status ? *status : codes, x});
}

}  // namespace weft
