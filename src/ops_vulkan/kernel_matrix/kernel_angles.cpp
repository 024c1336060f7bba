// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_angles.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::kernels {
namespace {

constexpr std::uint32_t kAnglesWork32[] = {
#include "shaders/kernel_angles_work32.spv.inc"
};
constexpr std::uint32_t kAnglesWork64[] = {
#include "shaders/kernel_angles_work64.spv.inc"
};

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

Program angles_program(const Stream& stream, bool work64) {
    constexpr std::uint32_t kLocalSize = 128;
    using ShaderWords = std::span<const std::uint32_t>;
    return {stream,
            work64 ? ShaderWords(kAnglesWork64) : ShaderWords(kAnglesWork32),
            {.name = "kernel_angles",
             .constants = {{0u, kLocalSize}},
             .max_groups = stream.device().limits.max_group_count[0]}};
}

}  // namespace

void record_angles(Stream& stream, const KernelFeatures& x, std::uint64_t rows, const AngleForm& form,
                   const AnglePlanes& planes, std::uint64_t base) {
    const DeviceLimits& limits = stream.device().limits;
    const Program program = angles_program(stream, planes.work64);
    const std::uint64_t scale = std::bit_cast<std::uint64_t>(form.scale), qubits = planes.qubits;
    const std::uint64_t unit = value_bytes(x.type);
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(range / unit, 1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const BoundWords bound = bind_units(limits, x.object, x.first + row * qubits, some * qubits, unit);
        stream.dispatch(
            program, {bound.words, planes.words}, some * qubits,
            shared::KernelAngleParameters{word(qubits), bound.before, word(base + row), word(planes.stride),
                                          word(scale), word(scale >> 32),
                                          x.type == ValueType::float64 ? 1u : 0u, form.halved ? 1u : 0u});
    }
}

void angles_of_source(Stream& stream, const KernelSource& x, std::uint64_t rows, const AngleForm& form,
                      const AnglePlanes& planes, std::uint64_t base) {
    const std::uint64_t count = rows * planes.qubits, words = count * value_bytes(x.type) / 4;
    const Buffer<std::uint32_t> features(static_cast<const Stream&>(stream), words, "kernel features");
    stream.upload(std::span<const std::uint32_t>(static_cast<const std::uint32_t*>(x.data), words),
                  features.view());
    const auto object = features.view().object();
    record_angles(stream,
                  x.type == ValueType::float32 ? KernelFeatures(BufferView<const float>(object, 0, count))
                                               : KernelFeatures(BufferView<const double>(object, 0, count)),
                  rows, form, planes, base);
}

Buffer<std::uint32_t> make_planes(const Stream& stream, const KernelPlan& plan) {
    return {stream, plan.planes_values() * plan.real_bytes() / 4, "kernel planes"};
}

AnglePlanes planes_of(const KernelPlan& plan, const Buffer<std::uint32_t>& buffer) {
    return {buffer.view(), plan.stride, plan.shape.qubits, plan.work64};
}

}  // namespace weft::kernels
