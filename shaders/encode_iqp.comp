// SPDX-License-Identifier: Apache-2.0
// iqp from 7 qubits on: phases, then a Walsh-Hadamard transform over the lowest kSlabBits bits of the index. Each
// invocation holds 16 amplitudes and transforms 4 bits at a time; in between they are dealt out anew through shared
// memory. With WEFT_TASKS the same dispatch transforms up to 8 bits above, see encode_tasks.h; without, what lies above
// kSlabBits is encode_wht.comp's.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;                  // 2^(kSlabBits - 4)
layout(constant_id = 2) const uint kSlabBits = 10;
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
#include "shared/encode_iqp.h"
#include "shared/encode_iqp_slab.h"
#if defined(WEFT_TASKS)
#include "shared/encode_tasks.h"
#include "shared/encode_iqp_upper.h"
#endif

// Slab `block` of `rows` rows from `row` on, more than one where a slab holds them whole, into 16 bytes from `to` on.
void make_slab(uint row, uint rows, uint bits, uint block, uint to) {
    const uint lane_bits = bits - 4u, lane = gl_LocalInvocationIndex;
    prepare(rows, bits, block);
    const uint mine = lane >> lane_bits, lane_index = lane & ((1u << lane_bits) - 1u);
    if (mine < rows && bad_fault[min(mine, rows - 1u)] == kEncodeGood) {
        make_phases(mine, rows, lane_index, lane_bits);
    } else {
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) v[k] = complex(kZero, kZero);
    }
    transform(4u);
    uint low = lane_bits;
    while (low > 0u) {
        const uint next = low > 4u ? low - 4u : 0u, fresh = low - next;
        deal(low, next, false);
        transform(fresh);
        low = next;
    }
    deal(0u, 0u, true);
    const uint stored = (rows << bits) / (kStoreWide ? 1u : 2u);
    WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
        const uint at = store_place(k) / (kStoreWide ? 1u : 2u);
        if (at < stored && (kStoreWide || (k & 1u) == 0u)) states[to + at] = packed(v[k], v[(k + 1u) & 15u]);
    }
}

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

void main() {
    const uint bits = min(p.qubits, kSlabBits), block_bits = p.qubits - bits;
    const uint per_group = 1u << (kSlabBits - bits);
    for (uint group = gl_WorkGroupID.x; group * per_group < count; group += gl_NumWorkGroups.x) {
        const uint from = group * per_group, rows = min(per_group, count - from), element = p.base + first + from;
        const uint row = element >> block_bits, block = element & ((1u << block_bits) - 1u);
        load_angles(row, rows);
        write_status(row, from, rows, block);
        if ((p.flags & kEncodeCheckOnly) == 0u)
            make_slab(row, rows, bits, block, (from << bits) / (kStoreWide ? 1u : 2u));
        barrier();
    }
}

#endif
