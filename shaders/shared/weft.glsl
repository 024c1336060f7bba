// SPDX-License-Identifier: Apache-2.0
// For shaders that weft runs. Compiled at run time they find this file as "weft.glsl" without a folder; glslc
// finds it with -I <prefix>/share/weft/glsl.
#ifndef WEFT_GLSL_INCLUDED
#define WEFT_GLSL_INCLUDED

// The two members every push-constant block starts with: elements of this dispatch, and the index of the first of
// them in its job. The caller's parameters follow:
//     layout(push_constant) uniform Block { WEFT_COUNT_FIRST float scale; } block;
#define WEFT_COUNT_FIRST uint count; uint first;

// Index of this invocation among those of the dispatch, to be compared with count. Right too where more workgroups
// than the device allows on the x axis are folded into rows, which gl_GlobalInvocationID.x is not. A macro, so that
// shaders which do not use it do not read gl_NumWorkGroups, and so that the workgroup size may be declared later.
#define weft_index()                                                                       \
    ((gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) *                          \
         (gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) +                  \
     gl_LocalInvocationIndex)

#endif
