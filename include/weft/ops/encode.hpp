// SPDX-License-Identifier: Apache-2.0
// Classical values into quantum states, batch by batch: on resident buffers, or streamed from and to host
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/ops/encode_memory.hpp>
#include <weft/array.hpp>
#include <weft/stream.hpp>

namespace weft {

/// How values become a state s of n qubits, N = 2^n; b_k(i) is bit k of i. One sample is a batch of one.
enum class EncodeMethod {
    amplitude,  ///< up to N values x: s[i] = x[i] / ||x||, zeros behind them
    angle,      ///< n angles, radians, not halved: s[i] = prod over k of (b_k(i) ? sin x[k] : cos x[k])
    basis,      ///< 1 index: s[index] = 1
    phase,      ///< n angles: s[i] = 2^(-n/2) exp(j sum_k x[k] b_k(i))
    iqp,  ///< n + n(n-1)/2 angles d_i, then d_ij for (0,1) (0,2) .. (1,2) ..: H^n diag(e^(j theta)) H^n |0>,
          ///< theta(x) = sum_i d_i b_i(x) + sum over i < j of d_ij b_i(x) b_j(x)
    iqp_z,  ///< n angles: iqp without the pairs, a product state
};
const char* to_string(EncodeMethod method) noexcept;  ///< "iqp-z" for iqp_z
/// The method of that name, in any case. Errors: invalid_argument - the text lists the six.
EncodeMethod encode_method(std::string_view name);

inline constexpr std::uint32_t kMaxQubits = 30;

/// Values of a sample; for amplitude the most. Errors: invalid_argument - qubits outside 1..30.
std::uint64_t encode_features(EncodeMethod method, std::uint32_t qubits);

/// What is wrong with a sample.
enum class EncodeFault {
    zero_norm = 1,  ///< amplitude of zeros only
    not_a_number,
    infinite,
    negative,      ///< basis index below 0; -0.0 is 0
    fractional,    ///< basis index that is no whole number
    out_of_range,  ///< basis index of 2^n or more
    inexact,       ///< basis index of 2^24 or more as float32, which may stand for its neighbour
};
const char* to_string(EncodeFault fault) noexcept;

struct EncodeFailure {
    std::uint64_t sample = 0;
    std::uint64_t position = 0;  ///< of the first value at fault in its sample; 0 for zero_norm
    EncodeFault fault = EncodeFault::zero_norm;
};

/// invalid_argument with every sample that cannot be encoded; the text names the first ones.
class EncodeError : public Error {
  public:
    EncodeError(const std::string& what, std::vector<EncodeFailure> failures)
        : Error(Errc::invalid_argument, what), failures_(std::move(failures)) {}
    const std::vector<EncodeFailure>& failures() const noexcept { return failures_; }  ///< by sample

  private:
    std::vector<EncodeFailure> failures_;
};

/// What became of the samples of one encode on a Stream. Cheap to copy; holds 8 bytes of device memory a
/// sample.
class EncodeOutcome {
  public:
    /// Submits, waits, and returns every sample at fault. `stream`: the one that encode was called with; of
    /// an encode inside Stream::record or native::record any that runs after it, and it tells of the last
    /// run. Errors: invalid_argument - another stream; as Stream::download.
    std::vector<EncodeFailure> failures(Stream& stream) const;
    /// The same, as an error. Errors: EncodeError - at least one sample could not be encoded.
    void check(Stream& stream) const;

    /// For the other parts of weft.
    EncodeOutcome(EncodeMethod method, std::shared_ptr<Buffer<std::uint32_t>> status,
                  std::weak_ptr<const void> stream, bool deferred)
        : method_(method), status_(std::move(status)), stream_(std::move(stream)), deferred_(deferred) {}

