// SPDX-License-Identifier: Apache-2.0
// The end of the last pass over states: it stores amplitudes in the planes of shaders/gram/gram_layout.h
// instead of row-major states, and the sums of their squares. Part of kernel_states.glsl.h.

WEFT_GPU void put(uint block_in_workgroup, uint lane, uint shift, uint plane) {
    barrier();
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) dealt[slot(block_in_workgroup, place(lane, shift, j))] =
        plane == 0u ? re[j] : im[j];
    barrier();
}

// The sum of a block's squares. They are added in pairs, which keeps the rounding error small.
WEFT_GPU void add_squares(BlockPlace at, uint lane, uint lanes, bool there) {
    Real sums[kHeld];
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) sums[j] = re[j] * re[j] + im[j] * im[j];
    WEFT_UNROLL for (uint step = 1u; step < kHeld; step *= 2u)
        WEFT_UNROLL for (uint j = 0; j < kHeld; j += 2u * step) sums[j] += sums[j + step];
    const uint own = gl_LocalInvocationIndex;
    barrier();
    dealt[own] = sums[0];
    for (uint half_way = lanes / 2u; half_way > 0u; half_way /= 2u) {
        barrier();
        if (lane < half_way) dealt[own] += dealt[own + half_way];
    }
    const uint blocks_of_row = 1u << (max(p.qubits, kHeldBits) - p.window);
    if (lane == 0u && there) squares[at.row * blocks_of_row + at.rest] = dealt[own];
}

#if defined(WEFT_MATRIX)
// Two neighbours of a plane form a word; eight words of a plane and eight of the next plane follow each
// other.
WEFT_GPU void store_packed(uint first_block, uint block_in_workgroup, uint lane, uint shift) {
    const uint lane_bits = p.window - kHeldBits;
    WEFT_UNROLL for (uint plane = 0u; plane < 2u; ++plane) {
        put(block_in_workgroup, lane, shift, plane);
        WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
            const uint item = j * kLanes + gl_LocalInvocationIndex, line = item / kHeld;
            const uint inside = ((line & ((1u << lane_bits) - 1u)) << kHeldBits) | (2u * (item % 8u));
            const uint block = first_block + (line >> lane_bits), low = item / 8u % 2u;
            const uint from = slot(line >> lane_bits, inside);
            const vec2 scaled = kGramScale * vec2(dealt[from], dealt[from + 1u]);
            const vec2 high = vec2(gram_high(scaled.x), gram_high(scaled.y));
            const BlockPlace at = place_of(block);
            if (block < count)
                packed_planes[gram_matrix_at(at.row, index_of(at.rest, inside), 2u * plane + low,
                                             p.packed_blocks) /
                              2u] = packHalf2x16(low != 0u ? scaled - high : high);
        }
    }
}
#else
// All blocks of a workgroup have the same place in neighbouring rows.
WEFT_GPU void store_packed(uint first_block, uint block_in_workgroup, uint lane, uint shift) {
    const uint blocks = kLanes >> (p.window - kHeldBits);
    const BlockPlace first = place_of(first_block);
    WEFT_UNROLL for (uint plane = 0u; plane < 2u; ++plane) {
        if (kTurned) put(block_in_workgroup, lane, shift, plane);
        WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
            const uint item = j * kLanes + gl_LocalInvocationIndex;
            const uint row = kTurned ? item % blocks : block_in_workgroup;
            const uint inside = kTurned ? item / blocks : place(lane, shift, j);
            const uint index = index_of(first.rest, inside);
            if (first_block + row < count && index < p.packed_blocks * kGramStep)
                packed_planes[gram_at(first.row + row, index, plane, p.packed_blocks)] =
                    kTurned       ? dealt[slot(row, inside)]
                    : plane == 0u ? re[j]
                                  : im[j];
        }
    }
}
#endif
