// SPDX-License-Identifier: Apache-2.0
// Ordered work on resident buffers.
//
// Example:
//     weft::Backend backend;
//     weft::Stream stream(backend);
//     weft::Buffer<float> x(backend, 1024);
//     stream.upload(std::vector<float>(1024, 1.0f), x);
//     const std::vector<float> back = stream.download(x);
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/event.hpp>
#include <weft/host_buffer.hpp>
#include <weft/program.hpp>
#include <weft/sequence.hpp>

namespace weft {

namespace core {
class StreamState;
}  // namespace core

namespace detail {

/// What fills elements of T: a word for elements of any type, and for those of 4 bytes one of their values.
template <class Value, class T>
concept FillValue = !std::is_const_v<T> &&
                    (std::same_as<Value, std::uint32_t> || (sizeof(T) == 4 && std::same_as<Value, T>) ||
                     (sizeof(T) == 4 && std::integral<T> && std::integral<Value> &&
                      !std::same_as<Value, bool> && sizeof(Value) <= 4));

}  // namespace detail

/// Which of the device's queues a stream submits to. Where the plan has one queue for all, they are the same.
enum class StreamQueue { compute, upload, download };

struct StreamOptions {
    std::string name{};  ///< appears in traces, error texts and validation messages
    /// Copies on the queue of uploads or downloads run while kernels run on the compute queue. Such a stream
    /// takes everything but dispatches.
    StreamQueue queue = StreamQueue::compute;
};

/// Ordered work on resident buffers: each step sees the results of the steps before it. weft finds from the
/// ranges that steps use which of them depend on each other: independent steps run simultaneously, and
/// barriers are recorded where they are needed. Recorded work runs when it is submitted: by submit(), wait(),
/// download() or replay(), or earlier if many uploads are pending. Streams of one queue run in the order of
/// their submissions, and each sees the results of earlier ones. Streams of different queues run
/// simultaneously, and only wait_for() orders them. Keeps the buffers that it uses alive until the work is
/// done. Belongs to one thread at a time.
class Stream {
  public:
    explicit Stream(Backend& backend, const StreamOptions& options = {});
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    /// Waits for submitted work; drops what was recorded and not submitted.
    ~Stream();

    /// Copies `source` before it returns, so it may be reused; written to `target` in stream
    /// order. Errors: invalid_argument - sizes differ; out_of_memory.
    template <class T>
    void upload(std::span<const T> source, BufferView<T> target) {
        upload_bytes(source.data(), source.size_bytes(), detail::Access::object(target),
                     target.first() * sizeof(T), target.bytes());
    }
    template <class T>
    void upload(std::type_identity_t<std::span<const T>> source, const Buffer<T>& target) {
        upload(source, target.view());
    }

    /// Fills `target`. Elements of 4 bytes take a value of their own type, such as 1.0f for floats, and
    /// integers take any integer of at most 32 bits. A std::uint32_t is a word that is repeated over elements
    /// of any type: 0u fills with zeros. Other values do not compile, because they would be converted.
    /// Errors: invalid_argument - range not a multiple of 4 bytes.
    template <class T, class Value>
    requires detail::FillValue<Value, T>
    void fill(BufferView<T> target, Value value) {
        std::uint32_t word = 0;
        if constexpr (std::integral<Value>)
            word = static_cast<std::uint32_t>(value);
        else
            word = std::bit_cast<std::uint32_t>(value);
        fill_bytes(detail::Access::object(target), target.first() * sizeof(T), target.bytes(), word);
    }

    /// From device to device, or to or from a HostBuffer without a copy by the host. A compute stream makes
    /// large copies within device memory with a shader if that is faster. The shader copies everything if
    /// offsets and sizes are multiples of 16 bytes. Errors: invalid_argument - sizes differ, or ranges of one
    /// buffer overlap.
    template <class T>
    requires(!std::is_const_v<T>) void copy(std::type_identity_t<BufferView<const T>> source,
                                            BufferView<T> target) {
        copy_bytes(detail::Access::object(source), source.first() * sizeof(T), source.bytes(),
                   detail::Access::object(target), target.first() * sizeof(T), target.bytes());
    }

