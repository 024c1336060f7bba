// SPDX-License-Identifier: Apache-2.0
// What weftgpu does with arrays on CUDA devices. cuda_arrays.cpp, cuda_ops.cpp and cuda_memory.cpp implement
// it where weft::cuda is built; elsewhere cuda_absent.cpp does, whose functions say that it is not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <weft/ops/encode.hpp>
#include <weft/ops/field.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>

#include "arrays.hpp"
#include "backend.hpp"
#include "buffer.hpp"

namespace weft::python {

/// The CUDA device that the array says it is on; -1: none.
int cuda_device_of(nb::handle object);
/// Whether the array's library says so, beside DLPack, where libraries of immutable arrays may not say it.
bool is_read_only(nb::handle object);
/// A DLPack capsule of an array on a CUDA device, whose values are complete in the order of `stream`.
/// `argument` begins the texts of errors. Errors: TypeError - what the array's library refuses.
nb::object cuda_capsule(const std::string& argument, nb::handle object, std::intptr_t stream);
/// A new array of the library of place.like, or a Buffer.
nb::object new_cuda_array(const Place& place, ElementType type, const Shape& shape);

/// Errors: Unavailable - no CUDA in this build, no driver, or no device.
void require_cuda(const char* call);
/// Errors: InvalidArgument - not CUDA memory of the device, from the first byte to the last.
void check_cuda_memory(const std::string& argument, const void* data, std::uint64_t bytes, int ordinal);
/// The device that memory lies on; -1: no CUDA memory.
int cuda_device_of_memory(const void* data);

// The ops on arrays of one place, which were checked. They put work on the stream of the place.

void field_on_cuda(const Place&, Field, FieldOp, const Array& a, const Array& b, const Array& scalar,
                   const Array& out, const FieldOptions&);
/// Waits. Errors: EncodeError.
void encode_on_cuda(const Place&, EncodeMethod, const Array& values, const Array& states, const StateShape&,
                    const EncodeOptions&);
/// Of states where `circuit` is null; without `y`, of x with itself.
void kernel_matrix_on_cuda(const Place&, const KernelMatrixCircuit* circuit, const Array& x, const Array* y,
                           const Array& k, const KernelMatrixShape&, const KernelMatrixOptions&);
void lattice_encode_on_cuda(const Place&, const LatticeCode&, const Array& x, const Array& codes,
                            const Array& status, const LatticeOptions&);
/// Without `status`, no vector was retried.
void lattice_decode_on_cuda(const Place&, const LatticeCode&, const Array& codes, const Array* status,
                            const Array& x, const LatticeDecodeOptions&);
void lattice_quantize_on_cuda(const Place&, const LatticeCode&, const Array& x, const Array& y,
                              const Array* status, const LatticeOptions&);
void lattice_inner_on_cuda(const Place&, const LatticeTable&, const LatticeCode&, const Array& x,
                           const Array& y, const Array& out, const LatticeOptions&);

// Memory that weft and CUDA share.

/// Memory of a Buffer for CUDA, too. Errors: Unavailable - the backend's device is no CUDA device.
void make_cuda_memory(PyBuffer& buffer, const PyBackend& backend, const std::string& name);
/// The array as a Buffer: its own memory if that can be shared, otherwise a copy on the device.
PyBuffer buffer_of_cuda_array(const PyBackend& backend, nb::handle object, const Place& place);
int cuda_ordinal(const CudaMemory& memory);
void* cuda_address(const CudaMemory& memory);
/// Work of the consumer on its stream, a number as __dlpack__ takes it, runs after what was done so far.
void order_consumer(CudaMemory& memory, std::intptr_t stream);
/// Reached when all work that the stream has been given is done.
Event cuda_event(const PyBackend& backend, std::intptr_t stream);
/// `array` was given to work on the stream: later work on its memory, if weft shares it, runs after that.
void note_use(const Array& array, const Place& place);

}  // namespace weft::python
