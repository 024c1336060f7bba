// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include <cstdio>
#include <exception>
#include <fstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace bench {

int run(const char* name, CLI::App& app, Options& options, int argc, char** argv,
        const std::function<void()>& make_quick, const Body& body) try {
    app.add_option("--repeats", options.repeats, "Timed runs behind each median")
        ->capture_default_str()
        ->check(CLI::Range(1, 100000));
    app.add_option("--json", options.json, "Also write the figures to this file")->type_name("FILE");
    app.add_flag("--quick", options.quick, "Small sizes and few repeats: a smoke test, not a measurement");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (options.quick) {
        make_quick();
        if (app.count("--repeats") == 0) options.repeats = 3;
    }
    const auto cannot_write = [&] {
        std::fprintf(stderr, "%s: cannot write %s\n", name, options.json.c_str());
        return 4;
    };
    // A file that cannot be written is reported here, not after minutes of measuring.
    if (!options.json.empty() && !std::ofstream(options.json, std::ios::app)) return cannot_write();
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    Json report;
    const bool right = body(report);
    if (!options.json.empty() && !(std::ofstream(options.json) << report.dump(2) << '\n').flush())
        return cannot_write();
    if (!right) std::fprintf(stderr, "%s: a result is wrong\n", name);
    return right ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader ? 3 : 4;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
}

}  // namespace bench
