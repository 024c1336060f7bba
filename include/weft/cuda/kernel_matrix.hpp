// SPDX-License-Identifier: Apache-2.0
// Kernel matrices in CUDA device memory: kernel_matrix.hpp's functions with a CUDA stream. Target weft::cuda.
#pragma once

#include <cstdint>
#include <type_traits>

#include <weft/cuda/device.hpp>
#include <weft/ops/kernel_matrix.hpp>

namespace weft::cuda {

/// Features [samples, qubits], or states, in device memory.
struct KernelFeatures {
    template <class T>
    requires KernelReal<std::remove_const_t<T>> KernelFeatures(
        DeviceSpan<T> span)
        : data(span.data()), count(span.size()), type(kValueType<std::remove_const_t<T>>) {}

    const void* data;
    std::uint64_t count;
    ValueType type;
};
struct KernelStates {
    template <class T>
    requires EncodeAmplitude<std::remove_const_t<T>> KernelStates(
        DeviceSpan<T> span)
        : data(span.data()), count(span.size()), type(kStateType<std::remove_const_t<T>>) {}

    const void* data;
    std::uint64_t count;
    StateType type;
};
/// A kernel matrix in device memory.
struct KernelValues {
    template <KernelReal T>
    KernelValues(DeviceSpan<T> span)
        : data(span.data()), count(span.size()), type(kValueType<T>) {}

    void* data;
    std::uint64_t count;
    ValueType type;
};

/// Puts a kernel matrix on `stream`. Shapes, bounds and errors are those of weft::kernel_matrix on a
/// weft::Stream; KernelMatrixOptions::progress, cancel and autotune are not looked at: tiles are planned, not
/// measured. Nothing waits but what weights take to be copied. Scratch lies in memory that the stream orders
/// and that is kept for the next call.
///
/// Errors besides: no_device - no NVIDIA driver or no device, said by name; invalid_argument - memory that is
/// not aligned to 16 bytes; driver, out_of_memory - as CUDA says.
void kernel_matrix(StreamHandle stream, const KernelFeatures& x, const KernelValues& k,
                   const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit = {},
                   const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const KernelFeatures& x, const KernelFeatures& y,
                   const KernelValues& k, const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit = {},
                   const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const KernelStates& states, const KernelValues& k,
                   const StateShape& shape, const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const KernelStates& x, const KernelStates& y, const KernelValues& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options = {});

}  // namespace weft::cuda
