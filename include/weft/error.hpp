// SPDX-License-Identifier: Apache-2.0
// The one exception type of weft, apart from std::bad_alloc.
//
// Example:
//     try {
//         weft::Backend backend;
//     } catch (const weft::Error& e) {
//         std::fprintf(stderr, "%s: %s\n", weft::to_string(e.code()), e.what());
//     }
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace weft {

/// Why a call failed. The text of an Error names the function, what is wrong, what it got and what it needs.
enum class Errc {
    /// A mistake of the caller, found before any device work; outputs are untouched, except after an
    /// EncodeError.
    invalid_argument,
    invalid_shader,  ///< SPIR-V that is damaged or that weft cannot run (named in the text)
    no_loader,       ///< the Vulkan loader library is not installed or cannot be opened
    no_device,       ///< there is no device that can be used; the text lists each one with its reasons
    unsupported,     ///< the chosen device or this build lacks what the call needs
    out_of_memory,   ///< device or page-locked memory; the backend stays usable
    device_lost,     ///< the driver lost the device; every later call on that backend reports it
    cancelled,       ///< the job was cancelled before it reached the device
    io,              ///< a file could not be read or written
    driver,          ///< any other failure of the driver; native_code() is its VkResult
};

/// Stable lower-case name of a code ("out_of_memory").
const char* to_string(Errc code) noexcept;

/// Thrown by constructors and functions of weft, never by destructors. The only other exceptions are
/// std::bad_alloc, if host memory is exhausted, and those of the caller's callbacks.
class Error : public std::runtime_error {
  public:
    Error(Errc code, const std::string& what, int native_code = 0)
        : std::runtime_error(what), code_(code), native_code_(native_code) {}

    Errc code() const noexcept { return code_; }
    /// The VkResult of the failure, or errno for Errc::io; 0 if there is none.
    int native_code() const noexcept { return native_code_; }

  private:
    Errc code_;
    int native_code_;
};

namespace detail {

/// For weft's own sources, which make objects and reach their contents through it. It may change in any
/// version.
struct Access {
    template <class T, class... Arguments>
    static T make(Arguments&&... arguments) {
        return T(std::forward<Arguments>(arguments)...);
    }
    template <class T>
    static decltype(auto) object(const T& of) {
        return of.object();
    }
    template <class T>
    static decltype(auto) state(const T& of) {
        return of.state();
    }
    template <class T>
    static decltype(auto) backend_state(const T& of) {
        return of.backend_state();
    }
    template <class T>
    static decltype(auto) list(const T& of) {
        return of.list();
    }
    template <class T>
    static decltype(auto) memory(const T& of) {
        return of.memory();
    }
    /// Equal for equal streams, also after a move. Keeps nothing alive.
    template <class T>
    static decltype(auto) identity(const T& stream) {
        return stream.identity();
    }
    /// Whether the steps of a stream run later: inside Stream::record or native::record.
    template <class T>
    static decltype(auto) deferred(const T& stream) {
        return stream.deferred();
    }
};

}  // namespace detail

}  // namespace weft
