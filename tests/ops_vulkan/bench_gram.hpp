// SPDX-License-Identifier: Apache-2.0
// The same product by cuBLAS, with which bench_gram compares.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct Herk {
    double ms = 0;
    std::vector<std::complex<float>> products;  ///< all pairs of the requested rows with column <= row
    std::string absent;                         ///< why cuBLAS is not available; empty if it is
};

/// cublasCherk on `rows` states of `amplitudes`, which repeat the given states. cuBLAS is opened at run time.
Herk run_cherk(std::span<const std::complex<float>> states, std::uint64_t rows, std::uint64_t amplitudes,
               const std::vector<std::uint64_t>& checked, int repeats);

}  // namespace bench
