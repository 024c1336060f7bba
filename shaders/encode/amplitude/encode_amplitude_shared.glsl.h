// SPDX-License-Identifier: Apache-2.0
// amplitude for rows that one workgroup cannot hold: several workgroups share a row. Each one keeps a block
// of 2^slab_bits values while it waits for the norms of the others. Workgroups take blocks in order, so the
// workgroups of a row run simultaneously if the device can run as many. Correctness does not depend on this:
// a workgroup that has waited too long leaves its block to the last workgroup of the row, which waits only
// for data that has already been written. Needs encode_interface.glsl.h, and the push constants, buffers and
// task_quad() of encode_amplitude_shared.comp from the shader. No include guard: read once for each kernel.

uint row_begin, block_begin;

WEFT_GPU Raw value_at(uint i) {
    return values[row_begin + block_begin + i];
}
#include "encode_norm_team.glsl.h"

#include "encode_norm_record.glsl.h"
#include "encode_pairs.glsl.h"

// The words of a row are its progress, then a record of each block, then a signal of each block. A record has
// the norm of a block that needs the careful way, and its last word is set if the block was left to the last
// workgroup. All words must be 0 at the start.
WEFT_CONST uint kProgress = 0u, kBlockRecords = 8u, kRecordWords = 8u, kLeft = 7u, kSignalWords = 4u;
WEFT_CONST uint kBlockDone = 1u, kBlockLeft = 1u << 16;  // in kProgress
WEFT_CONST uint kPatience = 200u;                        // reads of memory before a wait is given up

WEFT_GROUP_ONE(uint, progress);  // its value before this block was done
WEFT_GROUP_ONE(bool, all_done);
WEFT_GROUP_ONE(bool, some_missing);
WEFT_GROUP_ONE(bool, some_need_care);
WEFT_GROUP_ONE(bool, left_to_others);

uint record_base, signal_base;

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

// The signal of a block has its norm: 16 bytes that are written and read in one access, of which neither x
// nor y nor z is 0. So a reader that finds these three set has the whole signal, and needs no memory barrier,
// which would take as long again.
WEFT_CONST uint kSeeRecord = 0xffffffffu;  // x

#if defined(WEFT_REAL64)
// The last bit of the sum is set to 1. The change is added to the rest, of which the high word is enough.
WEFT_GPU uvec4 signal_of(Real sum, Real rest) {
    uvec2 words = unpackDouble2x32(sum);
    words.x |= 1u;
    WEFT_PRECISE Real change = packDouble2x32(words) - sum;
    WEFT_PRECISE Real left = rest - change;
    return uvec4(words.y, words.x, unpackDouble2x32(left).y | 1u, 0u);
}
WEFT_GPU Real sum_of(uvec4 signal) {
    return packDouble2x32(uvec2(signal.y, signal.x));
}
WEFT_GPU Real rest_of(uvec4 signal) {
    return packDouble2x32(uvec2(0u, signal.z));
}
#else
WEFT_GPU uvec4 signal_of(Real sum, Real rest) {
    return uvec4(floatBitsToUint(sum), 1u, floatBitsToUint(rest) | 1u, 0u);
}
WEFT_GPU Real sum_of(uvec4 signal) {
    return uintBitsToFloat(signal.x);
}
WEFT_GPU Real rest_of(uvec4 signal) {
    return uintBitsToFloat(signal.z);
}
#endif

WEFT_GPU void write_signal(uint block, uvec4 signal) {
    set_task_quad(signal_base / 4u + block, signal);
}
WEFT_GPU uvec4 read_signal(uint block) {
    return task_quad(signal_base / 4u + block);
}
WEFT_GPU bool complete(uvec4 signal) {
    return signal.x != 0u && signal.y != 0u && signal.z != 0u;
}

// The norm of a block whose signal has been read.
WEFT_GPU Norm norm_at(uint block) {
    const uvec4 signal = read_signal(block);
    if (signal.x == kSeeRecord) return read_record(record_base + kBlockRecords + block * kRecordWords);
    Norm norm;
    norm.sum = sum_of(signal);
    norm.rest = rest_of(signal);
    norm.exponent = kPlain;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    return norm;
}
#include "encode_norm_combine.glsl.h"

WEFT_HELD(RawPair, kept, kKept);

// Step k of a block, as an argument of load_pair.
WEFT_GPU uint step_of(uint block, uint k) {
    return (block << (p.slab_bits - 1u)) + k * WEFT_GROUP_SIZE;
}

