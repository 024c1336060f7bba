// SPDX-License-Identifier: Apache-2.0
// The weft command: every failure gives one line on stderr and an exit status.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/version.hpp>
#include <weft/weft.hpp>

#include "cli/failure.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "device/device_options.hpp"

namespace {

using weft::tool::Exit;

/// An empty line: another process has printed why.
int end(Exit exit, std::string line) {
    if (line.empty()) return static_cast<int>(exit);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    std::fprintf(stderr, "weft: %s\n", line.c_str());
    return static_cast<int>(exit);
}

// A report that could not be written to standard output is an output that cannot be written.
int end_of_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return end(Exit::failed, "the report cannot be written to standard output");
    return static_cast<int>(Exit::success);
}

const CLI::App& innermost(const CLI::App& app) {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.front());
}

std::string full_name(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return (parent == nullptr ? "" : full_name(*parent) + " ") + app.get_name();
}

/// What is wrong if an option that takes one value was given more than once; otherwise nothing.
std::string named_twice(const CLI::App& at) {
    for (const CLI::Option* option : at.get_options())
        if (option->get_items_expected_max() == 1 && option->results().size() > 1)
            return option->get_name() + ": given more than once (got " +
                   std::to_string(option->results().size()) + " values, need one)";
    return {};
}

// CLI11 reports only that a subcommand is required; this lists the subcommands.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& at = innermost(app);
    std::string choices;
    for (const CLI::App* choice : at.get_subcommands([](const CLI::App*) { return true; }))
        choices += (choices.empty() ? "" : ", ") + choice->get_name();
    const std::vector<std::string> rest = app.remaining(true);
    const std::string see = " (see " + full_name(at) + " --help)";
    // CLI11 lists them from the last to the first.
    const bool may_end_here = choices.empty() || at.get_require_subcommand_min() == 0;
    if (!rest.empty() && may_end_here && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        std::string words;
        for (const std::string& word : rest) words += " " + word;
        return "not expected:" + words + see;
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
        if (const std::string twice = named_twice(at); !twice.empty()) return twice + see;
    if (may_end_here) return error.what() + see;
    if (!rest.empty() && rest.front().starts_with('-'))
        return "no such option (got " + rest.front() + ")" + see;
    const std::string got = rest.empty() ? "nothing" : rest.front();
    return (at.get_parent() == nullptr ? "" : at.get_name() + ": ") + "no such subcommand (got " + got +
           ", need one of " + choices + ")";
}

// A variable of a shell that is empty must not look like an option that was left out.
void refuse_empty_names(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        for (const auto& [type, what, need] :
             {std::tuple("FILE", "name", "a file"), std::tuple("FOLDER", "name", "a folder"),
              std::tuple("LABELS", "name", "a file"), std::tuple("S,F", "sizes", "SAMPLES,FEATURES")}) {
            if (!option->get_type_name().starts_with(type)) continue;
            const std::string refusal = std::string("no ") + what + " (got nothing, need " + need + ")";
            option->check(CLI::Validator(
                [refusal](const std::string& name) { return name.empty() ? refusal : std::string(); }, ""));
        }
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        refuse_empty_names(*command);
}

void parse(CLI::App& app, int argc, char** argv) try {
    app.parse(argc, argv);
} catch (const CLI::Success& asked) {  // --help and --version
    app.exit(asked);
} catch (const CLI::ParseError& error) {
    throw weft::tool::Failure(Exit::usage, usage_text(app, error));
}

}  // namespace

int main(int argc, char** argv) try {
    weft::tool::open_standard_descriptors();
    weft::tool::install_signal_handlers();
    CLI::App app{
        "Field arithmetic and transforms, quantum encoders and kernels, and lattice codes for files of "
        "arrays, "
        "on the GPU; and what the GPUs can do",
        "weft"};
    app.set_version_flag("--version", "weft " WEFT_VERSION_STRING);
    app.require_subcommand(1);
    app.footer(
        "Example: weft info\n"
        "Exit status: 2 usage, a bad value or input; 3 no usable device; 4 the device failed or an output\n"
        "cannot be written. Variables WEFT_* and GPU_* apply; --backend cuda refuses those that\n"
        "it cannot obey.");
    weft::tool::add_info(app);
    weft::tool::add_field(app);
    weft::tool::add_ntt(app);
    weft::tool::add_encode(app);
    weft::tool::add_kernel(app);
    weft::tool::add_profile(app);
    weft::tool::add_lattice(app);
    weft::tool::add_tune(app);
    refuse_empty_names(app);
    parse(app, argc, argv);
    return end_of_output();
} catch (const weft::tool::Failure& failure) {
    std::fflush(stdout);
    return end(failure.exit(), failure.what());
} catch (const weft::Error& error) {
    return end(weft::tool::exit_of(error), error.what());
} catch (const std::bad_alloc&) {
    return end(Exit::failed, "out of memory");
} catch (const std::exception& error) {
    return end(Exit::failed, error.what());
}
