// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: products with kernel matrices that are never stored.
#include <weft/ops/kernel_operator.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/kernel_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// `owner` is a Backend or Devices with spans, or a Stream with views.
template <class Where, class Memory>
weft::KernelOperator make(const char* function, Where& owner, const weft_kernel_circuit* circuit,
                          weft_type x_type, const Memory& x, const Memory& y, const weft_kernel_shape& shape,
                          const weft_kernel_options* options) {
    using In = typename weft::ArraysOf<Where>::In;
    const weft::ElementType type = element_type_of(function, "x_type", x_type);
    const weft::KernelMatrixShape sizes = kernel_shape_of(function, shape);
    const weft::KernelOperatorOptions all = kernel_operator_options(function, options);
    const In rows = array_of(function, "x", x, type);
    const In others = is_empty(y) ? In() : In(array_of(function, "y", y, type));
    if (are_states(function, x_type, circuit)) {
        if (is_empty(y)) return weft::KernelOperator(owner, rows, sizes, all);
        return weft::KernelOperator(owner, rows, others, sizes, all);
    }
    const weft::KernelMatrixCircuit of = circuit_of(function, circuit);
    if (is_empty(y)) return weft::KernelOperator(owner, of, rows, sizes, all);
    return weft::KernelOperator(owner, of, rows, others, sizes, all);
}

struct ApplyFactors {
    double a, b, lambda;
    bool transpose;
};
ApplyFactors factors_of(const char* function, const weft_kernel_apply_options& all) {
    return {all.a != 0 ? all.a : 1, all.b, all.lambda,
            flag_of(function, "weft_kernel_apply_options.transpose", all.transpose)};
}
weft_kernel_apply_options read(const char* function, const weft_kernel_apply_options* options) {
    return read_options(function, "weft_kernel_apply_options", options);
}

weft::KernelApplyHostOptions host_options(const char* function, const weft_kernel_apply_options* options) {
    const weft_kernel_apply_options all = read(function, options);
    const ApplyFactors f = factors_of(function, all);
    return {.a = f.a,
            .b = f.b,
            .lambda = f.lambda,
            .transpose = f.transpose,
            .batch = batch_options(function, all.batch)};
}

weft::KernelApplyOptions resident_options(const char* function, const weft_kernel_apply_options* options) {
    const weft_kernel_apply_options all = read(function, options);
    if (all.batch != nullptr)
        refuse(std::string(function) + ": weft_kernel_apply_options.batch applies to host memory alone");
    const ApplyFactors f = factors_of(function, all);
    return {.a = f.a, .b = f.b, .lambda = f.lambda, .transpose = f.transpose};
}

/// `out_bytes` of the results: each row has values, so that a larger count is refused before `rows` is read.
std::vector<std::uint32_t> rows_of(const char* function, const std::uint32_t* rows, std::uint64_t count,
                                   std::uint64_t out_bytes) {
    if (count != 0) given(function, "rows", rows);
    if (count > out_bytes)
        refuse(std::string(function) + ": out does not hold the rows (got count " + std::to_string(count) +
               " and " + std::to_string(out_bytes) + " bytes)");
    return {rows, rows + count};
}

weft_estimate figures_of(const weft::KernelOperatorEstimate& found) {
    weft_estimate all{};
    all.resident_fits = all.streamed_fits = found.fits ? 1 : 0;
    all.resident_bytes = found.scratch_bytes;
    all.streamed_bytes = found.sample_bytes + found.scratch_bytes;
    all.available_bytes = found.available_bytes;
    all.error = found.error;
    put_text(all.method, weft::to_string(found.method));
    if (!found.reasons.empty()) put_text(all.reason, found.reasons.back());
    all.held_bytes = found.sample_bytes;
    all.pairs = found.pairs;
    all.passes = found.passes;
    all.symmetric = found.symmetric ? 1 : 0;
    all.columns_together = found.columns_together;
    all.instructions = found.instructions;
    return all;
}

}  // namespace

weft_status weft_kernel_operator_create(weft_backend* backend, const weft_kernel_circuit* circuit,
                                        weft_type x_type, weft_const_span x, weft_const_span y,
                                        weft_kernel_shape shape, const weft_kernel_options* options,
                                        weft_kernel_operator** k) {
    constexpr const char* kName = "weft_kernel_operator_create";
    const Uses uses(backend);
    return create(kName, k, [&] {
        return on_devices(kName, backend, [&](auto& owner) {
            return make(kName, owner, circuit, x_type, x, y, shape, options);
        });
    });
}

