// SPDX-License-Identifier: Apache-2.0
// The part of portable.h for bodies of shaders in CUDA: vectors, GLSL's names for the position of an
// invocation, shared memory, atomics.
#ifndef WEFT_SHARED_PORTABLE_CUDA_H
#define WEFT_SHARED_PORTABLE_CUDA_H

#define WEFT_GPU __device__ __forceinline__
#define WEFT_MAIN WEFT_GPU void run
#define WEFT_CONST static constexpr
#define WEFT_CONSTANT(id, type, name, value)
#define WEFT_GROUP_SIZE kWorkgroupSize  // a member of the struct: the size of a block in the launch
// Members of a struct that give access to shared memory of the block.
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
#define WEFT_AT(array, base, offset) ((array) + (base))[offset]
#define WEFT_HELD(type, name, size)                                                     \
    struct name##_memory {                                                              \
        type held[kHeld];                                                               \
        WEFT_GPU type& operator[](uint i) { return held[i]; }                           \
        WEFT_GPU type& apart(uint i) const {                                            \
            __shared__ type memory[(size > kHeld ? size - kHeld : 1) * kWorkgroupSize]; \
            return memory[(i - kHeld) * kWorkgroupSize + threadIdx.x];                  \
        }                                                                               \
    } name
#define WEFT_APART(name, i) name.apart(i)
#define WEFT_LOAD_APART(name, i, from) ::weft::shared::load_apart(name.apart(i), from)
#define WEFT_AWAIT_LOADS() ::weft::shared::await_loads()

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
// Four words in one access, from and to memory that other workgroups write and read simultaneously.
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
// Loads into shared memory, on devices that can do so without a register in between.
template <class T>
WEFT_GPU void load_apart(T& to, const T& from) {
#if __CUDA_ARCH__ >= 800
    const uint at = static_cast<uint>(__cvta_generic_to_shared(&to));
    if constexpr (sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(&from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(&from), "n"(sizeof(T))
                     : "memory");
#else
    to = from;
#endif
}
template <class T>
void load_apart(T& to, const T&& from) = delete;
WEFT_GPU void await_loads() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#define gl_SubgroupInvocationID (threadIdx.x % 32u)
#define gl_SubgroupID (threadIdx.x / 32u)
template <class T>
WEFT_GPU T subgroupShuffleXor(T value, uint mask) {
    return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
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
