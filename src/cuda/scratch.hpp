// SPDX-License-Identifier: Apache-2.0
// Device memory for the time of a call, in the order of its stream. It comes from a pool of weft that keeps
// what is freed, so that a steady state allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/cuda/device.hpp>

namespace weft::cuda {

class Scratch {
  public:
    Scratch() = default;
    /// `what` names the memory in errors. Errors: out_of_memory, no_device, driver.
    Scratch(StreamHandle stream, std::size_t bytes, const char* function, const char* what);
    Scratch(Scratch&& other) noexcept : stream_(other.stream_), data_(other.data_) { other.data_ = nullptr; }
    Scratch& operator=(Scratch&& other) noexcept;
    ~Scratch();

    void* data() const noexcept { return data_; }
    template <class T>
    T* as() const noexcept {
        return static_cast<T*>(data_);
    }

  private:
    StreamHandle stream_ = nullptr;
    void* data_ = nullptr;
};

/// Bytes of the current device that the pool keeps and nobody uses. Errors: driver, device_lost.
std::uint64_t kept_scratch_bytes(const char* function);

}  // namespace weft::cuda
