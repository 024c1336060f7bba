// SPDX-License-Identifier: Apache-2.0
// A Norm in memory: 32 bytes in `uvec4 norms[]`.
#ifndef WEFT_SHARED_ENCODE_NORM_RECORD_H
#define WEFT_SHARED_ENCODE_NORM_RECORD_H

#if defined(WEFT_WORK64)
uvec2 real_words(Real value) {
    return unpackDouble2x32(value);
}
Real real_of(uvec2 words) {
    return packDouble2x32(words);
}
#else
uvec2 real_words(Real value) {
    return uvec2(floatBitsToUint(value), 0u);
}
Real real_of(uvec2 words) {
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

#endif
