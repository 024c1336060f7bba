// SPDX-License-Identifier: Apache-2.0
// The count of the uses of a handle: a member `uses`, 1 when it is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <tuple>

namespace weft::capi {

using UseCount = std::atomic<std::uint64_t>;

template <class T>
void retain(const T* handle) noexcept {
    if (handle != nullptr) handle->uses.fetch_add(1, std::memory_order_relaxed);
}
template <class T>
void release(const T* handle) noexcept {
    if (handle != nullptr && handle->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete handle;
}

/// What a call needs until it returns: a callback of the call, or another thread, may release its own use of
/// these handles meanwhile. NULL is legal.
template <class... Handles>
class Uses {
  public:
    explicit Uses(const Handles*... handles) noexcept : handles_(handles...) { (retain(handles), ...); }
    ~Uses() {
        std::apply([](const Handles*... handles) { (release(handles), ...); }, handles_);
    }
    Uses(const Uses&) = delete;
    Uses& operator=(const Uses&) = delete;

  private:
    std::tuple<const Handles*...> handles_;
};

}  // namespace weft::capi
