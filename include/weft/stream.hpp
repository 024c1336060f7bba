// SPDX-License-Identifier: Apache-2.0
// Ordered work on resident buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/program.hpp>

namespace weft {

/// Records work on resident buffers; each step sees the results of those before it. Nothing runs until
/// submit(), wait() or download(). Keeps the buffers it uses alive until the work is done. Belongs to one
/// thread at a time.
class Stream {
  public:
    explicit Stream(Backend& backend);
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    /// Waits for submitted work; drops what was recorded and not submitted.
    ~Stream();

    /// Copies `source` aside at once, so it may be reused when this returns; written to `target` in stream
    /// order. Errors: invalid_argument - sizes differ; out_of_memory.
    template <class T>
    void upload(std::span<const T> source, BufferView<T> target) {
        upload_bytes(source.data(), source.size_bytes(), target.object(), target.first() * sizeof(T),
                     target.bytes());
    }
    template <class T>
    void upload(const std::vector<T>& source, const Buffer<T>& target) {
        upload(std::span<const T>(source), target.view());
    }

    /// Fills `target` with a repeated 32-bit value. Errors: invalid_argument - range not a multiple of 4
    /// bytes.
    template <class T>
    void fill(BufferView<T> target, std::uint32_t value) {
        fill_bytes(target.object(), target.first() * sizeof(T), target.bytes(), value);
    }

    /// Errors: invalid_argument - sizes differ, or ranges of one buffer overlap.
    template <class T>
    void copy(std::type_identity_t<BufferView<const T>> source, BufferView<T> target) {
        copy_bytes(source.object(), source.first() * sizeof(T), source.bytes(), target.object(),
                   target.first() * sizeof(T), target.bytes());
    }

    /// One bound range of a dispatch.
    struct Argument {
        template <class T>
        Argument(const BufferView<T>& view)  // NOLINT(google-explicit-constructor)
            : object(view.object()),
              offset(view.first() * sizeof(T)),
              bytes(view.bytes()),
              writable(!std::is_const_v<T>) {}
        template <class T>
        Argument(const Buffer<T>& buffer) : Argument(buffer.view()) {}  // NOLINT(google-explicit-constructor)
        std::shared_ptr<core::BufferObject> object;
        std::uint64_t offset, bytes;
        bool writable;
    };

    /// Runs `program` over `elements`; one argument a binding, in ascending binding order. Zero elements:
    /// nothing. Errors: invalid_argument - argument count, offset alignment, range or group count beyond the
    /// device's limits (the text names the limit), a read-only view for a binding that is written, parameters
    /// that do not fit.
    void dispatch(const Program& program, std::initializer_list<Argument> arguments, std::uint64_t elements,
                  const Parameters& parameters = {});

    /// Hands everything recorded to the device.
    void submit();
    /// Submits, then waits. false: still running when the time was up. Errors: device_lost, driver.
    bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

    /// Submits, waits, and copies the range to `target`. Errors: invalid_argument - sizes differ; as wait().
    template <class T>
    void download(std::type_identity_t<BufferView<const T>> source, std::span<T> target) {
        download_bytes(source.object(), source.first() * sizeof(T), source.bytes(), target.data(),
                       target.size_bytes());
    }
    template <class T>
    std::vector<T> download(const Buffer<T>& source) {
        std::vector<T> out(source.size());
        download<T>(source.view(), std::span<T>(out));
        return out;
    }

    /// The device it records for.
    const DeviceInfo& device() const;
    /// For the other parts of weft.
    const std::shared_ptr<core::Runtime>& runtime() const;

  private:
    void upload_bytes(const void*, std::uint64_t bytes, const std::shared_ptr<core::BufferObject>&,
                      std::uint64_t offset, std::uint64_t target_bytes);
    void fill_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t offset, std::uint64_t bytes,
                    std::uint32_t value);
    void copy_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t, std::uint64_t,
                    const std::shared_ptr<core::BufferObject>&, std::uint64_t, std::uint64_t);
    void download_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t offset, std::uint64_t bytes,
                        void*, std::uint64_t target_bytes);

    struct Impl;
    Impl& impl() const;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft
