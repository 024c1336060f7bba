// SPDX-License-Identifier: Apache-2.0
#include "measure/report_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cli/number_options.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptionGroup = "Report";

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::string check_sizes(const std::string& text) try {
    if (trimmed(text).empty()) return "no size (got nothing, need whole numbers with commas between)";
    parse_sizes(text);
    return {};
} catch (const std::invalid_argument& error) {
    return error.what();
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 48;  // so that the bytes of a batch can be counted
    std::vector<std::uint64_t> sizes;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view word = trimmed(text.substr(0, comma));
        sizes.push_back(parse_number(word, Bounds<std::uint64_t>{1, kMost, "1 to 2^48"}));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::vector<CLI::Option*> ReportOptions::add_report(CLI::App& command) {
    // The whole list is one word, so that spaces in it are accepted.
    CLI::Option* sizes =
        command
            .add_option_function<std::string>(
                "--batch-sizes", [this](const std::string& text) { batch_sizes = parse_sizes(text); },
                "Sizes to measure, with commas between")
            ->default_str("1,10,100,1000,10000")
            ->type_name("N,N,..")
            ->group(kOptionGroup)
            ->check(CLI::Validator(check_sizes, ""));
    CLI::Option* folder =
        command.add_option("--output-dir", output_dir, "Where the files go; made if absent")
            ->capture_default_str()
            ->type_name("FOLDER")
            ->group(kOptionGroup);
    CLI::Option* plot = command.add_flag("--no-plot", no_plot, "No pictures, for which gnuplot is needed")
                            ->group(kOptionGroup);
    CLI::Option* limit =
        add_number(command, "--max-seconds", repeats.max_seconds,
                   "Of one figure: fewer runs if they take longer, but at least 3", {0.01, 86400})
            ->type_name("S")
            ->group(kOptionGroup);
    CLI::Option* total =
        add_number(
            command, "--total-seconds", total_seconds,
            "Of all figures together, which share it; the larger sizes get most of it. What would take "
            "longer than its share is left out, the CPU's figure is extrapolated. Raise it for a GPU",
            {0.1, 1e6})
            ->type_name("S")
            ->group(kOptionGroup);
    return {sizes, folder, plot, limit, total};
}

void ReportOptions::add_to(CLI::App& command) {
    add_report(command);
    add_number(command, "--repeats", repeats.repeats, "Runs that are measured", {1, 1'000'000});
    add_number(command, "--warmup", repeats.warmup, "Runs before those", {0, 1'000'000});
    device.add_to(command, true);
}

void require_folder(const std::string& folder) {
    const auto fail = [&](int code) {
        throw Failure(Exit::failed, "--output-dir: " + folder + " cannot be written (" +
                                        std::generic_category().message(code) + ")");
    };
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) fail(error.value());
    if (!fs::is_directory(folder, error)) fail(ENOTDIR);
    if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(errno);
}

std::string make_stamp() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &utc);
    return text;
}

}  // namespace weft::tool
