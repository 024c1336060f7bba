// SPDX-License-Identifier: Apache-2.0
// Which samples, rows or vectors an op cannot take, and why.
//
// Example:
//     try {
//         throw weft::EncodeError("encode: one sample", {{.sample = 3, .fault =
//         weft::EncodeFault::infinite}});
//     } catch (const weft::EncodeError& error) {
//         for (const weft::EncodeFailure& row : error.failures()) std::puts(weft::to_string(row.fault));
//     }
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>

namespace weft {

/// What is wrong with a sample, or with a row or vector of another family.
enum class EncodeFault {
    zero_norm = 1,  ///< amplitude of zeros only
    not_a_number,
    infinite,
    negative,      ///< basis index below 0; -0.0 is 0
    fractional,    ///< basis index that is not a whole number
    out_of_range,  ///< basis index of 2^n or more; feature or state too large; digit or status that no
                   ///< encoder writes
    inexact,       ///< basis index of 2^24 or more as float32, which may stand for its neighbour
};
const char* to_string(EncodeFault fault) noexcept;

struct EncodeFailure {
    std::uint64_t sample = 0;
    std::uint64_t position = 0;  ///< of the first value at fault in its sample; 0 if all values are
    EncodeFault fault = EncodeFault::zero_norm;
    std::uint64_t job = 0;  ///< of encode_batch, whose samples are counted in each job
};

/// invalid_argument with every sample, row or vector that an op cannot take; the text names the first ones.
class EncodeError : public Error {
  public:
    EncodeError(const std::string& what, std::vector<EncodeFailure> failures)
        : Error(Errc::invalid_argument, what), failures_(std::move(failures)) {}
    const std::vector<EncodeFailure>& failures() const noexcept { return failures_; }  ///< by sample

  private:
    std::vector<EncodeFailure> failures_;
};

}  // namespace weft
