// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: kernel matrices.
#include <weft/ops/kernel_matrix.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/kernel_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// `first` is the circuit, or nothing where x and y are states.
template <class... First>
weft_status on_host(const char* function, weft_backend* backend, weft_type x_type, weft_const_span x,
                    weft_const_span y, weft_type k_type, weft_span k, const weft_kernel_shape& shape,
                    const weft_kernel_options* options, weft_report* report,
                    const First&... circuit) noexcept {
    return with_devices(function, backend, [&](auto& owner) {
        check_size(function, "weft_report", report);
        const weft::ElementType type = element_type_of(function, "the type of x", x_type);
        const weft::ConstHostArray rows = array_of(function, "x", x, type);
        const weft::HostArray out = array_of(function, "k", k, element_type_of(function, "k_type", k_type));
        const weft::KernelMatrixShape sizes = kernel_shape_of(function, shape);
        const weft::KernelMatrixHostOptions all = kernel_host_options(function, options);
        weft::OpReport done = with_c_defaults([&] {
            if (is_empty(y))
                return weft::kernel_matrix(owner, circuit_of(function, circuit)..., rows, out, sizes, all);
            return weft::kernel_matrix(owner, circuit_of(function, circuit)..., rows,
                                       array_of(function, "y", y, type), out, sizes, all);
        });
        put_report(function, std::move(done), report);
    });
}

template <class... First>
weft_status on_stream(const char* function, weft_stream* stream, weft_type x_type, const weft_view& x,
                      const weft_view& y, weft_type k_type, const weft_view& k,
                      const weft_kernel_shape& shape, const weft_kernel_options* options,
                      const First&... circuit) noexcept {
    return with_stream(function, stream, [&](weft::Stream& s) {
        const weft::ElementType type = element_type_of(function, "the type of x", x_type);
        const weft::ConstDeviceArray rows = array_of(function, "x", x, type);
        const weft::DeviceArray out = array_of(function, "k", k, element_type_of(function, "k_type", k_type));
        const weft::KernelMatrixShape sizes = kernel_shape_of(function, shape);
        const weft::KernelMatrixOptions all = kernel_resident_options(function, options);
        with_c_defaults([&] {
            if (is_empty(y))
                weft::kernel_matrix(s, circuit_of(function, circuit)..., rows, out, sizes, all);
            else
                weft::kernel_matrix(s, circuit_of(function, circuit)..., rows,
                                    weft::ConstDeviceArray(array_of(function, "y", y, type)), out, sizes,
                                    all);
        });
    });
}

}  // namespace

weft_status weft_kernel_matrix(weft_backend* backend, const weft_kernel_circuit* circuit, weft_type x_type,
                               weft_const_span x, weft_const_span y, weft_type k_type, weft_span k,
                               weft_kernel_shape shape, const weft_kernel_options* options,
                               weft_report* report) {
    return on_host("weft_kernel_matrix", backend, x_type, x, y, k_type, k, shape, options, report, circuit);
}

weft_status weft_kernel_matrix_of_states(weft_backend* backend, weft_type states_type, weft_const_span states,
                                         weft_const_span others, weft_type k_type, weft_span k,
                                         weft_kernel_shape shape, const weft_kernel_options* options,
                                         weft_report* report) {
    return on_host("weft_kernel_matrix_of_states", backend, states_type, states, others, k_type, k, shape,
                   options, report);
}

weft_status weft_stream_kernel_matrix(weft_stream* stream, const weft_kernel_circuit* circuit,
                                      weft_type x_type, weft_view x, weft_view y, weft_type k_type,
                                      weft_view k, weft_kernel_shape shape,
                                      const weft_kernel_options* options) {
    return on_stream("weft_stream_kernel_matrix", stream, x_type, x, y, k_type, k, shape, options, circuit);
}

weft_status weft_stream_kernel_matrix_of_states(weft_stream* stream, weft_type states_type, weft_view states,
                                                weft_view others, weft_type k_type, weft_view k,
                                                weft_kernel_shape shape, const weft_kernel_options* options) {
    return on_stream("weft_stream_kernel_matrix_of_states", stream, states_type, states, others, k_type, k,
                     shape, options);
}

weft_status weft_estimate_kernel_matrix(const weft_backend* backend, const weft_kernel_circuit* circuit,
                                        weft_kernel_shape shape, weft_type k_type,
                                        const weft_kernel_options* options, weft_estimate* estimate) {
    constexpr const char* kName = "weft_estimate_kernel_matrix";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::KernelMatrixEstimate found = with_c_defaults([&] {
            return weft::estimate_kernel_matrix(
                one_device(kName, backend), circuit_of(kName, circuit), kernel_shape_of(kName, shape),
                element_type_of(kName, "k_type", k_type), kernel_resident_options(kName, options));
        });
        weft_estimate all{};
        all.resident_fits = found.resident_fits ? 1 : 0;
        all.streamed_fits = found.streamed_fits ? 1 : 0;
        all.resident_bytes = found.resident_bytes;
        all.streamed_bytes = found.streamed_bytes;
        all.available_bytes = found.available_bytes;
        all.state_tile = found.state_tile;
        all.error = found.error;
        all.state_flops = found.state_flops;
        all.pair_flops = found.pair_flops;
        put_text(all.method, weft::to_string(found.method));
        if (!found.reasons.empty()) put_text(all.reason, found.reasons.back());
        write_report(kName, "weft_estimate", all, estimate);
    });
}
