// SPDX-License-Identifier: Apache-2.0
// Options and reports that every call on host memory has.
#pragma once

#include <chrono>
#include <cstdint>

#include <weft/weft.h>
#include <weft/batch.hpp>

namespace weft::capi {

/// Errors: invalid_argument.
BatchOptions batch_options(const char* function, const weft_batch_options* options);

/// Errors: invalid_argument.
Path path_of(const char* function, const char* name, weft_path path);
QueueMode queue_mode_of(const char* function, const char* name, weft_queue_mode mode);
Choice choice_of(const char* function, const char* name, weft_choice choice);

/// Fills the caller's report, if there is one, and keeps the rows of its devices for the thread. Its size was
/// checked before the work. Allocates nothing.
void put_report(const char* function, OpReport&& report, weft_report* target);
void put_report(const char* function, BatchReport&& report, weft_report* target);

/// WEFT_FOREVER and what is close to it wait without an end.
std::chrono::nanoseconds timeout_of(std::uint64_t timeout_ns);

}  // namespace weft::capi
