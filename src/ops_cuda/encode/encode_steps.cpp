// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/encode/encode_steps.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/scratch.hpp"
#include "ops/encode/encode_schedule.hpp"
#include "ops_cuda/encode/encode_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::EncodeDispatch;
using kernels::EncodeKernel;
using kernels::EncodePlan;

constexpr const char* kFunction = "encode";

// The launcher of a step, by kernel, type of values and type of arithmetic.
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

EncodeShape shape_of(const EncodePlan& plan) {
    return {.wide_states = plan.types.states == kComplex128,
            .input = kernels::input_of_basis(plan.types.values),
            .method = kernels::product_method(plan.method),
            .direct = plan.kernel == EncodeKernel::iqp_direct,
            .local_size = plan.local_size,
            .team_size = plan.team_size,
            .kept_pairs = plan.kept_pairs,
            .held_pairs = plan.held_pairs,
            .workgroups_per_row = plan.workgroups_per_row,
            .rows_per_workgroup = plan.rows_per_workgroup,
            .slab_bits = plan.slab_bits,
            .element_bits = plan.element_bits};
}

/// One encode and the memory that it uses.
class Encode {
  public:
    Encode(StreamHandle stream, const EncodePlan& plan, const ConstDeviceArray& values,
           const DeviceArray& states, std::uint32_t* status)
        : stream_(stream),
          plan_(plan),
          values_(static_cast<const std::byte*>(values.data)),
          states_(static_cast<std::byte*>(states.data)),
          status_(reinterpret_cast<shared::uvec2*>(status)) {
        if (plan.task_words != 0)
            tasks_ = Scratch(stream, plan.samples * plan.task_words * 4, kFunction, "tasks");
        if (plan.kernel != EncodeKernel::amplitude_long) return;
        norms_ = Scratch(stream, plan.samples * plan.norm_blocks() * kernels::kNormBytes, kFunction, "norms");
        rows_ = Scratch(stream, plan.samples * kernels::kNormBytes, kFunction, "norms");
    }

    void run(const EncodeDispatch& d) const {
        if (d.step == EncodeStep::pass || d.step == EncodeStep::join) return transform(d);
        const std::byte* const from = values_ + (d.row * plan_.features + d.value) * plan_.value_bytes;
        EncodeLaunch launch{.stream = stream_,
                            .shape = shape_of(plan_),
                            .step = d.step,
                            .count = static_cast<std::uint32_t>(d.count),
                            .p = d.parameters,
                            .values = from,
                            .states = reinterpret_cast<shared::uvec4*>(state_of(d)),
                            .status = status_,
                            .norms = norms_.as<shared::uvec4>(),
                            .rows = rows_.as<shared::uvec4>(),
                            .tasks = tasks_.as<std::uint32_t>()};
        if (reinterpret_cast<std::uintptr_t>(from) % (2 * plan_.value_bytes) != 0)
            launch.p.flags &= ~shared::kEncodePaired;
        if (d.step == EncodeStep::states && plan_.task_words != 0)
            check(cudaMemsetAsync(tasks_.data(), 0, d.count * plan_.task_words * 4, stream_), kFunction,
                  "cudaMemsetAsync");
        check_launch(launcher(plan_, d.step)(launch), kFunction);
    }

  private:
    std::byte* state_of(const EncodeDispatch& d) const {
        return states_ + d.row * plan_.row_bytes_out() + d.amplitude * plan_.amplitude_bytes;
    }
    // A join needs no windows, because the whole state is one range here.
    void transform(const EncodeDispatch& d) const {
        const bool wide = plan_.amplitude_bytes == 16, join = d.step == EncodeStep::join;
        const std::uint64_t units = d.rows * d.amplitudes * plan_.amplitude_bytes / 16;
        const std::uint32_t low = join ? d.bits - (wide ? 0 : 1) : d.parameters.base;
        check_launch(launch_wht(stream_, wide, state_of(d), units, low, join ? 1 : d.bits), kFunction);
    }

    StreamHandle stream_;
    const EncodePlan& plan_;
    const std::byte* values_;
    std::byte* states_;
    shared::uvec2* status_;
    Scratch tasks_, norms_, rows_;
};

}  // namespace

std::uint32_t held_pairs(const kernels::EncodePlan& plan, std::uint64_t multiprocessor_bytes) {
    // Bytes of the sums of a workgroup, with what the device takes for itself.
    constexpr std::uint64_t kOther = 4096, kFew = 3;
    if (plan.kernel != EncodeKernel::amplitude_shared) return plan.kept_pairs;
    const std::uint64_t workgroup =
        std::uint64_t{kKeptPairs - kFewHeld} * kSharedThreads * 2 * plan.value_bytes + kOther;
    return multiprocessor_bytes / workgroup > kFew ? kFewHeld : kMostHeld;
}

void encode_resident(StreamHandle stream, const EncodePlan& plan, const ConstDeviceArray& values,
                     const DeviceArray& states, std::uint32_t* status, bool check_only) {
    const Encode encode(stream, plan, values, states, status);
    for (const EncodeDispatch& d : kernels::encode_schedule(plan, check_only)) encode.run(d);
}

}  // namespace weft::cuda
