// SPDX-License-Identifier: Apache-2.0
// One unit of streamed work: spans of host memory, an element count, parameters.
//
// Example:
//     std::vector<float> x(1000), y(1000);
//     const weft::Job job{.inputs = {x, y}, .outputs = {y}, .elements = 1000, .parameters = 2.0f};
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include <weft/error.hpp>

namespace weft {

inline constexpr std::size_t kMaxJobSpans = 8;          ///< inputs, and as many outputs
inline constexpr std::size_t kMaxParameterBytes = 248;  ///< parameters of a job, after count and first

/// Host memory that a job reads: ordinary memory, or that of a HostBuffer or HostRegistration. weft keeps no
/// copy, so the memory must stay valid until the job is done.
struct InputSpan {
    InputSpan() = default;
    InputSpan(const void* pointer, std::size_t size_bytes, bool every_chunk = false)
        : data(pointer), bytes(size_bytes), broadcast(every_chunk) {}
    template <std::ranges::contiguous_range R>
    InputSpan(const R& range)
        : InputSpan(std::ranges::data(range),
                    std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)) {}
    /// Accepts only a bool, so that the length in `{array, bytes}` is never taken for a flag.
    template <std::ranges::contiguous_range R, std::same_as<bool> Flag>
    InputSpan(const R& range, Flag every_chunk) : InputSpan(range) {
        broadcast = every_chunk;
    }

    const void* data = nullptr;
    std::size_t bytes = 0;
    /// false: split in proportion to the elements, so bytes must be a multiple of Job::elements.
    /// true: the whole span is bound for every chunk (tables, weights).
    bool broadcast = false;
};

/// Host memory that a job writes; its bytes are a multiple of Job::elements. It may be exactly an input of
/// the same job that is not broadcast (work in place). Any other overlap with spans of the batch is refused.
struct OutputSpan {
    OutputSpan() = default;
    OutputSpan(void* pointer, std::size_t size_bytes) : data(pointer), bytes(size_bytes) {}
    template <std::ranges::contiguous_range R>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
        OutputSpan(R&& range)
        : OutputSpan(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)) {}

    void* data = nullptr;
    std::size_t bytes = 0;
};

/// Up to kMaxJobSpans spans, held in place.
template <class Span>
class SpanList {
  public:
    SpanList() = default;
    SpanList(std::initializer_list<Span> spans) {
        for (const Span& s : spans) push_back(s);
    }
    void push_back(const Span& span) {
        if (size_ == kMaxJobSpans)
            throw Error(Errc::invalid_argument,
                        "SpanList: too many spans (got more than " + std::to_string(kMaxJobSpans) + ")");
        spans_[size_++] = span;
    }
    std::size_t size() const noexcept { return size_; }
    const Span& operator[](std::size_t i) const noexcept { return spans_[i]; }
    const Span* begin() const noexcept { return spans_.data(); }
    const Span* end() const noexcept { return spans_.data() + size_; }

  private:
    std::array<Span, kMaxJobSpans> spans_{};
    std::size_t size_ = 0;
};

/// Bytes that follow `count` and `first` in the shader's push-constant block. They are copied, not converted:
/// a single number must be an integer or a floating-point number as the shader's member is, else the job or
/// dispatch is refused. Members of structs and arrays are not compared.
class Parameters {
  public:
    enum class Number { none, integer, floating };  ///< none: not a single number

    Parameters() = default;
    template <class T>
    requires std::is_trivially_copyable_v<T> Parameters(const T& value)
        : size_(sizeof(T)),
          number_(std::floating_point<T> ? Number::floating
                  : std::integral<T>     ? Number::integer
                                         : Number::none) {
        static_assert(sizeof(T) <= kMaxParameterBytes);
        std::memcpy(bytes_.data(), &value, sizeof(T));
    }
    std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }
    Number number() const noexcept { return number_; }

  private:
    std::array<std::byte, kMaxParameterBytes> bytes_{};
    std::size_t size_ = 0;
    Number number_ = Number::none;
};

/// One unit of streamed work. `inputs` go in order to the program's bindings that are read, `outputs` to
/// those that are written; a read_write binding takes one of each, of equal size. Zero elements: nothing
/// runs, outputs untouched.
struct Job {
    SpanList<InputSpan> inputs;
    SpanList<OutputSpan> outputs;
    std::uint64_t elements = 0;  ///< below 2^32
    Parameters parameters = {};
    std::string name = {};  ///< for reports; may be empty
};

}  // namespace weft
