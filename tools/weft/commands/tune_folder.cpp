// SPDX-License-Identifier: Apache-2.0
#include "commands/tune_folder.hpp"

#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/text_file.hpp"

namespace weft::tool {

void require_tuning_folder(const Backend& backend) {
    const std::filesystem::path& file = backend.plan().tuning.file;
    if (file.empty()) throw Failure(Exit::failed, "tune: there is no cache folder to keep it in");
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
        throw Failure(Exit::failed, "tune: " + file.parent_path().string() + " cannot be written (" +
                                        error.message() + ")");
    require_writable(file.string());
}

}  // namespace weft::tool
