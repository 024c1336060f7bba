// SPDX-License-Identifier: Apache-2.0
#include <weft/lattice.hpp>

#include <array>
#include <memory>
#include <string>

#include <weft/error.hpp>
#include <weft/program.hpp>

#include "kernels/lattice_check.hpp"
#include "kernels/lattice_jobs.hpp"
#include "kernels/lattice_plan.hpp"
#include "kernels/lattice_shaders.hpp"
#include "shared/lattice_settings.h"

namespace weft {
namespace {

using kernels::LatticeOp;
using kernels::LatticeShape;

constexpr std::uint32_t kNoPadding = ~0u;

/// Push constants behind count and first.
struct LatticeParameters {
    shared::LatticeSettings settings;
    shared::LatticeLayout layout;
};

// Owner: Backend or Stream. The owner's pipeline cache makes this a look-up after the first call.
template <class Owner>
Program make_program(Owner& owner, LatticeOp op, const LatticeCode& code, bool retries,
                     std::size_t element_vectors, bool ragged) {
    kernels::LatticePlan plan = kernels::plan_lattice(owner.device(), op, code, retries, element_vectors);
    return {owner, kernels::lattice_words(op, code.lattice, ragged),
            ProgramOptions{.name = kernels::function_of(op),
                           .constants = std::move(plan.constants),
                           .elements_per_group = plan.elements_per_group,
                           .max_groups = plan.max_groups}};
}

LatticeParameters parameters_of(const LatticeCode& code, const LatticeShape& shape) {
    LatticeParameters p{};
    p.settings = kernels::lattice_settings(code);
    p.layout.element_vectors = static_cast<std::uint32_t>(shape.element_vectors);
    p.layout.vectors = p.layout.code_words = p.layout.status_words = kNoPadding;
    p.layout.width = static_cast<std::uint32_t>(shape.width);
    p.layout.tiles = static_cast<std::uint32_t>(shape.tiles);
    p.layout.depth = code.levels;
    return p;
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

// Rows are counted in 32 bits on the device.
LatticeShape checked_shape(const char* function, const LatticeCode& code, std::size_t values,
                           std::size_t width) {
    kernels::check_lattice_code(function, code);
    const LatticeShape shape = kernels::lattice_shape(function, code.lattice, values, width);
    constexpr std::size_t kMostWidth = std::size_t{1} << 28;
    if (shape.width > kMostWidth)
        throw Error(Errc::invalid_argument, std::string(function) + ": rows are too wide (got " +
                                                std::to_string(shape.width) + ", need at most " +
                                                std::to_string(kMostWidth) + ")");
    return shape;
}

std::uint32_t checked_depth(const char* function, const LatticeCode& code, std::uint32_t depth) {
    if (depth > code.levels)
        throw Error(Errc::invalid_argument,
                    std::string(function) + ": depth is out of range (got " + std::to_string(depth) +
                        ", need at most levels = " + std::to_string(code.levels) + ")");
    return depth == 0 ? code.levels : depth;
}

std::size_t values_bytes(const LatticeShape& shape) {
    return shape.element_rows * shape.width * sizeof(float);
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

LatticeReport report_of(const char* function, const LatticeShape& shape, std::span<const std::uint8_t> status,
                        BatchReport batch, std::uint32_t threads) {
    const kernels::StatusCount count = kernels::count_statuses(status, threads);
    if (count.not_finite != 0)
        throw Error(Errc::invalid_argument,
                    std::string(function) + ": vectors with values that are not finite (got " +
                        std::to_string(count.not_finite) + " of " + std::to_string(shape.vectors()) +
                        ", the first is vector " + std::to_string(count.first_not_finite) +
                        ", need none; all others are done)");
    return {shape.vectors(), count.retried, count.unresolved, std::move(batch)};
}

// encode and quantize: x to something of `out_element_bytes` for an element, and statuses.
LatticeReport forward(Backend& backend, LatticeOp op, const LatticeCode& code, std::span<const float> x,
                      const kernels::NamedSpan& out, void* out_data, std::size_t out_element_bytes,
                      const LatticeShape& shape, std::span<std::uint8_t> status,
                      const LatticeEncodeOptions& options) {
    const char* function = kernels::function_of(op);
    const Statuses statuses(function, status, shape.vectors());
    const std::array<kernels::NamedSpan, 1> inputs{{{"x", x.data(), x.size_bytes()}}};
    const std::array<kernels::NamedSpan, 2> outputs{
        {out, {"status", statuses.span().data(), statuses.span().size()}}};
    kernels::check_lattice_spans(function, inputs, outputs, op == LatticeOp::quantize);
    if (options.checked) kernels::check_finite(function, x, shape.width, backend.plan().copy_threads);
    const Program program =
        make_program(backend, op, code, code.max_retries != 0, shape.element_vectors, shape.ragged);
    BatchReport batch =
        kernels::run_lattice_jobs(backend, program, shape, of_each_job(parameters_of(code, shape)),
                                  {{x.data(), x.size_bytes(), values_bytes(shape)}},
                                  {{out_data, out.bytes, out_element_bytes},
                                   {statuses.span().data(), statuses.span().size(), shape.element_vectors}},
                                  options.batch);
    return report_of(function, shape, statuses.span(), std::move(batch), backend.plan().copy_threads);
}

}  // namespace

LatticeReport lattice_encode(Backend& backend, const LatticeCode& code, std::span<const float> x,
                             std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                             const LatticeEncodeOptions& options) {
    const char* function = "lattice_encode";
    const LatticeShape shape = checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    return forward(backend, LatticeOp::encode, code, x, {"codes", codes.data(), codes.size()}, codes.data(),
                   codes_bytes(shape, code), shape, status, options);
}

LatticeReport lattice_quantize(Backend& backend, const LatticeCode& code, std::span<const float> x,
                               std::span<float> y, std::span<std::uint8_t> status,
                               const LatticeEncodeOptions& options) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "y", "values", y.size(), x.size());
    return forward(backend, LatticeOp::quantize, code, x, {"y", y.data(), y.size_bytes()}, y.data(),
                   values_bytes(shape), shape, status, options);
}

LatticeReport lattice_decode(Backend& backend, const LatticeCode& code, std::span<const std::uint8_t> codes,
                             std::span<const std::uint8_t> status, std::span<float> x,
                             const LatticeDecodeOptions& options) {
    const char* function = "lattice_decode";
    const LatticeShape shape = checked_shape(function, code, x.size(), options.width);
    LatticeParameters parameters = parameters_of(code, shape);
    parameters.layout.depth = checked_depth(function, code, options.depth);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    const bool retries = !status.empty() || status.data() != nullptr;
    if (retries) kernels::check_size(function, "status", "bytes", status.size(), shape.vectors());
    const std::array<kernels::NamedSpan, 2> inputs{
        {{"codes", codes.data(), codes.size()}, {"status", status.data(), status.size()}}};
    const std::array<kernels::NamedSpan, 1> outputs{{{"x", x.data(), x.size_bytes()}}};
    kernels::check_lattice_spans(function, inputs, outputs, false);
    if (options.checked) {
        kernels::check_digits(function, code, codes, shape.vectors(), backend.plan().copy_threads);
        kernels::check_statuses(function, code, status, backend.plan().copy_threads);
    }
    const Program program =
        make_program(backend, LatticeOp::decode, code, retries, shape.element_vectors, shape.ragged);
    const std::uint32_t none = 0;  // what is bound where there are no statuses
    const kernels::LatticeInput status_input =
        retries ? kernels::LatticeInput{status.data(), status.size(), shape.element_vectors}
                : kernels::LatticeInput{&none, sizeof none, 0};
    BatchReport batch =
        kernels::run_lattice_jobs(backend, program, shape, of_each_job(parameters),
                                  {{codes.data(), codes.size(), codes_bytes(shape, code)}, status_input},
                                  {{x.data(), x.size_bytes(), values_bytes(shape)}}, options.batch);
    const kernels::StatusCount count = kernels::count_statuses(status, backend.plan().copy_threads);
    return {shape.vectors(), count.retried, count.unresolved, std::move(batch)};
}

namespace {

// Resident vectors are counted in 32 bits; elements are blocks of them, the last one in part.
struct Resident {
    LatticeShape shape;
    LatticeParameters parameters;
    std::uint64_t elements = 0;
};

Resident resident(const char* function, const LatticeCode& code, std::size_t values, std::size_t width,
                  std::size_t codes, std::size_t status) {
    Resident r;
    r.shape = checked_shape(function, code, values, width);
    const std::size_t vectors = r.shape.vectors(), block = kernels::block_vectors(code.lattice);
    if (vectors > ~0u - 64)
        throw Error(Errc::invalid_argument, std::string(function) + ": too many vectors (got " +
                                                std::to_string(vectors) + ", need fewer than 2^32 - 64)");
    kernels::check_size(function, "codes", "words", codes, code_words(code, vectors));
    kernels::check_size(function, "status", "words", status, status_words(vectors));
    r.shape.element_vectors = block;
    r.parameters = parameters_of(code, r.shape);
    r.parameters.layout.vectors = static_cast<std::uint32_t>(vectors);
    r.parameters.layout.code_words = static_cast<std::uint32_t>(codes);
    r.parameters.layout.status_words = static_cast<std::uint32_t>(status);
    r.elements = vectors / block + (vectors % block != 0 ? 1 : 0);
    return r;
}

void dispatch(Stream& stream, LatticeOp op, const LatticeCode& code, const Resident& r, bool retries,
              std::initializer_list<Stream::Argument> arguments) {
    if (r.elements == 0) return;
    const Program program = make_program(stream, op, code, retries, r.shape.element_vectors, r.shape.ragged);
    stream.dispatch(program, arguments, r.elements, r.parameters);
}

}  // namespace

void lattice_encode(Stream& stream, const LatticeCode& code, BufferView<const float> x,
                    BufferView<std::uint32_t> codes, BufferView<std::uint32_t> status, std::size_t width) {
    const Resident r = resident("lattice_encode", code, x.size(), width, codes.size(), status.size());
    dispatch(stream, LatticeOp::encode, code, r, code.max_retries != 0, {x, codes, status});
}

void lattice_quantize(Stream& stream, const LatticeCode& code, BufferView<const float> x, BufferView<float> y,
                      BufferView<std::uint32_t> status, std::size_t width) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = checked_shape(function, code, x.size(), width);
    const Resident r =
        resident(function, code, x.size(), width, code_words(code, shape.vectors()), status.size());
    kernels::check_size(function, "y", "values", y.size(), x.size());
    // The device would read what it has just written.
    const std::size_t distance = x.first() > y.first() ? x.first() - y.first() : y.first() - x.first();
    if (x.object() == y.object() && distance != 0 && distance < x.size())
        throw Error(Errc::invalid_argument, std::string(function) +
                                                ": y overlaps x in part (got a distance of " +
                                                std::to_string(distance) + " values, need 0 or at least " +
                                                std::to_string(x.size()) + ")");
    dispatch(stream, LatticeOp::quantize, code, r, code.max_retries != 0, {x, y, status});
}

void lattice_decode(Stream& stream, const LatticeCode& code, BufferView<const std::uint32_t> codes,
                    std::optional<BufferView<const std::uint32_t>> status, BufferView<float> x,
                    std::size_t width, std::uint32_t depth) {
    const char* function = "lattice_decode";
    const LatticeShape shape = checked_shape(function, code, x.size(), width);
    const std::size_t words = status ? status->size() : status_words(shape.vectors());
    Resident r = resident(function, code, x.size(), width, codes.size(), words);
    r.parameters.layout.depth = checked_depth(function, code, depth);
    dispatch(stream, LatticeOp::decode, code, r, status.has_value(), {codes, status ? *status : codes, x});
}

}  // namespace weft
