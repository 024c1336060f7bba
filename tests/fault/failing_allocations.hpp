// SPDX-License-Identifier: Apache-2.0
// Replaces operator new of a program, so that an allocation of the calling thread fails on demand. For one
// source file of a program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "fault/control.hpp"

namespace {

/// The number of allocations that this thread may make until one fails; below zero: no limit.
thread_local std::int64_t allowed_allocations = -1;
thread_local bool for_ever = false;
std::atomic<bool> has_failed{false};
/// The control of the loader, after it was found, because finding it allocates.
const weft_fault::Control* known_control = nullptr;

bool must_fail() {
    if (allowed_allocations < 0 || known_control->inside()) return false;
    if (allowed_allocations > 0) {
        --allowed_allocations;
        return false;
    }
    if (!for_ever) allowed_allocations = -1;
    has_failed = true;
    return true;
}

void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (must_fail()) return nullptr;
    return std::aligned_alloc(alignment,
                              (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* memory = try_allocate(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void begin_counting(std::int64_t index, bool from_there_on) {
    for_ever = from_there_on;
    has_failed = false;
    allowed_allocations = index;
}

bool end_counting() {
    allowed_allocations = -1;
    return has_failed;
}

}  // namespace

// All overloads are replaced, because those of a sanitizer's library do not call each other.
#define WEFT_TEST_NEW(name)                                                                              \
    void* operator name(std::size_t bytes) {                                                             \
        return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);                                        \
    }                                                                                                    \
    void* operator name(std::size_t bytes, std::align_val_t alignment) {                                 \
        return allocate(bytes, static_cast<std::size_t>(alignment));                                     \
    }                                                                                                    \
    void* operator name(std::size_t bytes, const std::nothrow_t&) noexcept {                             \
        return try_allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);                                    \
    }                                                                                                    \
    void* operator name(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept { \
        return try_allocate(bytes, static_cast<std::size_t>(alignment));                                 \
    }
WEFT_TEST_NEW(new)
WEFT_TEST_NEW(new[])
// If GCC inlines one of these functions and not its partner, it reports a mismatch.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
#define WEFT_TEST_DELETE(name)                                                           \
    void operator name(void* memory) noexcept {                                          \
        std::free(memory);                                                               \
    }                                                                                    \
    void operator name(void* memory, std::size_t) noexcept {                             \
        std::free(memory);                                                               \
    }                                                                                    \
    void operator name(void* memory, std::align_val_t) noexcept {                        \
        std::free(memory);                                                               \
    }                                                                                    \
    void operator name(void* memory, std::size_t, std::align_val_t) noexcept {           \
        std::free(memory);                                                               \
    }                                                                                    \
    void operator name(void* memory, const std::nothrow_t&) noexcept {                   \
        std::free(memory);                                                               \
    }                                                                                    \
    void operator name(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { \
        std::free(memory);                                                               \
    }
WEFT_TEST_DELETE(delete)
WEFT_TEST_DELETE(delete[])
