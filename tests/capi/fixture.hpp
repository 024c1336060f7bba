// SPDX-License-Identifier: Apache-2.0
// Owners of handles, and checks of statuses and of what is left.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>

namespace weft_test {

/// Releases a handle at its end.
template <class T, void (*release)(T*)>
class Owned {
  public:
    Owned() = default;
    ~Owned() { release(handle_); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    operator T*() const { return handle_; }
    T** operator&() { return &handle_; }
    void reset() {
        release(handle_);
        handle_ = nullptr;
    }

  private:
    T* handle_ = nullptr;
};
using Backend = Owned<weft_backend, weft_backend_release>;
using Program = Owned<weft_program, weft_program_release>;
using Buffer = Owned<weft_buffer, weft_buffer_release>;
using Stream = Owned<weft_stream, weft_stream_release>;
using Event = Owned<weft_event, weft_event_release>;
using Sequence = Owned<weft_sequence, weft_sequence_release>;
using Pipeline = Owned<weft_pipeline, weft_pipeline_release>;
using KernelOperator = Owned<weft_kernel_operator, weft_kernel_operator_release>;
using KernelStore = Owned<weft_kernel_store, weft_kernel_store_release>;
using Profile = Owned<weft_profile, weft_profile_release>;
using Text = Owned<weft_text, weft_text_release>;

#define CHECK_OK(call)                                         \
    do {                                                       \
        const weft_status status_ = (call);                    \
        INFO(#call << ": " << std::string(weft_last_error())); \
        CHECK(std::string(weft_status_name(status_)) == "ok"); \
    } while (false)
#define CHECK_STATUS(status, part, call)                                                 \
    do {                                                                                 \
        const weft_status status_ = (call);                                              \
        INFO(#call << ": " << std::string(weft_last_error()));                           \
        CHECK(std::string(weft_status_name(status_)) == weft_status_name(status));       \
        CHECK(std::string_view(weft_last_error()).find(part) != std::string_view::npos); \
    } while (false)
#define CHECK_REFUSED(part, call) CHECK_STATUS(WEFT_INVALID_ARGUMENT, part, call)

template <class T>
weft_const_span in(const std::vector<T>& values) {
    return {values.data(), values.size() * sizeof(T)};
}
template <class T>
weft_span out(std::vector<T>& values) {
    return {values.data(), values.size() * sizeof(T)};
}

inline constexpr std::uint32_t kAffineWords[] = {
#include "shaders/affine.spv.inc"
};
inline constexpr std::uint32_t kSlowWords[] = {
#include "shaders/slow.spv.inc"
};
struct AffineNumbers {
    std::uint32_t factor, offset;
};

/// y[i] = x[i] * factor + offset + i.
inline void make_affine(weft_backend* backend, Program& program) {
    CHECK_OK(weft_program_create(backend, {kAffineWords, sizeof(kAffineWords)}, nullptr, &program));
}

/// A job of `count` elements with its memory; bindings of affine: x, y.
struct AffineJob {
    explicit AffineJob(std::size_t count) : x(count), y(count, 7) {
        for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::uint32_t>(i * 2654435761u);
        inputs[0] = in(x);
        outputs[0] = out(y);
        job.inputs = inputs;
        job.outputs = outputs;
        job.input_count = job.output_count = 1;
        job.elements = count;
        job.parameters = {&parameters, sizeof(parameters)};
    }
    AffineJob(const AffineJob&) = delete;
    AffineJob& operator=(const AffineJob&) = delete;
    bool right() const {
        for (std::size_t i = 0; i < x.size(); ++i)
            if (y[i] != x[i] * parameters.factor + parameters.offset + static_cast<std::uint32_t>(i))
                return false;
        return true;
    }
    bool untouched() const {
        for (const std::uint32_t value : y)
            if (value != 7) return false;
        return true;
    }

    std::vector<std::uint32_t> x, y;
    AffineNumbers parameters{3, 11};
    weft_const_span inputs[1];
    weft_span outputs[1];
    weft_job job{};
};

/// A backend as the environment says. At the end, no buffer may be alive and the validation layer must have
/// been silent.
template <class Body>
void on_device(Body&& body) {
    Backend backend;
    CHECK_OK(weft_backend_create(nullptr, &backend));
    REQUIRE(static_cast<weft_backend*>(backend) != nullptr);
    body(static_cast<weft_backend*>(backend));
    CHECK_OK(weft_backend_wait_idle(backend));
    CHECK_OK(weft_backend_trim(backend));
    weft_memory memory{};
    memory.size = sizeof(memory);
    CHECK_OK(weft_backend_memory(backend, &memory));
    CHECK(memory.live_buffers == 0);
    weft_counters counters{};
    counters.size = sizeof(counters);
    CHECK_OK(weft_backend_counters(backend, &counters));
    CHECK(counters.validation_messages == 0);
}

}  // namespace weft_test
