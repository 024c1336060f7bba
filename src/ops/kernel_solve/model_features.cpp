// SPDX-License-Identifier: Apache-2.0
// Completes ops/kernel_solve/operator_models.hpp: landmarks and Nystroem features.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_solve/model_kernel.hpp"
#include "ops/kernel_solve/operator_landmarks.hpp"
#include "ops/kernel_solve/operator_models.hpp"

namespace weft::kernels {
namespace {

template <class T>
void write_inverse_root(const ModelOperator& k, const HostArray& out) {
    const std::uint64_t samples = k.shape().samples;
    std::vector<std::uint32_t> all(samples);
    std::iota(all.begin(), all.end(), 0u);
    std::vector<T> values(samples * samples);
    k.rows(all, values);
    std::vector<double> wide(values.begin(), values.end());
    inverse_root(wide, samples, static_cast<double>(std::numeric_limits<T>::epsilon()));
    std::transform(wide.begin(), wide.end(), static_cast<T*>(out.data),
                   [](double value) { return static_cast<T>(value); });
}

/// Columns [first, first + count) of a matrix with rows of `width` values, from or to an array of their own.
template <class Copy>
void each_row(std::uint64_t rows, std::uint64_t width, std::uint64_t first, std::uint64_t count,
              std::uint64_t unit, const Copy& copy) {
    for (std::uint64_t i = 0; i < rows; ++i) copy((i * width + first) * unit, i * count * unit, count * unit);
}

}  // namespace

std::vector<std::uint32_t> landmarks(const ModelOperator& k, std::uint32_t count,
                                     const KernelLandmarkOptions& options) {
    check_landmarks(k.shape(), count, options);
    const auto choose = [&](auto kernel) { return choose_landmarks(kernel.kernel(), count, options); };
    const KernelRanks alone;
    if (k.type() == kFloat64) return choose(ModelKernel<double>(k, alone, 0, {}));
    return choose(ModelKernel<float>(k, alone, 0, {}));
}

void inverse_root_of(const ModelOperator& k, const HostArray& out) {
    check_inverse_root(k.shape(), k.type(), out);
    check_out_memory("kernel_inverse_root", nullptr, out);
    if (k.type() == kFloat64) return write_inverse_root<double>(k, out);
    write_inverse_root<float>(k, out);
}

OpReport features(const ModelOperator& k, const ConstHostArray& root, const HostArray& out,
                  const BatchOptions& batch) {
    const Watch watch;
    core::require_members("kernel_features", batch, {});
    const KernelMatrixShape& shape = k.shape();
    check_features_of(shape, k.type(), root, out);
    check_out_memory("kernel_features", &root, out);
    const std::uint64_t all = shape.columns(), unit = k.type().bytes();
    core::ProgressMeter meter("kernel_features", batch, shape.samples * all);
    meter.check();
    constexpr std::uint64_t kTogether = 64;
    std::vector<std::byte> some(all * kTogether * unit), made(shape.samples * kTogether * unit);
    OpReport report = operator_report("kernel_features", shape.samples * all, root.bytes(), out);
    const auto* const from = static_cast<const std::byte*>(root.data);
    auto* const to = static_cast<std::byte*>(out.data);
    for (std::uint64_t first = 0; first < all; first += kTogether) {
        const std::uint64_t count = std::min(kTogether, all - first);
        each_row(all, all, first, count, unit, [&](auto at, auto packed, auto bytes) {
            std::memcpy(some.data() + packed, from + at, bytes);
        });
        KernelApplyHostOptions apply;
        apply.batch.cancel = batch.cancel;
        const OpReport part =
            k.apply(ConstHostArray(some.data(), all * count, k.type()),
                    HostArray(made.data(), shape.samples * count, k.type()), {0, shape.samples}, apply);
        report.method = part.method;
        report.chunks += part.chunks;
        each_row(shape.samples, all, first, count, unit, [&](auto at, auto packed, auto bytes) {
            std::memcpy(to + at, made.data() + packed, bytes);
        });
        meter.show(shape.samples * (first + count));
    }
    report.wall_s = watch.seconds();
    return report;
}

}  // namespace weft::kernels
