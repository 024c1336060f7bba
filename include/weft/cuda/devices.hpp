// SPDX-License-Identifier: Apache-2.0
// Several CUDA devices behind one call: the functions of <weft/cuda/host.hpp>, which take a Devices first.
// Target weft::cuda.
//
// Example:
//     weft::cuda::Devices devices{"all"};
//     const std::vector<std::uint64_t> a(4000, 1), b(4000, 2);  // 1000 elements of 4 limbs each
//     std::vector<std::uint64_t> sum(4000);
//     weft::cuda::field_apply(devices, weft::Field::bn254_fr, weft::FieldOp::add, a, b, {}, sum);
//
// Work is shared as by a weft::Devices, with the same results and reports; the calling thread's current
// device is not changed. One device takes columns of transforms, and a product of polynomials, as a whole. A
// device is lost when a kernel or the hardware fails on it, or when its context is destroyed
// (cudaDeviceReset): CUDA allows nothing more on it in this process. The other devices do what it has not
// finished, and later calls leave it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <weft/cuda/device.hpp>
#include <weft/cuda/host.hpp>
#include <weft/error.hpp>

namespace weft::cuda {

class DevicesState;

/// Move-only. May be used from many threads simultaneously.
class Devices {
  public:
    /// Every device that `list` names, as find_device takes it. A device that is named twice gets two places
    /// ("0,0"). Empty: the first device alone. Errors: as find_device.
    explicit Devices(const std::string& list = "all");
    Devices(Devices&&) noexcept;
    Devices& operator=(Devices&&) noexcept;
    ~Devices();

    std::size_t size() const;
    /// Errors: invalid_argument - beyond the last.
    const DeviceInfo& operator[](std::size_t index) const;
    /// Whether a call found the device lost, so that later calls leave it out.
    bool lost(std::size_t index) const;

  private:
    friend struct weft::detail::Access;
    DevicesState& state() const;

    std::shared_ptr<DevicesState> state_;
};

OpReport field_batch(Devices& devices, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options = {});
OpReport field_apply(Devices& devices, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options = {});

OpReport ntt(Devices& devices, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options = {});
OpReport ntt_extend(Devices& devices, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options = {});
OpReport ntt_product(Devices& devices, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options = {});

OpReport encode(Devices& devices, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options = {});
OpReport encode_batch(Devices& devices, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options = {});

OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status = {},
                        const LatticeHostOptions& options = {});
OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options = {});
OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status = {},
                          const LatticeHostOptions& options = {});
LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options = {});

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const weft::detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});

}  // namespace weft::cuda
