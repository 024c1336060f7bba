// SPDX-License-Identifier: Apache-2.0
// KernelOperator: products with quantum kernel matrices that are never stored, and models over them.
#include <weft/ops/kernel_operator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "calls.hpp"
#include "errors.hpp"
#include "ops/kernel_inputs.hpp"
#include "text.hpp"

namespace weft::python {

namespace {

/// An operator and the devices that hold it.
struct OnDevices {
    Where where;
    KernelOperator k;
    double lambda;
    bool states;  // products are those of states

    std::uint64_t cost(double products) const { return cost_of(k.shape(), states, products); }
};

/// A KernelOperator as Python holds it. Calls keep what they use.
class PyKernelOperator {
  public:
    explicit PyKernelOperator(OnDevices held) : held_(std::make_shared<const OnDevices>(std::move(held))) {}
    ~PyKernelOperator() { destroy_without_lock(held_); }
    PyKernelOperator(const PyKernelOperator&) = delete;
    PyKernelOperator& operator=(const PyKernelOperator&) = delete;

    const std::shared_ptr<const OnDevices>& get() const noexcept { return held_; }

  private:
    std::shared_ptr<const OnDevices> held_;
};

/// Operators work on arrays in host memory alone.
void require_host(const char* call, const char* name, nb::handle object) {
    if (place_of(call, {object}).on_cuda())
        refuse(std::string(call) + ": " + name + ": on a CUDA device (need an array in host memory)");
}

/// The operator that the arguments select.
template <class On>
KernelOperator operator_on(On& on, const Circuit& circuit, const Array& x, const Array& y,
                           const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    const bool states = is_states(x.type);
    if (states && shape.square()) return {on, ConstHostArray(x), shape, options};
    if (states) return {on, ConstHostArray(x), ConstHostArray(y), shape, options};
    if (shape.square()) return {on, circuit.circuit, ConstHostArray(x), shape, options};
    return {on, circuit.circuit, ConstHostArray(x), ConstHostArray(y), shape, options};
}

constexpr std::initializer_list<ElementType> kRows{kFloat32, kFloat64, kComplex64, kComplex128};
constexpr std::initializer_list<ElementType> kWeights{kFloat32, kFloat64};

/// An array that several calls read, as one of NumPy: libraries need not give it away more than once. `rows`:
/// features or states, not weights.
nb::any view(const std::string& call, const std::string& name, nb::handle object, bool rows) {
    require_host(call.c_str(), name.c_str(), object);
    return nb::borrow<nb::any>(
        numpy_view(input(call.c_str(), name.c_str(), object, rows ? kRows : kWeights)));
}

PyKernelOperator* make(nb::handle backend, nb::handle x_object, nb::handle y_object, const std::string& map,
                       nb::handle weights, bool reupload, double scale, nb::handle dtype, bool normalize,
                       double jitter, double lambda) {
    constexpr const char* call = "kernel_operator";
    Array x = input(call, "x", x_object, kRows), y;
    if (!y_object.is_none()) y = input_like(call, "y", y_object, x.type);
    const bool given = is_states(x.type);
    const KernelMatrixShape shape = shape_of(call, x.shape, y_object.is_none() ? nullptr : &y.shape, given);
    const Circuit circuit = circuit_of(call, map, weights, reupload, scale, shape.qubits);
    const KernelOperatorOptions options{
        .type = element_type_of(call, dtype), .normalize = normalize, .jitter = jitter};
    if (!std::isfinite(lambda) || (lambda != 0 && !shape.square()))
        refuse(std::string(call) +
               ": lambda_: " + (shape.square() ? "not finite (got " : "K of x with y has no diagonal (got ") +
               short_number(lambda) + (shape.square() ? ", need a number)" : ", need 0)"));
    const Where where = where_of(backend);
    const bool states = given || circuit.makes_states();
    Call run(where, cost_of({shape.samples + shape.others, 0, shape.qubits}, states, 0), nb::none(), true);
    return new PyKernelOperator(run([=, x = std::move(x), y = std::move(y)](const BatchOptions&) {
        return where([&](auto& on) {
            return OnDevices{where, operator_on(on, circuit, x, y, shape, options), lambda, states};
        });
    }));
}

/// `v` is (rows,) or (rows, columns), and so is the result.
nb::any apply(const PyKernelOperator& of, nb::handle v_object, bool transpose) {
    const std::shared_ptr<const OnDevices> held = of.get();
    const KernelMatrixShape shape = held->k.shape();
    Array v = input("KernelOperator.matmat", "v", v_object, {held->k.type()});
    Shape out_shape = v.shape;
    out_shape[0] = transpose ? shape.columns() : shape.samples;
    Array out = new_array(held->k.type(), out_shape);
    nb::any result = out.object;
    Call run(held->where, held->cost(1), nb::none(), true);
    last_report() = run([=, v = std::move(v), out = std::move(out)](const BatchOptions& batch) {
        const KernelApplyHostOptions options{.lambda = held->lambda, .transpose = transpose, .batch = batch};
        return held->where([&](auto& on) { return kernel_apply(on, held->k, v, out, options); });
    });
    return result;
}

nb::any rows(const PyKernelOperator& of, const std::vector<std::uint32_t>& indices) {
    const std::shared_ptr<const OnDevices> held = of.get();
    const KernelMatrixShape shape = held->k.shape();
    Array out = new_array(held->k.type(), {indices.size(), shape.columns()});
    nb::any result = out.object;
    Call run(held->where, cost_of({indices.size(), shape.columns(), shape.qubits}, held->states), nb::none(),
             true);
    last_report() = run([=, out = std::move(out)](const BatchOptions& batch) {
        return kernel_rows(held->where.first(), held->k, indices, out, batch);
    });
    return result;
}

nb::any diagonal(const PyKernelOperator& of) {
    const std::shared_ptr<const OnDevices> held = of.get();
    const KernelMatrixShape shape = held->k.shape();
    Array out = new_array(held->k.type(), {shape.samples});
    nb::any result = out.object;
    // Of states, blocks around the diagonal are made.
    const std::uint64_t columns = held->states ? std::min<std::uint64_t>(shape.samples, 512) : 1;
    Call run(held->where, cost_of({shape.samples, columns, shape.qubits}, held->states), nb::none(), true);
    last_report() = run([=, out = std::move(out)](const BatchOptions& batch) {
        return kernel_diagonal(held->where.first(), held->k, out, batch);
    });
    return result;
}

using Solution = nb::typed<nb::tuple, nb::any, KernelSolveReport>;

Solution solve(const PyKernelOperator& of, nb::handle y_object, double lambda, std::uint32_t rank, double tol,
               std::uint32_t max_iterations, std::uint64_t seed, const std::string& checkpoint,
               std::uint32_t every, bool resume, nb::handle progress) {
    const std::shared_ptr<const OnDevices> held = of.get();
    Array y = input("KernelOperator.solve", "y", y_object, {held->k.type()});
    Array alpha = new_array(held->k.type(), y.shape);
    const nb::any solution = alpha.object;
    Call run(held->where, held->cost(max_iterations), progress, true);
    KernelSolveReport report =
        run([=, y = std::move(y), alpha = std::move(alpha)](const BatchOptions& batch) {
            const KernelSolveOptions options{.lambda = lambda,
                                             .tolerance = tol,
                                             .max_iterations = max_iterations,
                                             .rank = rank,
                                             .seed = seed,
                                             .checkpoint = checkpoint,
                                             .checkpoint_every = every,
                                             .resume = resume,
                                             .batch = batch};
            return held->where([&](auto& on) { return kernel_solve(on, held->k, y, alpha, options); });
        });
    return Solution(nb::make_tuple(solution, std::move(report)));
}

/// As an array of NumPy, which is valid until the function that gets it returns.
template <class Number>
nb::object array_of(std::span<Number> numbers) {
    const std::size_t shape[1] = {numbers.size()};
    return nb::cast(nb::ndarray<nb::numpy, Number>(numbers.data(), 1, shape, nb::none()));
}

/// The functions of weftgpu.mpi.Ranks, which must outlive it. They are called without the interpreter's lock.
KernelRanks ranks_of(nb::handle ranks) {
    KernelRanks of{
        nb::cast<std::uint32_t>(ranks.attr("rank")), nb::cast<std::uint32_t>(ranks.attr("size")), {}, {}, {}};
    of.sum = [ranks](std::span<double> numbers) {
        const nb::gil_scoped_acquire locked;
        ranks.attr("sum")(array_of(numbers));
    };
    of.gather = [ranks](std::span<std::byte> all, std::span<const std::uint64_t> bytes) {
        const nb::gil_scoped_acquire locked;
        nb::list lengths;
        for (const std::uint64_t length : bytes) lengths.append(length);
        auto* const first = reinterpret_cast<std::uint8_t*>(all.data());
        ranks.attr("_gather_bytes")(array_of(std::span(first, all.size())), lengths);
    };
    of.together = [ranks](const std::function<void()>& step) {
        const nb::gil_scoped_acquire locked;
        ranks.attr("together")(nb::cpp_function([&step] {
            const WithoutLock unlocked;
            step();
        }));
    };
    return of;
}

/// On the caller's thread, because that is the one which may call MPI.
Solution solve_over_ranks(const PyKernelOperator& of, nb::handle ranks, nb::handle y_object, double lambda,
                          std::uint32_t rank, double tol, std::uint32_t max_iterations, std::uint64_t seed,
                          const std::string& checkpoint, std::uint32_t every, bool resume) {
    const std::shared_ptr<const OnDevices> held = of.get();
    const Array y = input("RankOperator.solve", "y", y_object, {held->k.type()});
    const Array alpha = new_array(held->k.type(), y.shape);
    const KernelSolveOptions options{.lambda = lambda,
                                     .tolerance = tol,
                                     .max_iterations = max_iterations,
                                     .rank = rank,
                                     .seed = seed,
                                     .checkpoint = checkpoint,
                                     .checkpoint_every = every,
                                     .resume = resume};
    const KernelRanks all = ranks_of(ranks);
    KernelSolveReport report;
    {
        const WithoutLock unlocked;
        report = held->where([&](auto& on) { return kernel_solve(on, held->k, all, y, alpha, options); });
    }
    return Solution(nb::make_tuple(alpha.object, std::move(report)));
}

using Pairs = nb::typed<nb::tuple, nb::any, nb::any, KernelEigenReport>;

Pairs eigen(const PyKernelOperator& of, std::uint32_t count, double tol, std::uint32_t max_products,
            std::uint64_t seed, nb::handle progress) {
    const std::shared_ptr<const OnDevices> held = of.get();
    const KernelMatrixShape shape = held->k.shape();
    if (count == 0 || count > kMostEigenvalues || count > shape.samples)
        refuse("KernelOperator.eigen: k: out of range (got " + std::to_string(count) + ", need 1 to " +
               std::to_string(std::min<std::uint64_t>(kMostEigenvalues, shape.samples)) + ")");
    Array values = new_array(held->k.type(), {count});
    Array vectors = new_array(held->k.type(), {shape.samples, count});
    const nb::any of_values = values.object, of_vectors = vectors.object;
    Call run(held->where, held->cost(max_products), progress, true);
    KernelEigenReport report =
        run([=, values = std::move(values), vectors = std::move(vectors)](const BatchOptions& batch) {
            const KernelEigenOptions options{
                .tolerance = tol, .max_products = max_products, .seed = seed, .batch = batch};
            return held->where([&](auto& on) { return kernel_eigen(on, held->k, values, vectors, options); });
        });
    return Pairs(nb::make_tuple(of_values, of_vectors, std::move(report)));
}

nb::any predict(nb::handle backend, nb::handle x_new_object, nb::handle x_object, nb::handle alpha_object,
                const std::string& map, nb::handle weights, bool reupload, double scale,
                nb::handle progress) {
    constexpr const char* call = "KernelOperator.predict";
    Array x = input(call, "x", x_object, kRows);
    Array x_new = input_like(call, "x_new", x_new_object, x.type);
    Array alpha = input(call, "alpha", alpha_object, {kFloat32, kFloat64});
    const bool given = is_states(x.type);
    const KernelMatrixShape shape = shape_of(call, x_new.shape, &x.shape, given, {"x_new", "x"});
    const Circuit circuit = circuit_of(call, map, weights, reupload, scale, shape.qubits);
    Shape out_shape = alpha.shape;
    out_shape[0] = x_new.shape[0];
    Array out = new_array(alpha.type, out_shape);
    nb::any result = out.object;
    const Where where = where_of(backend);
    Call run(where, cost_of(shape, given || circuit.makes_states()), progress, true);
    last_report() = run([=, x = std::move(x), x_new = std::move(x_new), alpha = std::move(alpha),
                         out = std::move(out)](const BatchOptions& batch) {
        if (given) return kernel_predict(where.first(), x_new, x, alpha, out, shape, batch);
        return kernel_predict(where.first(), circuit.circuit, x_new, x, alpha, out, shape, batch);
    });
    return result;
}

Figures estimate(const PyKernelOperator& of, std::uint32_t columns) {
    const KernelOperatorEstimate estimate = of.get()->k.estimate(columns);
    Figures all;
    all["method"] = weft::to_string(estimate.method);
    all["pairs"] = estimate.pairs;
    all["symmetric"] = estimate.symmetric;
    all["columns_together"] = estimate.columns_together;
    all["passes"] = estimate.passes;
    all["instructions"] = estimate.instructions;
    all["error"] = estimate.error;
    all["sample_bytes"] = estimate.sample_bytes;
    all["scratch_bytes"] = estimate.scratch_bytes;
    all["available_bytes"] = estimate.available_bytes;
    all["fits"] = estimate.fits;
    all["reasons"] = estimate.reasons;
    return all;
}

/// "converged after 12 products, residual 1e-5".
std::string outcome(bool converged, std::uint32_t products, const std::vector<double>& residuals) {
    double largest = 0;
    for (const double residual : residuals) largest = std::max(largest, residual);
    return std::string(converged ? "converged" : "not converged") + " after " + std::to_string(products) +
           " products, residual " + short_number(largest);
}

void bind_solve_reports(nb::module_& module) {
    nb::class_<KernelSolveReport>(module, "KernelSolveReport", "What a solve with a KernelOperator did.")
        .def_ro("converged", &KernelSolveReport::converged)
        .def_ro("iterations", &KernelSolveReport::iterations,
                "Products with K + lambda_ I in the recurrence.")
        .def_ro("resumed", &KernelSolveReport::resumed, "Of the iterations, those that the checkpoint had.")
        .def_ro("rank", &KernelSolveReport::rank,
                "Of the preconditioner, which ends early where nothing of K is left.")
        .def_ro("residuals", &KernelSolveReport::residuals,
                "``norm(y - (K + lambda_ I) alpha) / norm(y)`` of each column, computed anew from the\n"
                "solution.")
        .def_prop_ro("residual", &KernelSolveReport::residual, "The largest.")
        .def_ro("preconditioner_s", &KernelSolveReport::preconditioner_s)
        .def_ro("product_s", &KernelSolveReport::product_s, "Products with K.")
        .def_ro("wall_s", &KernelSolveReport::wall_s)
        .def("__repr__", [](const KernelSolveReport& r) {
            return "<weftgpu.KernelSolveReport: " + outcome(r.converged, r.iterations, r.residuals) + ", " +
                   short_number(r.wall_s) + " s>";
        });
    nb::class_<KernelEigenReport>(module, "KernelEigenReport",
                                  "How the eigenvalues of a KernelOperator were found.")
        .def_ro("converged", &KernelEigenReport::converged)
        .def_ro("products", &KernelEigenReport::products, "Of K with a block of vectors.")
        .def_ro("residuals", &KernelEigenReport::residuals,
                "``norm(K v - value v)`` of each vector in units of the largest eigenvalue of K, by a\n"
                "product of its own.")
        .def_ro("product_s", &KernelEigenReport::product_s, "Products with K.")
        .def_ro("wall_s", &KernelEigenReport::wall_s)
        .def("__repr__", [](const KernelEigenReport& r) {
            return "<weftgpu.KernelEigenReport: " + outcome(r.converged, r.products, r.residuals) + ", " +
                   short_number(r.wall_s) + " s>";
        });
}

}  // namespace

void bind_kernel_operator(nb::module_& module) {
    bind_solve_reports(module);
    nb::class_<PyKernelOperator>(module, "_KernelOperator");
    module.def("_kernel_operator", &make, nb::arg("backend").none(), nb::arg("x").none(), nb::arg("y").none(),
               nb::arg("map"), nb::arg("weights").none(), nb::arg("reupload"), nb::arg("scale"),
               nb::arg("dtype"), nb::arg("normalize"), nb::arg("jitter"), nb::arg("lambda_"),
               nb::rv_policy::take_ownership);
    module.def("_view", &view, nb::arg("call"), nb::arg("name"), nb::arg("array").none(), nb::arg("rows"));
    module.def("_kernel_apply", &apply, nb::arg("k"), nb::arg("v").none(), nb::arg("transpose"));
    module.def("_kernel_rows", &rows, nb::arg("k"), nb::arg("indices"));
    module.def("_kernel_diagonal", &diagonal, nb::arg("k"));
    module.def("_kernel_solve", &solve, nb::arg("k"), nb::arg("y").none(), nb::arg("lambda_"),
               nb::arg("rank"), nb::arg("tol"), nb::arg("max_iterations"), nb::arg("seed"),
               nb::arg("checkpoint"), nb::arg("checkpoint_every"), nb::arg("resume"),
               nb::arg("progress").none());
    module.def("_kernel_solve_over_ranks", &solve_over_ranks, nb::arg("k"), nb::arg("ranks"),
               nb::arg("y").none(), nb::arg("lambda_"), nb::arg("rank"), nb::arg("tol"),
               nb::arg("max_iterations"), nb::arg("seed"), nb::arg("checkpoint"), nb::arg("checkpoint_every"),
               nb::arg("resume"));
    module.def("_kernel_eigen", &eigen, nb::arg("operator"), nb::arg("k"), nb::arg("tol"),
               nb::arg("max_products"), nb::arg("seed"), nb::arg("progress").none());
    module.def("_kernel_predict", &predict, nb::arg("backend").none(), nb::arg("x_new").none(),
               nb::arg("x").none(), nb::arg("alpha").none(), nb::arg("map"), nb::arg("weights").none(),
               nb::arg("reupload"), nb::arg("scale"), nb::arg("progress").none());
    module.def("_estimate_kernel_operator", &estimate, nb::arg("k"), nb::arg("columns"));
}

}  // namespace weft::python
