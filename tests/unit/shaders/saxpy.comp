#version 460
// SPDX-License-Identifier: Apache-2.0
// One id sets the workgroup size and everything that is computed from it.
layout(local_size_x = 64, local_size_x_id = 3, local_size_y = 2) in;
layout(constant_id = 3) const uint kWidth = 64;
layout(constant_id = 7) const float kScale = 1.5;
layout(constant_id = 9) const bool kNegate = false;

layout(set = 0, binding = 0) readonly buffer Input {
    float x[];
};
layout(set = 0, binding = 2) writeonly buffer Output {
    float y[];
} result;
layout(set = 0, binding = 5) buffer Sum {
    uint total;
} sum;
layout(set = 0, binding = 1) buffer LengthOnly {
    uint z[];
} measured;

layout(push_constant) uniform Params {
    uint count;
    uint first;
    vec3 offset;
} params;

// Sizes must follow the constants: 4 bytes * kWidth * 2.
shared float tile[gl_WorkGroupSize.x * gl_WorkGroupSize.y];
// 3 * 4 + 16 * 2 + 4 = 48 bytes.
struct Cell {
    vec3 position;
    vec4 pair[2];
    bool used;
};
shared Cell cells[3];
shared uint never_used[1000];

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.count || i >= uint(measured.z.length())) return;
    tile[gl_LocalInvocationIndex] = x[i] * kScale + params.offset.z;
    cells[i % 3].position = vec3(tile[0]);
    cells[i % 3].pair[1] = vec4(1);
    cells[i % 3].used = kNegate;
    barrier();
    result.y[i] = (kNegate ? -1.0 : 1.0) * tile[gl_LocalInvocationIndex] + cells[0].position.x;
    atomicAdd(sum.total, 1u);
}
