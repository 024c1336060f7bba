// SPDX-License-Identifier: Apache-2.0
// The ops of the tables through <weft/weft.h>: call_<op>(place, arguments ...) of the places of the C API.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "conformance/c_places.hpp"

namespace weft_test {

// Fields.
template <class Options>
weft_field_options c_options(const Options& all) {
    weft_field_options options{};
    options.size = sizeof(options);
    options.form = static_cast<weft_field_form>(all.form);
    options.shader = static_cast<weft_field_shader>(all.shader);
    return options;
}
inline weft::OpReport call_field_apply(CStreamed&, weft::Field field, weft::FieldOp op,
                                       const weft::ConstHostArray& a, const weft::ConstHostArray& b,
                                       const weft::ConstHostArray& scalar, const weft::HostArray& out,
                                       const weft::FieldHostOptions& all) {
    const CBatch batch(all.batch);
    weft_field_options options = c_options(all);
    options.check_values = all.check_values ? 1 : 0;
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_field_apply(c_backend(), static_cast<weft_field>(field), static_cast<weft_field_op>(op),
                                c_span(a), c_span(b), c_span(scalar), c_span(out), &options, report);
    });
}
inline void call_field_apply(CResident& place, weft::Field field, weft::FieldOp op, const CView& a,
                             const CView& b, const weft::ConstHostArray& scalar, const CView& out,
                             const weft::FieldOptions& all) {
    const weft_field_options options = c_options(all);
    raise_unless_ok(weft_stream_field_apply(place.stream(), static_cast<weft_field>(field),
                                            static_cast<weft_field_op>(op), a.view, b.view, c_span(scalar),
                                            out.view, &options));
}

// Transforms.
template <class Options>
weft_ntt_options c_ntt_options(const Options& all) {
    weft_ntt_options options{};
    options.size = sizeof(options);
    options.order = static_cast<weft_ntt_order>(all.order);
    options.form = static_cast<weft_field_form>(all.form);
    options.shader = static_cast<weft_field_shader>(all.shader);
    options.coset = c_span(all.coset);
    options.root = c_span(all.root);
    return options;
}
inline weft_ntt_shape c_shape(const weft::NttShape& shape) {
    return {shape.log_size, static_cast<weft_ntt_layout>(shape.layout), shape.batch, shape.inputs};
}
inline weft::OpReport call_ntt(CStreamed&, weft::Field field, weft::NttDirection direction,
                               const weft::ConstHostArray& in, const weft::HostArray& out,
                               const weft::NttShape& shape, const weft::NttHostOptions& all) {
    const CBatch batch(all.batch);
    weft_ntt_options options = c_ntt_options(all);
    options.check_values = all.check_values ? 1 : 0;
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_ntt(c_backend(), static_cast<weft_field>(field),
                        static_cast<weft_ntt_direction>(direction), c_span(in), c_span(out), c_shape(shape),
                        &options, report);
    });
}
inline void call_ntt(CResident& place, weft::Field field, weft::NttDirection direction, const CView& in,
                     const CView& out, const weft::NttShape& shape, const weft::NttOptions& all) {
    const weft_ntt_options options = c_ntt_options(all);
    raise_unless_ok(weft_stream_ntt(place.stream(), static_cast<weft_field>(field),
                                    static_cast<weft_ntt_direction>(direction), in.view, out.view,
                                    c_shape(shape), &options));
}
inline weft::OpReport call_ntt_extend(CStreamed&, weft::Field field, const weft::ConstHostArray& in,
                                      const weft::HostArray& out, const weft::NttShape& shape,
                                      std::uint32_t blowup, const weft::NttHostOptions& all) {
    const CBatch batch(all.batch);
    weft_ntt_options options = c_ntt_options(all);
    options.check_values = all.check_values ? 1 : 0;
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_ntt_extend(c_backend(), static_cast<weft_field>(field), c_span(in), c_span(out),
                               c_shape(shape), blowup, &options, report);
    });
}
inline void call_ntt_extend(CResident& place, weft::Field field, const CView& in, const CView& out,
                            const weft::NttShape& shape, std::uint32_t blowup, const weft::NttOptions& all) {
    const weft_ntt_options options = c_ntt_options(all);
    raise_unless_ok(weft_stream_ntt_extend(place.stream(), static_cast<weft_field>(field), in.view, out.view,
                                           c_shape(shape), blowup, &options));
}
inline weft::OpReport call_ntt_product(CStreamed&, weft::Field field, const weft::ConstHostArray& a,
                                       const weft::ConstHostArray& b, const weft::HostArray& out,
                                       const weft::FieldHostOptions& all) {
    const CBatch batch(all.batch);
    weft_field_options options = c_options(all);
    options.check_values = all.check_values ? 1 : 0;
    options.batch = &batch.options;
    return c_report([&](weft_report* report) {
        return weft_ntt_product(c_backend(), static_cast<weft_field>(field), c_span(a), c_span(b),
                                c_span(out), &options, report);
    });
}
inline void call_ntt_product(CResident& place, weft::Field field, const CView& a, const CView& b,
                             const CView& out, const weft::FieldOptions& all) {
    const weft_field_options options = c_options(all);
    raise_unless_ok(weft_stream_ntt_product(place.stream(), static_cast<weft_field>(field), a.view, b.view,
                                            out.view, &options));
}

