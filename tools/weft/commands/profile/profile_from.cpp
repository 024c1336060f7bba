// SPDX-License-Identifier: Apache-2.0
// weft profile from: tables and pictures of results that exist already.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands/profile/profile_report.hpp"
#include "report/report_read.hpp"
#include "report/report_writer.hpp"

namespace weft::tool {
namespace {

struct FromArguments {
    std::vector<std::string> files;
    std::string output_dir = "weft-profile";
    bool no_plot = false;
};

std::string read_text(const std::string& path) {
    std::error_code error;
    // Opening a pipe that no program writes to would block.
    std::ifstream file;
    if (std::filesystem::is_regular_file(path, error)) file.open(path, std::ios::binary);
    if (!file.is_open())
        throw Failure(Exit::usage, path + ": cannot be read (need a *_results_*.json of weft profile)");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const FromArguments& arguments) {
    Report report;
    for (const std::string& path : arguments.files) {
        try {
            add_results(report, std::filesystem::path(path).filename().string(), read_text(path));
        } catch (const std::invalid_argument& error) {
            throw Failure(Exit::usage, path + ": " + error.what());
        }
    }
    require_folder(arguments.output_dir);
    report.stamp = make_stamp();
    report.title = "weft profile";
    for (const KernelResult& kernel : report.kernels)
        report.title += (&kernel == &report.kernels.front() ? " " : ", ") + kernel.kernel;
    ReportWriter writer(
        report, arguments.output_dir,
        {.results = false, .plot = !arguments.no_plot, .combined = report.kernels.size() > 1});
    for (const KernelResult& kernel : report.kernels) writer.add(kernel);
    writer.finish();
}

}  // namespace

void add_profile_from(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand(
        "from", "Report: tables and pictures of existing results, together if there are several");
    const auto arguments = std::make_shared<FromArguments>();
    command.add_option("RESULTS", arguments->files, "Results of one machine, a kernel each")
        ->required()
        ->type_name("FILE.json");
    command.add_option("--output-dir", arguments->output_dir, "Where the files go; made if absent")
        ->capture_default_str()
        ->type_name("FOLDER");
    command.add_flag("--no-plot", arguments->no_plot, "No pictures, for which gnuplot is needed");
    command.footer("Example: weft profile from report/*_results_*.json --output-dir again");
    command.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
