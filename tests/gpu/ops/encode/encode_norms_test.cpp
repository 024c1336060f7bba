// SPDX-License-Identifier: Apache-2.0
// Amplitudes compared with long double, relative to themselves: norms of every size, in rows of every kernel.
#include <cmath>
#include <cstdint>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shared_rows.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;

// Values of different magnitudes within a factor of 2, and of both signs.
double mantissa(std::uint64_t i) {
    const std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
    const double v = 1 + static_cast<double>(mixed >> 12) * 0x1p-52;
    return (mixed & 0x800) != 0 ? -v : v;
}

// A row for each exponent; rows for odd numbers of qubits have one value less.
template <class Amplitude, class Value>
void check_scales(weft::Backend& backend, std::uint32_t qubits, int least, int most, int step) {
    using Part = typename Amplitude::value_type;
    CAPTURE(qubits);
    CAPTURE(sizeof(Value));
    CAPTURE(sizeof(Amplitude));
    std::vector<Value> values;
    const std::uint64_t size = std::uint64_t{1} << qubits, features = qubits % 2 == 0 ? size : size - 1;
    std::uint64_t rows = 0;
    for (int exponent = least; exponent <= most; exponent += step, ++rows)
        for (std::uint64_t i = 0; i < features; ++i)
            values.push_back(static_cast<Value>(std::ldexp(mantissa(rows * 977 + i), exponent)));
    const auto states = encode_by<Amplitude>(backend, EncodeRoute::resident, weft::EncodeMethod::amplitude,
                                             values, {rows, qubits});
    double worst = 0;
    for (std::uint64_t row = 0; row < rows; ++row) {
        long double squares = 0;
        for (std::uint64_t i = 0; i < features; ++i) {
            const long double v = values[row * features + i];
            squares += v * v;
        }
        const long double norm = std::sqrt(squares);
        for (std::uint64_t i = 0; i < features; ++i) {
            const long double want = values[row * features + i] / norm;
            const auto off = static_cast<double>(std::abs((states[row * size + i].real() - want) / want));
            if (!(off <= worst)) worst = off;
        }
    }
    CHECK(worst < amplitude_bound<Value, Part>());
    CHECK(worst > 0);
}

}  // namespace

TEST_CASE("encode amplitude: amplitudes are right to the last places for every norm") {
    on_device([](weft::Backend& backend) {
        for (const std::uint32_t qubits : {2u, 3u, 6u, 9u, 13u, 16u}) {
            const int sparse = qubits < 10 ? 1 : 40;
            check_scales<c32, float>(backend, qubits, -126, 127, sparse);
            if (!backend.device().shader_float64) continue;
            check_scales<c32, double>(backend, qubits, -1022, 1023, 7 * sparse);
            check_scales<c64, float>(backend, qubits, -126, 127, 3 * sparse);
            check_scales<c64, double>(backend, qubits, -1022, 1023, 7 * sparse);
        }
    });
}