// Encoders.
struct COutcome {
    std::shared_ptr<weft_encode_outcome> outcome;
    void require_all(weft_stream* stream) const {
        raise_unless_ok(weft_encode_outcome_check(outcome.get(), stream));
    }
};
inline weft::OpReport call_encode(CStreamed&, weft::EncodeMethod method, const weft::ConstHostArray& values,
                                  const weft::HostArray& states, const weft::StateShape& shape,
                                  const weft::EncodeHostOptions& all) {
    const CBatch batch(all.batch);
    const weft_encode_options options{sizeof(options), all.check_values ? 1u : 0u, &batch.options};
    return c_report([&](weft_report* report) {
        return weft_encode(c_backend(), static_cast<weft_encode_method>(method), c_type(values.type),
                           c_span(values), c_type(states.type), c_span(states), shape.samples, shape.qubits,
                           &options, report);
    });
}
inline COutcome call_encode(CResident& place, weft::EncodeMethod method, const CView& values,
                            const CView& states, const weft::StateShape& shape,
                            const weft::EncodeOptions& all) {
    const weft_encode_options options{sizeof(options), all.check_values ? 1u : 0u, nullptr};
    weft_encode_outcome* outcome = nullptr;
    raise_unless_ok(weft_stream_encode(place.stream(), static_cast<weft_encode_method>(method),
                                       c_type(values.type), values.view, c_type(states.type), states.view,
                                       shape.samples, shape.qubits, &options, &outcome));
    return {{outcome, weft_encode_outcome_release}};
}
inline weft::OpReport call_encode_batch(CStreamed&, weft::EncodeMethod method,
                                        std::span<const weft::EncodeJob> jobs, std::uint32_t qubits,
                                        const weft::EncodeHostOptions& all) {
    const CBatch batch(all.batch);
    const weft_encode_options options{sizeof(options), all.check_values ? 1u : 0u, &batch.options};
    std::vector<weft_encode_job> list;
    for (const weft::EncodeJob& job : jobs)
        list.push_back({c_span(job.values), c_span(job.states), job.samples});
    const weft_type in = jobs.empty() ? weft_type{WEFT_FLOAT64} : c_type(jobs[0].values.type);
    const weft_type out = jobs.empty() ? weft_type{WEFT_COMPLEX64} : c_type(jobs[0].states.type);
    return c_report([&](weft_report* report) {
        return weft_encode_batch(c_backend(), static_cast<weft_encode_method>(method), in, out, list.data(),
                                 list.size(), qubits, &options, report);
    });
}

