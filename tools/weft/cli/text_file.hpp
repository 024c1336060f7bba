// SPDX-License-Identifier: Apache-2.0
// Reports in files: whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace weft::tool {

/// Finds out before the work what would only show after it: no such folder, no permission, a folder in the
/// way. An empty path is fine: no file is wanted. Errors: Failure with Exit::failed.
void require_writable(const std::string& path);

/// Written beside the target, which it then replaces. Errors: Failure with Exit::failed.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace weft::tool
