// SPDX-License-Identifier: Apache-2.0
// For shaders that weft runs. compile_glsl finds this file as "weft.glsl" in no folder; glslc finds it with
// -I <prefix>/share/weft/glsl.
#ifndef WEFT_GLSL_INCLUDED
#define WEFT_GLSL_INCLUDED

// The two members every push-constant block starts with: elements of this dispatch, and the index of the first of
// them in its job. The caller's parameters follow:
//     layout(push_constant) uniform Block { WEFT_COUNT_FIRST float scale; } block;
#define WEFT_COUNT_FIRST uint count; uint first;

// Index of this invocation within the dispatch; compare it with count. Unlike gl_GlobalInvocationID.x, it is also right
// if there are more workgroups than the device allows on the x axis, and weft folds them into rows. It is a macro, so
// that shaders that do not use it do not read gl_NumWorkGroups, and so that the workgroup size may be declared later.
#define weft_index()                                                                       \
    ((gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) *                          \
         (gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) +                  \
     gl_LocalInvocationIndex)

#endif
