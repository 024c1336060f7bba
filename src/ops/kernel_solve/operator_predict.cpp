// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/operator_predict.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"

namespace weft::kernels {
namespace {

template <class Array>
Array part_of(const Array& array, std::uint64_t first, std::uint64_t count) {
    Array part = array;
    // Arrays that may be written have a pointer to void, others one to const void.
    using Byte = std::conditional_t<std::is_same_v<Array, HostArray>, std::byte, const std::byte>;
    part.data = static_cast<Byte*>(array.data) + first * array.type.bytes();
    part.size = count;
    return part;
}

/// Rows whose numbers or states take little memory beside those of x.
std::uint64_t rows_together(const OperatorPlan& plan) {
    constexpr std::uint64_t kRows = std::uint64_t{1} << 18, kStateBytes = std::uint64_t{1} << 30;
    if (!plan.states) return kRows;
    const std::uint64_t row = std::uint64_t{16} << std::min(plan.shape.qubits, 30u);
    return std::clamp<std::uint64_t>(kStateBytes / row, 64, kRows);
}

}  // namespace

OpReport predict(const PredictPlace& place, const KernelMatrixCircuit* circuit, const ConstHostArray& x_new,
                 const ConstHostArray& x, const ConstHostArray& alpha, const HostArray& out,
                 const KernelMatrixShape& shape, const BatchOptions& batch) {
    const auto begin = std::chrono::steady_clock::now();
    core::require_members("kernel_predict", batch, {});
    const KernelOperatorOptions options{.type = alpha.type};
    const auto checked = as_prediction([&] {
        check_real_type("alpha", alpha.type);
        const HostSamples samples =
            checked_samples("kernel_predict", circuit, x_new, &x, shape, options, place.threads);
        OperatorPlan of_all = place.plan(samples);
        const std::uint32_t vectors = check_apply(of_all, facts_of(alpha), facts_of(out), {});
        check_out_memory("kernel_predict", &alpha, out);
        return std::pair(std::move(of_all), vectors);
    });
    const OperatorPlan& plan = checked.first;
    const std::uint32_t columns = checked.second;
    core::ProgressMeter meter("kernel_predict", batch, shape.pairs());
    meter.check();
    const std::uint64_t width = x_new.size / shape.samples, together = rows_together(plan);
    KernelApplyHostOptions apply;
    apply.batch.cancel = batch.cancel;
    std::uint64_t chunks = 0;
    for (std::uint64_t row = 0; row < shape.samples; row += together) {
        const std::uint64_t rows = std::min(together, shape.samples - row);
        const KernelMatrixShape part{rows, shape.others, shape.qubits};
        const ConstHostArray some = part_of(x_new, row * width, rows * width);
        chunks += as_prediction([&] {
            const HostSamples samples =
                checked_samples("KernelOperator", circuit, some, &x, part, options, place.threads);
            return place.apply(samples, alpha, part_of(out, row * columns, rows * columns), apply).chunks;
        });
        meter.show((row + rows) * shape.others);
    }
    OpReport report = operator_report("kernel_predict", shape.pairs(), alpha.bytes(), out);
    report.method = to_string(plan.states ? KernelOperatorMethod::states : KernelOperatorMethod::product);
    report.chunks = chunks;
    report.bytes_in += x_new.bytes() + x.bytes();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace weft::kernels
