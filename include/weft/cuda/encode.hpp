// SPDX-License-Identifier: Apache-2.0
// Encoding of quantum data in CUDA device memory: encode.hpp's functions with a CUDA stream. Target
// weft::cuda.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/cuda/device.hpp>
#include <weft/ops/encode.hpp>

namespace weft::cuda {

class Scratch;

/// Values in device memory: a DeviceSpan of float, double or, for basis, int64_t.
struct EncodeValues {
    template <class T>
    requires EncodeValue<std::remove_const_t<T>> EncodeValues(
        DeviceSpan<T> span)
        : data(span.data()), count(span.size()), type(kValueType<std::remove_const_t<T>>) {}

    const void* data;
    std::uint64_t count;
    ValueType type;
};

/// States in device memory that begin at a multiple of 16 bytes: a DeviceSpan of c32 or c64.
struct EncodeStates {
    template <EncodeAmplitude T>
    EncodeStates(DeviceSpan<T> span)
        : data(span.data()), count(span.size()), type(kStateType<T>) {}

    void* data;
    std::uint64_t count;
    StateType type;
};

/// What became of the samples, as weft::EncodeOutcome. It holds memory that is given back in the order of the
/// stream, which must still be there then.
class EncodeOutcome {
  public:
    /// Waits for `stream` and returns every sample at fault. Errors: as CUDA says.
    std::vector<EncodeFailure> failures(StreamHandle stream) const;
    /// The same, as an error. Errors: EncodeError - at least one sample could not be encoded.
    void check(StreamHandle stream) const;

    /// For the other parts of weft.
    EncodeOutcome(EncodeMethod method, std::uint64_t samples, std::shared_ptr<Scratch> status)
        : method_(method), samples_(samples), status_(std::move(status)) {}

  private:
    EncodeMethod method_;
    std::uint64_t samples_;
    std::shared_ptr<Scratch> status_;
};

/// Puts an encode on `stream`. Shapes, bounds and errors are those of weft::encode on a weft::Stream; with
/// EncodeOptions::strict it waits, else nothing does. Scratch lies in memory that the stream orders and that
/// is kept for the next call.
///
/// Errors besides: no_device - no NVIDIA driver or no device, said by name; invalid_argument - memory that is
/// not aligned or overlaps; driver, out_of_memory - as CUDA says.
EncodeOutcome encode(StreamHandle stream, EncodeMethod method, const EncodeValues& values,
                     const EncodeStates& states, const StateShape& shape, const EncodeOptions& options = {});

inline EncodeOutcome encode_amplitude(StreamHandle stream, const EncodeValues& values,
                                      const EncodeStates& states, const StateShape& shape,
                                      const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::amplitude, values, states, shape, options);
}
inline EncodeOutcome encode_angle(StreamHandle stream, const EncodeValues& values, const EncodeStates& states,
                                  const StateShape& shape, const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::angle, values, states, shape, options);
}
inline EncodeOutcome encode_basis(StreamHandle stream, const EncodeValues& values, const EncodeStates& states,
                                  const StateShape& shape, const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::basis, values, states, shape, options);
}
inline EncodeOutcome encode_phase(StreamHandle stream, const EncodeValues& values, const EncodeStates& states,
                                  const StateShape& shape, const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::phase, values, states, shape, options);
}
inline EncodeOutcome encode_iqp(StreamHandle stream, const EncodeValues& values, const EncodeStates& states,
                                const StateShape& shape, const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::iqp, values, states, shape, options);
}
inline EncodeOutcome encode_iqp_z(StreamHandle stream, const EncodeValues& values, const EncodeStates& states,
                                  const StateShape& shape, const EncodeOptions& options = {}) {
    return encode(stream, EncodeMethod::iqp_z, values, states, shape, options);
}

}  // namespace weft::cuda