// All loads are started before the first one is waited for. A condition for each load would prevent this.
WEFT_GPU void load_block(uint block) {
    const uint lane = gl_LocalInvocationIndex, lanes = WEFT_GROUP_SIZE;
    const bool whole = (p.flags & kEncodePaired) != 0u && (block + 1u) << p.slab_bits <= p.features;
    if (whole && !kStoreWide) {
        const uint base = row_begin / 2u + step_of(block, 0u) + lane;
        WEFT_UNROLL for (uint k = 0u; k < kHeld; ++k) kept[k] = WEFT_AT(value_pairs, base, k * lanes);
        WEFT_UNROLL for (uint k = kHeld; k < kKept; ++k)
            WEFT_LOAD_APART(kept, k, WEFT_AT(value_pairs, base, k * lanes));
    } else if (whole) {
        WEFT_UNROLL for (uint k = 0u; k < kHeld; ++k) kept[k] = load_two(step_of(block, k), lane, lanes);
        WEFT_UNROLL_BY_4 for (uint k = kHeld; k < kKept; ++k) WEFT_APART(kept, k) =
            load_two(step_of(block, k), lane, lanes);
    } else {
        WEFT_UNROLL for (uint k = 0u; k < kHeld; ++k) kept[k] = load_pair(step_of(block, k), lane, lanes);
        WEFT_UNROLL_BY_4 for (uint k = kHeld; k < kKept; ++k) WEFT_APART(kept, k) =
            load_pair(step_of(block, k), lane, lanes);
    }
}

// Gives all invocations the sum over the first `parts` of them, a power of two; the sums of the others must
// be 0. The shared memory that it uses may be used again after the next barrier.
#if defined(WEFT_SHUFFLES)
// Sums are joined within subgroups, which are full. Then each invocation adds up the sums of all subgroups,
// because it is not specified which subgroups the first invocations are in.
WEFT_GPU void join_sums(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest, uint parts) {
    WEFT_UNROLL for (uint apart = kSubgroup / 2u; apart > 0u; apart /= 2u) {
        const Real more = subgroupShuffleXor(sum, apart);
        rest += subgroupShuffleXor(rest, apart);
        add_to(sum, rest, more);
    }
    if (gl_SubgroupInvocationID == 0u) {
        norm_sum[gl_SubgroupID] = sum;
        norm_rest[gl_SubgroupID] = rest;
    }
    barrier();
    sum = norm_sum[0];
    rest = norm_rest[0];
    for (uint i = 1u; i < WEFT_GROUP_SIZE / kSubgroup; ++i) {
        rest += norm_rest[i];
        add_to(sum, rest, norm_sum[i]);
    }
}
#else
WEFT_GPU void join_sums(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest, uint parts) {
    gather_parts(sum, rest, parts);
    barrier();
    sum = norm_sum[0];
    rest = norm_rest[0];
}
#endif

// Computes the norm of the block for the workgroup, writes what other workgroups need of it, and counts the
// block as done.
WEFT_GPU void make_norm(uint block) {
    Norm norm;
    norm.sum = kZero;
    norm.rest = kZero;
    WEFT_UNROLL for (uint k = 0u; k < kHeld; ++k) add_squares(norm.sum, norm.rest, kept[k]);
    WEFT_AWAIT_LOADS();
    WEFT_UNROLL_BY_4 for (uint k = kHeld; k < kKept; ++k)
        add_squares(norm.sum, norm.rest, WEFT_APART(kept, k));
    if (gl_LocalInvocationIndex == 0u) {
        some_missing = false;
        some_need_care = false;
    }
    join_sums(norm.sum, norm.rest, WEFT_GROUP_SIZE);
    const bool plain_sum = sums_exactly(norm.sum);
    if (!plain_sum) norm = norm_with_care(min(p.features - block_begin, 1u << p.slab_bits));
    if (gl_LocalInvocationIndex != 0u) return;
    if (plain_sum) {
        write_signal(block, signal_of(norm.sum, norm.rest));
    } else {
        if (norm.fault != kEncodeGood && norm.fault != kEncodeZeroNorm) norm.position += block_begin;
        write_record(record_base + kBlockRecords + block * kRecordWords, norm);
        memoryBarrierBuffer();
        write_signal(block, uvec4(kSeeRecord, 1u, 1u, 0u));
    }
    progress = atomicAdd(tasks[record_base + kProgress], kBlockDone);
}

WEFT_GPU void store_block(uint to, uint block, Norm norm) {
    const uint lane = gl_LocalInvocationIndex, lanes = WEFT_GROUP_SIZE;
    if (norm.fault == kEncodeGood && norm.exponent == kPlain) {
        to += block << (p.slab_bits - (kStoreWide ? 0u : 1u));
        WEFT_UNROLL for (uint k = 0u; k < kHeld; ++k)
            store_plain(to, k * lanes, lane, lanes, kept[k], norm.sum);
        WEFT_UNROLL_BY_4 for (uint k = kHeld; k < kKept; ++k)
            store_plain(to, k * lanes, lane, lanes, WEFT_APART(kept, k), norm.sum);
        return;
    }
    for (uint k = 0u; k < kKept; ++k) {
        const uint step = step_of(block, k);
        const RawPair pair = norm.fault == kEncodeGood ? load_pair(step, lane, lanes) : RawPair(0u);
        store_scaled(to, step, lane, lanes, pair, norm.exponent, norm.sum);
    }
}

