// SPDX-License-Identifier: Apache-2.0
// Writes traces to files.
#pragma once

#include <filesystem>
#include <string>

#include "trace/trace_events.hpp"

namespace weft::core {

/// Writes to another name and renames, so that the file appears whole or not at all. Returns why it failed;
/// empty: it did not. `error` gets errno.
std::string write_trace_file(const TraceData& data, const std::filesystem::path& path, int* error = nullptr);

/// If several backends of a process are given one file, the first takes it and the others take
/// "trace.2.json", "trace.3.json" and so on, so that none overwrites the trace of another.
std::filesystem::path claim_trace_path(const std::filesystem::path& asked);
/// The name for the `ordinal`-th backend; the first is 1.
std::filesystem::path numbered_trace_path(const std::filesystem::path& asked, std::uint64_t ordinal);

}  // namespace weft::core
