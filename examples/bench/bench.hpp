// SPDX-License-Identifier: Apache-2.0
// The shared code of the benches: clock and median, the common options, the file of figures and the exit
// status. Of CLI11 and nlohmann-json it only declares the types, because their headers take seconds to
// compile.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <weft/weft.hpp>

namespace CLI {
class App;
}

namespace bench {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Options {
    int repeats;  ///< timed runs behind each median
    bool quick = false;
    std::string json = {};  ///< file; empty: none
};

/// The body of a bench. It prints its rows, puts the figures into `report` and returns whether all results
/// were right.
using Body = std::function<bool(Json& report)>;

/// Parses the command line, runs `body` and writes --json. With --quick it calls `make_quick` first, and
/// --repeats is 3 if it was not given. Returns the exit status: 0; 1 if a result is wrong; 2 if the command
/// line is not valid; 3 if there is no device; 4 if the device fails or the file cannot be written.
int run(const char* name, CLI::App& app, Options& options, int argc, char** argv,
        const std::function<void()>& make_quick, const Body& body);

}  // namespace bench
