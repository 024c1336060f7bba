// SPDX-License-Identifier: Apache-2.0
// encode: classical values into quantum states.
#include <weft/ops/encode.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "stream.hpp"

namespace weft::python {

namespace {

/// [samples, features]; one index a sample for basis.
StateShape shape_of(EncodeMethod method, const Shape& values, std::uint32_t qubits) {
    if (values.size() != 2 && !(values.size() == 1 && method == EncodeMethod::basis))
        refuse("encode: x: wrong number of axes (got shape " + to_string(values) +
               ", need (samples, features); one sample is x[None, :])");
    if (qubits < 1 || qubits > kMaxQubits)
        refuse("encode: qubits: out of range (got " + std::to_string(qubits) + ", need 1 to " +
               std::to_string(kMaxQubits) + ")");
    const std::uint64_t features = values.size() == 1 ? 1 : values[1];
    const std::uint64_t need = encode_features(method, qubits);
    if (method == EncodeMethod::amplitude ? features < 1 || features > need : features != need)
        refuse("encode: x: wrong number of features (got " + std::to_string(features) + ", need " +
               (method == EncodeMethod::amplitude ? "1 to " : "") + std::to_string(need) + " for " +
               weft::to_string(method) + " with " + std::to_string(qubits) + " qubits)");
    return {values[0], qubits};
}

Shape states_shape(const StateShape& shape) {
    return {static_cast<std::size_t>(shape.samples), static_cast<std::size_t>(shape.state_size())};
}

nb::any encode_arrays(nb::handle backend, const std::string& name, nb::handle x, std::uint32_t qubits,
                      nb::handle dtype, nb::handle out_object, bool strict, nb::handle progress) {
    const EncodeMethod method = encode_method(name);
    const Place place = place_of("encode", {x, out_object});
    Array values = method == EncodeMethod::basis
                       ? input("encode", "x", x, {kInt64, kFloat64, kFloat32}, place)
                       : input("encode", "x", x, {kFloat32, kFloat64}, place);
    const StateShape shape = shape_of(method, values.shape, qubits);
    const ElementType type = element_type_of("encode", dtype);
    if (type != kComplex64 && type != kComplex128)
        refuse_type("encode: dtype: wrong type (got " + weft::to_string(type) +
                    ", need complex64 or complex128)");
    Array out = output_or_new("encode", "out", out_object, type, states_shape(shape), place);
    nb::any result = out.object;
    if (place.on_cuda()) {
        refuse_on_cuda("encode", {{"backend", !backend.is_none()}, {"progress", !progress.is_none()}});
        encode_on_cuda(place, method, values, out, shape, {.check_values = strict});
        return result;
    }
    const Where where = where_of(backend);
    EncodeHostOptions options{.check_values = strict};
    Call call(where, values.bytes() + out.bytes(), progress, out.made_here);
    last_report() =
        call([=, values = std::move(values), out = std::move(out)](const BatchOptions& batch) mutable {
            options.batch = batch;
            return where([&](auto& on) { return encode(on, method, values, out, shape, options); });
        });
    return result;
}

EncodeOutcome encode_stream(PyStream& stream, const std::string& name, nb::handle x, std::uint32_t qubits,
                            nb::handle out_object) {
    const PyBuffer& values = buffer_of("encode", "x", x);
    const PyBuffer& out = buffer_of("encode", "out", out_object);
    const EncodeMethod method = encode_method(name);
    const StateShape shape = shape_of(method, values.shape, qubits);
    require("encode", "out", out, out.type, states_shape(shape));
    return encode(*PyStream::Use(stream), method, values.array(), out.array(), shape);
}

Failures failures(const EncodeOutcome& outcome, PyStream& stream) {
    const PyStream::Use use(stream);
    wait_with_signals([&](std::chrono::nanoseconds slice) { return use->wait(slice); }, std::nullopt);
    Failures all;
    for (const EncodeFailure& failure : outcome.failures(*use))
        all.append(nb::make_tuple(failure.sample, failure.position, weft::to_string(failure.fault)));
    return all;
}

}  // namespace

void bind_encode(nb::module_& module) {
    module.def("_encode", &encode_arrays, nb::arg("backend").none(), nb::arg("method"), nb::arg("x").none(),
               nb::arg("qubits"), nb::arg("dtype"), nb::arg("out").none(), nb::arg("strict"),
               nb::arg("progress").none());
    module.def("_encode_features", [](const std::string& method, std::uint32_t qubits) {
        return encode_features(encode_method(method), qubits);
    });
    nb::class_<EncodeOutcome>(module, "EncodeOutcome", "Which samples of an encode on a Stream failed.")
        .def("failures", &failures, nb::arg("stream"),
             "Waits, and returns (sample, position, fault) of every sample at fault.");
    module.def("_encode_stream", &encode_stream, nb::arg("stream"), nb::arg("method"), nb::arg("x").none(),
               nb::arg("qubits"), nb::arg("out").none());
}

}  // namespace weft::python
