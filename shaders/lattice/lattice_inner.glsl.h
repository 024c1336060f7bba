// SPDX-License-Identifier: Apache-2.0
// Inner products of rows of lattice codes by table: out[r] = scale sum over tiles, levels m and n of q^(m+n)
// table[B_m q^d + B'_n]. A thread takes a row. Digits of q or more also read inside the table. Needs the
// constants, push constants and buffers of lattice_inner.comp. No include guard: read once for each kernel.
#define kVectorBits (kLevels * kDim * kBits)

WEFT_GPU uint word_of(bool of_y, uint word) {
    return of_y ? y[word] : x[word];
}

WEFT_GPU uint digit_of(bool of_y, uint vector, uint digit) {
    const uint at = (vector & 31) * kVectorBits + digit * kBits;  // 32 vectors are kVectorBits words
    const uint word = (vector >> 5) * kVectorBits + (at >> 5), shift = at & 31;
    uint bits = word_of(of_y, word) >> shift;
    if (shift + kBits > 32) bits |= word_of(of_y, word + 1) << (32 - shift);
    return min(bits & ((1u << kBits) - 1), kQ - 1);
}

WEFT_GPU uint index_of(bool of_y, uint vector, uint level) {
    uint index = 0;
    for (uint i = kDim; i > 0; --i) index = index * kQ + digit_of(of_y, vector, level * kDim + i - 1);
    return index;
}

WEFT_GPU int entry(uint at) {
    return int(table[at >> 1] << (16u * (1u - (at & 1u)))) >> 16;
}

WEFT_GPU int inner(uint vector, uint other) {
    uint columns[4];
    for (uint n = 0; n < kLevels; ++n) columns[n] = index_of(true, other, n);
    int sum = 0;
    int power = 1;
    for (uint m = 0; m < kLevels; ++m) {
        const uint line = index_of(false, vector, m) * kPoints;
        int part = 0;
        for (uint n = kLevels; n > 0; --n) part = part * int(kQ) + entry(line + columns[n - 1]);
        sum += power * part;
        power *= int(kQ);
    }
    return sum;
}

WEFT_MAIN() {
    const uint last = min(count * element_rows, rows);
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint row = gl_GlobalInvocationID.x; row < last; row += stride) {
        int sum = 0;
        for (uint t = 0; t < tiles; ++t) sum += inner(row * tiles + t, row * tiles * y_step + t);
        WEFT_PRECISE float value = float(sum) * scale;
        result[row] = value;
    }
}
