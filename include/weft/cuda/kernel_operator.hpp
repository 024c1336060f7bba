// SPDX-License-Identifier: Apache-2.0
// Quantum kernel matrices that are never stored, by CUDA: <weft/ops/kernel_operator.hpp> with a CUDA stream
// in place of a weft::Stream, and without a Backend for arrays in host memory. Target weft::cuda.
//
// Example:
//     const std::vector<float> x(5000 * 8, 0.5f), v(5000, 1.0f);      // [samples, qubits], radians
//     std::vector<float> out(5000);
//     const weft::cuda::KernelOperator k({}, x, {.samples = 5000, .qubits = 8});
//     weft::cuda::kernel_apply(k, v, out);                            // K v
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/cuda/device.hpp>
#include <weft/ops/kernel_operator.hpp>

namespace weft::cuda {

class Devices;  // <weft/cuda/devices.hpp>
class OperatorObject;

/// The plan of a product on the current device. Kernels are compiled for samples of 4, 8, 12 and 16 qubits
/// (float64: up to 12), of parts of 8 (4) beyond, and for 1, 4 and 16 columns of V. Other samples and columns
/// are filled up. Errors: as weft::estimate_kernel_operator; no_device, driver.
KernelOperatorEstimate estimate_kernel_operator(const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});
/// The same for states that are given, complex64 or complex128.
KernelOperatorEstimate estimate_kernel_operator(ElementType states, const KernelMatrixShape& shape,
                                                std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});
/// The same on several devices. Memory is that of one device; `fits`: on each that is not lost.
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});

/// As weft::KernelOperator. It belongs to the thread's current device, or to each of a Devices that is not
/// lost, and must be used there; its memory is freed with the last copy, after the work of the device is
/// done.
///
/// Further errors of this class and of all functions below: no_device - no NVIDIA driver or no device, the
/// text says which; invalid_argument - an operator of another device; driver, out_of_memory.
class KernelOperator {
  public:
    /// From resident features or states. The work is put on `stream`; use the operator on this stream, or on
    /// others after an event of it.
    KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(StreamHandle stream, const ConstDeviceArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(StreamHandle stream, const weft::detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    /// From host memory; the device has read it when the constructor returns.
    KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x, const ConstHostArray& y,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(const ConstHostArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    /// On every device that is not lost.
    KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const ConstHostArray& y, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Devices& devices, const ConstHostArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Devices& devices, const weft::detail::GivenStates<ConstHostArray>& states,
                   const ConstHostArray& others, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});

    const KernelMatrixShape& shape() const;
    ElementType type() const;
    /// The plan of a product with `columns` columns of V. Errors: invalid_argument - not 1 to 64.
    KernelOperatorEstimate estimate(std::uint32_t columns = 1) const;

  private:
    friend struct weft::detail::Access;
    const std::shared_ptr<const OperatorObject>& object() const noexcept { return object_; }
    std::shared_ptr<const OperatorObject> object_;
};

/// As the functions of the same names in weft. On a stream they do not wait, except kernel_rows for its list
/// of rows, and scratch memory is used in the order of the stream and kept for the next call.
void kernel_apply(StreamHandle stream, const KernelOperator& k, const ConstDeviceArray& v,
                  const DeviceArray& out, const KernelApplyOptions& options = {});
OpReport kernel_apply(const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                      const KernelApplyHostOptions& options = {});
/// Several devices share it as those of a weft::Devices do. Errors: also device_lost.
OpReport kernel_apply(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& options = {});

void kernel_rows(StreamHandle stream, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out);
OpReport kernel_rows(const KernelOperator& k, const std::vector<std::uint32_t>& rows, const HostArray& out,
                     const BatchOptions& batch = {});

void kernel_diagonal(StreamHandle stream, const KernelOperator& k, const DeviceArray& out);
OpReport kernel_diagonal(const KernelOperator& k, const HostArray& out, const BatchOptions& batch = {});

}  // namespace weft::cuda