    /// One bound range of a dispatch.
    struct Argument {
        template <class T>
        Argument(const BufferView<T>& view)
            : object(detail::Access::object(view)),
              offset(view.first() * sizeof(T)),
              bytes(view.bytes()),
              writable(!std::is_const_v<T>) {}
        template <class T>
        Argument(const Buffer<T>& buffer) : Argument(buffer.view()) {}
        template <class T>
        Argument(const HostBuffer<T>& buffer) : Argument(buffer.view()) {}
        std::shared_ptr<core::BufferObject> object;
        std::uint64_t offset, bytes;
        bool writable;
    };

    /// Runs `program` over `elements`; one argument a binding, in ascending binding order. Zero elements:
    /// nothing. Errors: invalid_argument - argument count, offset alignment, range or workgroup count beyond
    /// the device's limits (the text names the limit), a read-only view for a binding that is written, ranges
    /// of one buffer that overlap in part where one is written (the same range twice is work in place),
    /// parameters that do not fit, or a stream of another queue than compute.
    void dispatch(const Program& program, std::initializer_list<Argument> arguments, std::uint64_t elements,
                  const Parameters& parameters = {});
    void dispatch(const Program& program, std::span<const Argument> arguments, std::uint64_t elements,
                  const Parameters& parameters = {});

    /// Hands everything recorded to the device. The event is reached when this and all earlier work is done.
    Event submit();
    /// Submits, then waits. false: still running when the time was up. Errors: device_lost, driver.
    bool wait(std::chrono::nanoseconds timeout = (std::chrono::nanoseconds::max)());
    /// Submits. Work recorded from now on runs after `event`, which may be of any stream of this backend.
    /// Errors: invalid_argument - an event of another backend.
    void wait_for(const Event& event);

    /// Records the steps of `steps(*this)` without running them. Uploads in it copy their source once.
    /// submit, wait, download, replay and record are refused inside. Work recorded before stays pending.
    /// Exceptions of `steps` are passed on, and the recorded steps are dropped.
    Sequence record(const std::function<void(Stream&)>& steps);
    /// Submits what is pending, then the sequence, as one submission without recording anything.
    /// Errors: invalid_argument - a sequence of another backend or of a stream of another queue.
    Event replay(const Sequence& sequence);

    /// Submits, waits, and copies the range to `target`. Errors: invalid_argument - sizes differ; as wait().
    template <class T>
    void download(std::type_identity_t<BufferView<const T>> source, std::span<T> target) {
        download_bytes(detail::Access::object(source), source.first() * sizeof(T), source.bytes(),
                       target.data(), target.size_bytes());
    }
    template <class T>
    std::vector<T> download(const Buffer<T>& source) {
        const BufferView<T> view = source.view();
        std::vector<T> out(view.size());
        download<T>(view, std::span<T>(out));
        return out;
    }

    /// The device it records for.
    const DeviceInfo& device() const;
    const std::string& name() const;

  private:
    friend struct detail::Access;
    explicit Stream(std::unique_ptr<core::StreamState> state);
    const std::shared_ptr<core::BackendState>& backend_state() const;
    std::weak_ptr<const void> identity() const { return state_; }
    bool deferred() const;
    void upload_bytes(const void*, std::uint64_t bytes, const std::shared_ptr<core::BufferObject>&,
                      std::uint64_t offset, std::uint64_t target_bytes);
    void fill_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t offset, std::uint64_t bytes,
                    std::uint32_t value);
    void copy_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t, std::uint64_t,
                    const std::shared_ptr<core::BufferObject>&, std::uint64_t, std::uint64_t);
    void download_bytes(const std::shared_ptr<core::BufferObject>&, std::uint64_t offset, std::uint64_t bytes,
                        void*, std::uint64_t target_bytes);

    core::StreamState& state() const;
    std::shared_ptr<core::StreamState> state_;  // held by record() too
};

}  // namespace weft
