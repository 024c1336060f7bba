// SPDX-License-Identifier: Apache-2.0
// Encodes classical values into quantum states: on resident buffers, or streamed from and to host memory.
//
// Example:
//     weft::Backend backend;
//     const std::vector<double> angles(256 * 8, 0.5);
//     std::vector<weft::c32> states(256 << 8);
//     weft::encode_angle(backend, angles, states, {.samples = 256, .qubits = 8});
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/ops/encode_error.hpp>
#include <weft/stream.hpp>

namespace weft {

/// How values become a state s of n qubits, N = 2^n; b_k(i) is bit k of i. One sample is a batch of one.
enum class EncodeMethod {
    amplitude,  ///< up to N values x: s[i] = x[i] / ||x||, then zeros
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

/// Values of a sample, which are the most that amplitude takes. Errors: invalid_argument - qubits
/// outside 1..30.
std::uint64_t encode_features(EncodeMethod method, std::uint32_t qubits);

struct EncodeOptions {
    /// Reads the values first and refuses the batch before a state is written. Otherwise the states of
    /// samples that cannot be encoded become zeros, all others are right, and the error is reported when the
    /// work is done.
    bool check_values = false;
};

struct EncodeHostOptions {
    bool check_values = false;  ///< as EncodeOptions::check_values
    BatchOptions batch = {};
};

/// The outcome of an encode on a Stream: which samples failed. Cheap to copy; holds 8 bytes of device memory
/// a sample.
class EncodeOutcome {
  public:
    /// Submits, waits, and returns every sample at fault. `stream` is the one that encode was called with.
    /// For an encode inside Stream::record or native::record it is any stream that runs after it, and the
    /// result is that of the last run. Errors: invalid_argument - another stream; as Stream::download.
    std::vector<EncodeFailure> failures(Stream& stream) const;
    /// Throws the failures. Errors: EncodeError - at least one sample could not be encoded; as failures().
    void require_all(Stream& stream) const;

  private:
    friend EncodeOutcome encode(Stream&, EncodeMethod, const ConstDeviceArray&, const DeviceArray&,
                                const StateShape&, const EncodeOptions&);
    EncodeOutcome(EncodeMethod method, std::shared_ptr<Buffer<std::uint32_t>> status,
                  std::weak_ptr<const void> stream, bool deferred)
        : method_(method), status_(std::move(status)), stream_(std::move(stream)), deferred_(deferred) {}

