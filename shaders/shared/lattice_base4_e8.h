// SPDX-License-Identifier: Apache-2.0
// lattice_base4.h for E8.
#ifndef WEFT_SHARED_LATTICE_BASE4_E8_H
#define WEFT_SHARED_LATTICE_BASE4_E8_H

#include "lattice_base4.h"

WEFT_SHARED_BEGIN

// Coordinates 0, 2, 4, 6 and 1, 3, 5, 7.
struct E8Bytes {
    uint v[2];
};
struct E8Quarter {
    E8Bytes next, left;
};

// What a nearest point of E8 is made of. Masks and the coordinates that they stand for interleave the words
// of E8Bytes: bit 8 k is coordinate 2 k, bit 8 k + 1 coordinate 2 k + 1.
struct E8Choice {
    bool take_half;
    uint moved;
};

WEFT_FN uint interleaved(uint even, uint odd) {
    return even | (odd << 1);
}

WEFT_FN E8Choice choice_of(bool tie, bool closer, bool up, bool odd_half, bool odd_whole, uint most,
                           uint least) {
    bool half_moves_first = odd_half && (most & 1u) != 0u;
    bool whole_goes_up = up != (odd_whole && (least & 1u) != 0u);
    bool whole_smaller = half_moves_first ? !up : whole_goes_up;
    E8Choice choice;
    choice.take_half = closer || (tie && !whole_smaller);
    bool move = choice.take_half ? odd_half : odd_whole;
    choice.moved = move ? first_of(choice.take_half ? most : least) : 0u;
    return choice;
}

// One more than the doubled step from the integer below to the point, 0 to 4.
WEFT_FN uint steps_of(E8Choice choice, uint downs, uint at) {
    uint moved = (choice.moved >> at) & kLatticeOnes;
    uint halves = 2u * kLatticeOnes + 2u * moved - 4u * (moved & downs);
    uint wholes = kLatticeOnes + 2u * (downs ^ moved ^ kLatticeOnes);
    return choice.take_half ? halves : wholes;
}

WEFT_FN E8Bytes nearest_bytes(E8Point x) {
    float below[8], centred[8];
    float least = 1.0f, most = 0.0f;
    WEFT_PRECISE float spread = 0.0f;
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        below[i] = floor_of(x.v[i]);
        centred[i] = centred_on(x.v[i], below[i]);
        spread = spread + abs(centred[i]);
        least = min(least, abs(centred[i]));
        most = max(most, abs(centred[i]));
    }
    uint floors[2], downs[2];
    uint at_least = 0u, at_most = 0u;
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        // 2 less, which the steps below make good.
        floors[k] = bytes_of(word_of(below[k], -2.0f), word_of(below[k + 2], -2.0f),
                             word_of(below[k + 4], -2.0f), word_of(below[k + 6], -2.0f));
        downs[k] = signs_of(centred[k], centred[k + 2], centred[k + 4], centred[k + 6]);
    }
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        uint bit = 1u << uint(8 * (i / 2) + i % 2);
        at_least |= abs(centred[i]) == least ? bit : 0u;
        at_most |= abs(centred[i]) == most ? bit : 0u;
    }
    uint sums = floors[0] ^ floors[1];
    uint parities = byte_sum((sums & kLatticeOnes) | (((sums ^ downs[0] ^ downs[1]) & kLatticeOnes) << 4));
    bool odd_half = (parities & 1u) != 0u, odd_whole = (parities & 16u) != 0u;
    WEFT_PRECISE float even = spread - 2.0f;
    WEFT_PRECISE float half_cost = odd_half ? 1.0f - 2.0f * most : 0.0f;
    WEFT_PRECISE float whole_cost = odd_whole ? 2.0f * least : 0.0f;
    WEFT_PRECISE float difference = (even + half_cost) - whole_cost;
    E8Choice choice = choice_of(difference == 0.0f, difference < 0.0f, (downs[0] & 1u) == 0u, odd_half,
                                odd_whole, at_most, at_least);
    E8Bytes n;
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        uint twice = floors[k] << 1;
        uint steps = steps_of(choice, downs[k], uint(k)) + 3u * kLatticeOnes;
        n.v[k] = ((twice & 0x7e7e7e7eu) + steps) ^ (twice & 0x80808080u);
    }
    return n;
}

