// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: lattice codes on several devices. A share is a call on one device, for
// rows that begin at whole words of codes.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <weft/cuda/devices.hpp>

#include "base/batch_call.hpp"
#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/lattice_rows.hpp"
#include "ops/lattice/lattice_search.hpp"

namespace weft::cuda {
namespace {

using kernels::LatticeShape;
using kernels::width_of;
using Rows = kernels::LatticeRows;

constexpr core::BatchMembers kHonoured{.chunk_elements = true, .ring_slots = true};

/// A call on one device, for some rows of the whole call.
using RowsCall = std::function<OpReport(const LatticeCode&, const Rows&, const BatchOptions&)>;

struct RowsOf {
    const char* function;
    const LatticeCode& code;
    const LatticeShape& shape;
    std::uint64_t bytes;  // that the whole call moves
    bool repeatable;
    const BatchOptions& batch;
};

OpReport run_rows(Devices& devices, const RowsOf& work, const RowsCall& call) {
    const LatticeShape& shape = work.shape;
    const std::uint64_t elements = (shape.rows + shape.element_rows - 1) / shape.element_rows;
    const auto rows_of_share = [&](const core::Share& share, core::ShareWatch& watch) {
        const Rows rows = kernels::lattice_rows(shape, share.first, share.count);
        return call(rows.code(work.code), rows, watch.options(work.batch));
    };
    OpReport report = run_shares(devices, {.function = work.function,
                                           .rates = std::string(work.function) + to_string(work.code.lattice),
                                           .items = elements,
                                           .step = 64,  // statuses begin at whole words
                                           .item_bytes = work.bytes / std::max<std::uint64_t>(1, elements),
                                           .chunk_items = wanted_chunk_elements(work.batch),
                                           .repeatable = work.repeatable,
                                           .single_job = true,
                                           .progress_total = shape.vectors(),
                                           .options = work.batch,
                                           .worker = on_each(devices, work.function, rows_of_share)});
    report.jobs = 1;
    return report;
}

/// Rows with values that are not finite are named at the end, for all devices together.
template <class Call>
OpReport without_failures(const Call& call) {
    try {
        return call();
    } catch (const EncodeError&) {
        return {};
    }
}

/// lattice_encode and lattice_quantize.
OpReport forward(Devices& devices, const RowsOf& work, std::span<const float> x,
                 const kernels::NamedSpan& out, const kernels::Statuses& statuses,
                 const LatticeHostOptions& options, const RowsCall& call) {
    kernels::check_forward(work.function, x, out, statuses.span(), !work.repeatable);
    if (options.check_values) kernels::check_finite(work.function, x, work.shape.given_width, host_threads());
    OpReport report = run_rows(devices, work, call);
    const kernels::StatusCount count = kernels::count_statuses(statuses.span(), host_threads());
    return kernels::forward_report(work.function, work.shape, x, count, std::move(report));
}

}  // namespace

OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                        const LatticeHostOptions& options) {
    const char* function = "lattice_encode";
    core::require_members(function, options.batch, kHonoured);
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    const kernels::Statuses statuses(function, status, shape.vectors());
    return forward(devices, {function, code, shape, x.size_bytes() + codes.size(), true, options.batch}, x,
                   {"codes", codes.data(), codes.size()}, statuses, options,
                   [&](const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
                       return without_failures([&] {
                           return lattice_encode(part, rows.of_rows(x, shape.width),
                                                 rows.of_codes(codes, code),
                                                 rows.of_vectors(statuses.span(), 1),
                                                 {.width = width_of(shape), .batch = batch});
                       });
                   });
}

OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status,
                          const LatticeHostOptions& options) {
    const char* function = "lattice_quantize";
    core::require_members(function, options.batch, kHonoured);
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "y", "values", y.size(), x.size());
    const kernels::Statuses statuses(function, status, shape.vectors());
    const bool in_place = x.data() == y.data();
    return forward(devices, {function, code, shape, 2 * x.size_bytes(), !in_place, options.batch}, x,
                   {"y", y.data(), y.size_bytes()}, statuses, options,
                   [&](const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
                       return without_failures([&] {
                           return lattice_quantize(part, rows.of_rows(x, shape.width),
                                                   rows.of_rows(y, shape.width),
                                                   rows.of_vectors(statuses.span(), 1),
                                                   {.width = width_of(shape), .batch = batch});
                       });
                   });
}

OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    const char* function = "lattice_decode";
    core::require_members(function, options.batch, kHonoured);
    const kernels::DecodeCall call = kernels::check_decode(code, codes, status, x, options, host_threads());
    const LatticeShape& shape = call.shape;
    OpReport report = run_rows(
        devices, {function, code, shape, x.size_bytes() + codes.size() + status.size(), true, options.batch},
        [&](const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
            return lattice_decode(part, rows.of_codes(codes, code), rows.of_vectors(status, 1),
                                  rows.of_rows(x, shape.width),
                                  {.width = width_of(shape), .depth = options.depth, .batch = batch});
        });
    return kernels::lattice_report(function, shape, call.count, std::move(report));
}

LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    core::require_members("lattice_search_beta", options.batch, kHonoured);
    return kernels::search_beta(
        code, sample, options, host_threads(),
        [&](const LatticeCode& trial, std::span<const float> x, std::span<float> y,
            const LatticeHostOptions& each) { return lattice_quantize(devices, trial, x, y, {}, each); });
}

}  // namespace weft::cuda