    EncodeMethod method_;
    std::shared_ptr<Buffer<std::uint32_t>> status_;
    std::weak_ptr<const void> stream_;  ///< its identity
    bool deferred_;                     ///< recorded, so it runs where it is replayed
};

/// Encodes resident values, recorded on `stream`.
///
///   values   [samples, features] float32 or float64, for basis also int64; features as encode_features says,
///            for amplitude any number from 1 to 2^qubits
///   states   [samples, 2^qubits] complex64 or complex128; must start at a multiple of
///            max(16, DeviceInfo's limits.storage_buffer_offset_alignment) bytes of their buffer, so that
///            complex64 views start at an even element
///
/// Amplitudes are within qubits * 2.5e-7 of their definition in float32 and 1e-12 in float64; docs/encode.md
/// has the details. Computes in float64 where values or states are 64 bits wide, else in float32; in float32
/// too for complex64 states of an iqp that one workgroup cannot hold. The outcome says which samples failed:
/// ignore it if the values are known to be valid.
///
/// Errors: invalid_argument - types, qubits, sizes, alignment, no samples; with check_values EncodeError, and
/// not inside Stream::record; unsupported - complex128 on a device without shaderFloat64; out_of_memory -
/// scratch memory (see estimate_encode); as Stream::dispatch.
EncodeOutcome encode(Stream& stream, EncodeMethod method, const ConstDeviceArray& values,
                     const DeviceArray& states, const StateShape& shape, const EncodeOptions& options = {});

/// Encodes values in host memory into states in host memory, chunk by chunk: neither has to fit the device.
/// Arrays as above. `states` must not overlap `values`. Progress counts samples. Of BatchOptions, mode,
/// chunk_elements, progress and cancel apply; Config settles paths, queues and slots. If the states of an iqp
/// or amplitude need several dispatches, chunk_elements is the most samples at a time.
///
/// Errors: as above; EncodeError when the batch is done - states not named are right, those named are zeros -
/// or with check_values before anything is written; out_of_memory before anything is allocated or written -
/// the smallest part that can be streamed does not fit, the text has both figures; as run_batch.
OpReport encode(Backend& backend, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options = {});
OpReport encode(Devices& devices, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options = {});

/// One array of encode_batch, with its states.
struct EncodeJob {
    ConstHostArray values{};    ///< [samples, features]
    HostArray states{};         ///< [samples, 2^qubits]
    std::uint64_t samples = 0;  ///< 1 or more
};

/// encode() of a list of arrays as one batch: small arrays share submissions, and upload, kernel and download
/// of neighbours overlap. Numbers of samples may differ. Types, and values of a sample, are those of the
/// first job. Progress counts the samples of all jobs, which are also the items of the report; its jobs are
/// those given. Without jobs nothing runs.
///
/// Errors: as encode() on host memory, where texts and failures() name the job; also invalid_argument - a job
/// of other types or another number of values a sample, states that overlap an array of another job.
OpReport encode_batch(Backend& backend, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options = {});
OpReport encode_batch(Devices& devices, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options = {});

namespace detail {
template <class Where>
using EncodeIn = typename ArraysOf<std::remove_cvref_t<Where>>::In;
template <class Where>
using EncodeOut = typename ArraysOf<std::remove_cvref_t<Where>>::Out;
template <class Where>
using EncodeOptionsOf =
    std::conditional_t<ArraysOf<std::remove_cvref_t<Where>>::host, EncodeHostOptions, EncodeOptions>;
}  // namespace detail

/// The same by name, on a Stream, a Backend, a Devices, or a CUDA stream (<weft/cuda/encode.hpp>).
template <class Where>
auto encode_amplitude(Where&& where, const detail::EncodeIn<Where>& values,
                      const detail::EncodeOut<Where>& states, const StateShape& shape,
                      const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::amplitude, values, states, shape, options);
}
template <class Where>
auto encode_angle(Where&& where, const detail::EncodeIn<Where>& values,
                  const detail::EncodeOut<Where>& states, const StateShape& shape,
                  const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::angle, values, states, shape, options);
}
template <class Where>
auto encode_basis(Where&& where, const detail::EncodeIn<Where>& values,
                  const detail::EncodeOut<Where>& states, const StateShape& shape,
                  const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::basis, values, states, shape, options);
}
template <class Where>
auto encode_phase(Where&& where, const detail::EncodeIn<Where>& values,
                  const detail::EncodeOut<Where>& states, const StateShape& shape,
                  const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::phase, values, states, shape, options);
}
template <class Where>
auto encode_iqp(Where&& where, const detail::EncodeIn<Where>& values, const detail::EncodeOut<Where>& states,
                const StateShape& shape, const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::iqp, values, states, shape, options);
}
template <class Where>
auto encode_iqp_z(Where&& where, const detail::EncodeIn<Where>& values,
                  const detail::EncodeOut<Where>& states, const StateShape& shape,
                  const detail::EncodeOptionsOf<Where>& options = {}) {
    return encode(std::forward<Where>(where), EncodeMethod::iqp_z, values, states, shape, options);
}

struct EncodeTypes {
    ElementType values = kFloat64;
    ElementType states = kComplex64;
};

/// The memory that an encode takes, before anything is allocated.
struct EncodeEstimate {
    std::uint64_t bytes_in = 0, bytes_out = 0;  ///< of values and of states
    std::uint64_t scratch_bytes = 0;  ///< device memory of a resident encode in addition to these two
    /// The most memory that a streamed encode takes, with staging memory and unused ends of blocks, as the
    /// backend is configured and within `available_bytes`. If that is little, chunks shrink. A
    /// Config::memory_limit of this size suffices.
    std::uint64_t streamed_bytes = 0;
    std::uint64_t available_bytes = 0;  ///< of the device's memory, and of Config::memory_limit
    bool resident_fits = false, streamed_fits = false;
    std::string reason;  ///< why one of them does not fit; empty if both fit
};

/// `features` matters for amplitude alone; 0: 2^qubits. Errors: invalid_argument - qubits, sizes, samples, or
/// more than 2^58 amplitudes; unsupported - as encode.
EncodeEstimate estimate_encode(const Backend& backend, EncodeMethod method, const StateShape& shape,
                               EncodeTypes types = {}, std::uint64_t features = 0);

}  // namespace weft
