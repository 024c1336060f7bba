// SPDX-License-Identifier: Apache-2.0
// Packed states and their norms. States come from a circuit, from the device's memory or from the host's.
#pragma once

#include <optional>
#include <utility>

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/gram/gram.hpp"
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"

namespace weft::kernels {

/// A range that is bound where a binding may start on this device, and its elements before the first one
/// meant.
struct BoundWords {
    Words words;
    std::uint32_t before = 0;
};
/// `count` units of `unit` bytes each, from unit `first` of a buffer on.
BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit);
/// Elements [first, first + count) of an array.
BoundWords bind_elements(const DeviceLimits& limits, const ConstDeviceArray& array, std::uint64_t first,
                         std::uint64_t count);

/// Planes [qubit][cosine, sine][stride] of float or double: the angles of X, and of Y from plan.others_at on.
/// `y` may be null. Features come from the device's memory or from the host's.
Words angle_planes(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                   const ConstDeviceArray& x, const ConstDeviceArray* y, double scale);
Words angle_planes(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                   const ConstHostArray& x, const ConstHostArray* y, double scale);

/// Factors of all states that divide K by their norms: as KernelMatrixOptions::normalize asks, or only to
/// take out what rounding did to states that were built.
class Normalizer {
  public:
    Normalizer(KernelMemory& memory, const KernelMatrixPlan& plan, const KernelMatrixOptions& options);
    /// Factors that lie there, or will.
    Normalizer(Words factors, const KernelMatrixPlan& plan, const KernelMatrixOptions& options)
        : plan_(plan), options_(options), factors_(std::move(factors)) {}
    static std::uint64_t words(const KernelMatrixPlan& plan) {
        return (plan.shape.samples + plan.shape.others) * plan.real_bytes() / 4;
    }
    /// Factors of some rows: from row-major states, or from StatePlan::squares sums of squares of each.
    void take(Stream& stream, const Words& states, const StateRows& rows);
    void take_squares(Stream& stream, const Words& squares, const StateRows& rows);
    /// Divides the block at element `origin` of `range`, whose rows are `leading` elements apart. `turned`:
    /// rows of the block are those of Y, and its columns those of X.
    void scale(Stream& stream, const GramRange& range, std::uint64_t origin, std::uint64_t leading,
               const KernelBlock& block, bool turned = false);

    /// Whether a pass of its own divides K: KernelMatrixOptions::normalize. Otherwise K is divided as it is
    /// made.
    bool scales() const noexcept { return options_.normalize; }
    /// The factors from that of the state `row` of X or Y on.
    GramFactors factors(bool of_y, std::uint64_t row) const {
        return {factors_, (of_y ? plan_.others_at : 0) + row};
    }

  private:
    const KernelMatrixPlan& plan_;
    const KernelMatrixOptions options_;
    Words factors_;
};

/// Where packed states go: to row `first` of `planes` and the rows behind it.
struct PackTarget {
    GramProduct& product;
    GramRange planes;
    std::uint64_t first = 0;
};

/// States of X and Y. At most StatePlan::chunk_rows of them are asked for at a time.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// Packs these rows. `normalizer` may be null; otherwise it takes their norms.
    virtual void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
                      Normalizer* normalizer) = 0;
};

/// States that lie row by row in the device's memory before a pass packs them.
class RowMajorStates : public StateSource {
  public:
    void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
              Normalizer* normalizer) override;

  private:
    /// Valid in the stream until the next call.
    virtual Words states(Stream& stream, const StateRows& rows) = 0;
};

/// States of a circuit, built from the angles of all rows. With StatePlan::fused the last pass packs them.
class CircuitStates : public RowMajorStates {
  public:
    /// `planes`: as angle_planes makes them.
    CircuitStates(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                  const KernelMatrixCircuit& circuit, Words planes);
    void pack(Stream& stream, const StateRows& rows, const PackTarget& target,
              Normalizer* normalizer) override;

  private:
    Words states(Stream& stream, const StateRows& rows) override { return build(stream, rows, nullptr); }
    /// Records all layers and returns where the states lie. If `packed` is given, the last pass writes there.
    Words build(Stream& stream, const StateRows& rows, const Words* packed);
    /// What is bound for these rows. If no states are kept, it is words that no shader reads.
    Words held(const std::optional<Words>& states, std::uint64_t rows) const;

    const KernelMatrixPlan& plan_;
    Words planes_;
    bool rz_;
    Words weights_;
    std::optional<Words> states_, other_, squares_;
};

/// States that lie in the device's memory.
class ResidentStates : public RowMajorStates {
  public:
    ResidentStates(const KernelMatrixPlan& plan, const ConstDeviceArray& x, const ConstDeviceArray* y)
        : plan_(plan), x_(x), y_(y) {}

  private:
    Words states(Stream& stream, const StateRows& rows) override;
    const KernelMatrixPlan& plan_;
    const ConstDeviceArray& x_;
    const ConstDeviceArray* y_;
};

/// States in host memory.
class HostStates : public RowMajorStates {
  public:
    HostStates(KernelMemory& memory, const KernelMatrixPlan& plan, const ConstHostArray& x,
               const ConstHostArray* y);

  private:
    Words states(Stream& stream, const StateRows& rows) override;
    const KernelMatrixPlan& plan_;
    const ConstHostArray& x_;
    const ConstHostArray* y_;
    Words states_;
};

}  // namespace weft::kernels
