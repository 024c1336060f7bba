// SPDX-License-Identifier: Apache-2.0
// The entry that libFuzzer and replay.cpp call, and what the targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace weft_fuzz {

/// Ends the process, which the fuzzer reports together with the input.
inline void require(bool good, std::string_view what) {
    if (good) return;
    std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// Takes decisions from the front of an input. Once it is used up, all further ones are 0.
class Choices {
  public:
    Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
    /// From 0 to `count` - 1.
    std::size_t of(std::size_t count) {
        if (rest_.empty()) return 0;
        const std::size_t choice = rest_.front() % count;
        rest_ = rest_.subspan(1);
        return choice;
    }
    bool yes() { return of(2) == 1; }
    std::string_view rest() const { return text_of(rest_.data(), rest_.size()); }

  private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace weft_fuzz
