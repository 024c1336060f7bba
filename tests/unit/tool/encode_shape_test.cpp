// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "commands/encode/encode_shape.hpp"

using namespace weft;
using namespace weft::tool;

TEST_CASE("encode shape: advice makes rows that the method takes") {
    struct Row {
        Shape shape;
        EncodeMethod method;
        std::uint32_t qubits;
        const char* change;
    };
    const Row rows[] = {
        {{8}, EncodeMethod::angle, 8, ".reshape(1, -1)"},
        {{8}, EncodeMethod::angle, 4, ".reshape(-1, 4)"},
        {{8}, EncodeMethod::angle, 1, ".reshape(-1, 1)"},
        {{8}, EncodeMethod::angle, 3, ""},
        {{8}, EncodeMethod::basis, 3, ".reshape(-1, 1)"},
        {{100}, EncodeMethod::amplitude, 7, ".reshape(1, -1)"},
        {{256}, EncodeMethod::amplitude, 7, ".reshape(-1, 128)"},
        {{}, EncodeMethod::basis, 3, ".reshape(1, -1)"},
        {{5, 2, 4}, EncodeMethod::angle, 8, ".reshape(5, -1)"},
        {{5, 2, 8}, EncodeMethod::angle, 8, ".reshape(-1, 8)"},
        {{0, 2, 8}, EncodeMethod::angle, 8, ""},
        {{3}, EncodeMethod::iqp, 2, ".reshape(1, -1)"},
    };
    for (const Row& row : rows) {
        CAPTURE(to_string(row.shape));
        CHECK(change_to_rows(row.shape, row.method, row.qubits) == row.change);
    }
}

TEST_CASE("encode shape: the number of qubits that columns are for") {
    CHECK(qubits_for(EncodeMethod::angle, 12) == 12);
    CHECK(qubits_for(EncodeMethod::angle, 31) == 0);
    CHECK(qubits_for(EncodeMethod::amplitude, 1000) == 10);
    CHECK(qubits_for(EncodeMethod::iqp, 6) == 3);
    CHECK(qubits_for(EncodeMethod::iqp, 5) == 0);
    CHECK(wrong_columns(EncodeMethod::iqp, 3, 6).empty());
    CHECK(wrong_columns(EncodeMethod::amplitude, 2, 5) ==
          "wrong number of columns (got 5, need 1 to 4 for 2 qubits)");
}
