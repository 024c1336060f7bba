// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: inner products of lattice codes.
#include <weft/ops/lattice_inner.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/lattice_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

weft_status weft_lattice_table_create(weft_lattice lattice, uint32_t q, weft_lattice_table** table) {
    constexpr const char* kName = "weft_lattice_table_create";
    return create(kName, table, [&] { return weft::LatticeTable(lattice_of(kName, "lattice", lattice), q); });
}

WEFT_DEFINE_HANDLE(weft_lattice_table)

weft_status weft_lattice_inner(weft_backend* backend, const weft_lattice_table* table,
                               const weft_lattice_code* code, weft_const_span x, weft_const_span y,
                               weft_span out, const weft_lattice_options* options, weft_report* report) {
    constexpr const char* kName = "weft_lattice_inner";
    const Uses uses(table);
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        put_report(
            kName,
            weft::lattice_inner(owner, given(kName, "table", table).object, code_of(kName, code),
                                span_of<std::uint8_t>(kName, "x", x), span_of<std::uint8_t>(kName, "y", y),
                                span_of<float>(kName, "out", out), lattice_host_options(kName, options)),
            report);
    });
}

weft_status weft_stream_lattice_inner(weft_stream* stream, const weft_lattice_table* table,
                                      const weft_lattice_code* code, weft_view x, weft_view y, weft_view out,
                                      const weft_lattice_options* options) {
    constexpr const char* kName = "weft_stream_lattice_inner";
    const Uses uses(table);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        weft::lattice_inner(s, given(kName, "table", table).object, code_of(kName, code),
                            view_of<std::uint32_t>(kName, "x", x), view_of<std::uint32_t>(kName, "y", y),
                            view_of<float>(kName, "out", out), lattice_options(kName, options));
    });
}
