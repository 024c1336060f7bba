// SPDX-License-Identifier: Apache-2.0
// The functions of lattice_base4.h for E8.
//
// The quantization itself avoids operations that a GPU executes at half speed, such as comparisons,
// selections and logic. Decisions are numbers 0 or 1, computed by clamp(), and are multiplied. All of this is
// exact, because the compared numbers are multiples of 2^-25 of at most 1/2. It stays exact if a compiler
// fuses or reorders operations; where it would not, variables are precise.
#ifndef WEFT_SHARED_LATTICE_BASE4_E8_H
#define WEFT_SHARED_LATTICE_BASE4_E8_H

#include "lattice_base4.h"

WEFT_SHARED_BEGIN

// v[0] has coordinates 0, 2, 4, 6, and v[1] has 1, 3, 5, 7.
struct E8Bytes {
    uint v[2];
};
struct E8Quarter {
    E8Bytes next, left;
};

// A coordinate between two integers.
struct LatticeSplit {
    float middle;   // the middle of both integers
    float centred;  // x - middle
    float rises;    // 1 if x is nearer to the upper integer or in the middle, else 0
    float size;     // |centred| - 1/4, between -1/4 and 1/4
};

const float kLatticeSharp = 33554432.0f;  // 2^25

WEFT_FN LatticeSplit split_of(float x) {
    LatticeSplit s;
    float below = floor_of(x);
    s.middle = below + 0.5f;
    s.centred = centred_on(x, below);
    s.rises = clamp(s.centred * kLatticeSharp + 1.0f, 0.0f, 1.0f);
    WEFT_PRECISE float size = abs(s.centred) - 0.25f;
    s.size = size;
    return s;
}

// 1 if a multiple of 2^-25 is negative, else 0.
WEFT_FN float is_negative(float x) {
    return clamp(x * -kLatticeSharp, 0.0f, 1.0f);
}

// The middle, moved by `aside` towards the nearer integer.
WEFT_FN float moved_aside(LatticeSplit s, float aside) {
    return s.middle + (2.0f * s.rises - 1.0f) * aside;
}

// 2 if the integer n is odd, else 0; |n| < 2^22.
WEFT_FN float twice_odd(float n) {
    WEFT_PRECISE float moved = n + 12582912.0f;  // its last bit is that of n
    return uintBitsToFloat((floatBitsToUint(moved) & 1u) << 30);
}

// Finds the first size that equals a target. The target is the largest (way 1) or the smallest (way -1) size.
struct LatticeSearch {
    float sharp, level;
    float left;  // the result of next_move() for this size; 0 afterwards
};

WEFT_FN LatticeSearch search_for(float target, float way, float move) {
    LatticeSearch search;
    search.sharp = way * kLatticeSharp;
    search.level = 1.0f - search.sharp * target;
    search.left = move;
    return search;
}

WEFT_FN float next_move(WEFT_INOUT(LatticeSearch) search, float size) {
    float equal = clamp(size * search.sharp + search.level, 0.0f, 1.0f);
    float move = equal * search.left;
    search.left -= move;
    return move;
}

// Which coset wins if both are equally near, by the first residual: 1 for the halves.
WEFT_FN float halves_win_tie(LatticeSplit first, float most, float least, bool odd_half, bool odd_whole) {
    bool up = first.centred >= 0.0f;
    bool half_moves_first = odd_half && first.size == most;
    bool whole_goes_up = up != (odd_whole && first.size == least);
    bool whole_smaller = half_moves_first ? !up : whole_goes_up;
    return whole_smaller ? 0.0f : 1.0f;
}

