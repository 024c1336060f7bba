// SPDX-License-Identifier: Apache-2.0
// The kernels on arrays in host memory, by CUDA: the functions that take a weft::Backend, without one. Target
// weft::cuda.
//
// Arrays are cut into chunks that go through a ring of page-locked slots with a CUDA stream each, so that
// copies there, kernels and copies back overlap. Memory that CUDA page-locked (cudaHostAlloc,
// cudaHostRegister) is copied from where it lies; other memory, weft::HostBuffer's too, by up to 16 threads
// through the slots. They use the calling thread's current device (cudaSetDevice) and return when every
// output is in place; from any number of threads at once. Rings and threads are kept for the next call.
//
// Results and errors are those of the functions of the same name. Of BatchOptions, progress is told of and
// the rest has no meaning here, nor have KernelMatrixOptions::autotune and timings. Errors besides: no_device
// - no NVIDIA driver or no device, said by name; driver, out_of_memory - as CUDA says; outputs are undefined
// then.
#pragma once

#include <cstdint>
#include <span>

#include <weft/batch.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/field.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_search.hpp>

namespace weft::cuda {

BatchReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options = {});
BatchReport field_batch(Field field, FieldOp op, std::span<const Field31Job> jobs,
                        const FieldOptions& options = {});

OpReport encode(EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options = {});

LatticeReport lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                             std::span<std::uint8_t> status = {}, const LatticeEncodeOptions& options = {});
LatticeReport lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                             std::span<const std::uint8_t> status, std::span<float> x,
                             const LatticeDecodeOptions& options = {});
LatticeReport lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                               std::span<std::uint8_t> status = {}, const LatticeEncodeOptions& options = {});
LatticeSearch lattice_search_beta(const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options = {});

/// K, X and Y must fit the device's memory. KernelMatrixHostOptions::autotune = on is refused.
/// Errors: out_of_memory - they do not fit.
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray& y,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const ConstHostArray& states, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const ConstHostArray& states, const ConstHostArray& others, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});

}  // namespace weft::cuda
