// SPDX-License-Identifier: Apache-2.0
// Neighbouring threads process neighbouring vectors, so that they read neighbouring memory. Data of less than
// a word is joined to words in shared memory. Needs 32 or 64 threads in a workgroup.

WEFT_GROUP(uint, kept, 256);    // the bits that each thread adds to a word
WEFT_GROUP(uint, marked, 256);  // the status of each vector

// Word `local` of the data in `kept`, of which each entry has `bits` bits.
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
