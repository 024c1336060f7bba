// SPDX-License-Identifier: Apache-2.0
// kernel_matrix: quantum kernel matrices, and what follows them in host memory.
#include <weft/ops/kernel_matrix.hpp>

#include <algorithm>
#include <limits>
#include <memory>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <weft/ops/kernel_post.hpp>
#include <weft/ops/kernel_store.hpp>

#include "bindings.hpp"
#include "buffer.hpp"
#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "ops/kernel_inputs.hpp"
#include "stream.hpp"

namespace weft::python {

namespace {

constexpr const char* kCall = "kernel_matrix";

ElementType real_type(const char* name, nb::handle dtype) {
    const ElementType type = element_type_of(kCall, dtype);
    if (type != kFloat32 && type != kFloat64)
        refuse_type(std::string(kCall) + ": " + name + ": wrong type (got " + weft::to_string(type) +
                    ", need float32 or float64)");
    return type;
}

/// The call that the arguments select, with K in host memory or in a store.
template <class Where, class Matrix>
OpReport run_call(Where& on, const Circuit& circuit, const Array& x, const Array& y, Matrix& k,
                  const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    const bool states = is_states(x.type);
    if (states && shape.square()) return kernel_matrix(on, ConstHostArray(x), k, shape, options);
    if (states)
        return kernel_matrix(on, detail::GivenStates<ConstHostArray>(ConstHostArray(x)), ConstHostArray(y), k,
                             shape, options);
    if (shape.square()) return kernel_matrix(on, circuit.circuit, ConstHostArray(x), k, shape, options);
    return kernel_matrix(on, circuit.circuit, ConstHostArray(x), ConstHostArray(y), k, shape, options);
}

/// The inputs of a call, which its work owns.
struct Inputs {
    Array x, y;
    Circuit circuit;
    KernelMatrixShape shape;
};

void matrix_into_store(const std::string& file, const Where& where, Inputs inputs, ElementType type,
                       KernelMatrixHostOptions options, nb::handle progress) {
    const auto k = std::make_shared<KernelMatrixStore>(file, inputs.shape, type);
    const bool states = is_states(inputs.x.type) || inputs.circuit.circuit.reupload;
    // Not abandoned: a later call, which may be on the same store, waits until this one has ended.
    Call call(where, cost_of(inputs.shape, states), progress, false);
    last_report() = call([=, in = std::move(inputs)](const BatchOptions& batch) mutable {
        options.batch = batch;
        OpReport report =
            where([&](auto& on) { return run_call(on, in.circuit, in.x, in.y, *k, in.shape, options); });
        k->finish();
        return report;
    });
}

nb::any matrix_of_arrays(nb::handle backend, nb::handle x_object, nb::handle y_object, const std::string& map,
                         nb::handle weights, bool reupload, double scale, nb::handle dtype, bool normalize,
                         double jitter, std::int64_t state_tile, nb::handle out_object, bool own_out,
                         nb::handle store, nb::handle progress) {
    const Place place = place_of(kCall, {x_object, y_object, out_object});
    Array x = input(kCall, "x", x_object, {kFloat32, kFloat64, kComplex64, kComplex128}, place);
    Array y;
    if (!y_object.is_none()) y = input_like(kCall, "y", y_object, x.type, place);
    const bool states = is_states(x.type);
    const KernelMatrixShape shape = shape_of(kCall, x.shape, y_object.is_none() ? nullptr : &y.shape, states);
    Circuit circuit = circuit_of(kCall, map, weights, reupload, scale, shape.qubits);
    const KernelMatrixHostOptions options{.state_tile = state_tile, .normalize = normalize, .jitter = jitter};
    if (!store.is_none()) {
        if (place.on_cuda())
            refuse(std::string(kCall) + ": resume: not with CUDA arrays (need arrays in host memory)");
        matrix_into_store(nb::cast<std::string>(store), where_of(backend),
                          {std::move(x), std::move(y), std::move(circuit), shape}, real_type("dtype", dtype),
                          options, progress);
        return nb::borrow<nb::any>(nb::none());
    }
    const Shape k_shape{static_cast<std::size_t>(shape.samples), static_cast<std::size_t>(shape.columns())};
    Array k = output_or_new(kCall, "out", out_object, real_type("dtype", dtype), k_shape, place);
    nb::any result = k.object;
    if (place.on_cuda()) {
        refuse_on_cuda(kCall, {{"backend", !backend.is_none()}, {"progress", !progress.is_none()}});
        kernel_matrix_on_cuda(place, states ? nullptr : &circuit.circuit, x, shape.square() ? nullptr : &y, k,
                              shape, {.state_tile = state_tile, .normalize = normalize, .jitter = jitter});
        return result;
    }
    const Where where = where_of(backend);
    Call call(where, cost_of(shape, states || reupload), progress, k.made_here || own_out);
    last_report() = call([=, x = std::move(x), y = std::move(y), k = std::move(k),
                          circuit = std::move(circuit)](const BatchOptions& batch) {
        KernelMatrixHostOptions all = options;
        all.batch = batch;
        const HostArray values = k;
        return where([&](auto& on) { return run_call(on, circuit, x, y, values, shape, all); });
    });
    return result;
}

void matrix_stream(PyStream& stream, nb::handle x_object, nb::handle y_object, const std::string& map,
                   nb::handle weights, bool reupload, double scale, nb::handle out_object, bool normalize,
                   double jitter) {
    const PyBuffer& x = buffer_of(kCall, "x", x_object);
    const PyBuffer& k = buffer_of(kCall, "out", out_object);
    const PyBuffer* const y = y_object.is_none() ? nullptr : &buffer_of(kCall, "y", y_object);
    const bool states = is_states(x.type);
    const KernelMatrixShape shape = shape_of(kCall, x.shape, y ? &y->shape : nullptr, states);
    const Circuit circuit = circuit_of(kCall, map, weights, reupload, scale, shape.qubits);
    if (y) require(kCall, "y", *y, x.type, y->shape);
    require(kCall, "out", k, k.type,
            {static_cast<std::size_t>(shape.samples), static_cast<std::size_t>(shape.columns())});
    const KernelMatrixOptions options{.normalize = normalize, .jitter = jitter};
    const PyStream::Use use(stream);
    if (states && !y) return kernel_matrix(*use, ConstDeviceArray(x.array()), k.array(), shape, options);
    if (states)
        return kernel_matrix(*use, detail::GivenStates<ConstDeviceArray>(ConstDeviceArray(x.array())),
                             ConstDeviceArray(y->array()), k.array(), shape, options);
    if (!y)
        return kernel_matrix(*use, circuit.circuit, ConstDeviceArray(x.array()), k.array(), shape, options);
    kernel_matrix(*use, circuit.circuit, ConstDeviceArray(x.array()), ConstDeviceArray(y->array()), k.array(),
                  shape, options);
}

Figures as_dict(const KernelMatrixEstimate& estimate) {
    Figures all;
    all["method"] = weft::to_string(estimate.method);
    all["layers"] = estimate.layers;
    all["float64"] = estimate.float64;
    all["pairs"] = estimate.pairs;
    all["state_tile"] = estimate.state_tile;
    all["bulk_states"] = estimate.bulk_states;
    all["error"] = estimate.error;
    all["gram_method"] = estimate.gram_method;
    all["states_bytes"] = estimate.states_bytes;
    all["matrix_bytes"] = estimate.matrix_bytes;
    all["resident_bytes"] = estimate.resident_bytes;
    all["streamed_bytes"] = estimate.streamed_bytes;
    all["available_bytes"] = estimate.available_bytes;
    all["resident_fits"] = estimate.resident_fits;
    all["streamed_fits"] = estimate.streamed_fits;
    all["reasons"] = estimate.reasons;
    return all;
}

Figures estimate(nb::handle backend, std::uint64_t samples, std::uint64_t others, std::uint32_t qubits,
                 const std::string& map, nb::handle weights, bool reupload, double scale, nb::handle dtype,
                 bool normalize) {
    const Circuit circuit = circuit_of(kCall, map, weights, reupload, scale, qubits);
    return as_dict(estimate_kernel_matrix(where_of(backend).first(), circuit.circuit,
                                          {samples, others, qubits}, real_type("dtype", dtype),
                                          {.normalize = normalize}));
}

/// A square matrix that is changed in place.
Array square_matrix(const char* call, nb::handle object) {
    Array k = output(call, "k", object);
    if (k.type != kFloat32 && k.type != kFloat64)
        refuse_type(std::string(call) + ": k: wrong dtype (got " + weft::to_string(k.type) +
                    ", need float32 or float64); write k.astype(numpy.float64)");
    if (k.shape.size() != 2 || k.shape[0] != k.shape[1])
        refuse(std::string(call) + ": k: not square (got shape " + to_string(k.shape) + ")");
    return k;
}

/// `use` on the numbers of a matrix, as floats or doubles.
template <class Use>
auto on_numbers(const Array& k, Use&& use) {
    const WithoutLock unlocked;
    const auto size = static_cast<std::size_t>(k.size);
    if (k.type == kFloat32) return use(std::span<float>(static_cast<float*>(k.data), size));
    return use(std::span<double>(static_cast<double*>(k.data), size));
}

template <class Measure>
double on_labels(const char* call, nb::handle k_object, nb::handle labels_object, Measure&& measure) {
    const Array k = input(call, "k", k_object, {kFloat64, kFloat32});
    const Array labels = input_like(call, "labels", labels_object, kFloat64);
    const std::span<const double> values(static_cast<const double*>(labels.data),
                                         static_cast<std::size_t>(labels.size));
    const WithoutLock unlocked;
    const auto size = static_cast<std::size_t>(k.size);
    if (k.type == kFloat32)
        return measure(std::span<const float>(static_cast<const float*>(k.data), size), values);
    return measure(std::span<const double>(static_cast<const double*>(k.data), size), values);
}

/// On a copy, which is given up when a signal comes: eigenvalues take seconds and cannot be cancelled.
template <class Number>
std::uint64_t clip(const Array& k) {
    auto* const numbers = static_cast<Number*>(k.data);
    struct Task {
        std::vector<Number> numbers;
        std::uint64_t negative = 0;
    };
    const auto task = std::make_shared<Task>(Task{{numbers, numbers + k.size}});
    run_alone([task, rows = k.shape[0]] {
        task->negative = clip_kernel_matrix(std::span<Number>(task->numbers), rows);
    });
    std::copy(task->numbers.begin(), task->numbers.end(), numbers);
    return task->negative;
}

void bind_post(nb::module_& module) {
    module.def(
        "center_kernel_matrix",
        [](nb::handle object) {
            const Array k = square_matrix("center_kernel_matrix", object);
            on_numbers(k, [&](auto numbers) { center_kernel_matrix(numbers, k.shape[0]); });
        },
        nb::arg("k").none(), "In place: H K H with H = 1 - ones / rows, so that rows and columns sum to 0.");
    module.def(
        "clip_kernel_matrix",
        [](nb::handle object) {
            const Array k = square_matrix("clip_kernel_matrix", object);
            return k.type == kFloat32 ? clip<float>(k) : clip<double>(k);
        },
        nb::arg("k").none(),
        "In place: the nearest positive semidefinite matrix. Returns how many eigenvalues were negative.");
    module.def(
        "normalize_kernel_matrix",
        [](nb::handle object, double jitter) {
            const Array k = square_matrix("normalize_kernel_matrix", object);
            on_numbers(k, [&](auto numbers) { normalize_kernel_matrix(numbers, k.shape[0], jitter); });
        },
        nb::arg("k").none(), nb::arg("jitter") = 0.0,
        "In place: K[i, j] / sqrt(d_i d_j) with d_i = max(K[i, i] + jitter, 1e-12).");
    module.def(
        "kernel_alignment",
        [](nb::handle k, nb::handle labels, bool rescale_labels) {
            return on_labels("kernel_alignment", k, labels, [&](auto numbers, auto values) {
                return kernel_alignment(numbers, values, rescale_labels);
            });
        },
        nb::arg("k").none(), nb::arg("labels").none(), nb::arg("rescale_labels") = true,
        "Alignment of a kernel matrix with labels of +1 and -1 (float64), at most 1.");
    module.def(
        "kernel_polarity",
        [](nb::handle k, nb::handle labels, bool rescale_labels) {
            return on_labels("kernel_polarity", k, labels, [&](auto numbers, auto values) {
                return kernel_polarity(numbers, values, rescale_labels);
            });
        },
        nb::arg("k").none(), nb::arg("labels").none(), nb::arg("rescale_labels") = true,
        "Sum over i, j of y_i y_j K[i, j] for labels of +1 and -1 (float64).");
}

}  // namespace

void bind_kernel_matrix(nb::module_& module) {
    module.def("_kernel_matrix", &matrix_of_arrays, nb::arg("backend").none(), nb::arg("x").none(),
               nb::arg("y").none(), nb::arg("map"), nb::arg("weights").none(), nb::arg("reupload"),
               nb::arg("scale"), nb::arg("dtype"), nb::arg("normalize"), nb::arg("jitter"),
               nb::arg("state_tile"), nb::arg("out").none(), nb::arg("own_out"), nb::arg("store").none(),
               nb::arg("progress").none());
    module.def("_kernel_matrix_stream", &matrix_stream, nb::arg("stream"), nb::arg("x").none(),
               nb::arg("y").none(), nb::arg("map"), nb::arg("weights").none(), nb::arg("reupload"),
               nb::arg("scale"), nb::arg("out").none(), nb::arg("normalize"), nb::arg("jitter"));
    module.def("_estimate_kernel_matrix", &estimate, nb::arg("backend").none(), nb::arg("samples"),
               nb::arg("others"), nb::arg("qubits"), nb::arg("map"), nb::arg("weights").none(),
               nb::arg("reupload"), nb::arg("scale"), nb::arg("dtype"), nb::arg("normalize"));
    bind_post(module);
}

}  // namespace weft::python
