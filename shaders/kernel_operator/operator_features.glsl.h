// SPDX-License-Identifier: Apache-2.0
// Features of product states: K[i, j] = 2^-n * (sum over f of F[i, f] F[j, f]), where f has a digit for each
// qubit, and F[i, f] is the product over the qubits of 1 (digit 0) or of number digit - 1 of the qubit. The
// qubits have two sides: F[i, f] = high[i, f / low_count] * low[i, f % low_count]. Needs p.of_qubit from the
// shader. No include guard: read once for each kernel.

WEFT_CONST uint kTile = 32,
                kStep = 16;  // features of a tile; samples, or features, that are in shared memory

// Takes the lowest digit off. Divisions by constants are fast.
WEFT_GPU uint without_digit(uint f) {
    return p.of_qubit == 3u ? f / 4u : f / 3u;
}
