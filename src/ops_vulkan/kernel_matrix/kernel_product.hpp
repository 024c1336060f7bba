// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of circuits whose layers cancel, in closed form.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <weft/ops/kernel_matrix.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/matrix_items.hpp"
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"

namespace weft::kernels {

/// Records K of resident features; `y` may be null.
void product_resident(Stream& stream, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                      const ConstDeviceArray* y, const DeviceArray& k, double scale,
                      const KernelMatrixOptions& options);

/// Makes rows of K in host memory, as jobs for the batch engine or panel by panel; `y` may be null. All
/// arguments but x and y must outlive it.
class StreamedRows {
  public:
    StreamedRows(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan,
                 const ConstHostArray& x, const ConstHostArray* y, const HostArray& k, double scale,
                 const KernelMatrixOptions& options);
    /// The memory of K begins with this row; 0 if that is not called.
    void begin_at(std::uint64_t row) noexcept { first_row_ = row; }
    /// Makes these rows, one range after the other, and calls `in_place` with the index of each range whose
    /// values are in place. `all_pairs` is the total of the progress. Errors: as run_batch.
    std::uint64_t make(std::span<const RowRange> ranges, const BatchOptions& batch, std::uint64_t all_pairs,
                       const InPlace& in_place = {});

  private:
    /// Called with pairs of the range that are done.
    using PairsDone = std::function<void(std::uint64_t pairs)>;
    void begin_few(const ConstHostArray& x, const ConstHostArray* y, double scale);
    Words few_features(const ConstHostArray& x);
    void make_few(const RowRange& range, const PairsDone& done);
    void run_jobs(const RowRange& range, const PairsDone& done);
    void make_panels(const RowRange& range, const PairsDone& done);

    Backend& backend_;
    HostScratch& scratch_;
    const KernelMatrixPlan& plan_;
    const HostArray& k_;
    const KernelMatrixOptions& options_;
    std::uint64_t first_row_ = 0;
    const HostBuffer<std::uint32_t>* host_planes_ = nullptr;  // for the engine
    const HostBuffer<std::uint32_t>* few_ = nullptr;          // the whole K, on its way
    std::optional<Words> planes_, panel_;                     // for panels
};

}  // namespace weft::kernels
