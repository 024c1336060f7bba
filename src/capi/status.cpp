// SPDX-License-Identifier: Apache-2.0
#include "capi/status.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include <weft/ops/encode_error.hpp>
#include <weft/version.hpp>

#include "capi/texts.hpp"

namespace weft::capi {

namespace {

/// What the last failed call of a thread left. `text` points to `kept`, or to a constant if that had no
/// memory.
struct LastError {
    const char* text = "";
    std::string kept;
    std::vector<EncodeFailure> failures;
    int native_code = 0;
};

LastError& last() {
    thread_local LastError error;
    return error;
}

weft_status keep(weft_status status, const char* function, const char* what,
                 const Error* of_weft = nullptr) noexcept {
    LastError& error = last();
    error.native_code = of_weft != nullptr ? of_weft->native_code() : 0;
    error.failures.clear();
    try {
        error.kept = of_weft != nullptr ? text_in_c(function, what) : std::string(function) + ": " + what;
        error.text = error.kept.c_str();
    } catch (const std::bad_alloc&) {
        error.text = "out of host memory, also for the text of this error";
    }
    return status;
}

weft_status status_of(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument:
            return WEFT_INVALID_ARGUMENT;
        case Errc::invalid_shader:
            return WEFT_INVALID_SHADER;
        case Errc::no_loader:
            return WEFT_NO_LOADER;
        case Errc::no_device:
            return WEFT_NO_DEVICE;
        case Errc::unsupported:
            return WEFT_UNSUPPORTED;
        case Errc::out_of_memory:
            return WEFT_OUT_OF_MEMORY;
        case Errc::device_lost:
            return WEFT_DEVICE_LOST;
        case Errc::cancelled:
            return WEFT_CANCELLED;
        case Errc::io:
            return WEFT_IO;
        case Errc::driver:
            return WEFT_DRIVER;
    }
    return WEFT_INTERNAL;
}

}  // namespace

weft_status keep_error(const char* function) noexcept {
    try {
        throw;
    } catch (const EncodeError& e) {
        const weft_status status = keep(status_of(e.code()), function, e.what(), &e);
        try {
            last().failures = e.failures();
        } catch (const std::bad_alloc&) {
            // The text still names the first ones.
        }
        return status;
    } catch (const Error& e) {
        return keep(status_of(e.code()), function, e.what(), &e);
    } catch (const std::bad_alloc&) {
        return keep(WEFT_OUT_OF_MEMORY, function, "out of host memory");
    } catch (const Stopped&) {
        return keep(WEFT_CANCELLED, function, "ended by its callback");
    } catch (const TimeUp&) {
        return keep(WEFT_TIMEOUT, function, "the time was up; the work goes on, so wait again");
    } catch (const std::exception& e) {
        return keep(WEFT_INTERNAL, function, e.what());
    } catch (...) {
        return keep(WEFT_INTERNAL, function, "a callback let an exception out");
    }
}

void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

}  // namespace weft::capi

uint32_t weft_abi_version(void) {
    return WEFT_ABI_VERSION;
}

const char* weft_version(void) {
    return WEFT_VERSION_STRING;
}

const char* weft_status_name(weft_status status) {
    switch (status) {
        case WEFT_OK:
            return "ok";
        case WEFT_TIMEOUT:
            return "timeout";
        case WEFT_INTERNAL:
            return "internal";
        default:
            break;
    }
    // The others are the codes of weft::Error, in its order.
    if (status > WEFT_OK && status <= WEFT_DRIVER)
        return weft::to_string(static_cast<weft::Errc>(status - 1));
    return "unknown";
}

const char* weft_last_error(void) {
    return weft::capi::last().text;
}

int32_t weft_last_native_code(void) {
    return weft::capi::last().native_code;
}

uint64_t weft_last_failures(weft_failure* failures, uint64_t capacity) {
    const std::vector<weft::EncodeFailure>& all = weft::capi::last().failures;
    const std::size_t count = failures == nullptr ? 0 : std::min<std::uint64_t>(capacity, all.size());
    for (std::size_t i = 0; i < count; ++i)
        failures[i] = {all[i].sample, all[i].position, all[i].job,
                       static_cast<weft_value_fault>(all[i].fault), 0};
    return all.size();
}
