// SPDX-License-Identifier: Apache-2.0
// The ring of CNOTs as a permutation of indices. Wire k is bit qubits - 1 - k.
#ifndef WEFT_SHARED_KERNEL_RING_H
#define WEFT_SHARED_KERNEL_RING_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// The index of the amplitude at `index` before the CNOTs 0 to 1, 1 to 2, .., the last to 0; with two wires
// there is only the first CNOT. They make the bit of wire k the sum modulo 2 of the bits of wires 0 to k, and
// the bit of wire 0 that of all other wires.
WEFT_FN uint before_ring(uint index, uint qubits) {
    const uint before = index ^ (index >> 1);
    const uint top = qubits > 2u ? 3u << (qubits - 2u) : 0u;
    return (index & 1u) != 0u ? before ^ top : before;
}

WEFT_SHARED_END

#endif
