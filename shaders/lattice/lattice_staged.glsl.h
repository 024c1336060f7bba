// SPDX-License-Identifier: Apache-2.0
// Stores vectors of 32 bytes in `y` through shared memory, so that neighbouring threads write neighbouring 16
// bytes; directly, each thread would write its vector in two halves. For workgroups of at most 64. No include
// guard: read once for each kernel.
WEFT_GROUP(vec4, staged, 256);

// Stores the vectors of a workgroup, which begin at `vector`. `turn` counts the calls; successive calls use
// different halves of the memory, so that one barrier in each call is enough.
WEFT_GPU void store_staged(uint vector, Point p, uint turn) {
    const uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x, half_of = turn % 2u * 128u;
    // In every second set of four vectors the halves are swapped, so that eight neighbours use all banks.
    const uint swap = local / 4u % 2u;
    staged[half_of + 2u * local + swap] = vec4(p.v[0], p.v[1], p.v[2], p.v[3]);
    staged[half_of + 2u * local + 1u - swap] = vec4(p.v[4], p.v[5], p.v[6], p.v[7]);
    barrier();
    WEFT_UNROLL for (uint k = 0u; k < 2u; ++k) {
        const uint at = k * size + local;
        if (vector + at / 2u < vectors_end()) y[2u * vector + at] = staged[half_of + (at ^ (at / 8u % 2u))];
    }
}