// The costs are those of nearest(), computed as exact products.
WEFT_FN E8Bytes nearest_bytes(E8Point x) {
    LatticeSplit c[8];
    float least = 0.25f, most = -0.25f, sum = 0.0f, rises = 0.0f;
    WEFT_PRECISE float spread = 0.0f;
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        c[i] = split_of(x.v[i]);
        spread = spread + abs(c[i].centred);
        sum += c[i].middle;
        rises += c[i].rises;
        least = min(least, c[i].size);
        most = max(most, c[i].size);
    }
    float odd_half = twice_odd(sum), odd_whole = twice_odd(sum + rises);
    WEFT_PRECISE float half_cost = odd_half * (0.25f - most);
    WEFT_PRECISE float whole_cost = odd_whole * (0.25f + least);
    WEFT_PRECISE float difference = ((spread - 2.0f) + half_cost) - whole_cost;
    float halves = is_negative(difference);
    if (difference == 0.0f) halves = halves_win_tie(c[0], most, least, odd_half != 0.0f, odd_whole != 0.0f);

    // A half is at the middle, and an integer is 1/2 above or below it. The coordinate that moves for parity
    // moves by 1: a half away from the middle towards x, an integer back across the middle.
    float way = 2.0f * halves - 1.0f, aside = 0.5f - 0.5f * halves;
    float odd = odd_whole + halves * (odd_half - odd_whole);
    LatticeSearch search = search_for(least + halves * (most - least), way, 0.5f * way * odd);
    float n[8];
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        n[i] = 2.0f * moved_aside(c[i], aside + next_move(search, c[i].size));
    }
    E8Bytes bytes;
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        bytes.v[k] = bytes_of(n[k], n[k + 2], n[k + 4], n[k + 6], 128.0f);
    }
    return bytes;
}

// Works on nibbles, with coordinate i in nibble i: centred = n mod 8 - 4. Either all coordinates are even or
// all are odd, so |centred| is 4 or 3 (large), 2 (middle), 0 or 1 (small).
WEFT_FN E8Quarter quarter(E8Bytes n) {
    const uint kNibbles = 0x11111111u;
    uint nibbles = (n.v[0] & 0x0f0f0f0fu) | ((n.v[1] << 4) & 0xf0f0f0f0u);
    uint twos = nibbles >> 1, ups = nibbles >> 2;
    uint large = ((~twos & ~ups) | (nibbles & twos & ups)) & kNibbles;
    uint small = ((~twos & ups) | (nibbles & twos & ~ups)) & kNibbles;
    uint middle = ~(large | small) & kNibbles;
    uint odd = nibbles & 1u;
    uint odd_half = uint(bitCount(nibbles & 0x88888888u)) & 1u;
    uint odd_whole = uint(bitCount(nibbles & 0xccccccccu)) & 1u;

    // Half of the difference in nearest(): sum |centred| - 16, which depends only on the numbers of large and
    // small coordinates, and the costs of parity.
    int other = odd != 0u ? 3 : (middle != 0u ? 2 : 4);
    int half_cost = large != 0u ? int(odd) : other, whole_cost = small != 0u ? int(odd) : other;
    int spread = (bitCount(large) - bitCount(small)) >> odd;
    int difference = spread + int(odd_half) * half_cost - int(odd_whole) * whole_cost;
    uint rest = middle != 0u ? middle : kNibbles;
    uint most = large != 0u ? large : rest, least = small != 0u ? small : rest;
    // Bit 0 is set if the first residual of the integers is the smaller one.
    uint half_moves_first = odd_half & most, whole_goes_up = ups ^ (odd_whole & least);
    uint whole_smaller = (half_moves_first & ~ups) | (~half_moves_first & whole_goes_up);
    bool take_half = 2 * difference + int(whole_smaller & 1u) <= 0;
    uint moved = first_of(take_half ? most : least) * (take_half ? odd_half : odd_whole);

    // The doubled step from the integer below to the point, plus 1: 0 to 4.
    uint halves = 2u * kNibbles + 2u * moved - 4u * (moved & ~ups);
    uint wholes = kNibbles + 2u * ((ups ^ moved) & kNibbles);
    uint steps = take_half ? halves : wholes;
    E8Quarter result;
    WEFT_UNROLL for (int k = 0; k < 2; ++k) {
        uint step = (steps >> uint(4 * k)) & 0x0f0f0f0fu;
        result.next.v[k] = ((n.v[k] >> 2) & 0x3e3e3e3eu) + step + 0x3f3f3f3fu;
        result.left.v[k] = (n.v[k] & 0x07070707u) + 0x0c0c0c0cu - 4u * step;
    }
    return result;
}

WEFT_FN uint digits_of(E8Bytes n) {
    uint last = n.v[1] >> 24;
    uint less = 16u * kLatticeOnes - (last & 15u) * kLatticeOnes;
    // Half of the difference between each coordinate and the last one, modulo 8.
    uint even = (((n.v[0] & 0x0f0f0f0fu) + less) >> 1) & 0x07070707u;
    uint odd = (((n.v[1] & 0x0f0f0f0fu) + less) >> 1) & 0x07070707u;
    uint sums = (even + odd) * kLatticeOnes;
    uint all = sums >> 24;
    uint tails = all * kLatticeOnes - (sums << 8);  // byte k is the sum of coordinates 2 k to 6
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
