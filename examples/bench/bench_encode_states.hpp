// SPDX-License-Identifier: Apache-2.0
// What bench_encode holds encoded states against: their definitions, in float64 on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/ops/encode.hpp>

namespace bench {

/// Most that an amplitude of complex64 may be off, absolute: the bound of docs/encode.md.
inline double state_bound(std::uint32_t qubits) {
    return 2.5e-7 * qubits;
}

/// Of one state or several.
struct StateCheck {
    std::uint64_t amplitudes = 0;  ///< compared
    double error = 0, bound = 0;   ///< the largest
    void add(const StateCheck& other);
};

/// Compares all amplitudes of a state; of an iqp of more than 8 qubits, whose amplitudes are sums of 2^qubits
/// terms each, five and the norm. Errors: weft::Error driver - one is off by state_bound or more.
StateCheck check_state(weft::EncodeMethod method, std::span<const double> row,
                       std::span<const weft::c32> state);

/// The first, the middle and the last of them.
std::vector<std::uint64_t> rows_to_check(std::uint64_t samples);

}  // namespace bench
