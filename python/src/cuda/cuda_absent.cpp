// SPDX-License-Identifier: Apache-2.0
// Completes cuda.hpp where weft::cuda is not built.
#include <weft/error.hpp>

#include "cuda/cuda.hpp"

namespace weft::python {

namespace {

[[noreturn]] void absent(const std::string& call) {
    throw Error(Errc::unsupported,
                call +
                    ": this build of weftgpu has no CUDA (need a build where nvcc is found, or arrays "
                    "in host memory)");
}

}  // namespace

void require_cuda(const char* call) {
    absent(std::string(call) + ": an array on a CUDA device");
}
void check_cuda_memory(const std::string& argument, const void*, std::uint64_t, int) {
    absent(argument);
}
int cuda_device_of_memory(const void*) {
    return 0;  // somewhere: the call refuses it
}

void field_on_cuda(const Place&, Field, FieldOp, const Array&, const Array&, const Array&, const Array&,
                   const FieldOptions&) {}
void encode_on_cuda(const Place&, EncodeMethod, const Array&, const Array&, const StateShape&,
                    const EncodeOptions&) {}
void kernel_matrix_on_cuda(const Place&, const KernelMatrixCircuit*, const Array&, const Array*, const Array&,
                           const KernelMatrixShape&, const KernelMatrixOptions&) {}
void lattice_encode_on_cuda(const Place&, const LatticeCode&, const Array&, const Array&, const Array&,
                            const LatticeOptions&) {}
void lattice_decode_on_cuda(const Place&, const LatticeCode&, const Array&, const Array*, const Array&,
                            const LatticeDecodeOptions&) {}
void lattice_quantize_on_cuda(const Place&, const LatticeCode&, const Array&, const Array&, const Array*,
                              const LatticeOptions&) {}
void lattice_inner_on_cuda(const Place&, const LatticeTable&, const LatticeCode&, const Array&, const Array&,
                           const Array&, const LatticeOptions&) {}

void make_cuda_memory(PyBuffer&, const PyBackend&, const std::string&) {
    absent("Buffer: cuda=True");
}
PyBuffer buffer_of_cuda_array(const PyBackend&, nb::handle, const Place&) {
    absent("from_dlpack: an array on a CUDA device");
}
int cuda_ordinal(const CudaMemory&) {
    return -1;
}
void* cuda_address(const CudaMemory&) {
    return nullptr;
}
void order_consumer(CudaMemory&, std::intptr_t) {}
Event cuda_event(const PyBackend&, std::intptr_t) {
    absent("Backend.cuda_event");
}
void note_use(const Array&, const Place&) {}

}  // namespace weft::python
