// SPDX-License-Identifier: Apache-2.0
// Kernel matrices and operators of the tables through <weft/weft.h>: call_<op>(place, arguments ...), as in
// conformance/c_calls.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "conformance/c_places.hpp"

namespace weft_test {

// Kernel matrices.
inline weft_kernel_circuit c_circuit(const weft::KernelMatrixCircuit& all) {
    weft_kernel_circuit circuit{};
    circuit.size = sizeof(circuit);
    circuit.map = all.map == weft::FeatureMap::ryrz ? WEFT_MAP_RYRZ : WEFT_MAP_RY;
    circuit.weights = c_span(all.weights);
    circuit.weights_type = c_type(all.weights.type);
    circuit.reupload = all.reupload ? 1 : 0;
    circuit.scale = all.scale;
    return circuit;
}
inline weft_kernel_shape c_shape(const weft::KernelMatrixShape& shape) {
    return {shape.samples, shape.others, shape.qubits, 0};
}
template <class Options>
weft_kernel_options c_kernel_options(const Options& all) {
    weft_kernel_options options{};
    options.size = sizeof(options);
    options.normalize = all.normalize ? 1 : 0;
    options.autotune = static_cast<weft_choice>(all.autotune);
    options.bulk_states = static_cast<weft_choice>(all.bulk_states);
    options.state_tile = all.state_tile < 0 ? 0 : static_cast<std::uint64_t>(all.state_tile);
    options.vram_fraction = all.vram_fraction;
    options.jitter = all.jitter;
    return options;
}
inline weft::OpReport call_kernel_matrix(CStreamed&, const weft::KernelMatrixCircuit& circuit,
                                         const weft::ConstHostArray& x, const weft::ConstHostArray& y,
                                         const weft::HostArray& k, const weft::KernelMatrixShape& shape,
                                         const weft::KernelMatrixHostOptions& all) {
    const CBatch batch(all.batch);
    weft_kernel_options options = c_kernel_options(all);
    options.batch = &batch.options;
    const weft_kernel_circuit c = c_circuit(circuit);
    return c_report([&](weft_report* report) {
        return weft_kernel_matrix(c_backend(), &c, c_type(x.type), c_span(x), c_span(y), c_type(k.type),
                                  c_span(k), c_shape(shape), &options, report);
    });
}
inline weft::OpReport call_kernel_matrix(CStreamed& place, const weft::KernelMatrixCircuit& circuit,
                                         const weft::ConstHostArray& x, const weft::HostArray& k,
                                         const weft::KernelMatrixShape& shape,
                                         const weft::KernelMatrixHostOptions& all) {
    return call_kernel_matrix(place, circuit, x, weft::ConstHostArray(), k, shape, all);
}
inline weft::OpReport call_kernel_matrix(CStreamed&, const weft::ConstHostArray& states,
                                         const weft::ConstHostArray& others, const weft::HostArray& k,
                                         const weft::KernelMatrixShape& shape,
                                         const weft::KernelMatrixHostOptions& all) {
    const CBatch batch(all.batch);
    weft_kernel_options options = c_kernel_options(all);
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_kernel_matrix_of_states(c_backend(), c_type(states.type), c_span(states), c_span(others),
                                            c_type(k.type), c_span(k), c_shape(shape), &options, report);
    });
}
inline weft::OpReport call_kernel_matrix(CStreamed& place, const weft::ConstHostArray& states,
                                         const weft::HostArray& k, const weft::KernelMatrixShape& shape,
                                         const weft::KernelMatrixHostOptions& all) {
    return call_kernel_matrix(place, states, weft::ConstHostArray(), k, shape, all);
}
inline void call_kernel_matrix(CResident& place, const weft::KernelMatrixCircuit& circuit, const CView& x,
                               const CView& y, const CView& k, const weft::KernelMatrixShape& shape,
                               const weft::KernelMatrixOptions& all) {
    const weft_kernel_options options = c_kernel_options(all);
    const weft_kernel_circuit c = c_circuit(circuit);
    raise_unless_ok(weft_stream_kernel_matrix(place.stream(), &c, c_type(x.type), x.view, y.view,
                                              c_type(k.type), k.view, c_shape(shape), &options));
}
inline void call_kernel_matrix(CResident& place, const weft::KernelMatrixCircuit& circuit, const CView& x,
                               const CView& k, const weft::KernelMatrixShape& shape,
                               const weft::KernelMatrixOptions& all) {
    call_kernel_matrix(place, circuit, x, CView(), k, shape, all);
}
inline void call_kernel_matrix(CResident& place, const CView& states, const CView& others, const CView& k,
                               const weft::KernelMatrixShape& shape, const weft::KernelMatrixOptions& all) {
    const weft_kernel_options options = c_kernel_options(all);
    raise_unless_ok(weft_stream_kernel_matrix_of_states(place.stream(), c_type(states.type), states.view,
                                                        others.view, c_type(k.type), k.view, c_shape(shape),
                                                        &options));
}
inline void call_kernel_matrix(CResident& place, const CView& states, const CView& k,
                               const weft::KernelMatrixShape& shape, const weft::KernelMatrixOptions& all) {
    call_kernel_matrix(place, states, CView(), k, shape, all);
}

