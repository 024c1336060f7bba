// SPDX-License-Identifier: Apache-2.0
// Products of operators of states beside the stored kernel matrix of the same states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench.hpp"

namespace bench {

struct StatesCase {
    std::uint64_t samples;
    std::uint32_t qubits, columns;
    bool given;  ///< states; otherwise a circuit of two layers with re-upload
    int repeats;
    std::size_t checked;  ///< values that are compared
    bool cuda;            ///< also by CUDA, which gets rows of its own
};

/// Times both and prints a row for each API. Errors: driver - a value is wrong.
std::vector<Json> run_states(weft::Backend& backend, const StatesCase& c);

}  // namespace bench
