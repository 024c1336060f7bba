// SPDX-License-Identifier: Apache-2.0
// What bench_gram compares with: the same product by cuBLAS.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct Herk {
    double ms = 0;
    std::vector<std::complex<float>> products;  ///< of the rows asked for, all pairs with column <= row
    std::string absent;                         ///< why cuBLAS could not be had; empty: it could
};

/// cublasCherk on `rows` states of `amplitudes`: those given, over and over. Found at run time.
Herk run_cherk(std::span<const std::complex<float>> states, std::uint64_t rows, std::uint64_t amplitudes,
               const std::vector<std::uint64_t>& checked, int repeats);

}  // namespace bench
