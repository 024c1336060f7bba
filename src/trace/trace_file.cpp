// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.hpp"

#include <unistd.h>

#include <map>
#include <mutex>
#include <system_error>

#include "base/file_io.hpp"
#include "trace/trace_json.hpp"

namespace weft::core {

namespace fs = std::filesystem;

std::string write_trace_file(const TraceData& data, const fs::path& path, int* error) {
    NewFile file(path, 0666, true);
    write_trace_json(data, ::getpid(), [&](std::string_view text) { file.write(text); });
    std::string failure = file.replace();
    if (error != nullptr) *error = file.error();
    return failure;
}

fs::path numbered_trace_path(const fs::path& asked, std::uint64_t ordinal) {
    if (ordinal <= 1) return asked;
    fs::path numbered = asked;
    numbered.replace_extension("." + std::to_string(ordinal) + asked.extension().string());
    return numbered;
}

fs::path claim_trace_path(const fs::path& asked) {
    static std::mutex mutex;
    // Never destroyed: a backend may be made while the process ends.
    static auto& claims = *new std::map<fs::path, std::uint64_t>;
    std::error_code error;
    const fs::path absolute = fs::absolute(asked, error);
    const std::lock_guard lock(mutex);
    return numbered_trace_path(absolute, ++claims[absolute.lexically_normal()]);
}

}  // namespace weft::core
