// SPDX-License-Identifier: Apache-2.0
// Arithmetic of GLSL vectors, for shared functions that use it.
#pragma once

#include <cuda_fp16.h>

#include "shaders/shared/portable.h"

namespace weft::shared {

struct alignas(16) dvec2 {
    double x, y;
    dvec2() = default;
    WEFT_FN explicit dvec2(double all) : x(all), y(all) {}
    WEFT_FN dvec2(double x_, double y_) : x(x_), y(y_) {}
};
struct alignas(16) dvec4 {
    double x, y, z, w;
    dvec4() = default;
    WEFT_FN explicit dvec4(double all) : x(all), y(all), z(all), w(all) {}
    WEFT_FN dvec4(double x_, double y_, double z_, double w_) : x(x_), y(y_), z(z_), w(w_) {}
    WEFT_FN double operator[](uint i) const { return (&x)[i]; }
    WEFT_FN double& operator[](uint i) { return (&x)[i]; }
};
// vec4 with elements by number.
struct alignas(16) vec4_by_number : vec4 {
    vec4_by_number() = default;
    WEFT_FN explicit vec4_by_number(float all) : vec4(all) {}
    WEFT_FN vec4_by_number(float x_, float y_, float z_, float w_) : vec4(x_, y_, z_, w_) {}
    WEFT_FN float operator[](uint i) const { return (&x)[i]; }
    WEFT_FN float& operator[](uint i) { return (&x)[i]; }
};

#define WEFT_VECTOR2(V, T)              \
    WEFT_GPU V operator+(V a, V b) {    \
        return V(a.x + b.x, a.y + b.y); \
    }                                   \
    WEFT_GPU V operator*(T a, V b) {    \
        return V(a * b.x, a * b.y);     \
    }                                   \
    WEFT_GPU V& operator*=(V& a, T b) { \
        return a = b * a;               \
    }
WEFT_VECTOR2(vec2, float)
WEFT_VECTOR2(dvec2, double)
#undef WEFT_VECTOR2

#define WEFT_VECTOR4(V)                                                                           \
    WEFT_GPU V operator+(V a, V b) {                                                              \
        return V(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);                                     \
    }                                                                                             \
    WEFT_GPU V operator-(V a, V b) {                                                              \
        return V(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);                                     \
    }                                                                                             \
    WEFT_GPU V operator*(V a, V b) {                                                              \
        return V(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);                                     \
    }                                                                                             \
    WEFT_GPU V& operator+=(V& a, V b) {                                                           \
        return a = a + b;                                                                         \
    }                                                                                             \
    WEFT_GPU V fma(V a, V b, V c) {                                                               \
        return V(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)); \
    }
WEFT_VECTOR4(vec4_by_number)
WEFT_VECTOR4(dvec4)
#undef WEFT_VECTOR4

WEFT_GPU uint packHalf2x16(vec2 v) {
    const __half2 both = __floats2half2_rn(v.x, v.y);
    uint bits;
    std::memcpy(&bits, &both, sizeof bits);
    return bits;
}

}  // namespace weft::shared