// Lattice codes.
inline weft_lattice c_lattice(weft::Lattice lattice) {
    return lattice == weft::Lattice::d4   ? WEFT_LATTICE_D4
           : lattice == weft::Lattice::z2 ? WEFT_LATTICE_Z2
                                          : WEFT_LATTICE_E8;
}
inline weft_lattice_code c_code(const weft::LatticeCode& all) {
    weft_lattice_code code{};
    code.size = sizeof(code);
    code.lattice = c_lattice(all.lattice);
    code.q = all.q;
    code.levels = all.levels;
    code.beta = all.beta;
    code.alpha = all.alpha;
    code.max_retries = all.max_retries;
    code.packed = all.packed ? 1 : 0;
    code.dither = all.dither_seed ? 1 : 0;
    code.dither_seed = all.dither_seed.value_or(0);
    code.dither_first = all.dither_first;
    return code;
}
template <class Options>
weft_lattice_options c_lattice_options(const Options& all, const CBatch* batch = nullptr) {
    weft_lattice_options options{};
    options.size = sizeof(options);
    options.width = all.width;
    if constexpr (requires { all.depth; }) options.depth = all.depth;
    if constexpr (requires { all.check_values; }) options.check_values = all.check_values ? 1 : 0;
    if (batch != nullptr) options.batch = &batch->options;
    return options;
}
inline weft::OpReport call_lattice_encode(CStreamed&, const weft::LatticeCode& all, std::span<const float> x,
                                          std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                                          const weft::LatticeHostOptions& host) {
    const CBatch batch(host.batch);
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(host, &batch);
    return c_report([&](weft_report* report) {
        return weft_lattice_encode(c_backend(), &code, c_span(x), c_span(codes), c_span(status), &options,
                                   report);
    });
}
inline weft::OpReport call_lattice_decode(CStreamed&, const weft::LatticeCode& all,
                                          std::span<const std::uint8_t> codes,
                                          std::span<const std::uint8_t> status, std::span<float> x,
                                          const weft::LatticeDecodeHostOptions& host) {
    const CBatch batch(host.batch);
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(host, &batch);
    return c_report([&](weft_report* report) {
        return weft_lattice_decode(c_backend(), &code, c_span(codes), c_span(status), c_span(x), &options,
                                   report);
    });
}
inline weft::OpReport call_lattice_quantize(CStreamed&, const weft::LatticeCode& all,
                                            std::span<const float> x, std::span<float> y,
                                            std::span<std::uint8_t> status,
                                            const weft::LatticeHostOptions& host) {
    const CBatch batch(host.batch);
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(host, &batch);
    return c_report([&](weft_report* report) {
        return weft_lattice_quantize(c_backend(), &code, c_span(x), c_span(y), c_span(status), &options,
                                     report);
    });
}
inline std::shared_ptr<weft_lattice_table> c_table(const weft::LatticeTable& table) {
    weft_lattice_table* made = nullptr;
    raise_unless_ok(weft_lattice_table_create(c_lattice(table.lattice()), table.q(), &made));
    return {made, weft_lattice_table_release};
}
inline weft::OpReport call_lattice_inner(CStreamed&, const weft::LatticeTable& table,
                                         const weft::LatticeCode& all, std::span<const std::uint8_t> x,
                                         std::span<const std::uint8_t> y, std::span<float> out,
                                         const weft::LatticeHostOptions& host) {
    const CBatch batch(host.batch);
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(host, &batch);
    return c_report([&](weft_report* report) {
        return weft_lattice_inner(c_backend(), c_table(table).get(), &code, c_span(x), c_span(y), c_span(out),
                                  &options, report);
    });
}
inline void call_lattice_encode(CResident& place, const weft::LatticeCode& all, const CView& x,
                                const CView& codes, const CView& status,
                                const weft::LatticeOptions& resident) {
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(resident);
    raise_unless_ok(
        weft_stream_lattice_encode(place.stream(), &code, x.view, codes.view, status.view, &options));
}
inline void call_lattice_decode(CResident& place, const weft::LatticeCode& all, const CView& codes,
                                const std::optional<CView>& status, const CView& x,
                                const weft::LatticeDecodeOptions& resident) {
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(resident);
    raise_unless_ok(weft_stream_lattice_decode(place.stream(), &code, codes.view,
                                               status.value_or(CView()).view, x.view, &options));
}
inline void call_lattice_quantize(CResident& place, const weft::LatticeCode& all, const CView& x,
                                  const CView& y, const CView& status, const weft::LatticeOptions& resident) {
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(resident);
    raise_unless_ok(
        weft_stream_lattice_quantize(place.stream(), &code, x.view, y.view, status.view, &options));
}
inline void call_lattice_inner(CResident& place, const weft::LatticeTable& table,
                               const weft::LatticeCode& all, const CView& x, const CView& y, const CView& out,
                               const weft::LatticeOptions& resident) {
    const weft_lattice_code code = c_code(all);
    const weft_lattice_options options = c_lattice_options(resident);
    raise_unless_ok(weft_stream_lattice_inner(place.stream(), c_table(table).get(), &code, x.view, y.view,
                                              out.view, &options));
}

}  // namespace weft_test
