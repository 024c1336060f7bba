// SPDX-License-Identifier: Apache-2.0
#include "host/copy_streaming.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WEFT_STREAMING_X86 1
#endif

namespace weft::core {
namespace {

// A shorter range may stay in the cache of a core, where ordinary stores are faster.
constexpr std::size_t kShort = std::size_t{64} << 10;

#ifdef WEFT_STREAMING_X86
__attribute__((target("avx2"))) void copy_avx2(std::byte* target, const std::byte* source,
                                               std::size_t bytes) {
    const std::size_t head = (32 - reinterpret_cast<std::uintptr_t>(target) % 32) % 32;
    std::memcpy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
    for (; bytes >= 128; bytes -= 128, target += 128, source += 128) {
        const auto* from = reinterpret_cast<const __m256i*>(source);
        auto* to = reinterpret_cast<__m256i*>(target);
        const __m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1);
        const __m256i c = _mm256_loadu_si256(from + 2), d = _mm256_loadu_si256(from + 3);
        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
        _mm256_stream_si256(to + 2, c);
        _mm256_stream_si256(to + 3, d);
    }
    std::memcpy(target, source, bytes);
    _mm_sfence();  // non-temporal stores are not ordered with the submission that follows
}
#endif

}  // namespace

void copy_streaming(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
#ifdef WEFT_STREAMING_X86
    static const bool wide = __builtin_cpu_supports("avx2") != 0;
    if (wide && bytes >= kShort) {
        copy_avx2(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes);
        return;
    }
#endif
    std::memcpy(target, source, bytes);
}

}  // namespace weft::core
