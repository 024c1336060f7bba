// SPDX-License-Identifier: Apache-2.0
// For portable.h: what functions of a shader need besides, in CUDA. Vectors, GLSL's names for where an
// invocation is, shared memory, atomics.
#ifndef WEFT_SHARED_PORTABLE_CUDA_H
#define WEFT_SHARED_PORTABLE_CUDA_H

#define WEFT_GPU __device__ __forceinline__
#define WEFT_MAIN WEFT_GPU void run
#define WEFT_CONST static constexpr
#define WEFT_CONSTANT(id, type, name, value)
#define WEFT_GROUP_SIZE kGroupSize  // of the struct: what a kernel is launched with
// Members of a struct: where they are used, memory of the block.
#define WEFT_GROUP(type, name, size)              \
    struct name##_memory {                        \
        WEFT_GPU type& operator[](uint i) const { \
            __shared__ type memory[size];         \
            return memory[i];                     \
        }                                         \
    } name
#define WEFT_GROUP_ROWS(type, name, rows, size)           \
    struct name##_memory {                                \
        WEFT_GPU type (&operator[](uint i) const)[size] { \
            __shared__ type memory[rows][size];           \
            return memory[i];                             \
        }                                                 \
    } name
#define WEFT_GROUP_ONE(type, name)                                      \
    struct name##_memory {                                              \
        WEFT_GPU type& memory() const {                                 \
            __shared__ type one;                                        \
            return one;                                                 \
        }                                                               \
        WEFT_GPU operator type() const { return memory(); }             \
        WEFT_GPU void operator=(type value) const { memory() = value; } \
    } name

#define gl_LocalInvocationIndex threadIdx.x
#define gl_LocalInvocationID threadIdx
#define gl_WorkGroupID blockIdx
#define gl_WorkGroupSize blockDim
#define gl_NumWorkGroups gridDim
#define gl_GlobalInvocationID (::weft::shared::global_invocation())

WEFT_SHARED_BEGIN

struct Invocation {
    uint x;
};
WEFT_GPU Invocation global_invocation() {
    return {blockIdx.x * blockDim.x + threadIdx.x};
}
WEFT_GPU void barrier() {
    __syncthreads();
}
WEFT_GPU void memoryBarrierBuffer() {
    __threadfence();
}
WEFT_GPU uint atomicAdd(volatile uint& word, uint value) {
    return ::atomicAdd(const_cast<uint*>(&word), value);
}
// Four words at once, from and to memory that others write and read meanwhile.
WEFT_GPU uvec4 load_volatile(const volatile uint* at) {
    uvec4 quad;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
                 : "l"(const_cast<const uint*>(at))
                 : "memory");
    return quad;
}
WEFT_GPU void store_volatile(volatile uint* at, uvec4 quad) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(const_cast<uint*>(at)),
                 "r"(quad.x), "r"(quad.y), "r"(quad.z), "r"(quad.w)
                 : "memory");
}

struct alignas(8) vec2 {
    float x, y;
    vec2() = default;
    WEFT_FN explicit vec2(float all) : x(all), y(all) {}
    WEFT_FN vec2(float x_, float y_) : x(x_), y(y_) {}
};
struct alignas(16) vec4 {
    float x, y, z, w;
    vec4() = default;
    WEFT_FN explicit vec4(float all) : x(all), y(all), z(all), w(all) {}
    WEFT_FN vec4(float x_, float y_, float z_, float w_) : x(x_), y(y_), z(z_), w(w_) {}
};

WEFT_SHARED_END

#endif
