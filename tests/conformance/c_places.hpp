// SPDX-License-Identifier: Apache-2.0
// The places of the C API: what a table passes in C++ goes through <weft/weft.h> and libweft.so.0, and what
// comes back becomes C++ again, so that the same tables and the same expectations hold.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.h>
#include <weft/weft.hpp>

namespace weft_test {

/// Throws what a status stands for, as the C++ API would.
inline void raise_unless_ok(weft_status status) {
    if (status == WEFT_OK) return;
    std::vector<weft_failure> failures(weft_last_failures(nullptr, 0));
    weft_last_failures(failures.data(), failures.size());
    if (failures.empty())
        throw weft::Error(static_cast<weft::Errc>(status - 1), weft_last_error(), weft_last_native_code());
    std::vector<weft::EncodeFailure> all;
    for (const weft_failure& f : failures)
        all.push_back({f.sample, f.position, static_cast<weft::EncodeFault>(f.fault), f.job});
    throw weft::EncodeError(weft_last_error(), all);
}

/// One backend for all cases, because a software device takes longer to compile the shaders than to run them.
inline weft_backend* c_backend() {
    static const std::shared_ptr<weft_backend> shared = [] {
        weft_backend* made = nullptr;
        raise_unless_ok(weft_backend_create(nullptr, &made));
        return std::shared_ptr<weft_backend>(made, weft_backend_release);
    }();
    return shared.get();
}

inline weft_type c_type(weft::ElementType type) {
    if (type == weft::kFloat32) return WEFT_FLOAT32;
    if (type == weft::kFloat64) return WEFT_FLOAT64;
    if (type == weft::kComplex64) return WEFT_COMPLEX64;
    if (type == weft::kComplex128) return WEFT_COMPLEX128;
    return type == weft::kInt64 ? WEFT_INT64 : 0;
}

/// A part of a buffer, with the type of its elements, which only some calls need.
struct CView {
    weft_view view{};
    weft::ElementType type{};
};
template <class T>
struct CArray {
    std::shared_ptr<weft_buffer> buffer;
    std::size_t count = 0;

    CView part(std::size_t first, std::size_t elements) const {
        return {{buffer.get(), first * sizeof(T), elements * sizeof(T)}, weft::element_type<T>()};
    }
};

class CResident {
  public:
    static constexpr bool kHost = false, kCuda = false, kC = true;
    using In = CView;
    using Out = CView;

    CResident() {
        weft_stream* made = nullptr;
        raise_unless_ok(weft_stream_create(c_backend(), nullptr, &made));
        stream_.reset(made, weft_stream_release);
    }
    static const char* name() { return "C, resident"; }
    weft_stream* stream() { return stream_.get(); }

    template <class T>
    CArray<T> input(const std::vector<T>& values) {
        weft_buffer* made = nullptr;
        const std::size_t bytes = std::max<std::size_t>(values.size(), 1) * sizeof(T);
        raise_unless_ok(weft_buffer_create(c_backend(), WEFT_DEVICE_MEMORY, bytes, nullptr, &made));
        const CArray<T> array{{made, weft_buffer_release}, values.size()};
        if (!values.empty())
            raise_unless_ok(weft_stream_upload(stream(), {values.data(), values.size() * sizeof(T)},
                                               array.part(0, values.size()).view));
        return array;
    }
    template <class T>
    Output<CArray<T>> output(std::size_t count) {
        return {input(guarded<T>(count)), count};
    }
    template <class T>
    CView read(const CArray<T>& input, std::size_t count, std::size_t first = 0) {
        return input.part(first, count);
    }
    template <class T>
    CView write(const CArray<T>& input, std::size_t count, std::size_t first = 0) {
        return input.part(first, count);
    }
    template <class T>
    CView write(const Output<CArray<T>>& output) {
        return output.all.part(0, output.count);
    }
    template <class T>
    std::vector<T> result(const Output<CArray<T>>& output) {
        return without_guard(values(output.all));
    }
    template <class T>
    std::vector<T> values(const CArray<T>& input) {
        std::vector<T> all(input.count);
        raise_unless_ok(weft_stream_download(stream(), input.part(0, input.count).view,
                                             {all.data(), all.size() * sizeof(T)}));
        return all;
    }

  private:
    std::shared_ptr<weft_stream> stream_;
};

class CStreamed : public HostMemory {
  public:
    static constexpr bool kCuda = false, kC = true;
    CStreamed(const char* name, weft::BatchOptions batch) : name_(name), batch_(std::move(batch)) {}
    const char* name() const { return name_; }
    const weft::BatchOptions& batch() const { return batch_; }

  private:
    const char* name_;
    weft::BatchOptions batch_;
};

/// BatchOptions as the C API has them; the C++ ones must live as long.
struct CBatch {
    explicit CBatch(const weft::BatchOptions& all) {
        options.size = sizeof(options);
        options.mode = all.mode == weft::BatchMode::pipelined ? WEFT_PIPELINED : WEFT_SEQUENTIAL;
        options.path = static_cast<weft_path>(all.path);
        options.queues = static_cast<weft_queue_mode>(all.queues);
        options.chunk_elements = all.chunk_elements;
        options.ring_slots = all.ring_slots;
        options.stage_times = static_cast<weft_choice>(all.stage_times);
        if (!all.progress) return;
        options.progress = [](void* user, const weft_progress* now) {
            (*static_cast<const weft::ProgressCallback*>(user))({now->done, now->total, now->elapsed_s});
            return 0;
        };
        options.user = const_cast<weft::ProgressCallback*>(&all.progress);
    }
    weft_batch_options options{};
};

/// Calls call(report), which returns a status, and returns the report.
template <class Call>
weft::OpReport c_report(Call&& call) {
    weft_report report{};
    report.size = sizeof(report);
    raise_unless_ok(call(&report));
    weft::OpReport all;
    all.op = report.op;
    all.method = report.method;
    all.items = report.items;
    all.jobs = report.jobs;
    all.elements = report.elements;
    all.chunks = report.chunks;
    all.bytes_in = report.bytes_in;
    all.bytes_out = report.bytes_out;
    all.wall_s = report.wall_s;
    all.retried = report.retried;
    all.unresolved = report.unresolved;
    return all;
}

inline weft_const_span c_span(const weft::ConstHostArray& array) {
    return {array.data, array.bytes()};
}
inline weft_span c_span(const weft::HostArray& array) {
    return {array.data, array.bytes()};
}
template <class T>
weft_const_span c_span(std::span<const T> span) {
    return {span.data(), span.size_bytes()};
}
template <class T>
weft_span c_span(std::span<T> span) {
    return {span.data(), span.size_bytes()};
}

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
