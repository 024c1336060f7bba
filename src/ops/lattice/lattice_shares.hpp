// SPDX-License-Identifier: Apache-2.0
// Lattice calls on several devices of any API. A share is a call on one device, for rows that begin at whole
// words of codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include <weft/ops/encode.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_search.hpp>

#include "devices/shared_call.hpp"
#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops/lattice/lattice_rows.hpp"
#include "ops/lattice/lattice_search.hpp"

namespace weft::kernels {

/// The calls of one API. Api has:
///   Place                       a device; encode, decode and quantize call the functions of the API on it
///   threads()                   that check values in host memory
///   chunk_items(shape, batch)   elements of a chunk, if the caller or Config sets it; 0: they do not
///   run(call)                   run_shares of a SharedCallOf<Worker>
template <class Api>
class SharedLattice {
  public:
    using Place = typename Api::Place;
    using Worker = std::function<OpReport(Place& place, const core::Share& share, core::ShareWatch& watch)>;

    explicit SharedLattice(Api api) : api_(std::move(api)) {}

    OpReport encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                    std::span<std::uint8_t> status, const LatticeHostOptions& options) {
        const char* function = "lattice_encode";
        const LatticeShape shape = checked_shape(function, code, x.size(), options.width);
        check_size(function, "codes", "bytes", codes.size(), code_bytes(code, shape.vectors()));
        const Statuses statuses(function, status, shape.vectors());
        return forward({function, code, shape, x.size_bytes() + codes.size(), true, options.batch}, x,
                       {"codes", codes.data(), codes.size()}, statuses, options,
                       [&](Place& place, const LatticeCode& part, const LatticeRows& rows,
                           const LatticeHostOptions& each) {
                           return place.encode(part, rows.of_rows(x, shape.width), rows.of_codes(codes, code),
                                               rows.of_vectors(statuses.span(), 1), each);
                       });
    }

    OpReport quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                      std::span<std::uint8_t> status, const LatticeHostOptions& options) {
        const char* function = "lattice_quantize";
        const LatticeShape shape = checked_shape(function, code, x.size(), options.width);
        check_size(function, "y", "values", y.size(), x.size());
        const Statuses statuses(function, status, shape.vectors());
        const bool in_place = x.data() == y.data();
        return forward({function, code, shape, 2 * x.size_bytes(), !in_place, options.batch}, x,
                       {"y", y.data(), y.size_bytes()}, statuses, options,
                       [&](Place& place, const LatticeCode& part, const LatticeRows& rows,
                           const LatticeHostOptions& each) {
                           return place.quantize(part, rows.of_rows(x, shape.width),
                                                 rows.of_rows(y, shape.width),
                                                 rows.of_vectors(statuses.span(), 1), each);
                       });
    }

    OpReport decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                    std::span<const std::uint8_t> status, std::span<float> x,
                    const LatticeDecodeHostOptions& options) {
        const char* function = "lattice_decode";
        const DecodeCall call = check_decode(code, codes, status, x, options, api_.threads());
        const LatticeShape& shape = call.shape;
        OpReport report = run_rows(
            {function, code, shape, x.size_bytes() + codes.size() + status.size(), true, options.batch},
            [&](Place& place, const LatticeCode& part, const LatticeRows& rows, const BatchOptions& batch) {
                return place.decode(part, rows.of_codes(codes, code), rows.of_vectors(status, 1),
                                    rows.of_rows(x, shape.width),
                                    LatticeDecodeHostOptions{
                                        .width = width_of(shape), .depth = options.depth, .batch = batch});
            });
        return lattice_report(function, shape, call.count, std::move(report));
    }

    LatticeSearch search(const LatticeCode& code, std::span<const float> sample,
                         const LatticeSearchOptions& options) {
        return search_beta(code, sample, options, api_.threads(),
                           [&](const LatticeCode& trial, std::span<const float> x, std::span<float> y,
                               const LatticeHostOptions& each) { return quantize(trial, x, y, {}, each); });
    }

    struct RowsOf {
        const char* function;
        const LatticeCode& code;
        const LatticeShape& shape;
        std::uint64_t bytes;  // that the whole call moves
        bool repeatable;
        const BatchOptions& batch;
    };
    /// call(place, code, rows, batch) does the rows of a share.
    template <class Call>
    OpReport run_rows(const RowsOf& work, const Call& call) {
        const LatticeShape& shape = work.shape;
        const std::uint64_t elements = (shape.rows + shape.element_rows - 1) / shape.element_rows;
        const Worker worker = [&](Place& place, const core::Share& share, core::ShareWatch& watch) {
            const LatticeRows rows = lattice_rows(shape, share.first, share.count);
            return call(place, rows.code(work.code), rows, watch.options(work.batch));
        };
        // Statuses begin at whole words, and shares where every device can bind the arrays.
        constexpr std::uint64_t kStep = 64;
        OpReport report = api_.run(
            core::SharedCallOf<Worker>{.function = work.function,
                                       .rates = std::string(work.function) + to_string(work.code.lattice),
                                       .items = elements,
                                       .step = kStep,
                                       .item_bytes = work.bytes / std::max<std::uint64_t>(1, elements),
                                       .chunk_items = api_.chunk_items(shape, work.batch),
                                       .repeatable = work.repeatable,
                                       .single_job = true,
                                       .progress_total = shape.vectors(),
                                       .options = work.batch,
                                       .worker = [&](std::size_t) { return worker; }});
        report.jobs = 1;
        return report;
    }

  private:
    /// encode and quantize. Rows with values that are not finite are named at the end, for all devices
    /// together.
    template <class Call>
    OpReport forward(const RowsOf& work, std::span<const float> x, const NamedSpan& out,
                     const Statuses& statuses, const LatticeHostOptions& options, const Call& call) {
        check_forward(work.function, x, out, statuses.span(), !work.repeatable);
        if (options.check_values) check_finite(work.function, x, work.shape.given_width, api_.threads());
        OpReport report = run_rows(work, [&](Place& place, const LatticeCode& part, const LatticeRows& rows,
                                             const BatchOptions& batch) {
            try {
                return call(place, part, rows,
                            LatticeHostOptions{.width = width_of(work.shape), .batch = batch});
            } catch (const EncodeError&) {
                return OpReport();
            }
        });
        const StatusCount count = count_statuses(statuses.span(), api_.threads());
        return forward_report(work.function, work.shape, x, count, std::move(report));
    }

    Api api_;
};

}  // namespace weft::kernels
