// SPDX-License-Identifier: Apache-2.0
// The ring of CNOTs as a permutation of indices. Wire k is bit qubits - 1 - k.
#ifndef WEFT_SHARED_KERNEL_RING_H
#define WEFT_SHARED_KERNEL_RING_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// Where the amplitude at `index` was before CNOTs 0 to 1, 1 to 2, .., the last to 0; of two wires the first
// CNOT alone. They make bit k of a wire the sum of bits 0 to k, and bit 0 that of all others.
WEFT_FN uint before_ring(uint index, uint qubits) {
    const uint before = index ^ (index >> 1);
    const uint top = qubits > 2u ? 3u << (qubits - 2u) : 0u;
    return (index & 1u) != 0u ? before ^ top : before;
}

WEFT_SHARED_END

#endif
