// SPDX-License-Identifier: Apache-2.0
// amplitude, rows that no workgroup can hold alone: several share one, a block of 2^slab_bits values each,
// which they keep while they wait for each other's norms. Workgroups take blocks in order, so those of a row
// run at the same time wherever a device can run as many. None relies on that: who has waited for long leaves
// its block to the last one of the row, who waits for nobody. Needs encode_form.h, and the push constants and
// buffers of encode_amplitude_shared.comp from the shader. No include guard: read once for each kernel.

uint row_begin, block_begin;

WEFT_GPU Raw value_at(uint i) {
    return values[row_begin + block_begin + i];
}
#include "encode_norm.h"
#include "encode_norm_record.h"
#include "encode_pairs.h"

// Words of a row: how far it is; then the norms of its blocks, the last word of each tells whether the block
// was left. All words must be 0 before.
WEFT_CONST uint kProgress = 0u, kBlockRecords = 8u, kRecordWords = 8u, kLeft = 7u;
WEFT_CONST uint kBlockDone = 1u, kBlockLeft = 1u << 16;  // in kProgress
WEFT_CONST uint kPatience = 200u;                        // looks at memory

WEFT_GROUP_ONE(uint, progress);
WEFT_GROUP_ONE(bool, some_need_care);

WEFT_GPU void write_record(uint at, Norm norm) {
    const uvec2 sum = real_words(norm.sum), rest = real_words(norm.rest);
    tasks[at] = sum.x;
    tasks[at + 1u] = sum.y;
    tasks[at + 2u] = rest.x;
    tasks[at + 3u] = rest.y;
    tasks[at + 4u] = uint(norm.exponent);
    tasks[at + 5u] = norm.fault;
    tasks[at + 6u] = norm.position;
}

WEFT_GPU Norm read_record(uint at) {
    Norm norm;
    norm.sum = real_of(uvec2(tasks[at], tasks[at + 1u]));
    norm.rest = real_of(uvec2(tasks[at + 2u], tasks[at + 3u]));
    norm.exponent = int(tasks[at + 4u]);
    norm.fault = tasks[at + 5u];
    norm.position = tasks[at + 6u];
    return norm;
}

uint record_base;
WEFT_GPU Norm norm_at(uint block) {
    return read_record(record_base + kBlockRecords + block * kRecordWords);
}
#include "encode_norm_combine.h"

RawPair kept[kKept];

WEFT_GPU uint first_pair(uint block) {
    return (block << (p.slab_bits - 1u)) + gl_LocalInvocationIndex;
}

WEFT_GPU void load_block(uint block) {
    WEFT_UNROLL for (uint k = 0u; k < kKept; ++k) kept[k] =
        load_pair(first_pair(block) + k * gl_WorkGroupSize.x);
}

WEFT_GPU void make_norm(uint block) {
    Norm norm;
    norm.sum = kZero;
    norm.rest = kZero;
    norm.exponent = kPlain;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    WEFT_UNROLL for (uint k = 0u; k < kKept; ++k) {
        add_square(norm.sum, norm.rest, plain(first_of(kept[k])));
        add_square(norm.sum, norm.rest, plain(second_of(kept[k])));
    }
    reduce_sum(norm.sum, norm.rest);
    if (!sums_exactly(norm.sum)) norm = norm_with_care(min(p.features - block_begin, 1u << p.slab_bits));
    if (norm.fault != kEncodeGood && norm.fault != kEncodeZeroNorm) norm.position += block_begin;
    if (gl_LocalInvocationIndex == 0u) write_record(record_base + kBlockRecords + block * kRecordWords, norm);
}

WEFT_GPU void store_block(uint to, uint block, Norm norm) {
    const uint begin = first_pair(block);
    if (norm.fault == kEncodeGood && norm.exponent == kPlain) {
        WEFT_UNROLL for (uint k = 0u; k < kKept; ++k)
            store_plain(to, begin + k * gl_WorkGroupSize.x, kept[k], norm.sum);
        return;
    }
    for (uint k = 0u; k < kKept; ++k) {
        const uint j = begin + k * gl_WorkGroupSize.x;
        store_scaled(to, j, norm.fault == kEncodeGood ? load_pair(j) : RawPair(0u), norm.exponent, norm.sum);
    }
}

