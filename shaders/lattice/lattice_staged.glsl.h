// SPDX-License-Identifier: Apache-2.0
// Vectors of 32 bytes into `y` through shared memory, so that neighbours write 16 bytes side by side, where
// each alone would write its vector in two halves. For workgroups of at most 64. No include guard: read once for
// each kernel.
WEFT_GROUP(vec4, staged, 256);

// The vectors of a workgroup, which begin at `vector`. Called `turn` by turn, two of which never meet, so that
// one barrier each will do.
WEFT_GPU void store_staged(uint vector, Point p, uint turn) {
    const uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x, half_of = turn % 2u * 128u;
    // The halves of every second four change places: eight neighbours then meet all banks.
    const uint swap = local / 4u % 2u;
    staged[half_of + 2u * local + swap] = vec4(p.v[0], p.v[1], p.v[2], p.v[3]);
    staged[half_of + 2u * local + 1u - swap] = vec4(p.v[4], p.v[5], p.v[6], p.v[7]);
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 2u; ++k) {
        const uint at = k * size + local;
        if (vector + at / 2u < vectors_end()) y[2u * vector + at] = staged[half_of + (at ^ (at / 8u % 2u))];
    }
}
