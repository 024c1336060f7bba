// SPDX-License-Identifier: Apache-2.0
// amplitude: a row divided by its Euclidean norm, followed by zeros. A team of kTeam invocations makes a state. It
// keeps the row in registers, up to 2 kKept values in each invocation, so that the row is read once. Rows whose norm
// needs the careful way, which are few, are read again.
#version 450
#extension GL_GOOGLE_include_directive : require
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

layout(constant_id = 2) const uint kKept = 8;  // pairs that an invocation holds in registers
layout(constant_id = 3) const uint kTeamSize = 32;
#define kTeam kTeamSize
#include "encode_amplitude.glsl.h"