// centred = n mod 8 - 4. All coordinates are even or all are odd, so |centred| is 0, 2, 4 or 1, 3.
WEFT_FN E8Quarter quarter(E8Bytes n) {
    uint downs[2], sizes[2];
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        downs[k] = ~(n.v[k] >> 2) & kLatticeOnes;
        sizes[k] = ((n.v[k] ^ (3u * downs[k])) & 0x03030303u) + downs[k];
    }
    uint fours = interleaved((sizes[0] >> 2) & kLatticeOnes, (sizes[1] >> 2) & kLatticeOnes);
    uint twos = interleaved((sizes[0] >> 1) & kLatticeOnes, (sizes[1] >> 1) & kLatticeOnes);  // 2 or 3
    uint all = 3u * kLatticeOnes, smalls = ~(fours | twos) & all;                             // 0 or 1
    uint middle = twos != 0u ? twos : all;
    uint at_most = fours != 0u ? fours : middle, at_least = smalls != 0u ? smalls : middle;
    uint odd_n = n.v[0] & 1u;
    uint most = fours != 0u ? 4u : (twos != 0u ? 2u + odd_n : odd_n);
    uint least = smalls != 0u ? odd_n : (twos != 0u ? 2u + odd_n : 4u);

    uint mixed = n.v[0] ^ n.v[1];
    uint parities =
        byte_sum(((mixed >> 3) & kLatticeOnes) | ((((mixed >> 3) ^ (mixed >> 2)) & kLatticeOnes) << 4));
    bool odd_half = (parities & 1u) != 0u, odd_whole = (parities & 16u) != 0u;
    uint halves = byte_sum(sizes[0] + sizes[1]) + (odd_half ? 8u - 2u * most : 0u);
    uint wholes = 16u + (odd_whole ? 2u * least : 0u);
    E8Choice choice = choice_of(halves == wholes, halves < wholes, (downs[0] & 1u) == 0u, odd_half, odd_whole,
                                at_most, at_least);
    E8Quarter result;
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        uint steps = steps_of(choice, downs[k], uint(k));
        result.next.v[k] = ((n.v[k] >> 2) & 0x3e3e3e3eu) + steps + 0x3f3f3f3fu;
        result.left.v[k] = (n.v[k] & 0x07070707u) + 0x0c0c0c0cu - 4u * steps;
    }
    return result;
}

WEFT_FN uint digits_of(E8Bytes n) {
    uint last = n.v[1] >> 24;
    uint less = 16u * kLatticeOnes - (last & 15u) * kLatticeOnes;
    // Half the differences to the last coordinate, modulo 8.
    uint even = (((n.v[0] & 0x0f0f0f0fu) + less) >> 1) & 0x07070707u;
    uint odd = (((n.v[1] & 0x0f0f0f0fu) + less) >> 1) & 0x07070707u;
    uint sums = (even + odd) * kLatticeOnes;
    uint all = sums >> 24;
    uint tails = all * kLatticeOnes - (sums << 8);  // byte k: of coordinates 2 k to 6
    uint b_even = (tails & 0x03030300u) | ((all >> 1) & 3u);
    uint b_odd = ((tails - even) & 0x00030303u) | ((last & 3u) << 24);
    uint b = b_even | (b_odd << 2);
    b = (b | (b >> 4)) & 0x00ff00ffu;
    return (b | (b >> 8)) & 0xffffu;
}

WEFT_FN E8Bytes bytes_of_digits(uint digits, E8Bytes shape) {
    uint b = digits & 0xffffu;
    b = (b | (b << 8)) & 0x00ff00ffu;
    b = (b | (b << 4)) & 0x0f0f0f0fu;
    uint even = b & 0x03030303u, odd = (b >> 2) & 0x03030303u;
    uint last = (odd >> 24) * kLatticeOnes + 16u * kLatticeOnes, front = 2u * (odd & 0x00ffffffu);
    shape.v[0] = 2u * (even + (even & 3u)) + last - front;
    shape.v[1] = front + last - 2u * (even >> 8);
    return shape;
}

WEFT_FN E8Point sum_of_bytes(E8Bytes n, float bias) {
    E8Point x;
    WEFT_UNROLL for (int i = 0; i < 8; ++i) x.v[i] = byte_value(n.v[i % 2], uint(i / 2), bias);
    return x;
}

WEFT_SHARED_END

#endif
