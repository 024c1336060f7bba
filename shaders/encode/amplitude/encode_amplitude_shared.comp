// SPDX-License-Identifier: Apache-2.0
// amplitude for rows that one workgroup cannot hold: several workgroups share a row. Each one keeps a block of
// 2^slab_bits values while it waits for the norms of the others. Workgroups take blocks in order, so the workgroups of
// a row run simultaneously if the device can run as many. Correctness does not depend on this: a workgroup that has
// waited too long leaves its block to the last workgroup of the row, which waits for no other.
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(WEFT_SHUFFLES)
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
#if defined(WEFT_IN64)
#define RawPair uvec4
#else
#define RawPair uvec2
#endif
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 0) readonly buffer ValuePairs { RawPair value_pairs[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
layout(set = 0, binding = 3) coherent volatile buffer Tasks { uint tasks[]; };
layout(set = 0, binding = 3) coherent volatile buffer TaskQuads { uvec4 task_quads[]; };

uvec4 task_quad(uint at) {
    return task_quads[at];
}
void set_task_quad(uint at, uvec4 quad) {
    task_quads[at] = quad;
}

layout(constant_id = 2) const uint kKept = 8;  // pairs of a block that an invocation keeps
#define kHeld kKept
#if defined(WEFT_SHUFFLES)
layout(constant_id = 3) const uint kSubgroup = 32;  // invocations of a subgroup; subgroups are full
#endif
#include "encode_amplitude_shared.glsl.h"
