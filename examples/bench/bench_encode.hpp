// SPDX-License-Identifier: Apache-2.0
// What the three parts of bench_encode share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "bench_encode_states.hpp"

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Settings {
    int trials = 20;
    std::uint64_t mib = 0;  ///< values and states of a case; 0: by device
    bool quick = false, seed_workload = false;
    std::vector<std::uint32_t> qubits{8, 12, 16, 20};
    std::vector<std::string> methods{"amplitude", "angle", "basis", "phase", "iqp", "iqp-z"};
    std::string json;
};

/// Seconds of the trials. The 95th percentile is that of the times: the slow tail, also where it is told as a
/// rate.
struct Times {
    std::vector<double> seconds;
    double at(double share) const {
        std::vector<double> sorted = seconds;
        std::sort(sorted.begin(), sorted.end());
        return sorted[std::min(sorted.size() - 1,
                               static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
    }
    double median() const { return at(0.5); }
    double p95() const { return at(0.95); }
};

inline double gb(std::uint64_t bytes) {
    return static_cast<double>(bytes) / 1e9;
}

/// `count` values that fit the method: the row of sample s begins at s.
std::vector<double> values_for(weft::EncodeMethod method, std::uint64_t samples, std::uint32_t qubits);

/// States of one route that were compared with their definitions after its last trial.
struct Verified {
    std::vector<std::uint64_t> rows;
    StateCheck states;

    /// Throws check_state's error with the route and the row in front.
    void add(const char* route, std::uint64_t index, weft::EncodeMethod method, std::span<const double> row,
             std::span<const weft::c32> state);
    nlohmann::json json() const;
};

/// Every method and number of qubits of the settings, in three forms each.
nlohmann::json run_table(weft::Backend& backend, const Settings& settings);

/// QDP's founding run: 16 qubits, batches of 64, 500 of them, float64 in, complex64 out, a result of each
/// consumed.
nlohmann::json run_seed_workload(weft::Backend& backend, const Settings& settings);

}  // namespace bench
