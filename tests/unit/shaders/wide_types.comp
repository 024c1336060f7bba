#version 460
// SPDX-License-Identifier: Apache-2.0
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 32) in;
layout(constant_id = 1) const uint64_t kWide = 5ul;

layout(set = 0, binding = 0) buffer Words {
    uint64_t words[];
};
layout(set = 0, binding = 1) buffer Reals {
    double reals[];
};
layout(set = 0, binding = 2) buffer Halves {
    float16_t halves[];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    words[i] = words[i] * kWide;
    reals[i] = subgroupAdd(reals[i]);
    halves[i] = halves[i] * float16_t(subgroupShuffle(float(halves[i]), 0u));
}
