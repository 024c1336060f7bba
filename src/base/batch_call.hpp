// SPDX-License-Identifier: Apache-2.0
// What calls on host memory other than run_batch do with BatchOptions: they refuse members that they cannot
// honour, report progress, and end when they are cancelled. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/batch.hpp>
#include <weft/error.hpp>

namespace weft::core {

/// The members that a call honours in addition to progress and cancel.
struct BatchMembers {
    bool mode = false, path = false, chunk_elements = false, ring_slots = false, stage_times = false;
};

/// Errors: invalid_argument - a member that is not honoured and has another value than its default; the text
/// names it.
void require_members(const char* function, const BatchOptions& options, const BatchMembers& honoured);

/// Calls run(), which is the part of `function` that run_batch does; its errors begin with the name that the
/// caller knows.
template <class Run>
auto in_name_of(std::string_view function, const Run& run) {
    constexpr std::string_view kRunBatch = "run_batch: ";
    try {
        return run();
    } catch (const Error& error) {
        const std::string_view text = error.what();
        if (!text.starts_with(kRunBatch)) throw;
        throw Error(error.code(), std::string(function) + ": " + std::string(text.substr(kRunBatch.size())),
                    error.native_code());
    }
}

/// The items of a chunk, in the unit of OpReport::items, as the call or Config sets them; 0: nothing is set.
std::uint64_t wanted_chunk_items(const PlanReport& plan, const BatchOptions& options) noexcept;

/// Belongs to one call; the options must outlive it.
class ProgressMeter {
  public:
    ProgressMeter(const char* function, const BatchOptions& options, std::uint64_t total)
        : function_(function), options_(options) {
        progress_.total = total;
    }
    /// Errors: cancelled.
    void check() const;
    /// Reports that `done` of the total are done, then calls check() unless that is all. Errors: cancelled;
    /// what the callback throws.
    void show(std::uint64_t done);
    /// Calls of show(): the parts that the call was cut into, which are its BatchReport::chunks.
    std::uint64_t parts() const noexcept { return parts_; }
    double elapsed_s() const;
    /// true: the exception under way came from the caller's progress callback.
    bool in_callback() const noexcept { return in_callback_; }

  private:
    const char* function_;
    const BatchOptions& options_;
    Progress progress_;
    std::uint64_t parts_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    bool in_callback_ = false;
};

}  // namespace weft::core
