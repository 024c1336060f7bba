// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/encode/encode_steps.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/check.hpp"
#include "ops_cuda/encode/encode_launch.hpp"
#include "cuda/scratch.hpp"

namespace weft::cuda {
namespace {

using kernels::EncodeKernel;
using kernels::EncodePlan;

constexpr const char* kFunction = "encode";

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

void done(int result) {
    check(static_cast<cudaError_t>(result), kFunction, "the launch");
}

// By kernel, and then by what values are and what is computed in.
LaunchEncode launcher(const EncodePlan& plan, EncodeStep step) {
    constexpr LaunchEncode kAmplitude[] = {launch_amplitude_in32_real32, launch_amplitude_in32_real64,
                                           launch_amplitude_in64_real64};
    constexpr LaunchEncode kLong[] = {launch_amplitude_long_in32_real32, launch_amplitude_long_in32_real64,
                                      launch_amplitude_long_in64_real64};
    constexpr LaunchEncode kProduct[] = {launch_product_in32_real32, launch_product_in32_real64,
                                         launch_product_in64_real64};
    constexpr LaunchEncode kIqp[] = {launch_iqp_in32_real32, launch_iqp_in32_real64, launch_iqp_in64_real64,
                                     launch_iqp_in64_real32};
    const bool narrow = plan.types.values == kFloat32;
    const int variant = plan.real64 ? (narrow ? 1 : 2) : (narrow ? 0 : 3);
    if (step != EncodeStep::states) return kLong[variant];
    switch (plan.kernel) {
        case EncodeKernel::amplitude:
            return kAmplitude[variant];
        case EncodeKernel::amplitude_shared:
        case EncodeKernel::amplitude_long:
            return kLong[variant];
        case EncodeKernel::product:
            return kProduct[variant];
        case EncodeKernel::basis:
            return launch_basis;
        default:
            return kIqp[variant];
    }
}

/// One encode: where everything lies.
class Encode {
  public:
    Encode(StreamHandle stream, const EncodePlan& plan, const ConstDeviceArray& values,
           const DeviceArray& states, std::uint32_t* status, bool check_only)
        : stream_(stream),
          plan_(plan),
          values_(static_cast<const std::byte*>(values.data)),
          states_(static_cast<std::byte*>(states.data)),
          status_(reinterpret_cast<shared::uvec2*>(status)),
          check_only_(check_only),
          flags_(shared::kEncodeStatusByRow | (check_only ? shared::kEncodeCheckOnly : 0u)) {
        if (plan.task_words != 0)
            tasks_ = Scratch(stream, plan.samples * plan.task_words * 4, kFunction, "tasks");
        if (plan.kernel != EncodeKernel::amplitude_long) return;
        norms_ = Scratch(stream, plan.samples * plan.norm_blocks() * kernels::kNormBytes, kFunction, "norms");
        rows_ = Scratch(stream, plan.samples * kernels::kNormBytes, kFunction, "norms");
    }

    void run() {
        if (plan_.kernel == EncodeKernel::amplitude_long) {
            if (plan_.row_fits()) return long_rows();
            for (std::uint64_t row = 0; row < plan_.samples; ++row) long_windows(row);
        } else if (plan_.row_fits()) {
            whole_rows();
        } else {
            for (std::uint64_t row = 0; row < plan_.samples; ++row) windows(row);
        }
    }

  private:
    // Kernels count in 32 bits.
    std::uint64_t rows_at_a_time(std::uint64_t wanted_bytes) const {
        const std::uint64_t room = std::min(plan_.range_bytes, wanted_bytes);
        const std::uint64_t rows = std::min(room / plan_.row_bytes_out(),
                                            (plan_.range_bytes - plan_.alignment) / plan_.row_bytes_in());
        return std::clamp<std::uint64_t>(rows, 1, plan_.samples);
    }

    const std::byte* values_of(std::uint64_t row, std::uint64_t first = 0) const {
        return values_ + (row * plan_.features + first) * plan_.value_bytes;
    }
    std::byte* state_of(std::uint64_t row, std::uint64_t amplitude = 0) const {
        return states_ + row * plan_.row_bytes_out() + amplitude * plan_.amplitude_bytes;
    }

    void launch(EncodeStep step, EncodeLaunch l) const {
        l.stream = stream_;
        l.plan = &plan_;
        l.step = step;
        l.status = status_;
        l.norms = norms_.as<shared::uvec4>();
        l.rows = rows_.as<shared::uvec4>();
        done(launcher(plan_, step)(l));
    }

    // `count` elements from element `base` of row `row` on.
    void states(std::uint64_t row, std::uint64_t base, std::uint64_t count, std::byte* to) {
        const std::byte* const from = values_of(row);
        const bool paired =
            plan_.features % 2 == 0 && reinterpret_cast<std::uintptr_t>(from) % (2 * plan_.value_bytes) == 0;
        if (plan_.task_words != 0)
            check(cudaMemsetAsync(tasks_.data(), 0, count * plan_.task_words * 4, stream_), kFunction,
                  "cudaMemsetAsync");
        launch(EncodeStep::states,
               {.count = word(count),
                .p = {word(plan_.features), plan_.qubits, plan_.parameter_bits(), 0, word(base), word(row),
                      flags_ | (paired ? shared::kEncodePaired : 0u)},
                .values = from,
                .states = reinterpret_cast<shared::uvec4*>(to),
                .tasks = tasks_.as<std::uint32_t>()});
    }

