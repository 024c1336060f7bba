// SPDX-License-Identifier: Apache-2.0
// The language bridge of the guarded headers: GLSL (built with WEFT_GLSL=1), CUDA and C++ all compile them.
// They use GLSL's names for types and functions (uint, uvec4, umulExtended), which this file defines for
// the other two languages; no other file may test for the language. In GLSL, uint64_t exists only if
// WEFT_INT64 is defined, and the shader then needs the optional feature shaderInt64; the same holds for
// double, WEFT_FLOAT64 and shaderFloat64. WEFT_PRECISE marks a value that must be rounded after each
// operation (no fused multiply-add); C++ that needs this is compiled with -ffp-contract=off.
// WEFT_F64(high, low) is the double with these bits, because C++ does not accept GLSL's double literals.
// WEFT_TABLE marks a constant array within a function.
//
// Bodies of shaders use buffers, push constants and shared memory. GLSL and CUDA compile them; in CUDA they
// become members of a struct that also has these as members (src/ops_cuda/*/*.cuh). WEFT_GPU marks functions,
// WEFT_CONST constants, WEFT_CONSTANT specialization constants, WEFT_GROUP memory that a workgroup shares.
// WEFT_AT is the element of a buffer that is `offset` elements after `base`: if offsets are constants, CUDA
// needs no addition for them. WEFT_HELD is a private array of an invocation. CUDA keeps its first kHeld
// elements in registers, for which the index must be constant, and the others in shared memory, where
// WEFT_APART accesses them. WEFT_LOAD_APART starts to load one of the latter from memory, and
// WEFT_AWAIT_LOADS waits until all of these loads are done.
#ifndef WEFT_SHARED_PORTABLE_H
#define WEFT_SHARED_PORTABLE_H

#if defined(WEFT_GLSL)

#extension GL_EXT_control_flow_attributes : require
#if defined(WEFT_INT64)
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif
#define WEFT_SHARED_BEGIN
#define WEFT_SHARED_END
#define WEFT_FN
#define WEFT_OUT(type) out type
#define WEFT_INOUT(type) inout type
#define WEFT_UNROLL [[unroll]]
#define WEFT_UNROLL_BY_4
#define WEFT_ROLL [[dont_unroll]]
#define WEFT_PRECISE precise
#define WEFT_F64(high, low) packDouble2x32(uvec2(low, high))
#define WEFT_GPU
#define WEFT_MAIN void main
#define WEFT_TABLE const
#define WEFT_CONST const
#define WEFT_CONSTANT(id, type, name, value) layout(constant_id = id) const type name = value
#define WEFT_GROUP_SIZE gl_WorkGroupSize.x
#define WEFT_GROUP(type, name, size) shared type name[size]
#define WEFT_GROUP_ROWS(type, name, rows, size) shared type name[rows][size]
#define WEFT_GROUP_ONE(type, name) shared type name
#define WEFT_AT(array, base, offset) array[(base) + (offset)]
#define WEFT_HELD(type, name, size) type name[size]
#define WEFT_APART(name, i) name[i]
#define WEFT_LOAD_APART(name, i, from) name[i] = from
#define WEFT_AWAIT_LOADS()

#else

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#define WEFT_INT64
#define WEFT_FLOAT64
#define WEFT_PRECISE
#define WEFT_TABLE static constexpr
#define WEFT_F64(high, low) packDouble2x32(uvec2(low, high))
#define WEFT_SHARED_BEGIN namespace weft::shared {
#define WEFT_SHARED_END }
#if defined(__CUDACC__)
#define WEFT_FN __host__ __device__ __forceinline__
#define WEFT_UNROLL _Pragma("unroll")
#define WEFT_UNROLL_BY_4 _Pragma("unroll 4")
#define WEFT_ROLL _Pragma("unroll 1")
#else
#define WEFT_FN inline
#define WEFT_UNROLL
#define WEFT_UNROLL_BY_4
#define WEFT_ROLL
#endif

#define WEFT_OUT(type) type&
#define WEFT_INOUT(type) type&

WEFT_SHARED_BEGIN
using uint = std::uint32_t;
using std::abs, std::floor, std::fma, std::sqrt;
using std::uint64_t;
// By value, because CUDA's device code must not hold a reference to a constant of the host.
template <class T>
WEFT_FN T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
WEFT_FN T max(T a, T b) {
    return a < b ? b : a;
}
template <class T>
WEFT_FN T clamp(T x, T least, T most) {
    return min(max(x, least), most);
}
struct alignas(8) uvec2 {
    uint x, y;
    uvec2() = default;
    WEFT_FN explicit uvec2(uint all) : x(all), y(all) {}
    WEFT_FN uvec2(uint x_, uint y_) : x(x_), y(y_) {}
};
// Half of a uvec4.
struct uvec2_of_uvec4 {
    uint x, y;
    WEFT_FN operator uvec2() const { return uvec2(x, y); }
};
struct alignas(16) uvec4 {
    union {
        struct {
            uint x, y, z, w;
        };
        struct {
            uvec2_of_uvec4 xy, zw;
        };
    };
    uvec4() = default;
    WEFT_FN explicit uvec4(uint all) : x(all), y(all), z(all), w(all) {}
    WEFT_FN uvec4(uint x_, uint y_, uint z_, uint w_) : x(x_), y(y_), z(z_), w(w_) {}
    WEFT_FN uvec4(uvec2 xy_, uvec2 zw_) : x(xy_.x), y(xy_.y), z(zw_.x), w(zw_.y) {}
    WEFT_FN uvec4(uvec2 xy_, uint z_, uint w_) : x(xy_.x), y(xy_.y), z(z_), w(w_) {}
};
WEFT_FN void umulExtended(uint a, uint b, uint& high, uint& low) {
    const uint64_t product = uint64_t(a) * b;
    high = uint(product >> 32);
    low = uint(product);
}
WEFT_FN uint uaddCarry(uint a, uint b, uint& carry) {
    const uint sum = a + b;
    carry = sum < a ? 1u : 0u;
    return sum;
}
WEFT_FN uint floatBitsToUint(float value) {
    uint bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
WEFT_FN float uintBitsToFloat(uint bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
WEFT_FN double packDouble2x32(uvec2 bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
WEFT_FN uvec2 unpackDouble2x32(double value) {
    uvec2 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <class T>
WEFT_FN T inversesqrt(T x) {
#if defined(__CUDA_ARCH__)
    return ::rsqrt(x);
#else
    return T(1) / sqrt(x);
#endif
}
#if defined(__CUDA_ARCH__)
WEFT_FN int findMSB(uint bits) {
    return 31 - __clz(static_cast<int>(bits));
}
WEFT_FN int findLSB(uint bits) {
    return __ffs(static_cast<int>(bits)) - 1;
}
WEFT_FN int bitCount(uint bits) {
    return __popc(bits);
}
#else
WEFT_FN int findMSB(uint bits) {
    return 31 - std::countl_zero(bits);
}
WEFT_FN int findLSB(uint bits) {
    return bits == 0u ? -1 : std::countr_zero(bits);
}
WEFT_FN int bitCount(uint bits) {
    return std::popcount(bits);
}
#endif
WEFT_SHARED_END

#if defined(__CUDACC__)
#include "portable_cuda.h"
#endif

#endif

#endif
