// SPDX-License-Identifier: Apache-2.0
// The trace event format, as chrome://tracing and ui.perfetto.dev read it. Pure.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#pragma once

#include <functional>
#include <string_view>

#include "trace/trace_events.hpp"

namespace weft::core {

/// Called with one part of the text after the other.
using TextSink = std::function<void(std::string_view)>;

/// One complete event for each timed stage, on the row of its queue or thread, ordered by time; an instant
/// for each wait, replay, allocation and release; a counter of live memory; names of process and rows.
void write_trace_json(const TraceData& data, std::int64_t process, const TextSink& sink);

}  // namespace weft::core
