// SPDX-License-Identifier: Apache-2.0
#include "commands/encode/encode_needs.hpp"

#include <algorithm>

namespace weft::tool {
namespace {

constexpr std::uint64_t kNamed = 20;  // rows

}  // namespace

// A chunk is large enough for fast copies by the device and small enough to read ahead. There are two chunks,
// or one if a single row is larger than that. Several devices need more for each, to take several shares.
ReadPlan plan_reading(std::uint64_t samples, std::uint64_t row_bytes_in, std::uint64_t row_bytes_out,
                      std::uint64_t devices) {
    const std::uint64_t chunk_bytes = (devices > 1 ? 4 * devices : 1) * (std::uint64_t{128} << 20);
    const std::uint64_t ahead = row_bytes_in > chunk_bytes ? 1 : 2;
    ReadPlan plan;
    plan.rows_per_chunk =
        std::clamp<std::uint64_t>(chunk_bytes / std::max(row_bytes_in, row_bytes_out), 1, samples);
    plan.chunks = std::min(ahead + 1, (samples + plan.rows_per_chunk - 1) / plan.rows_per_chunk);
    plan.bytes = plan.chunks * plan.rows_per_chunk * row_bytes_in;
    return plan;
}

std::vector<std::string> shortages(const EncodeNeeds& needs) {
    std::vector<std::string> all;
    const auto compare = [&](const std::string& what, std::uint64_t got, std::uint64_t need) {
        if (need > got)
            all.push_back(what + " (got " + std::to_string(got) + " bytes, need " + std::to_string(need) +
                          ")");
    };
    if (needs.device && !needs.device->streamed_fits) all.push_back(needs.device->reason);
    compare("rows that are read ahead are more than this machine's memory", needs.host_bytes,
            needs.reading.bytes);
    if (needs.disk_bytes)
        compare("no room on the disk for the states", *needs.disk_bytes, needs.output_bytes);
    return all;
}

void BadRows::add(std::uint64_t first, const std::vector<EncodeFailure>& failures) {
    for (const EncodeFailure& failure : failures) {
        if (++count_ > kNamed) continue;
        text_ += (text_.empty() ? "row " : ", row ") + std::to_string(first + failure.sample);
        text_ += failure.fault == EncodeFault::zero_norm
                     ? std::string(" has zero norm")
                     : " value " + std::to_string(failure.position) + " is " + to_string(failure.fault);
    }
}

std::string BadRows::text() const {
    if (count_ <= kNamed) return text_;
    const std::uint64_t more = count_ - kNamed;
    return text_ + ", and " + std::to_string(more) + (more == 1 ? " more row" : " more rows");
}

}  // namespace weft::tool
