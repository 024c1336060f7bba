// SPDX-License-Identifier: Apache-2.0
// Kernel matrices in CUDA device memory: <weft/ops/kernel_matrix.hpp>'s functions with a CUDA stream. Target
// weft::cuda.
//
// Example:
//     weft::cuda::StreamHandle stream = nullptr;                       // CUDA's default stream
//     weft::cuda::DeviceSpan<const weft::c32> states;                  // [256, 2^8], of cudaMalloc
//     weft::cuda::DeviceSpan<float> k;
//     weft::cuda::kernel_matrix(stream, states, k, {.samples = 256, .qubits = 8});
#pragma once

#include <weft/cuda/device.hpp>
#include <weft/ops/kernel_matrix.hpp>

namespace weft::cuda {

/// Puts a kernel matrix on `stream`. Types, shapes, bounds and errors are those of weft::kernel_matrix on a
/// weft::Stream. Tiles are planned, not measured, so KernelMatrixOptions::autotune = on is refused. Only the
/// copy of weights waits. Scratch memory is used in the order of the stream and kept for the next call.
///
/// Further errors: no_device - no NVIDIA driver or no device, the text says which; invalid_argument - memory
/// that is not aligned to 16 bytes; driver, out_of_memory.
void kernel_matrix(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const ConstDeviceArray& states, const DeviceArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options = {});
void kernel_matrix(StreamHandle stream, const weft::detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});

}  // namespace weft::cuda
