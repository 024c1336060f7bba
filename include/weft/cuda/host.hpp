// SPDX-License-Identifier: Apache-2.0
// The ops on arrays in host memory by CUDA: the functions that take a weft::Backend, without one. Target
// weft::cuda.
//
// Example:
//     const std::vector<std::uint64_t> a(4000, 1), b(4000, 2);  // 1000 elements of 4 limbs each
//     std::vector<std::uint64_t> sum(4000);
//     weft::cuda::field_apply(weft::Field::bn254_fr, weft::FieldOp::add, a, b, {}, sum);
//
// Arrays are cut into chunks, which pass through a ring of page-locked slots with one CUDA stream each, so
// that uploads, kernels and downloads overlap. Memory that CUDA page-locked (cudaHostAlloc, cudaHostRegister)
// is copied in place. Other memory, that of a weft::HostBuffer included, is copied through the slots by
// several threads. The functions use the calling thread's current device (cudaSetDevice) and return when
// every output is in place. Any number of threads may call them simultaneously. Rings and threads are kept
// for the next call.
//
// Results and errors are those of the functions of the same name. Of BatchOptions, `progress` and `cancel`
// apply, and `cancel` is checked between chunks; `chunk_elements` and `ring_slots` apply except to kernel
// matrices. A call refuses any other member that differs from its default, and the error names it. Further
// errors: no_device - no NVIDIA driver or no device, the text says which; driver, out_of_memory - outputs are
// undefined then.
#pragma once

#include <cstdint>
#include <span>

#include <weft/batch.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/field.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_search.hpp>
#include <weft/ops/ntt.hpp>

namespace weft::cuda {

/// How calls on host memory are cut and copied where BatchOptions do not say; what Config is for a Backend.
/// 0: as the library chooses.
struct HostSettings {
    std::uint64_t chunk_elements = 0;  ///< GPU_STREAM_CHUNK_ELEMS; 0: chunks of 24 MiB
    std::uint32_t ring_slots = 0;      ///< WEFT_SLOTS, 1 to 16; 0: 4
    std::uint32_t copy_threads = 0;    ///< WEFT_COPY_THREADS, 1 to 256; 0: one a core, at most 16
};
/// For all calls of the process that begin afterwards. The environment is not read: a program that wants the
/// variables to apply passes what weft::Config::from_env() has. Errors: invalid_argument - a value out of
/// range.
void set_host_settings(const HostSettings& settings);

OpReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options = {});
OpReport field_apply(Field field, FieldOp op, const ConstHostArray& a, const ConstHostArray& b,
                     const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options = {});

/// Rows are cut into chunks of transforms. NttLayout::columns is one chunk, which must fit the device's
/// memory, and so is a product.
OpReport ntt(Field field, NttDirection direction, const ConstHostArray& in, const HostArray& out,
             const NttShape& shape, const NttHostOptions& options = {});
OpReport ntt_extend(Field field, const ConstHostArray& in, const HostArray& out, const NttShape& shape,
                    std::uint32_t blowup, const NttHostOptions& options = {});
OpReport ntt_product(Field field, const ConstHostArray& a, const ConstHostArray& b, const HostArray& out,
                     const FieldHostOptions& options = {});

OpReport encode(EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options = {});
/// The arrays are encoded one after the other.
OpReport encode_batch(EncodeMethod method, std::span<const EncodeJob> jobs, std::uint32_t qubits,
                      const EncodeHostOptions& options = {});

OpReport lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                        std::span<std::uint8_t> status = {}, const LatticeHostOptions& options = {});
OpReport lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options = {});
OpReport lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                          std::span<std::uint8_t> status = {}, const LatticeHostOptions& options = {});
LatticeSearch lattice_search_beta(const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options = {});

/// K need not fit the device's memory: it is made in blocks or rows, while those before are copied to the
/// host. KernelMatrixHostOptions::autotune = on is refused. Errors: out_of_memory - no plan fits.
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray& y,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const ConstHostArray& states, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});

}  // namespace weft::cuda
