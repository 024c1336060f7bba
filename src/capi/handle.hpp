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
#include <weft/buffer.hpp>
#include <weft/ops/encode.hpp>
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
struct weft_backend : weft::capi::Handle<weft::Backend> {
    explicit weft_backend(const weft::Config& config) : Handle(config) {
        for (const std::string& reason : object.device().refused) refused += reason + "\n";
    }
    std::string refused;
};
struct weft_program : weft::capi::Handle<weft::Program> {
    using Handle::Handle;
};
/// Of bytes, in device memory or page-locked memory.
struct weft_buffer {
    mutable weft::capi::UseCount uses{1};
    std::shared_ptr<weft::core::BufferObject> object;
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
struct weft_profile : weft::capi::Handle<weft::Profile> {
    using Handle::Handle;
    weft::capi::Owner owner;
};

/// Defines <name>_retain and <name>_release.
#define WEFT_DEFINE_HANDLE(name)        \
    void name##_retain(name* handle) {  \
        weft::capi::retain(handle);     \
    }                                   \
    void name##_release(name* handle) { \
        weft::capi::release(handle);    \
    }
