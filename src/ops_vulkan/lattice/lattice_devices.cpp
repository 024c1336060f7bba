// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/lattice.hpp>, <weft/ops/lattice_search.hpp> and <weft/ops/lattice_inner.hpp>: calls on
// several devices. Each share is a call on one device, for rows that begin at whole words of codes.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <weft/devices.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>
#include <weft/ops/lattice_search.hpp>

#include "base/batch_call.hpp"
#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/lattice_rows.hpp"
#include "ops/lattice/lattice_search.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

using kernels::LatticeShape;
using Rows = kernels::LatticeRows;

/// A call on one device, for some rows of the whole call.
using RowsCall = std::function<OpReport(Backend&, const LatticeCode&, const Rows&, const BatchOptions&)>;

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
    const std::uint64_t chunk = core::wanted_chunk_items(core::first_backend(devices).plan(), work.batch);
    const auto worker = [&](std::size_t) -> core::ShareWorker {
        return [&](Backend& backend, const core::Share& share, core::ShareWatch& watch) {
            const Rows rows = kernels::lattice_rows(shape, share.first, share.count);
            return call(backend, rows.code(work.code), rows, watch.options(work.batch));
        };
    };
    // Shares begin where every device can bind the arrays.
    constexpr std::uint64_t kStep = 64;
    OpReport report = core::run_shares(
        devices, {.function = work.function,
                  .rates = std::string(work.function) + to_string(work.code.lattice),
                  .items = elements,
                  .step = kStep,
                  .item_bytes = work.bytes / std::max<std::uint64_t>(1, elements),
                  .chunk_items = chunk != 0 ? std::max<std::uint64_t>(1, chunk / shape.element_vectors) : 0,
                  .repeatable = work.repeatable,
                  .single_job = true,
                  .progress_total = shape.vectors(),
                  .options = work.batch,
                  .worker = worker});
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
    const std::uint32_t threads = core::first_backend(devices).plan().copy_threads;
    if (options.check_values) kernels::check_finite(work.function, x, work.shape.given_width, threads);
    OpReport report = run_rows(devices, work, call);
    const kernels::StatusCount count = kernels::count_statuses(statuses.span(), threads);
    return kernels::forward_report(work.function, work.shape, x, count, std::move(report));
}

}  // namespace

OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                        const LatticeHostOptions& options) {
    const char* function = "lattice_encode";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
    const kernels::Statuses statuses(function, status, shape.vectors());
    return forward(
        devices, {function, code, shape, x.size_bytes() + codes.size(), true, options.batch}, x,
        {"codes", codes.data(), codes.size()}, statuses, options,
        [&](Backend& backend, const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
            return without_failures([&] {
                return lattice_encode(backend, part, rows.of_rows(x, shape.width), rows.of_codes(codes, code),
                                      rows.of_vectors(statuses.span(), 1),
                                      {.width = kernels::width_of(shape), .batch = batch});
            });
        });
}

OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status,
                          const LatticeHostOptions& options) {
    const char* function = "lattice_quantize";
    const LatticeShape shape = kernels::checked_shape(function, code, x.size(), options.width);
    kernels::check_size(function, "y", "values", y.size(), x.size());
    const kernels::Statuses statuses(function, status, shape.vectors());
    const bool in_place = x.data() == y.data();
    return forward(
        devices, {function, code, shape, 2 * x.size_bytes(), !in_place, options.batch}, x,
        {"y", y.data(), y.size_bytes()}, statuses, options,
        [&](Backend& backend, const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
            return without_failures([&] {
                return lattice_quantize(backend, part, rows.of_rows(x, shape.width),
                                        rows.of_rows(y, shape.width), rows.of_vectors(statuses.span(), 1),
                                        {.width = kernels::width_of(shape), .batch = batch});
            });
        });
}

OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    const kernels::DecodeCall call = kernels::check_decode(code, codes, status, x, options,
                                                           core::first_backend(devices).plan().copy_threads);
    const LatticeShape& shape = call.shape;
    const OpReport report = run_rows(
        devices,
        {"lattice_decode", code, shape, x.size_bytes() + codes.size() + status.size(), true, options.batch},
        [&](Backend& backend, const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
            return lattice_decode(
                backend, part, rows.of_codes(codes, code), rows.of_vectors(status, 1),
                rows.of_rows(x, shape.width),
                {.width = kernels::width_of(shape), .depth = options.depth, .batch = batch});
        });
    return kernels::lattice_report("lattice_decode", shape, call.count, report);
}

LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    return kernels::search_beta(
        code, sample, options, core::first_backend(devices).plan().copy_threads,
        [&](const LatticeCode& trial, std::span<const float> x, std::span<float> y,
            const LatticeHostOptions& each) { return lattice_quantize(devices, trial, x, y, {}, each); });
}

OpReport lattice_inner(Devices& devices, const LatticeTable& table, const LatticeCode& code,
                       std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, std::span<float> out,
                       const LatticeHostOptions& options) {
    const kernels::InnerCall call = kernels::check_inner(table, code, x, y, out, options,
                                                         core::first_backend(devices).plan().copy_threads);
    const LatticeShape& shape = call.shape;
    const OpReport report = run_rows(
        devices, {"lattice_inner", code, shape, x.size() + y.size() + out.size_bytes(), true, options.batch},
        [&](Backend& backend, const LatticeCode& part, const Rows& rows, const BatchOptions& batch) {
            return lattice_inner(backend, table, part, rows.of_codes(x, code),
                                 call.single ? y : rows.of_codes(y, code), rows.of_rows(out, 1),
                                 {.width = options.width, .batch = batch});
        });
    return kernels::lattice_report("lattice_inner", shape, {}, report);
}

}  // namespace weft
