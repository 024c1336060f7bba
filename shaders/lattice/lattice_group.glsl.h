// SPDX-License-Identifier: Apache-2.0
// Neighbouring threads work on neighbouring vectors, so that they read neighbouring memory, and put what is
// less than a word together in shared memory. Needs 32 or 64 threads a workgroup.

WEFT_GROUP(uint, kept, 256);    // what each thread has for the word
WEFT_GROUP(uint, marked, 256);  // its vector's status

// Word `local` of what the threads keep, `bits` each.
WEFT_GPU uint together(uint local, uint bits) {
    const uint each = 32 / bits;
    uint word = 0;
    WEFT_UNROLL for (uint k = 0; k < 8; ++k) {
        if (k < each) word |= kept[local * each + k] << (k * bits);
    }
    return word;
}

WEFT_GPU uint status_word(uint local) {
    uint word = 0;
    WEFT_UNROLL for (uint k = 0; k < 4; ++k) word |= marked[local * 4 + k] << (k * 8);
    return word;
}

// Stores the statuses of the workgroup's vectors from `first` on.
WEFT_GPU void store_statuses(uint first) {
    const uint local = gl_LocalInvocationID.x, at = first / 4 + local;
    const uint words = min(count * (shape.element_vectors / 4), shape.status_words);
    if (local < kLatticeInHand * gl_WorkGroupSize.x / 4 && at < words) status[at] = status_word(local);
}
