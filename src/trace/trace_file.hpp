// SPDX-License-Identifier: Apache-2.0
// Where traces go.
#pragma once

#include <filesystem>
#include <string>

#include "trace/trace_events.hpp"

namespace weft::core {

/// Writes aside and renames, so that the file appears whole or not at all. Returns why not; empty: written.
std::string write_trace_file(const TraceData& data, const std::filesystem::path& path);

/// Of several backends in a process that are given one file, the first takes it, the others take
/// "trace.2.json", "trace.3.json" and so on: none overwrites another's.
std::filesystem::path claim_trace_path(const std::filesystem::path& asked);
/// The name of the `ordinal`-th, from 1 on.
std::filesystem::path numbered_trace_path(const std::filesystem::path& asked, std::uint64_t ordinal);

}  // namespace weft::core
