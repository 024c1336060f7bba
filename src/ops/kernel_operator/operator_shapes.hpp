// SPDX-License-Identifier: Apache-2.0
// The constants of the shader that sums up kernel values (shaders/kernel_operator/operator_apply.glsl.h):
// specialization constants in Vulkan, template arguments in CUDA, whose kernels are compiled ahead for few
// shapes. Pure.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// What the constants follow from.
struct PassNeeds {
    std::uint32_t numbers = 4;  ///< of a part of a sample, with those that fill it up
    std::uint32_t width = 1;    ///< columns of V
    bool symmetric = false;
    bool parts = false;  ///< samples have several parts
    bool real64 = false;
};
struct PassShape {
    std::uint32_t workgroup = 128;  ///< invocations
    std::uint32_t rows = 4;         ///< of an invocation
    std::uint32_t tile = 64;        ///< columns of K of the innermost sum
    std::uint32_t together = 4;     ///< columns of K in straight code
};

/// Numbers of a part of so many qubits; shaders read four together.
constexpr std::uint32_t padded_numbers(std::uint32_t qubits, std::uint32_t of_qubit) noexcept {
    return (qubits * of_qubit + 3) / 4 * 4;
}

/// Rows of an invocation: as many as leave room in its registers.
constexpr std::uint32_t rows_in_registers(const PassNeeds& needs) noexcept {
    if (needs.parts) return needs.real64 ? 1 : 2;
    // Measured on an NVIDIA H200: more rows than these spill, fewer load more often.
    const std::uint32_t registers = needs.real64 ? 127 : 255;
    const std::uint32_t of_row = needs.numbers + needs.width * (needs.symmetric ? 3 : 2);
    if (8 * of_row <= registers / 2) return 8;
    for (std::uint32_t rows = 4; rows > 1; --rows)
        if (rows * of_row + needs.numbers + needs.numbers / 4 <= registers) return rows;
    return 1;
}

constexpr PassShape gpu_shape(const PassNeeds& needs) noexcept {
    PassShape shape;
    shape.rows = rows_in_registers(needs);
    if (needs.parts) shape.tile = needs.real64 ? 8 : 16;
    return shape;
}

/// Shared memory of a workgroup, as operator_apply.glsl.h has it.
constexpr std::uint64_t shared_bytes(const PassShape& shape, const PassNeeds& needs) noexcept {
    constexpr std::uint64_t kBatch = 16;
    std::uint64_t numbers = std::uint64_t{shape.tile} * (needs.numbers + needs.width);
    if (needs.symmetric)
        numbers += kBatch * (shape.workgroup + 1) +
                   std::uint64_t{shape.tile} * needs.width * (shape.workgroup / kBatch);
    return numbers * (needs.real64 ? 8 : 4);
}

/// The shape with so few invocations and columns that a workgroup takes at most `most` bytes of shared
/// memory.
constexpr PassShape that_fits(PassShape shape, const PassNeeds& needs, std::uint64_t most) noexcept {
    while (needs.symmetric && shared_bytes(shape, needs) > most && shape.workgroup > 32) shape.workgroup /= 2;
    while (shared_bytes(shape, needs) > most && shape.tile > 8) shape.tile /= 2;
    return shape;
}

/// The same for rows of K (operator_rows.glsl.h).
struct RowsShape {
    std::uint32_t workgroup = 128;  ///< invocations
    std::uint32_t rows = 8;         ///< of a workgroup
    std::uint32_t columns = 4;      ///< of an invocation
};
/// Of a call with so many rows; CUDA's kernels are compiled for this shape.
constexpr RowsShape gpu_rows_shape(std::uint64_t rows, bool real64) noexcept {
    RowsShape shape;
    shape.rows = rows == 1 ? 1 : real64 ? 4 : 8;  // as many values as registers hold
    return shape;
}

// What CUDA's kernels are compiled for. Samples of more qubits than the last count have parts.
inline constexpr std::uint32_t kCompiledQubits[] = {4, 8, 12, 16};
inline constexpr std::uint32_t kCompiledWidths[] = {1, 4, 16};
constexpr std::uint32_t most_compiled_qubits(bool real64) noexcept {
    return real64 ? 12 : 16;
}
/// Qubits of a part where samples have several.
constexpr std::uint32_t compiled_part_qubits(bool real64) noexcept {
    return real64 ? 4 : 8;
}
/// Qubits of a part of samples of so many qubits.
constexpr std::uint32_t compiled_part(std::uint32_t qubits, bool real64) noexcept {
    if (qubits > most_compiled_qubits(real64)) return compiled_part_qubits(real64);
    for (const std::uint32_t compiled : kCompiledQubits)
        if (qubits <= compiled) return compiled;
    return 0;
}
/// Columns of a pass that has `columns` of V, at most 16.
constexpr std::uint32_t compiled_width(std::uint32_t columns) noexcept {
    for (const std::uint32_t compiled : kCompiledWidths)
        if (columns <= compiled) return compiled;
    return 0;
}

}  // namespace weft::kernels