weft_status weft_stream_kernel_operator_create(weft_stream* stream, const weft_kernel_circuit* circuit,
                                               weft_type x_type, weft_view x, weft_view y,
                                               weft_kernel_shape shape, const weft_kernel_options* options,
                                               weft_kernel_operator** k) {
    constexpr const char* kName = "weft_stream_kernel_operator_create";
    const Uses uses(stream);
    return create(kName, k, [&] {
        weft_stream& handle = given(kName, "stream", stream);
        const Owner::Use use(handle.owner, kName);
        return make(kName, handle.object, circuit, x_type, x, y, shape, options);
    });
}

WEFT_DEFINE_HANDLE(weft_kernel_operator)

weft_status weft_estimate_kernel_operator(const weft_backend* backend, const weft_kernel_circuit* circuit,
                                          weft_kernel_shape shape, uint32_t columns,
                                          const weft_kernel_options* options, weft_estimate* estimate) {
    constexpr const char* kName = "weft_estimate_kernel_operator";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::KernelOperatorEstimate found = weft::estimate_kernel_operator(
            one_device(kName, backend), circuit_of(kName, circuit), kernel_shape_of(kName, shape), columns,
            kernel_operator_options(kName, options));
        write_report(kName, "weft_estimate", figures_of(found), estimate);
    });
}

weft_status weft_kernel_apply(weft_backend* backend, const weft_kernel_operator* k, weft_const_span v,
                              weft_span out, const weft_kernel_apply_options* options, weft_report* report) {
    constexpr const char* kName = "weft_kernel_apply";
    const Uses uses(k);
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const weft::KernelOperator& of = given(kName, "k", k).object;
        put_report(kName,
                   weft::kernel_apply(owner, of, array_of(kName, "v", v, of.type()),
                                      array_of(kName, "out", out, of.type()), host_options(kName, options)),
                   report);
    });
}

weft_status weft_stream_kernel_apply(weft_stream* stream, const weft_kernel_operator* k, weft_view v,
                                     weft_view out, const weft_kernel_apply_options* options) {
    constexpr const char* kName = "weft_stream_kernel_apply";
    const Uses uses(k);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::KernelOperator& of = given(kName, "k", k).object;
        weft::kernel_apply(s, of, array_of(kName, "v", v, of.type()), array_of(kName, "out", out, of.type()),
                           resident_options(kName, options));
    });
}

weft_status weft_kernel_rows(weft_backend* backend, const weft_kernel_operator* k, const uint32_t* rows,
                             uint64_t count, weft_span out, weft_report* report) {
    constexpr const char* kName = "weft_kernel_rows";
    const Uses uses(k);
    return with_first(kName, backend, [&](weft::Backend& owner) {
        check_size(kName, "weft_report", report);
        const weft::KernelOperator& of = given(kName, "k", k).object;
        put_report(kName,
                   weft::kernel_rows(owner, of, rows_of(kName, rows, count, out.bytes),
                                     array_of(kName, "out", out, of.type())),
                   report);
    });
}

weft_status weft_stream_kernel_rows(weft_stream* stream, const weft_kernel_operator* k, const uint32_t* rows,
                                    uint64_t count, weft_view out) {
    constexpr const char* kName = "weft_stream_kernel_rows";
    const Uses uses(k);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::KernelOperator& of = given(kName, "k", k).object;
        weft::kernel_rows(s, of, rows_of(kName, rows, count, out.bytes),
                          array_of(kName, "out", out, of.type()));
    });
}

weft_status weft_kernel_diagonal(weft_backend* backend, const weft_kernel_operator* k, weft_span out,
                                 weft_report* report) {
    constexpr const char* kName = "weft_kernel_diagonal";
    const Uses uses(k);
    return with_first(kName, backend, [&](weft::Backend& owner) {
        check_size(kName, "weft_report", report);
        const weft::KernelOperator& of = given(kName, "k", k).object;
        put_report(kName, weft::kernel_diagonal(owner, of, array_of(kName, "out", out, of.type())), report);
    });
}

weft_status weft_stream_kernel_diagonal(weft_stream* stream, const weft_kernel_operator* k, weft_view out) {
    constexpr const char* kName = "weft_stream_kernel_diagonal";
    const Uses uses(k);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::KernelOperator& of = given(kName, "k", k).object;
        weft::kernel_diagonal(s, of, array_of(kName, "out", out, of.type()));
    });
}
