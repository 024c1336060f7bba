// SPDX-License-Identifier: Apache-2.0
// amplitude, rows that no workgroup can hold. First step: the norm of a block of 2^slab_bits values. Whoever does the
// last of a row makes one norm of them. Second step: the values of a block, which the device's cache still has, times
// its inverse. See encode_tasks.h.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

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

layout(constant_id = 2) const uint kKept = 8;  // pairs of a block that an invocation takes
uint row_begin, block_begin;

Raw value_at(uint i) { return values[row_begin + block_begin + i]; }
#include "shared/encode_norm.h"
#include "shared/encode_norm_record.h"
#include "shared/encode_pairs.h"
#include "shared/encode_tasks.h"

// Of a row's words: its norm, then those of its blocks.
const uint kRowRecord = 8u, kBlockRecords = 16u, kRecordWords = 8u;

void write_record(uint at, Norm norm) {
    const uvec2 sum = real_words(norm.sum), rest = real_words(norm.rest);
    tasks[at] = sum.x;
    tasks[at + 1u] = sum.y;
    tasks[at + 2u] = rest.x;
    tasks[at + 3u] = rest.y;
    tasks[at + 4u] = uint(norm.exponent);
    tasks[at + 5u] = norm.fault;
    tasks[at + 6u] = norm.position;
}

Norm read_record(uint at) {
    Norm norm;
    norm.sum = real_of(uvec2(tasks[at], tasks[at + 1u]));
    norm.rest = real_of(uvec2(tasks[at + 2u], tasks[at + 3u]));
    norm.exponent = int(tasks[at + 4u]);
    norm.fault = tasks[at + 5u];
    norm.position = tasks[at + 6u];
    return norm;
}

uint record_base;
Norm norm_at(uint block) { return read_record(record_base + kBlockRecords + block * kRecordWords); }
#include "shared/encode_norm_combine.h"

void make_norm(Task task, uint length) {
    Norm norm;
    norm.sum = kZero;
    norm.rest = kZero;
    norm.exponent = kPlain;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    RawPair pairs[kKept];
    WEFT_UNROLL for (uint k = 0u; k < kKept; ++k)
        pairs[k] = load_pair(block_begin / 2u + gl_LocalInvocationIndex + k * gl_WorkGroupSize.x);
    WEFT_UNROLL for (uint k = 0u; k < kKept; ++k) {
        add_square(norm.sum, norm.rest, plain(first_of(pairs[k])));
        add_square(norm.sum, norm.rest, plain(second_of(pairs[k])));
    }
    reduce_sum(norm.sum, norm.rest);
    if (!sums_exactly(norm.sum)) norm = norm_with_care(length);
    if (norm.fault != kEncodeGood && norm.fault != kEncodeZeroNorm) norm.position += block_begin;
    if (gl_LocalInvocationIndex == 0u)
        write_record(record_base + kBlockRecords + task.block * kRecordWords, norm);
}

void join_norms(uint row, uint blocks) {
    Norm all = combine_norms(blocks);
    if (gl_LocalInvocationIndex != 0u) return;
    status[p.row_base + row] = uvec2(all.fault, all.position);
    all.rest = kZero;
    write_record(record_base + kRowRecord, all);
}

void make_states(Task task) {
    const Norm norm = read_record(record_base + kRowRecord);
    const bool good = norm.fault == kEncodeGood;
    const uint to = task.row << (p.qubits - (kStoreWide ? 0u : 1u));
    const uint begin = (task.block << (p.slab_bits - 1u)) + gl_LocalInvocationIndex;
    if (good && norm.exponent == kPlain) {
        RawPair pairs[kKept];
        WEFT_UNROLL for (uint k = 0u; k < kKept; ++k) pairs[k] = load_pair(begin + k * gl_WorkGroupSize.x);
        WEFT_UNROLL for (uint k = 0u; k < kKept; ++k)
            store_plain(to, begin + k * gl_WorkGroupSize.x, pairs[k], norm.sum);
        return;
    }
    for (uint k = 0u; k < kKept; ++k) {
        const uint j = begin + k * gl_WorkGroupSize.x;
        store_scaled(to, j, good ? load_pair(j) : RawPair(0u), norm.exponent, norm.sum);
    }
}

void main() {
    const uint blocks = (p.features + (1u << p.slab_bits) - 1u) >> p.slab_bits;
    const uint seconds = (p.flags & kEncodeCheckOnly) != 0u ? 0u : 1u << (p.qubits - p.slab_bits);
    const uint row_words = kBlockRecords + kRecordWords * blocks;
    const uint wanted = count * (blocks + seconds);
    uint left = (wanted + gl_NumWorkGroups.x - 1u) / gl_NumWorkGroups.x, mine = 0u;
    while (left > 0u || mine != 0u) {
        const Task task = next_task(blocks, seconds, row_words);
        if (task.step == kNoTask) break;
        left -= min(left, 1u);
        row_begin = p.in_base + task.row * p.features;
        record_base = task.row * row_words;
        if (task.step == kFirstStep) {
            block_begin = task.block << p.slab_bits;
            make_norm(task, min(p.features - block_begin, 1u << p.slab_bits));
            if (finish_first(task.row, blocks, row_words)) {
                join_norms(task.row, blocks);
                mine = finish_row(task.row, row_words);
            }
        } else {
            make_states(task);
        }
        if (mine != 0u && left == 0u && relieved(mine)) mine = 0u;
    }
}
