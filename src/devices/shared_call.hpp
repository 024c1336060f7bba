// SPDX-License-Identifier: Apache-2.0
// Runs a call on several devices of any API: a thread for each device takes shares from a ShareQueue until
// nothing is left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weft/batch.hpp>

#include "devices/shared_devices.hpp"
#include "plan/work/share_queue.hpp"

namespace weft::core {

class SharedRun;

/// How the work on a share reports progress and learns that it should end.
class ShareWatch {
  public:
    ShareWatch(SharedRun& run, std::stop_token stop) : run_(run), stop_(std::move(stop)) {}
    /// `units` more, in the unit of SharedCallOf::progress_total, are done.
    void add(std::uint64_t units);
    /// Options of the caller for the call that does the share, which reports its progress here, in the same
    /// unit.
    BatchOptions options(const BatchOptions& of_caller);
    const std::stop_token& stop() const noexcept { return stop_; }
    /// `units` that were reported, by this share or another one, are not done after all. Nothing else that
    /// this share has reported counts as its own afterwards.
    void take_back(std::uint64_t units);
    /// Units that this share has reported.
    std::uint64_t added() const noexcept { return added_; }

  private:
    SharedRun& run_;
    std::stop_token stop_;
    std::uint64_t added_ = 0;
};

/// Adds what one call did to a sum.
void add_to(OpReport& sum, const OpReport& one);

/// Does a share on a device and returns what it did. Called on the device's own thread, for one share after
/// the other.
using DeviceWorker = std::function<OpReport(const Share& share, ShareWatch& watch)>;

/// Worker: what does the shares of a device.
template <class Worker>
struct SharedCallOf {
    const char* function = "";
    /// Calls whose items take a similar time have the same text. Rates are kept for the next one.
    std::string rates;
    std::uint64_t items = 0;
    std::uint64_t step = 1;         ///< shares begin at multiples
    std::uint64_t item_bytes = 1;   ///< that an item moves between host and device
    std::uint64_t chunk_items = 0;  ///< of a chunk, if the caller or Config sets it; 0: by bytes
    std::uint64_t least_items = 0;  ///< of a share, where bytes do not matter; 0: some chunks
    bool repeatable = true;         ///< false: in place, so that a share that failed half way is spoilt
    bool single_job = false;        ///< all items are one job
    bool both_ends = false;         ///< as in ShareQueue
    std::vector<std::exception_ptr> refused{};  ///< of each device that cannot take part; empty: all can
    std::uint64_t progress_total = 0;
    const BatchOptions& options;
    /// Makes what does the shares of a device, before its first share and on its thread.
    std::function<Worker(std::size_t device)> worker;

    template <class Other>
    SharedCallOf<Other> with_worker(std::function<Other(std::size_t device)> other) const {
        return {.function = function,
                .rates = rates,
                .items = items,
                .step = step,
                .item_bytes = item_bytes,
                .chunk_items = chunk_items,
                .least_items = least_items,
                .repeatable = repeatable,
                .single_job = single_job,
                .both_ends = both_ends,
                .refused = refused,
                .progress_total = progress_total,
                .options = options,
                .worker = std::move(other)};
    }
};

/// Returns the sum of what the devices did. Errors: device_lost - no device is left, or a share in place was
/// spoilt; cancelled; what progress or a share throws.
OpReport run_shares(SharedDevices& devices, const SharedCallOf<DeviceWorker>& call);

}  // namespace weft::core
