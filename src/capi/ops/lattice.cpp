// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: lattice codes.
#include <weft/ops/lattice.hpp>

#include <weft/ops/lattice_search.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/lattice_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// Of the members that sizes depend on, as the calls that take a code do.
void check_range(const char* function, const char* member, std::uint32_t got, std::uint32_t least,
                 std::uint32_t most) {
    if (got < least || got > most)
        refuse(std::string(function) + ": weft_lattice_code." + member + " is out of range (got " +
               std::to_string(got) + ", need " + std::to_string(least) + " to " + std::to_string(most) + ")");
}

}  // namespace

weft_status weft_lattice_sizes(const weft_lattice_code* code, uint64_t vectors, uint64_t* code_bytes,
                               uint64_t* status_bytes) {
    constexpr const char* kName = "weft_lattice_sizes";
    return guarded(kName, [&] {
        const weft::LatticeCode all = code_of(kName, code);
        check_range(kName, "q", all.q, 3, 16);
        check_range(kName, "levels", all.levels, 1, 4);
        const std::size_t bytes = weft::code_bytes(all, static_cast<std::size_t>(vectors));
        if (bytes == SIZE_MAX)
            refuse(std::string(kName) + ": too many vectors (got " + std::to_string(vectors) +
                   ", need fewer than 2^64 bytes of codes)");
        if (code_bytes != nullptr) *code_bytes = bytes;
        if (status_bytes != nullptr) *status_bytes = vectors;
    });
}

weft_status weft_lattice_encode(weft_backend* backend, const weft_lattice_code* code, weft_const_span x,
                                weft_span codes, weft_span status, const weft_lattice_options* options,
                                weft_report* report) {
    constexpr const char* kName = "weft_lattice_encode";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        put_report(kName,
                   weft::lattice_encode(owner, code_of(kName, code), span_of<float>(kName, "x", x),
                                        span_of<std::uint8_t>(kName, "codes", codes),
                                        span_of<std::uint8_t>(kName, "status", status),
                                        lattice_host_options(kName, options)),
                   report);
    });
}

weft_status weft_lattice_decode(weft_backend* backend, const weft_lattice_code* code, weft_const_span codes,
                                weft_const_span status, weft_span x, const weft_lattice_options* options,
                                weft_report* report) {
    constexpr const char* kName = "weft_lattice_decode";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        put_report(
            kName,
            weft::lattice_decode(owner, code_of(kName, code), span_of<std::uint8_t>(kName, "codes", codes),
                                 span_of<std::uint8_t>(kName, "status", status),
                                 span_of<float>(kName, "x", x), lattice_decode_host_options(kName, options)),
            report);
    });
}

weft_status weft_lattice_quantize(weft_backend* backend, const weft_lattice_code* code, weft_const_span x,
                                  weft_span y, weft_span status, const weft_lattice_options* options,
                                  weft_report* report) {
    constexpr const char* kName = "weft_lattice_quantize";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        put_report(kName,
                   weft::lattice_quantize(owner, code_of(kName, code), span_of<float>(kName, "x", x),
                                          span_of<float>(kName, "y", y),
                                          span_of<std::uint8_t>(kName, "status", status),
                                          lattice_host_options(kName, options)),
                   report);
    });
}

weft_status weft_stream_lattice_encode(weft_stream* stream, const weft_lattice_code* code, weft_view x,
                                       weft_view codes, weft_view status,
                                       const weft_lattice_options* options) {
    constexpr const char* kName = "weft_stream_lattice_encode";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        weft::lattice_encode(s, code_of(kName, code), view_of<float>(kName, "x", x),
                             view_of<std::uint32_t>(kName, "codes", codes),
                             view_of<std::uint32_t>(kName, "status", status),
                             lattice_options(kName, options));
    });
}

weft_status weft_stream_lattice_decode(weft_stream* stream, const weft_lattice_code* code, weft_view codes,
                                       weft_view status, weft_view x, const weft_lattice_options* options) {
    constexpr const char* kName = "weft_stream_lattice_decode";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        std::optional<weft::BufferView<const std::uint32_t>> statuses;
        if (!is_empty(status)) statuses = view_of<std::uint32_t>(kName, "status", status);
        weft::lattice_decode(s, code_of(kName, code), view_of<std::uint32_t>(kName, "codes", codes), statuses,
                             view_of<float>(kName, "x", x), lattice_decode_options(kName, options));
    });
}

weft_status weft_stream_lattice_quantize(weft_stream* stream, const weft_lattice_code* code, weft_view x,
                                         weft_view y, weft_view status, const weft_lattice_options* options) {
    constexpr const char* kName = "weft_stream_lattice_quantize";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        weft::lattice_quantize(s, code_of(kName, code), view_of<float>(kName, "x", x),
                               view_of<float>(kName, "y", y), view_of<std::uint32_t>(kName, "status", status),
                               lattice_options(kName, options));
    });
}

weft_status weft_lattice_search_beta(weft_backend* backend, const weft_lattice_code* code,
                                     weft_const_span sample, const weft_lattice_search_options* options,
                                     weft_lattice_trial* best, weft_report* report) {
    constexpr const char* kName = "weft_lattice_search_beta";
    return with_devices(kName, backend, [&](auto& owner) {
        given(kName, "best", best);
        check_size(kName, "weft_report", report);
        const weft_lattice_search_options all = read_options(kName, "weft_lattice_search_options", options);
        weft::LatticeSearchOptions settings{.width = static_cast<std::size_t>(all.width),
                                            .low = all.low,
                                            .high = all.high,
                                            .batch = batch_options(kName, all.batch)};
        if (all.steps != 0) settings.steps = all.steps;
        weft::LatticeSearch found = weft::lattice_search_beta(
            owner, code_of(kName, code), span_of<float>(kName, "sample", sample), settings);
        *best = {found.best.beta, 0, found.best.mean_squared_error, found.best.retried,
                 found.best.unresolved};
        put_report(kName, std::move(found.report), report);
    });
}
