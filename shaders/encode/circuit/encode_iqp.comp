// SPDX-License-Identifier: Apache-2.0
// iqp from 7 qubits on: phases, then a Walsh-Hadamard transform over the lowest kSlabBits bits of the index. Each
// invocation holds 16 amplitudes and transforms 4 bits at a time; in between, amplitudes are redistributed through
// shared memory. With WEFT_TASKS the same dispatch transforms up to 8 bits above (see encode_tasks.h); without it,
// encode_wht.comp transforms the bits above kSlabBits.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;                  // 2^(kSlabBits - 4)
layout(constant_id = 2) const uint kSlabBits = 10;
layout(constant_id = 4) const uint kQubits = 0;  // 0: the number is in the push constants
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
#if defined(WEFT_TASKS)
layout(constant_id = 3) const uint kUpperBits = 4;
layout(set = 0, binding = 1) coherent buffer States { uvec4 states[]; };
#else
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
#endif
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };

const uint kMostAngles = 465, kMostRows = 8;
#include "encode_iqp.glsl.h"
#include "encode_iqp_slab.glsl.h"
#if defined(WEFT_TASKS)
#include "encode_tasks.h"
#include "encode_iqp_upper.h"
#endif

#if defined(WEFT_TASKS)

void main() {
    const uint firsts = 1u << kUpperBits, upper_tasks = 1u << (kUpperBits - (kStoreWide ? 0u : 1u));
    const uint seconds = (p.flags & kEncodeCheckOnly) != 0u ? 0u : upper_tasks, row_words = kTaskHeader;
    const uint wanted = count * (firsts + seconds);
    uint left = (wanted + gl_NumWorkGroups.x - 1u) / gl_NumWorkGroups.x, mine = 0u;
    while (left > 0u || mine != 0u) {
        const Task task = next_task(firsts, seconds, left > 0u);
        if (task.step == kNoTask) break;
        left -= min(left, 1u);
        const uint to = task.row << (p.qubits - (kStoreWide ? 0u : 1u));
        if (task.step == kFirstStep) {
            load_angles(task.row, 1u);
            write_status(task.row, task.row, 1u, task.block);
            if ((p.flags & kEncodeCheckOnly) == 0u)
                make_slab(task.row, 1u, kSlabBits, task.block,
                          to + (task.block << (kSlabBits - (kStoreWide ? 0u : 1u))));
            if (finish_first(task.row, firsts, row_words)) 
                mine = finish_row(task.row, seconds, row_words);
        } else {
            transform_upper(to, task.block);
        }
        if (mine != 0u && left == 0u && relieved(mine)) mine = 0u;
    }
}

#else
#include "encode_iqp_plain.glsl.h"

#endif
