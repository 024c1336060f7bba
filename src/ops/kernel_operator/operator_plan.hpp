// SPDX-License-Identifier: Apache-2.0
// How a product with a kernel operator is made: how samples lie in memory, and which workgroups of which
// shader sum up which rows and columns of K. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "shaders/kernel_operator/operator_parameters.h"

namespace weft::kernels {

inline constexpr std::uint32_t kMostColumns = 64;  ///< of V

/// What a plan needs to know of a device.
struct OperatorDevice {
    DeviceLimits limits;
    bool software = false;  ///< runs on the cores of the host
    bool float64 = false;
    std::uint64_t budget_bytes = 0;  ///< memory of the device that may be used
    /// Kernels were compiled for the shapes of operator_shapes.hpp, and others are filled up to them.
    bool compiled_ahead = false;
};

/// The numbers of samples, as shaders/kernel_operator/operator_parameters.h defines them.
struct SampleLayout {
    std::uint32_t of_qubit = 3;      ///< numbers of a qubit
    std::uint32_t part_qubits = 0;   ///< equally many in every part
    std::uint32_t part_numbers = 0;  ///< with those that fill the part up
    std::uint32_t parts = 1;

    std::uint64_t numbers() const noexcept { return std::uint64_t{parts} * part_numbers; }
};

/// What an operator of states knows besides: the kernel matrix whose blocks it makes.
struct OperatorOfStates {
    KernelMatrixPlan matrix;
    bool given = false;        ///< states are given, not a circuit
    std::uint64_t block = 64;  ///< rows and columns of a block, a multiple of 64
    std::uint64_t bytes = 0;   ///< of device memory, without blocks
    double kernel_error = 0;   ///< of a value of K
    std::vector<std::string> reasons{};
};

struct OperatorPlan {
    OperatorDevice device;
    KernelMatrixShape shape;
    KernelOperatorOptions options;
    bool rz = true;
    bool real64 = false;
    SampleLayout layout;
    std::optional<OperatorOfStates> states{};  ///< no closed form: nothing of `layout` counts then

    std::uint64_t real_bytes() const noexcept { return real64 ? 8 : 4; }
    std::uint64_t sample_bytes() const noexcept { return layout.numbers() * real_bytes(); }
    std::uint64_t all_sample_bytes() const noexcept {
        return (shape.samples + shape.others) * sample_bytes();
    }
    /// Factor of all values of K except those of a sample with itself.
    double shrink() const noexcept {
        return options.normalize && shape.square() ? 1 / (1 + options.jitter) : 1;
    }
};

/// Errors: unsupported - float64 on a device without shaderFloat64.
OperatorPlan plan_operator(const OperatorDevice& device, const KernelMatrixShape& shape, FeatureMap map,
                           const KernelOperatorOptions& options);
/// Errors: out_of_memory - the samples and the scratch memory of a product do not fit.
void check_operator_fits(const OperatorPlan& plan);

/// Rows and columns of K that a dispatch works on.
struct OperatorBand {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
    bool operator==(const OperatorBand&) const = default;
};

/// A pass over K for some columns of V.
struct ApplyPass {
    std::uint32_t first = 0;    ///< column of V
    std::uint32_t columns = 1;  ///< columns of V
    std::uint32_t width = 1;    ///< the same with those that fill a pass up (kernels compiled ahead)
    bool symmetric = false;
    std::uint32_t workgroup = 128;  ///< invocations
    std::uint32_t rows = 4;         ///< of an invocation
    std::uint32_t tile = 64;        ///< columns of K of the innermost sum
    std::uint32_t together = 4;     ///< columns of K in straight code
    std::uint64_t split = 0;        ///< columns of K of a workgroup, a multiple of `tile`
    std::uint64_t band_rows = 0;    ///< of a dispatch, a multiple of block_rows()
    std::uint64_t band_columns = 0;

    std::uint64_t block_rows() const noexcept { return std::uint64_t{workgroup} * rows; }
};

/// A product by way of the features of K. A feature is a pair of one of the lower and one of the upper
/// qubits.
struct LowRankPlan {
    std::uint32_t low_qubits = 0, high_qubits = 0;
    std::uint64_t low_count = 1, high_count = 1;  ///< features of these qubits
    std::uint64_t split = 0;                      ///< samples of a partial sum, a multiple of 64
    std::uint64_t band_samples = 0;               ///< of a dispatch, a multiple of 64
    std::uint64_t features() const noexcept { return low_count * high_count; }
    /// Workgroups that make the sums of a split.
    std::uint64_t tiles() const noexcept;
};
inline constexpr std::uint64_t kMostFeatures = std::uint64_t{1} << 18;
/// Features of K; beyond kMostFeatures any number above it.
std::uint64_t features_of(FeatureMap map, std::uint32_t qubits) noexcept;

/// The side of K that a product walks over.
struct ApplySide {
    std::uint64_t rows = 0, columns = 0;
    bool square = false;
};
ApplySide side_of(const OperatorPlan& plan, bool transpose) noexcept;

/// The passes of a product with `columns` columns of V. `symmetric`: whether passes may be, which needs all
/// rows.
std::vector<ApplyPass> plan_passes(const OperatorPlan& plan, const ApplySide& side, std::uint32_t columns,
                                   bool symmetric);
/// Symmetric passes, whether they pay or not; none: there cannot be.
std::vector<ApplyPass> plan_symmetric_passes(const OperatorPlan& plan, const ApplySide& side,
                                             std::uint32_t columns);
/// Instructions for each pair of a row and a column of K, in all passes.
double instructions_of(const OperatorPlan& plan, const std::vector<ApplyPass>& passes);
/// The features that a product goes through; nothing: it makes every value of K.
std::optional<LowRankPlan> plan_low_rank(const OperatorPlan& plan, const ApplySide& side,
                                         std::uint32_t columns);

/// The bands of rows [first, last) of a pass, in order. Those of a symmetric pass reach to the diagonal.
std::vector<OperatorBand> bands_of(const ApplyPass& pass, const ApplySide& side, std::uint64_t first,
                                   std::uint64_t last);
std::uint64_t splits_of(const ApplyPass& pass, const OperatorBand& band) noexcept;
/// Workgroups of the dispatch of a band.
std::uint64_t workgroups_of(const ApplyPass& pass, const OperatorBand& band) noexcept;
/// Numbers of the partial sums of rows, and of those of columns (symmetric), of a band.
std::uint64_t row_sums_of(const ApplyPass& pass, const OperatorBand& band) noexcept;
std::uint64_t column_sums_of(const ApplyPass& pass, const OperatorBand& band) noexcept;
/// Kernel values of a band.
std::uint64_t pairs_of(const ApplyPass& pass, const OperatorBand& band) noexcept;

struct SharedProduct;  // operator_sharing.hpp
/// `shared`: of a device among several.
KernelOperatorEstimate estimate_operator(const OperatorPlan& plan, std::uint32_t columns,
                                         const SharedProduct* shared = nullptr);

}  // namespace weft::kernels