    void pass(std::byte* states, std::uint64_t bytes, std::uint32_t low, std::uint32_t bits) const {
        const bool wide = plan_.amplitude_bytes == 16;
        done(launch_wht(stream_, wide, states, bytes / 16, low - (wide ? 0 : 1), bits));
    }
    void passes(std::byte* states, std::uint64_t bytes) const {
        if (check_only_) return;
        for (const kernels::EncodePass& p : plan_.passes) pass(states, bytes, p.low, p.bits);
    }

    void whole_rows() {
        const std::uint64_t step = rows_at_a_time(plan_.range_bytes);
        for (std::uint64_t row = 0; row < plan_.samples; row += step) {
            const std::uint64_t rows = std::min(step, plan_.samples - row);
            states(row, 0, rows << plan_.block_bits(), state_of(row));
            passes(state_of(row), rows * plan_.row_bytes_out());
        }
    }

    void windows(std::uint64_t row) {
        const std::uint64_t size = std::uint64_t{1} << plan_.window_bits;
        const std::uint64_t elements = size >> plan_.element_bits, bytes = size * plan_.amplitude_bytes;
        for (std::uint64_t at = 0; at < std::uint64_t{1} << plan_.qubits; at += size) {
            states(row, (at >> plan_.window_bits) * elements, elements, state_of(row, at));
            passes(state_of(row, at), bytes);
        }
        if (plan_.kernel != EncodeKernel::iqp || check_only_) return;
        for (std::uint32_t bit = plan_.window_bits; bit < plan_.qubits; ++bit)
            pass(state_of(row), plan_.row_bytes_out(), bit, 1);
    }

    void norm_blocks(std::uint64_t row, std::uint64_t rows, std::uint64_t first,
                     std::uint64_t features) const {
        const std::uint64_t blocks =
            (features + (std::uint64_t{1} << kernels::kNormBlockBits) - 1) >> kernels::kNormBlockBits;
        const std::uint64_t block = first >> kernels::kNormBlockBits;
        launch(EncodeStep::norm_block, {.count = word(rows * blocks),
                                        .p = {word(features), word(blocks), kernels::kNormBlockBits, 0,
                                              word(block), word(row * plan_.norm_blocks() + block), 0},
                                        .values = values_of(row, first)});
    }
    void norm_rows(std::uint64_t row, std::uint64_t rows) const {
        launch(EncodeStep::norm_row,
               {.count = word(rows), .p = {word(plan_.norm_blocks()), 0, 0, 0, 0, word(row), 0}});
    }
    // 2^bits amplitudes of each of `rows` rows, from `features` values each.
    void scale(std::uint64_t row, std::uint64_t rows, const std::byte* values, std::uint64_t features,
               std::uint32_t bits, std::byte* to) const {
        launch(EncodeStep::scale, {.count = word((rows << bits) * plan_.amplitude_bytes / 16),
                                   .p = {word(features), 0, bits, 0, 0, word(row), 0},
                                   .values = values,
                                   .states = reinterpret_cast<shared::uvec4*>(to)});
    }

    // The norms of one workgroup of rows are found while the values of the workgroup before still lie in the cache.
    void long_rows() const {
        const std::uint64_t step = rows_at_a_time(std::uint64_t{16} << 20), samples = plan_.samples;
        const auto count = [&](std::uint64_t row) { return std::min(step, samples - row); };
        norm_blocks(0, count(0), 0, plan_.features);
        for (std::uint64_t row = 0; row < samples; row += step) {
            norm_rows(row, count(row));
            if (row + step < samples) norm_blocks(row + step, count(row + step), 0, plan_.features);
            if (!check_only_)
                scale(row, count(row), values_of(row), plan_.features, plan_.qubits, state_of(row));
        }
    }

    void long_windows(std::uint64_t row) const {
        const std::uint64_t size = std::uint64_t{1} << plan_.window_bits;
        const auto here = [&](std::uint64_t at) {
            return at >= plan_.features ? 0 : std::min(size, plan_.features - at);
        };
        for (std::uint64_t at = 0; at < plan_.features; at += size) norm_blocks(row, 1, at, here(at));
        norm_rows(row, 1);
        if (check_only_) return;
        for (std::uint64_t at = 0; at < std::uint64_t{1} << plan_.qubits; at += size)
            scale(row, 1, values_of(row, here(at) == 0 ? 0 : at), here(at), plan_.window_bits,
                  state_of(row, at));
    }

    StreamHandle stream_;
    const EncodePlan& plan_;
    const std::byte* values_;
    std::byte* states_;
    shared::uvec2* status_;
    bool check_only_;
    std::uint32_t flags_;
    Scratch tasks_, norms_, rows_;
};

}  // namespace

std::uint32_t held_pairs(const kernels::EncodePlan& plan, std::uint64_t multiprocessor_bytes) {
    // Of the sums of a workgroup, and what the device takes for itself.
    constexpr std::uint64_t kOther = 4096, kFew = 3;
    if (plan.kernel != EncodeKernel::amplitude_shared) return plan.kept_pairs;
    const std::uint64_t workgroup =
        std::uint64_t{kKeptPairs - kFewHeld} * kSharedThreads * 2 * plan.value_bytes + kOther;
    return multiprocessor_bytes / workgroup > kFew ? kFewHeld : kMostHeld;
}

void encode_resident(StreamHandle stream, const EncodePlan& plan, const ConstDeviceArray& values,
                     const DeviceArray& states, std::uint32_t* status, bool check_only) {
    Encode(stream, plan, values, states, status, check_only).run();
}

}  // namespace weft::cuda
