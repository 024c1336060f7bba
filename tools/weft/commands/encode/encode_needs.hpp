// SPDX-License-Identifier: Apache-2.0
// The memory and disk space that `weft encode` takes, before anything is allocated, and the report of rows
// that could not be encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/ops/encode.hpp>

namespace weft::tool {

/// How a file passes through memory: `chunks` parts of it at a time, which are read ahead or encoded.
struct ReadPlan {
    std::uint64_t rows_per_chunk = 1, chunks = 1;
    std::uint64_t bytes = 0;  ///< of host memory
};
/// `devices`: that share each call; 0: CUDA.
ReadPlan plan_reading(std::uint64_t samples, std::uint64_t row_bytes_in, std::uint64_t row_bytes_out,
                      std::uint64_t devices = 1);

/// The space that a run needs and the space that is available.
struct EncodeNeeds {
    ReadPlan reading;
    std::uint64_t output_bytes = 0;
    std::uint64_t host_bytes = 0;             ///< memory of this machine
    std::optional<std::uint64_t> disk_bytes;  ///< free for the output, if there is one
    std::optional<EncodeEstimate> device;     ///< for Vulkan only
    /// Samples whose values and states fit as a whole, on the device and in memory. Only --explain fills them
    /// in.
    std::uint64_t most_on_device = 0, most_on_host = 0;
};

/// Why a run is not possible, one line for each reason; empty: it is possible.
std::vector<std::string> shortages(const EncodeNeeds& needs);

/// Collects the rows that cannot be encoded, chunk by chunk.
class BadRows {
  public:
    /// `first` is the row of the call's sample 0.
    void add(std::uint64_t first, const std::vector<EncodeFailure>& failures);
    std::uint64_t count() const noexcept { return count_; }
    /// Names the first twenty rows and the number of the others.
    std::string text() const;

  private:
    std::uint64_t count_ = 0;
    std::string text_;
};

}  // namespace weft::tool
