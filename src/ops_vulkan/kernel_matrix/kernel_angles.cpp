// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_angles.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::kernels {
namespace {

constexpr std::uint32_t kAnglesWork32[] = {
#include "shaders/kernel_angles_real32.spv.inc"
};
constexpr std::uint32_t kAnglesWork64[] = {
#include "shaders/kernel_angles_real64.spv.inc"
};

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

Program angles_program(const Stream& stream, bool real64) {
    constexpr std::uint32_t kLocalSize = 128;
    using ShaderWords = std::span<const std::uint32_t>;
    return {stream,
            real64 ? ShaderWords(kAnglesWork64) : ShaderWords(kAnglesWork32),
            {.name = "kernel_angles",
             .constants = {{0u, kLocalSize}},
             .max_workgroups = stream.device().limits.max_workgroup_count[0]}};
}

}  // namespace

Words words_of(const std::shared_ptr<core::BufferObject>& object, std::uint64_t first, std::uint64_t count) {
    return detail::Access::make<Words>(object, first, count);
}

BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit) {
    const std::uint64_t alignment = std::max<std::uint64_t>(limits.storage_buffer_offset_alignment, unit);
    const std::uint64_t begin = first * unit, aligned = begin / alignment * alignment;
    return {words_of(object, aligned / 4, (begin + count * unit - aligned) / 4),
            word((begin - aligned) / unit)};
}

BoundWords bind_elements(const DeviceLimits& limits, const ConstDeviceArray& array, std::uint64_t first,
                         std::uint64_t count) {
    return bind_units(limits, detail::Access::object(array), array.first() + first, count,
                      array.type().bytes());
}

void record_angles(Stream& stream, const ConstDeviceArray& x, std::uint64_t rows, const AngleLayout& variant,
                   const AnglePlanes& planes, std::uint64_t base) {
    const DeviceLimits& limits = stream.device().limits;
    const Program program = angles_program(stream, planes.real64);
    const std::uint64_t scale = std::bit_cast<std::uint64_t>(variant.scale), qubits = planes.qubits;
    const std::uint64_t unit = x.type().bytes();
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(range / unit, 1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const BoundWords bound = bind_elements(limits, x, row * qubits, some * qubits);
        stream.dispatch(
            program, {bound.words, planes.words}, some * qubits,
            shared::KernelAngleParameters{word(qubits), bound.before, word(base + row), word(planes.stride),
                                          word(scale), word(scale >> 32),
                                          x.type() == kFloat64 ? 1u : 0u, variant.halved ? 1u : 0u});
    }
}

void angles_of_source(Stream& stream, const ConstHostArray& x, std::uint64_t rows, const AngleLayout& variant,
                      const AnglePlanes& planes, std::uint64_t base) {
    const std::uint64_t count = rows * planes.qubits, words = count * x.type.bytes() / 4;
    const Buffer<std::uint32_t> features(static_cast<const Stream&>(stream), words, "kernel features");
    stream.upload(std::span<const std::uint32_t>(static_cast<const std::uint32_t*>(x.data), words),
                  features.view());
    const auto record = [&]<class T>(T) {
        const auto view = detail::Access::make<BufferView<const T>>(detail::Access::object(features.view()),
                                                                    std::size_t{0}, count);
        record_angles(stream, view, rows, variant, planes, base);
    };
    if (x.type == kFloat32)
        record(float{});
    else
        record(double{});
}

Buffer<std::uint32_t> make_planes(const Stream& stream, const KernelMatrixPlan& plan) {
    return {stream, plan.planes_values() * plan.real_bytes() / 4, "kernel planes"};
}

AnglePlanes planes_of(const KernelMatrixPlan& plan, const Buffer<std::uint32_t>& buffer) {
    return {buffer.view(), plan.stride, plan.shape.qubits, plan.real64};
}

}  // namespace weft::kernels
