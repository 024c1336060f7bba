// SPDX-License-Identifier: Apache-2.0
// Encoding of quantum data in CUDA device memory: <weft/ops/encode.hpp>'s functions with a CUDA stream.
// Target weft::cuda.
//
// Example:
//     weft::cuda::StreamHandle stream = nullptr;                       // CUDA's default stream
//     weft::cuda::DeviceSpan<const float> angles;                      // [samples, qubits], of cudaMalloc
//     weft::cuda::DeviceSpan<weft::c32> states;
//     weft::encode_angle(stream, angles, states, {.samples = 256, .qubits = 8});
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weft/cuda/device.hpp>
#include <weft/ops/encode.hpp>

namespace weft::cuda {

class Scratch;

/// The outcome of an encode, as weft::EncodeOutcome. It holds memory that is given back in the order of the
/// stream, which must still exist then.
class EncodeOutcome {
  public:
    /// Waits for `stream` and returns every sample at fault. Errors: driver, device_lost.
    std::vector<EncodeFailure> failures(StreamHandle stream) const;
    /// Throws the failures. Errors: EncodeError - at least one sample could not be encoded; as failures().
    void require_all(StreamHandle stream) const;

  private:
    friend EncodeOutcome encode(StreamHandle, EncodeMethod, const ConstDeviceArray&, const DeviceArray&,
                                const StateShape&, const EncodeOptions&);
    EncodeOutcome(EncodeMethod method, std::uint64_t samples, std::shared_ptr<Scratch> status)
        : method_(method), samples_(samples), status_(std::move(status)) {}

    EncodeMethod method_;
    std::uint64_t samples_;
    std::shared_ptr<Scratch> status_;
};

/// Puts an encode on `stream`. Types, shapes, bounds and errors are those of weft::encode on a weft::Stream;
/// states begin at a multiple of 16 bytes. It waits only with check_values. Scratch memory is used in the
/// order of the stream and kept for the next call.
///
/// Further errors: no_device - no NVIDIA driver or no device, the text says which; invalid_argument - memory
/// that is not aligned or overlaps; driver, out_of_memory.
EncodeOutcome encode(StreamHandle stream, EncodeMethod method, const ConstDeviceArray& values,
                     const DeviceArray& states, const StateShape& shape, const EncodeOptions& options = {});

using weft::encode_amplitude, weft::encode_angle, weft::encode_basis, weft::encode_iqp, weft::encode_iqp_z,
    weft::encode_phase;

}  // namespace weft::cuda
