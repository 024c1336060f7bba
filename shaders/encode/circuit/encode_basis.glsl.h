// SPDX-License-Identifier: Apache-2.0
// basis: one amplitude of a state is 1, the others are 0. Every invocation stores 16 bytes at a time. Needs
// encode_parameters.h, encode_turns.h, and the constants, push constants and buffers of encode_basis.comp
// from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kPerStore = kStoreWide ? 1u : 2u;
WEFT_CONST uint kStores = 8;               // stores of an invocation; the host counts workgroups by it
WEFT_CONST uint kNoIndex = 0xffffffffu;    // differs from every amplitude by more than a store is wide
WEFT_GROUP(uint, indices, kStores * 256);  // of the elements that a workgroup's stores overlap

#include "encode_index.glsl.h"

// Finds the index of every element that the stores [begin, end) overlap, once for all invocations, and writes
// the status of the elements that begin there.
WEFT_GPU void find_indices(uint begin, uint end, uint bits, uint block_bits) {
    const uint from = (begin * kPerStore) >> bits, elements = (((end - 1u) * kPerStore) >> bits) - from + 1u;
    const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
    for (uint i = gl_LocalInvocationIndex; i < elements; i += gl_WorkGroupSize.x) {
        const uint element = p.base + first + from + i, row = element >> block_bits;
        const uvec2 index = index_of(row);
        indices[i] = index.y == kEncodeGood ? index.x : kNoIndex;
        if (((from + i) << bits) < begin * kPerStore) continue;
        if (!by_row)
            status[from + i] = uvec2(index.y, 0u);
        else if ((element & ((1u << block_bits) - 1u)) == 0u)
            status[p.row_base + row] = uvec2(index.y, 0u);
    }
}

WEFT_MAIN() {
    const uint bits = min(p.qubits, p.slab_bits), block_bits = p.qubits - bits;
    const uint stores = (count << bits) / kPerStore, share = kStores * gl_WorkGroupSize.x;
    const uint one = kStoreWide ? 0x3ff00000u : 0x3f800000u;
    // The stores of a workgroup are contiguous, so that few indices are needed.
    for (uint begin = gl_WorkGroupID.x * share; begin < stores; begin += gl_NumWorkGroups.x * share) {
        const uint end = min(begin + share, stores);
        barrier();
        find_indices(begin, end, bits, block_bits);
        barrier();
        if ((p.flags & kEncodeCheckOnly) != 0u) continue;
        const uint from = (begin * kPerStore) >> bits;
        for (uint j = begin + gl_LocalInvocationIndex; j < end; j += gl_WorkGroupSize.x) {
            const uint at = (j * kPerStore) >> bits;
            const uint block = (p.base + first + at) & ((1u << block_bits) - 1u);
            const uint amplitude = (block << bits) | ((j * kPerStore) & ((1u << bits) - 1u));
            const uint place = indices[at - from] - amplitude;
            uvec4 bytes = uvec4(0u);
            if (place < kPerStore) {
                if (kStoreWide)
                    bytes.y = one;
                else if (place == 0u)
                    bytes.x = one;
                else
                    bytes.z = one;
            }
            states[j] = bytes;
        }
    }
}