// Kernel operators, with the part of KernelOperator that a table asks for.
struct CKernelOperator {
    std::shared_ptr<weft_kernel_operator> k;
    weft::KernelMatrixCircuit circuit;
    weft::KernelMatrixShape sizes;
    weft_kernel_options options;

    const weft::KernelMatrixShape& shape() const { return sizes; }
    weft::KernelOperatorEstimate estimate(std::uint32_t columns) const {
        weft_estimate found{};
        found.size = sizeof(found);
        const weft_kernel_circuit c = c_circuit(circuit);
        raise_unless_ok(
            weft_estimate_kernel_operator(c_backend(), &c, c_shape(sizes), columns, &options, &found));
        weft::KernelOperatorEstimate all;
        all.error = found.error;
        return all;
    }
};
inline weft_kernel_options c_operator_options(const weft::KernelOperatorOptions& all) {
    weft_kernel_options options{};
    options.size = sizeof(options);
    options.type = c_type(all.type);
    options.normalize = all.normalize ? 1 : 0;
    options.jitter = all.jitter;
    options.symmetric = static_cast<weft_choice>(all.symmetric);
    options.low_rank = static_cast<weft_choice>(all.low_rank);
    options.vram_fraction = all.vram_fraction;
    return options;
}
inline CKernelOperator c_kernel_operator(CStreamed&, const weft::KernelMatrixCircuit& circuit,
                                         const weft::ConstHostArray& x, const weft::ConstHostArray& y,
                                         const weft::KernelMatrixShape& shape,
                                         const weft::KernelOperatorOptions& all) {
    const weft_kernel_options options = c_operator_options(all);
    const weft_kernel_circuit c = c_circuit(circuit);
    weft_kernel_operator* k = nullptr;
    raise_unless_ok(weft_kernel_operator_create(c_backend(), &c, c_type(x.type), c_span(x), c_span(y),
                                                c_shape(shape), &options, &k));
    return {{k, weft_kernel_operator_release}, circuit, shape, options};
}
inline CKernelOperator c_kernel_operator(CResident& place, const weft::KernelMatrixCircuit& circuit,
                                         const CView& x, const CView& y, const weft::KernelMatrixShape& shape,
                                         const weft::KernelOperatorOptions& all) {
    const weft_kernel_options options = c_operator_options(all);
    const weft_kernel_circuit c = c_circuit(circuit);
    weft_kernel_operator* k = nullptr;
    raise_unless_ok(weft_stream_kernel_operator_create(place.stream(), &c, c_type(x.type), x.view, y.view,
                                                       c_shape(shape), &options, &k));
    return {{k, weft_kernel_operator_release}, circuit, shape, options};
}
template <class Place>
CKernelOperator c_kernel_operator(Place& place, const weft::KernelMatrixCircuit& circuit,
                                  const typename Place::In& x, const weft::KernelMatrixShape& shape,
                                  const weft::KernelOperatorOptions& all) {
    return c_kernel_operator(place, circuit, x, typename Place::In(), shape, all);
}
template <class Options>
weft_kernel_apply_options c_apply_options(const Options& all) {
    return {sizeof(weft_kernel_apply_options), all.transpose ? 1u : 0u, all.a, all.b, all.lambda, nullptr};
}
inline weft::OpReport call_kernel_apply(CStreamed&, const CKernelOperator& of, const weft::ConstHostArray& v,
                                        const weft::HostArray& out, const weft::KernelApplyHostOptions& all) {
    const CBatch batch(all.batch);
    weft_kernel_apply_options options = c_apply_options(all);
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_kernel_apply(c_backend(), of.k.get(), c_span(v), c_span(out), &options, report);
    });
}
inline void call_kernel_apply(CResident& place, const CKernelOperator& of, const CView& v, const CView& out,
                              const weft::KernelApplyOptions& all) {
    const weft_kernel_apply_options options = c_apply_options(all);
    raise_unless_ok(weft_stream_kernel_apply(place.stream(), of.k.get(), v.view, out.view, &options));
}
inline weft::OpReport call_kernel_rows(CStreamed&, const CKernelOperator& of,
                                       const std::vector<std::uint32_t>& rows, const weft::HostArray& out) {
    return c_report([&](weft_report* report) {
        return weft_kernel_rows(c_backend(), of.k.get(), rows.data(), rows.size(), c_span(out), report);
    });
}
inline void call_kernel_rows(CResident& place, const CKernelOperator& of,
                             const std::vector<std::uint32_t>& rows, const CView& out) {
    raise_unless_ok(weft_stream_kernel_rows(place.stream(), of.k.get(), rows.data(), rows.size(), out.view));
}
inline weft::OpReport call_kernel_diagonal(CStreamed&, const CKernelOperator& of,
                                           const weft::HostArray& out) {
    return c_report([&](weft_report* report) {
        return weft_kernel_diagonal(c_backend(), of.k.get(), c_span(out), report);
    });
}
inline void call_kernel_diagonal(CResident& place, const CKernelOperator& of, const CView& out) {
    raise_unless_ok(weft_stream_kernel_diagonal(place.stream(), of.k.get(), out.view));
}

}  // namespace weft_test
