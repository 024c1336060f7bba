// SPDX-License-Identifier: Apache-2.0
// What stands behind the opaque types of <weft/weft.h>: an object of the C++ API and a count of its uses.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/devices.hpp>
#include <weft/host_buffer.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/kernel_operator.hpp>
#include <weft/ops/kernel_store.hpp>
#include <weft/ops/lattice_inner.hpp>
#include <weft/profile.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "capi/status.hpp"
#include "capi/uses.hpp"

namespace weft::capi {

template <class Object>
struct Handle {
    template <class... Arguments>
    explicit Handle(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}

    mutable UseCount uses{1};
    Object object;
};

/// Makes a handle from what `make` returns and stores it. `out` is NULL if anything fails.
template <class T, class Make>
weft_status create(const char* function, T** out, Make&& make) noexcept {
    return guarded(function, [&] {
        given(function, "the pointer for the result", out);
        *out = nullptr;
        *out = new T(make());
    });
}

/// Says which thread uses an object that belongs to one at a time.
class Owner {
  public:
    /// Use by this thread until the object is destroyed. Uses of one thread nest.
    class Use {
      public:
        /// Errors: invalid_argument - another thread is inside a call.
        Use(Owner& owner, const char* function) : owner_(owner) {
            const std::thread::id self = std::this_thread::get_id();
            std::thread::id user{};
            if (!owner.user_.compare_exchange_strong(user, self) && user != self)
                refuse(std::string(function) +
                       ": another thread is inside a call with this object; give each thread one of its own");
            ++owner.depth_;
        }
        ~Use() {
            if (--owner_.depth_ == 0) owner_.user_.store({});
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        Owner& owner_;
    };

  private:
    std::atomic<std::thread::id> user_{};
    int depth_ = 0;
};

}  // namespace weft::capi

struct weft_text : weft::capi::Handle<std::string> {
    using Handle::Handle;
};
/// One device or several. A handle of one of several keeps them all open.
struct weft_backend {
    /// As `config` says; what it names are several devices if more than one matches.
    explicit weft_backend(const weft::Config& config);
    /// Of one of several.
    weft_backend(std::shared_ptr<weft::Devices> all, std::size_t at);

    mutable weft::capi::UseCount uses{1};
    std::optional<weft::Backend> own;        ///< or nothing, and
    std::shared_ptr<weft::Devices> devices;  ///< what `one` is part of
    weft::Backend* one = nullptr;            ///< NULL: several devices
    std::string name, refused;

  private:
    void describe();
};
struct weft_program : weft::capi::Handle<weft::Program> {
    using Handle::Handle;
};
/// Of bytes, in device memory or page-locked memory.
struct weft_buffer {
    mutable weft::capi::UseCount uses{1};
    std::shared_ptr<weft::core::BufferObject> object;
    weft::detail::BufferObjects imports;  ///< on other devices; freed before the memory
    std::uint64_t bytes = 0;
    bool host = false;
};
struct weft_registration : weft::capi::Handle<weft::HostRegistration> {
    using Handle::Handle;
};
struct weft_stream : weft::capi::Handle<weft::Stream> {
    using Handle::Handle;
    weft::capi::Owner owner;
};
struct weft_event : weft::capi::Handle<weft::Event> {
    using Handle::Handle;
};
struct weft_sequence : weft::capi::Handle<weft::Sequence> {
    using Handle::Handle;
};
struct weft_pipeline : weft::capi::Handle<weft::JobPipeline> {
    using Handle::Handle;
};
struct weft_encode_outcome : weft::capi::Handle<std::optional<weft::EncodeOutcome>> {
    using Handle::Handle;
};
struct weft_lattice_table : weft::capi::Handle<weft::LatticeTable> {
    using Handle::Handle;
};
struct weft_kernel_operator : weft::capi::Handle<weft::KernelOperator> {
    using Handle::Handle;
};
struct weft_kernel_store : weft::capi::Handle<weft::KernelMatrixStore> {
    template <class... Arguments>
    explicit weft_kernel_store(const weft::KernelMatrixShape& of, Arguments&&... arguments)
        : Handle(std::forward<Arguments>(arguments)...), shape(of) {}
    weft::KernelMatrixShape shape;
    weft::capi::Owner owner;
};
struct weft_profile : weft::capi::Handle<weft::Profile> {
    using Handle::Handle;
    weft::capi::Owner owner;
};

namespace weft::capi {

/// Calls body(Backend&), or body(Devices&) for several devices.
template <class Body>
decltype(auto) on_devices(const char* function, const weft_backend* backend, Body&& body) {
    const weft_backend& handle = given(function, "backend", backend);
    if (handle.one != nullptr) return body(*handle.one);
    return body(*handle.devices);
}
/// A call on host memory, for one device or several.
template <class Body>
weft_status with_devices(const char* function, weft_backend* backend, Body&& body) noexcept {
    const Uses uses(backend);
    return guarded(function, [&] { on_devices(function, backend, body); });
}
/// The same for work that one of several devices does, the first.
template <class Body>
weft_status with_first(const char* function, weft_backend* backend, Body&& body) noexcept {
    const Uses uses(backend);
    return guarded(function, [&] {
        const weft_backend& handle = given(function, "backend", backend);
        body(handle.one != nullptr ? *handle.one : weft::detail::first_of(*handle.devices));
    });
}
/// Calls body(Stream&) as the only thread that uses the stream.
template <class Body>
weft_status with_stream(const char* function, weft_stream* stream, Body&& body) noexcept {
    const Uses uses(stream);
    return guarded(function, [&] {
        weft_stream& handle = given(function, "stream", stream);
        const Owner::Use use(handle.owner, function);
        body(handle.object);
    });
}
/// For what belongs to one device. Errors: invalid_argument - several.
weft::Backend& one_device(const char* function, const weft_backend* backend);

}  // namespace weft::capi

/// Defines <name>_retain and <name>_release.
#define WEFT_DEFINE_HANDLE(name)        \
    void name##_retain(name* handle) {  \
        weft::capi::retain(handle);     \
    }                                   \
    void name##_release(name* handle) { \
        weft::capi::release(handle);    \
    }