// Blocks after the last value are zeros and need no norm.
WEFT_GPU void store_zeros(uint to, uint block, uint blocks) {
    for (block += blocks; block < 1u << (p.qubits - p.slab_bits); block += blocks)
        for (uint k = 0u; k < kKept; ++k)
            store_pair(to, step_of(block, k), gl_LocalInvocationIndex, WEFT_GROUP_SIZE, kZero, kZero);
}

// Called by one invocation only, because polling by all would slow down the loads and stores of others.
WEFT_GPU bool await_blocks(uint blocks) {
    if (progress % kBlockLeft + 1u == blocks) return true;
    for (uint look = 0u; look < kPatience; ++look)
        if (tasks[record_base + kProgress] % kBlockLeft >= blocks) return true;
    return false;
}

// Waits for the row's blocks and adds up their signals; the sum has no meaning if a block needs the careful
// way. Returns false if signals are missing: a signal may become visible after its block is counted as done.
WEFT_GPU bool look_at_signals(uint blocks, WEFT_INOUT(Norm) joined) {
    if (gl_LocalInvocationIndex == 0u) all_done = await_blocks(blocks);
    barrier();
    if (!all_done) return false;
    joined.sum = kZero;
    joined.rest = kZero;
    for (uint i = gl_LocalInvocationIndex; i < blocks; i += WEFT_GROUP_SIZE) {
        uvec4 signal = read_signal(i);
        for (uint look = 1u; look < kPatience && !complete(signal); ++look) signal = read_signal(i);
        if (!complete(signal)) some_missing = true;
        if (signal.x == kSeeRecord) some_need_care = true;
        add_to(joined.sum, joined.rest, sum_of(signal));
        joined.rest += rest_of(signal);
    }
    uint parts = 1u;
    while (parts < blocks && parts < WEFT_GROUP_SIZE) parts *= 2u;
    join_sums(joined.sum, joined.rest, parts);
    return !some_missing;
}

// Returns false if this block has been left to the last workgroup of the row. The last workgroup itself polls
// until the data of all others, which they wrote before, is visible.
WEFT_GPU bool go_on_waiting(uint block, uint blocks) {
    if (gl_LocalInvocationIndex == 0u) {
        left_to_others = false;
        if (progress % kBlockLeft + 1u != blocks) {
            tasks[record_base + kBlockRecords + block * kRecordWords + kLeft] = 1u;
            memoryBarrierBuffer();
            left_to_others = atomicAdd(tasks[record_base + kProgress], kBlockLeft) % kBlockLeft != blocks;
        }
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) some_missing = false;
    barrier();
    return !left_to_others;
}

// Every workgroup of a row joins the norms itself, which takes less time than waiting for one workgroup that
// does it. Returns false as go_on_waiting does. The sum in `all` is the inverse of the root of the joined
// sums.
WEFT_GPU bool await_norms(uint block, uint blocks, WEFT_OUT(Norm) all) {
    while (!look_at_signals(blocks, all))
        if (!go_on_waiting(block, blocks)) return false;
    if (some_need_care) {
        memoryBarrierBuffer();
        all = combine_norms(blocks);
        return true;
    }
    all.sum = inverse_root(all.sum, all.rest);
    all.rest = kZero;
    all.exponent = kPlain;
    all.fault = kEncodeGood;
    all.position = 0u;
    return true;
}

WEFT_GPU void finish_block(uint row, uint block, uint blocks) {
    const uint to = row << (p.qubits - (kStoreWide ? 0u : 1u));
    const bool check_only = (p.flags & kEncodeCheckOnly) != 0u;
    if (!check_only) store_zeros(to, block, blocks);
    Norm all;
    if (!await_norms(block, blocks, all)) return;
    const bool last = progress % kBlockLeft + 1u == blocks;
    if (last && gl_LocalInvocationIndex == 0u) status[p.row_base + row] = uvec2(all.fault, all.position);
    if (check_only) return;
    store_block(to, block, all);
    if (!last || progress < kBlockLeft) return;
    memoryBarrierBuffer();
    for (uint other = 0u; other < blocks; ++other) {
        if (tasks[record_base + kBlockRecords + other * kRecordWords + kLeft] == 0u) continue;
        load_block(other);
        WEFT_AWAIT_LOADS();
        store_block(to, other, all);
    }
}

WEFT_MAIN() {
    const uint blocks = (p.features + (1u << p.slab_bits) - 1u) >> p.slab_bits;
    for (uint index = gl_WorkGroupID.x; index < count * blocks; index += gl_NumWorkGroups.x) {
        const uint row = index / blocks, block = index - row * blocks;
        row_begin = p.in_base + row * p.features;
        record_base = row * (kBlockRecords + (kRecordWords + kSignalWords) * blocks);
        signal_base = record_base + kBlockRecords + kRecordWords * blocks;
        block_begin = block << p.slab_bits;
        load_block(block);
        make_norm(block);
        finish_block(row, block, blocks);
        barrier();
    }
}