// Blocks behind the values: they wait for no norm.
WEFT_GPU void store_zeros(uint to, uint block, uint blocks) {
    for (block += blocks; block < 1u << (p.qubits - p.slab_bits); block += blocks)
        for (uint k = 0u; k < kKept; ++k)
            store_pair(to, first_pair(block) + k * gl_WorkGroupSize.x, kZero, kZero);
}

// Reports the block's norm and waits for those of the others. True if they are all there; if not, this block
// has been left. `old` is what the last block of the row found.
WEFT_GPU bool await_row(uint block, uint blocks, WEFT_OUT(uint) old) {
    if (gl_LocalInvocationIndex == 0u) {
        memoryBarrierBuffer();
        const uint before = atomicAdd(tasks[record_base + kProgress], kBlockDone);
        uint now = before + kBlockDone;
        for (uint look = 0u; look < kPatience && now % kBlockLeft != blocks; ++look)
            now = tasks[record_base + kProgress];
        if (now % kBlockLeft != blocks) {
            tasks[record_base + kBlockRecords + block * kRecordWords + kLeft] = 1u;
            memoryBarrierBuffer();
            now = atomicAdd(tasks[record_base + kProgress], kBlockLeft);
        }
        memoryBarrierBuffer();
        // Nothing but the last block's own report makes the count of what was before one less than all.
        progress = before % kBlockLeft + 1u == blocks ? before : now % kBlockLeft == blocks ? now : 0u;
    }
    barrier();
    old = progress;
    return old != 0u || blocks == 1u;
}

// Every workgroup of a row joins the norms for itself, which takes less time than to wait for one that does.
WEFT_GPU Norm join_norms(uint blocks) {
    Norm all;
    all.sum = kZero;
    all.rest = kZero;
    all.exponent = kPlain;
    all.fault = kEncodeGood;
    all.position = 0u;
    bool plain_ones = true;
    for (uint i = gl_LocalInvocationIndex; i < blocks; i += gl_WorkGroupSize.x) {
        const Norm norm = norm_at(i);
        plain_ones = plain_ones && norm.fault == kEncodeGood && norm.exponent == kPlain;
        add_to(all.sum, all.rest, norm.sum);
        all.rest += norm.rest;
    }
    if (gl_LocalInvocationIndex == 0u) some_need_care = false;
    barrier();
    if (!plain_ones) some_need_care = true;
    gather_sums(all.sum, all.rest);
    barrier();
    if (some_need_care) return combine_norms(blocks);
    if (gl_LocalInvocationIndex == 0u) norm_sum[0] = inverse_root(norm_sum[0], norm_rest[0]);
    barrier();
    all.sum = norm_sum[0];
    return all;
}

WEFT_GPU void finish_block(uint row, uint block, uint blocks) {
    const uint to = row << (p.qubits - (kStoreWide ? 0u : 1u));
    const bool check_only = (p.flags & kEncodeCheckOnly) != 0u;
    if (!check_only) store_zeros(to, block, blocks);
    uint old;
    if (!await_row(block, blocks, old)) return;
    const Norm all = join_norms(blocks);
    const bool last = old % kBlockLeft != blocks;
    if (last && gl_LocalInvocationIndex == 0u) status[p.row_base + row] = uvec2(all.fault, all.position);
    if (check_only) return;
    store_block(to, block, all);
    if (!last || old < kBlockLeft) return;
    for (uint other = 0u; other < blocks; ++other) {
        if (tasks[record_base + kBlockRecords + other * kRecordWords + kLeft] == 0u) continue;
        load_block(other);
        store_block(to, other, all);
    }
}

WEFT_MAIN() {
    const uint blocks = (p.features + (1u << p.slab_bits) - 1u) >> p.slab_bits;
    for (uint index = gl_WorkGroupID.x; index < count * blocks; index += gl_NumWorkGroups.x) {
        const uint row = index / blocks, block = index - row * blocks;
        row_begin = p.in_base + row * p.features;
        record_base = row * (kBlockRecords + kRecordWords * blocks);
        block_begin = block << p.slab_bits;
        load_block(block);
        make_norm(block);
        finish_block(row, block, blocks);
        barrier();
    }
}
