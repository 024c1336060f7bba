// SPDX-License-Identifier: Apache-2.0
// Records the dispatches of an encode on ranges that each fit one binding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <weft/array.hpp>
#include <weft/buffer.hpp>
#include <weft/stream.hpp>

#include "ops/encode/encode_schedule.hpp"

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;
using ConstWords = BufferView<const std::uint32_t>;

/// Device memory that an encode of plan.samples samples needs in addition to values, states and status.
struct EncodeScratch {
    EncodeScratch(const Stream& stream, const EncodePlan& plan);
    std::optional<Buffer<std::uint32_t>> tasks;         ///< if workgroups share rows
    std::optional<Buffer<std::uint32_t>> blocks, rows;  ///< norms of amplitude_long
};

/// Records the steps of one encode on a stream. `status` holds two words a sample. Plan and scratch outlive
/// it.
class EncodeSteps {
  public:
    EncodeSteps(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch, Words status);

    /// `values` begins `before` values before the first one that the step reads, and `states` at the first
    /// amplitude that it writes.
    void states(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before,
                const Words& states);
    void norm_block(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before);
    void norm_row(const EncodeDispatch& step);
    void scale(const EncodeDispatch& step, const ConstWords& values, std::uint32_t before,
               const Words& states);
    void pass(const EncodeDispatch& step, const Words& states);
    /// Joins two windows that differ in a bit of the index.
    void join(const Words& lower, const Words& upper);

  private:
    Stream& stream_;
    const EncodePlan& plan_;
    const EncodeScratch& scratch_;
    Words status_;
};

/// Encodes plan.samples resident samples into resident states. With `check_only` it writes the status alone.
void encode_resident(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch,
                     const ConstDeviceArray& values, const DeviceArray& states, const Words& status,
                     bool check_only);

}  // namespace weft::kernels
