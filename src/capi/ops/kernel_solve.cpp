// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: models over kernel operators.
#include <weft/ops/kernel_solve.hpp>

#include <algorithm>
#include <iterator>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/kernel_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft_kernel_solve_options read(const char* function, const weft_kernel_solve_options* options) {
    return read_options(function, "weft_kernel_solve_options", options);
}

std::uint32_t rank_of(const char* function, const weft_kernel_solve_options& all) {
    const weft::Choice wanted =
        choice_of(function, "weft_kernel_solve_options.preconditioner", all.preconditioner);
    if (wanted == weft::Choice::off && all.rank != 0)
        refuse(std::string(function) +
               ": weft_kernel_solve_options.rank does not apply without a preconditioner (got " +
               std::to_string(all.rank) + ", need 0)");
    return wanted == weft::Choice::off ? 0 : all.rank != 0 ? all.rank : weft::KernelSolveOptions().rank;
}

weft::KernelSolveOptions solve_options(const char* function, const weft_kernel_solve_options* options) {
    static constexpr weft::KernelPivots kPivots[] = {weft::KernelPivots::residual,
                                                     weft::KernelPivots::random};
    const weft_kernel_solve_options all = read(function, options);
    weft::KernelSolveOptions made;
    if (all.lambda != 0) made.lambda = all.lambda;
    if (all.tolerance != 0) made.tolerance = all.tolerance;
    if (all.max_iterations != 0) made.max_iterations = all.max_iterations;
    if (all.seed != 0) made.seed = all.seed;
    made.rank = rank_of(function, all);
    made.pivots = enum_of(function, "weft_kernel_solve_options.pivots", all.pivots, kPivots);
    made.batch = batch_options(function, all.batch);
    if (all.checkpoint != nullptr && *all.checkpoint == '\0')
        refuse(std::string(function) +
               ": weft_kernel_solve_options.checkpoint: no file (got an empty path, need one, or NULL)");
    if (all.checkpoint != nullptr) made.checkpoint = all.checkpoint;
    if (all.checkpoint_every != 0) made.checkpoint_every = all.checkpoint_every;
    made.resume = flag_of(function, "weft_kernel_solve_options.resume", all.resume);
    return made;
}

weft::KernelEigenOptions eigen_options(const char* function, const weft_kernel_solve_options* options) {
    const weft_kernel_solve_options all = read(function, options);
    const auto unused = [&](const char* member, bool set) {
        if (set)
            refuse(std::string(function) + ": weft_kernel_solve_options." + member +
                   " applies to weft_kernel_solve alone");
    };
    unused("lambda", all.lambda != 0);
    unused("preconditioner", all.preconditioner != 0);
    unused("pivots", all.pivots != 0);
    unused("rank", all.rank != 0);
    unused("resume", all.resume != 0);
    unused("checkpoint", all.checkpoint != nullptr);
    unused("checkpoint_every", all.checkpoint_every != 0);
    weft::KernelEigenOptions made;
    if (all.tolerance != 0) made.tolerance = all.tolerance;
    if (all.max_iterations != 0) made.max_products = all.max_iterations;
    if (all.seed != 0) made.seed = all.seed;
    made.batch = batch_options(function, all.batch);
    return made;
}

/// The members that both reports have. Allocates nothing.
template <class Report>
weft_kernel_solve_report figures_of(const Report& found) {
    weft_kernel_solve_report all{};
    all.converged = found.converged ? 1 : 0;
    all.product_s = found.product_s;
    all.wall_s = found.wall_s;
    const std::size_t count = std::min(found.residuals.size(), std::size(all.residuals));
    for (std::size_t i = 0; i < count; ++i) {
        all.residuals[i] = found.residuals[i];
        all.residual = std::max(all.residual, found.residuals[i]);
    }
    return all;
}

void put(const char* function, const weft_kernel_solve_report& all, weft_kernel_solve_report* target) {
    if (target != nullptr) write_report(function, "weft_kernel_solve_report", all, target);
}

}  // namespace

weft_status weft_kernel_solve(weft_backend* backend, const weft_kernel_operator* k, weft_const_span y,
                              weft_span alpha, const weft_kernel_solve_options* options,
                              weft_kernel_solve_report* report) {
    constexpr const char* kName = "weft_kernel_solve";
    const Uses uses(k);
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_kernel_solve_report", report);
        const weft::KernelOperator& of = given(kName, "k", k).object;
        const weft::KernelSolveReport found =
            weft::kernel_solve(owner, of, array_of(kName, "y", y, of.type()),
                               array_of(kName, "alpha", alpha, of.type()), solve_options(kName, options));
        weft_kernel_solve_report all = figures_of(found);
        all.iterations = found.iterations;
        all.rank = found.rank;
        all.resumed = found.resumed;
        all.preconditioner_s = found.preconditioner_s;
        put(kName, all, report);
    });
}

weft_status weft_kernel_eigen(weft_backend* backend, const weft_kernel_operator* k, weft_span values,
                              weft_span vectors, const weft_kernel_solve_options* options,
                              weft_kernel_solve_report* report) {
    constexpr const char* kName = "weft_kernel_eigen";
    const Uses uses(k);
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_kernel_solve_report", report);
        const weft::KernelOperator& of = given(kName, "k", k).object;
        const weft::KernelEigenReport found =
            weft::kernel_eigen(owner, of, array_of(kName, "values", values, of.type()),
                               array_of(kName, "vectors", vectors, of.type()), eigen_options(kName, options));
        weft_kernel_solve_report all = figures_of(found);
        all.iterations = found.products;
        put(kName, all, report);
    });
}

weft_status weft_kernel_predict(weft_backend* backend, const weft_kernel_circuit* circuit, weft_type x_type,
                                weft_const_span x_new, weft_const_span x, weft_type a_type,
                                weft_const_span alpha, weft_span out, weft_kernel_shape shape,
                                const weft_batch_options* batch, weft_report* report) {
    constexpr const char* kName = "weft_kernel_predict";
    return with_first(kName, backend, [&](weft::Backend& owner) {
        check_size(kName, "weft_report", report);
        const weft::ElementType features = element_type_of(kName, "x_type", x_type);
        const weft::ElementType numbers = element_type_of(kName, "a_type", a_type);
        const weft::ConstHostArray rows = array_of(kName, "x_new", x_new, features);
        const weft::ConstHostArray others = array_of(kName, "x", x, features);
        const weft::ConstHostArray factors = array_of(kName, "alpha", alpha, numbers);
        const weft::HostArray result = array_of(kName, "out", out, numbers);
        const weft::KernelMatrixShape sizes = kernel_shape_of(kName, shape);
        const weft::BatchOptions of_batch = batch_options(kName, batch);
        put_report(kName,
                   are_states(kName, x_type, circuit)
                       ? weft::kernel_predict(owner, rows, others, factors, result, sizes, of_batch)
                       : weft::kernel_predict(owner, circuit_of(kName, circuit), rows, others, factors,
                                              result, sizes, of_batch),
                   report);
    });
}
