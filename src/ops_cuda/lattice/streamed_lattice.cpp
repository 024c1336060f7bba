// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/host.hpp>: lattice codes of vectors in host memory.
#include <algorithm>
#include <optional>
#include <utility>

#include <weft/cuda/host.hpp>
#include <weft/cuda/lattice.hpp>

#include "base/batch_call.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/lattice_search.hpp"

namespace weft::cuda {
namespace {

using kernels::LatticeOp;
using kernels::LatticeShape;
using kernels::NamedSpan;

constexpr core::BatchMembers kHonoured{.chunk_elements = true, .ring_slots = true};

template <class T>
DeviceSpan<T> span_at(std::byte* data, std::uint64_t count) {
    return {reinterpret_cast<T*>(data), count};
}

/// A chunk of an operation: its vectors and values, and the code with the dither of its first vector.
struct Part {
    Part(const LatticeCode& whole, const LatticeShape& shape, const Chunk& chunk) : code(whole) {
        const std::uint64_t rows = std::min<std::uint64_t>(chunk.count * shape.element_rows,
                                                           shape.rows - chunk.first * shape.element_rows);
        vectors = rows * shape.tiles;
        values = rows * shape.width;
        codes = code_words(whole, vectors);
        status = status_words(vectors);
        if (code.dither_seed) code.dither_first += chunk.first * shape.element_vectors;
    }
    LatticeCode code;
    std::uint64_t vectors, values, codes, status;
};

/// `progress` counts vectors, and finds a stop of the call.
HostWork work_of(const LatticeShape& shape, core::ProgressMeter& progress) {
    HostWork work;
    work.elements = (shape.rows + shape.element_rows - 1) / shape.element_rows;
    work.multiple = 32;  // so that the statuses of a chunk begin at whole words
    work.done = [&shape, &progress](const Chunk& chunk) {
        progress.show(std::min(shape.vectors(), (chunk.first + chunk.count) * shape.element_vectors));
    };
    return work;
}

// lattice_encode and lattice_quantize.
OpReport forward(const char* function, bool encode, const LatticeCode& code, const LatticeShape& shape,
                 std::span<const float> x, const NamedSpan& out, void* out_data,
                 std::uint64_t out_element_bytes, std::span<std::uint8_t> status,
                 const LatticeHostOptions& options) {
    const kernels::Statuses statuses(function, status, shape.vectors());
    status = statuses.span();
    kernels::check_forward(function, x, out, status, !encode);
    if (options.check_values) kernels::check_finite(function, x, shape.given_width, host_threads());
    core::ProgressMeter progress(function, options.batch, shape.vectors());
    progress.check();
    HostWork work = work_of(shape, progress);
    work.inputs = {{x.data(), x.size_bytes(), shape.element_value_bytes()}};
    work.outputs = {{out_data, out.bytes, out_element_bytes},
                    {status.data(), status.size(), shape.element_vectors}};
    work.launch = [&](const Chunk& chunk) {
        const Part part(code, shape, chunk);
        const auto values = span_at<const float>(chunk.inputs[0], part.values);
        const auto chunk_status = span_at<std::uint32_t>(chunk.outputs[1], part.status);
        if (encode)
            lattice_encode(chunk.stream, part.code, values,
                           span_at<std::uint32_t>(chunk.outputs[0], part.codes), chunk_status,
                           {.width = shape.width});
        else
            lattice_quantize(chunk.stream, part.code, values, span_at<float>(chunk.outputs[0], part.values),
                             chunk_status, {.width = shape.width});
    };
    BatchReport batch;
    run_chunks(function, work, options.batch, batch);
    return kernels::forward_report(function, shape, x, kernels::count_statuses(status, host_threads()),
                                   std::move(batch));
}

}  // namespace

OpReport lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                        std::span<std::uint8_t> status, const LatticeHostOptions& options) {
    const char* function = "lattice_encode";
    core::require_members(function, options.batch, kHonoured);
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    return forward(function, true, code, shape, x, {"codes", codes.data(), codes.size()}, codes.data(),
                   code_bytes(code, shape.element_vectors), status, options);
}

OpReport lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                          std::span<std::uint8_t> status, const LatticeHostOptions& options) {
    const char* function = "lattice_quantize";
    core::require_members(function, options.batch, kHonoured);
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "y", "values", y.size(), x.size());
    return forward(function, false, code, shape, x, {"y", y.data(), y.size_bytes()}, y.data(),
                   shape.element_value_bytes(), status, options);
}

OpReport lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    const char* function = "lattice_decode";
    core::require_members(function, options.batch, kHonoured);
    const kernels::DecodeCall call = kernels::check_decode(code, codes, status, x, options, host_threads());
    const LatticeShape& shape = call.shape;
    core::ProgressMeter progress(function, options.batch, shape.vectors());
    progress.check();
    HostWork work = work_of(shape, progress);
    work.inputs = {{codes.data(), codes.size(), code_bytes(code, shape.element_vectors)}};
    if (call.retries) work.inputs.push_back({status.data(), status.size(), shape.element_vectors});
    work.outputs = {{x.data(), x.size_bytes(), shape.element_value_bytes()}};
    work.launch = [&](const Chunk& chunk) {
        const Part part(code, shape, chunk);
        std::optional<DeviceSpan<const std::uint32_t>> statuses;
        if (call.retries) statuses = span_at<const std::uint32_t>(chunk.inputs[1], part.status);
        lattice_decode(chunk.stream, part.code, span_at<const std::uint32_t>(chunk.inputs[0], part.codes),
                       statuses, span_at<float>(chunk.outputs[0], part.values),
                       {.width = shape.width, .depth = call.depth});
    };
    BatchReport batch;
    run_chunks(function, work, options.batch, batch);
    return kernels::lattice_report(function, shape, call.count, std::move(batch));
}

LatticeSearch lattice_search_beta(const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    core::require_members("lattice_search_beta", options.batch, kHonoured);
    return kernels::search_beta(
        code, sample, options, host_threads(),
        [&](const LatticeCode& trial, std::span<const float> x, std::span<float> y,
            const LatticeHostOptions& each) { return lattice_quantize(trial, x, y, {}, each); });
}

}  // namespace weft::cuda
