// SPDX-License-Identifier: Apache-2.0
// A Norm in memory: 32 bytes in `uvec4 norms[]`.
#if defined(WEFT_REAL64)
WEFT_GPU uvec2 real_words(Real value) {
    return unpackDouble2x32(value);
}
WEFT_GPU Real real_of(uvec2 words) {
    return packDouble2x32(words);
}
#else
WEFT_GPU uvec2 real_words(Real value) {
    return uvec2(floatBitsToUint(value), 0u);
}
WEFT_GPU Real real_of(uvec2 words) {
    return uintBitsToFloat(words.x);
}
#endif

#define write_norm(at, norm)                                                             \
    {                                                                                    \
        norms[2 * (at)] = uvec4(real_words(norm.sum), real_words(norm.rest));            \
        norms[2 * (at) + 1] = uvec4(uint(norm.exponent), norm.fault, norm.position, 0u); \
    }

#define read_norm(at, norm)                           \
    {                                                 \
        const uvec4 sums = norms[2 * (at)];           \
        const uvec4 rest_of_it = norms[2 * (at) + 1]; \
        norm.sum = real_of(sums.xy);                  \
        norm.rest = real_of(sums.zw);                 \
        norm.exponent = int(rest_of_it.x);            \
        norm.fault = rest_of_it.y;                    \
        norm.position = rest_of_it.z;                 \
    }
