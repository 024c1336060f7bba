// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: kernel matrices.
#include <weft/ops/kernel_matrix.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft::KernelMatrixCircuit circuit_of(const char* function, const weft_kernel_circuit* circuit) {
    static constexpr weft::FeatureMap kMaps[] = {weft::FeatureMap::ryrz, weft::FeatureMap::ry};
    const weft_kernel_circuit all = read_options(function, "weft_kernel_circuit", circuit);
    weft::KernelMatrixCircuit made;
    made.map = enum_of(function, "weft_kernel_circuit.map", all.map, kMaps);
    if (!is_empty(all.weights))
        made.weights =
            array_of(function, "weights", all.weights,
                     element_type_of(function, "weft_kernel_circuit.weights_type", all.weights_type));
    made.reupload = flag_of(function, "weft_kernel_circuit.reupload", all.reupload);
    if (all.scale != 0) made.scale = all.scale;
    return made;
}

weft::KernelMatrixShape shape_of(const char* function, const weft_kernel_shape& shape) {
    require_reserved(function, "weft_kernel_shape", shape.reserved);
    return {shape.samples, shape.others, shape.qubits};
}

/// The members that both kinds of options have.
template <class Options>
Options common_options(const char* function, const weft_kernel_options& all) {
    Options options;
    if (all.state_tile > static_cast<std::uint64_t>(INT64_MAX))
        refuse(std::string(function) + ": weft_kernel_options.state_tile is too large (got " +
               std::to_string(all.state_tile) + ")");
    if (all.state_tile != 0) options.state_tile = static_cast<std::int64_t>(all.state_tile);
    options.autotune = choice_of(function, "weft_kernel_options.autotune", all.autotune);
    options.bulk_states = choice_of(function, "weft_kernel_options.bulk_states", all.bulk_states);
    if (all.vram_fraction != 0) options.vram_fraction = all.vram_fraction;
    options.normalize = flag_of(function, "weft_kernel_options.normalize", all.normalize);
    options.jitter = all.jitter;
    return options;
}

weft::KernelMatrixHostOptions host_options(const char* function, const weft_kernel_options* options) {
    const weft_kernel_options all = read_options(function, "weft_kernel_options", options);
    auto made = common_options<weft::KernelMatrixHostOptions>(function, all);
    made.batch = batch_options(function, all.batch);
    return made;
}

weft::KernelMatrixOptions resident_options(const char* function, const weft_kernel_options* options) {
    const weft_kernel_options all = read_options(function, "weft_kernel_options", options);
    if (all.batch != nullptr)
        refuse(std::string(function) + ": weft_kernel_options.batch applies to host memory alone");
    return common_options<weft::KernelMatrixOptions>(function, all);
}

/// Calls body() and puts the default of C, 0, for that of C++ into its texts.
template <class Body>
auto with_c_defaults(Body&& body) {
    try {
        return body();
    } catch (const weft::Error& e) {
        const std::string text = e.what(), tile = "state_tile", need = "need -1";
        const std::size_t at = text.find(need);
        if (at == std::string::npos || text.find(tile) == std::string::npos) throw;
        throw weft::Error(e.code(), std::string(text).replace(at, need.size(), "need 0"), e.native_code());
    }
}

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
        const weft::KernelMatrixShape sizes = shape_of(function, shape);
        const weft::KernelMatrixHostOptions all = host_options(function, options);
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
    const Uses uses(stream);
    return guarded(function, [&] {
        weft_stream& handle = given(function, "stream", stream);
        const Owner::Use use(handle.owner, function);
        const weft::ElementType type = element_type_of(function, "the type of x", x_type);
        const weft::ConstDeviceArray rows = array_of(function, "x", x, type);
        const weft::DeviceArray out = array_of(function, "k", k, element_type_of(function, "k_type", k_type));
        const weft::KernelMatrixShape sizes = shape_of(function, shape);
        const weft::KernelMatrixOptions all = resident_options(function, options);
        with_c_defaults([&] {
            if (is_empty(y))
                weft::kernel_matrix(handle.object, circuit_of(function, circuit)..., rows, out, sizes, all);
            else
                weft::kernel_matrix(handle.object, circuit_of(function, circuit)..., rows,
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
                one_device(kName, backend), circuit_of(kName, circuit), shape_of(kName, shape),
                element_type_of(kName, "k_type", k_type), resident_options(kName, options));
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
