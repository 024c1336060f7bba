// SPDX-License-Identifier: Apache-2.0
// What `weft encode` takes, known before anything is allocated, and what it says of rows it could not encode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/ops/encode.hpp>

namespace weft::tool {

/// How a file goes through memory: `chunks` parts of it at a time, read ahead or being encoded.
struct ReadPlan {
    std::uint64_t rows_per_chunk = 1, chunks = 1;
    std::uint64_t bytes = 0;  ///< of host memory
};
ReadPlan plan_reading(std::uint64_t samples, std::uint64_t row_bytes_in, std::uint64_t row_bytes_out);

/// Room that a run needs and finds.
struct EncodeNeeds {
    ReadPlan reading;
    std::uint64_t output_bytes = 0;
    std::uint64_t host_bytes = 0;             ///< memory of this machine
    std::optional<std::uint64_t> disk_bytes;  ///< free for the output, where there is one
    std::optional<EncodeEstimate> device;     ///< of Vulkan alone
    /// Samples whose values and states fit as a whole, on the device and in memory. Of --explain alone.
    std::uint64_t most_on_device = 0, most_on_host = 0;
};

/// Why a run cannot be, a line each; empty: it can.
std::vector<std::string> shortages(const EncodeNeeds& needs);

/// Rows that cannot be encoded, as they are found chunk by chunk.
class BadRows {
  public:
    /// `first` is the row that the call's sample 0 is.
    void add(std::uint64_t first, const std::vector<EncodeFailure>& failures);
    std::uint64_t count() const noexcept { return count_; }
    /// The first twenty, and how many more there are.
    std::string text() const;

  private:
    std::uint64_t count_ = 0;
    std::string text_;
};

}  // namespace weft::tool