  private:
    EncodeMethod method_;
    std::shared_ptr<Buffer<std::uint32_t>> status_;
    std::weak_ptr<const void> stream_;  ///< Stream::identity
    bool deferred_;                     ///< recorded: it runs wherever it is replayed
};

struct EncodeOptions {
    /// Read the values first and refuse the batch before a state is written. Otherwise samples that cannot be
    /// encoded become zeros, all others are right, and the error comes when the work is done.
    bool strict = false;
    BatchOptions batch = {};  ///< for streamed encodes; progress counts jobs, samples or parts of samples
};

/// Encodes resident values, recorded on `stream`.
///
///   values   [samples, features] float32 or float64, basis also int64; features as encode_features says, for
///            amplitude any number from 1 to 2^qubits
///   states   [samples, 2^qubits] complex64 or complex128, from a multiple of 16 bytes of their buffer on,
///   and of
///            DeviceInfo's limits.storage_buffer_offset_alignment where that is more: complex64 views begin
///            at an even element
///
/// Amplitudes are within qubits * 2.5e-7 of their definition in float32, 1e-12 in float64; docs/encode.md
/// says more.
/// Computes in float64 where either of them is 64 bits wide, else in float32, and so complex64 states of an
/// iqp that one workgroup cannot hold. The returned outcome tells which samples failed; whoever is sure of
/// his values may drop it. Errors: invalid_argument - qubits, sizes, alignment,
/// no samples; in strict mode EncodeError, and not inside Stream::record; unsupported - complex128 on a
/// device without shaderFloat64; out_of_memory - scratch memory (see estimate_encode); as Stream::dispatch.
EncodeOutcome encode(Stream& stream, EncodeMethod method, const EncodeValues& values,
                     const EncodeStates& states, const StateShape& shape, const EncodeOptions& options = {});

/// The same by name.
EncodeOutcome encode_amplitude(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                               const StateShape& shape, const EncodeOptions& options = {});
EncodeOutcome encode_angle(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options = {});
EncodeOutcome encode_basis(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options = {});
EncodeOutcome encode_phase(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options = {});
EncodeOutcome encode_iqp(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                         const StateShape& shape, const EncodeOptions& options = {});
EncodeOutcome encode_iqp_z(Stream& stream, const EncodeValues& values, const EncodeStates& states,
                           const StateShape& shape, const EncodeOptions& options = {});

/// Encodes values in host memory into states in host memory, chunk by chunk: neither has to fit the device.
/// Arrays as above. `states` must not overlap `values`.
///
/// Errors: as above; EncodeError when the batch is done - states not named are right, those named are zeros -
/// or in strict mode before anything is written; out_of_memory before anything is allocated or written - the
/// smallest part that can be streamed does not fit, the text has both figures; as run_batch.
BatchReport encode(Backend& backend, EncodeMethod method, const EncodeSource& values,
                   const EncodeTarget& states, const StateShape& shape, const EncodeOptions& options = {});

/// What an encode takes, before anything is allocated.
struct EncodeEstimate {
    std::uint64_t bytes_in = 0, bytes_out = 0;  ///< of values and of states
    std::uint64_t scratch_bytes = 0;            ///< device memory of a resident encode besides these two
    /// All that a streamed encode takes at most, staging memory and unused ends of blocks included, as the
    /// backend is configured and within `available_bytes`; chunks shrink where that is little. A
    /// Config::memory_limit of as much suffices.
    std::uint64_t streamed_bytes = 0;
    std::uint64_t available_bytes = 0;  ///< of the device's memory, and of Config::memory_limit
    bool resident_fits = false, streamed_fits = false;
    std::string reason;  ///< why one of them does not fit; else empty
};

/// `features` counts for amplitude alone; 0: 2^qubits. Errors: invalid_argument - qubits, sizes, samples, or
/// more than 2^58 amplitudes; unsupported - as encode.
EncodeEstimate estimate_encode(const Backend& backend, EncodeMethod method, const StateShape& shape,
                               EncodeTypes types = {}, std::uint64_t features = 0);

}  // namespace weft
