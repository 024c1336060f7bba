// SPDX-License-Identifier: Apache-2.0
// Two steps in one dispatch: rows are cut into blocks, and no second step of a row may begin before all of its
// first steps are done. Workgroups take such tasks one by one; second steps go first, so that what first steps
// read or wrote still lies in the device's cache.
//
// No workgroup relies on another one to run: who finds nothing to do leaves, after some patience, and who
// finishes the first steps of a row goes on until nothing is ready or somebody else has finished a row after
// it. So all is done whatever the order in which the device runs workgroups. Scratch words must be 0 before.
//
// Needs `count` (rows) and `p` from the shader, and from kTaskHeader on the words of a row are the shader's.
#ifndef WEFT_SHARED_ENCODE_TASKS_H
#define WEFT_SHARED_ENCODE_TASKS_H

layout(set = 0, binding = 3) coherent buffer Tasks { uint tasks[]; };

// Words of the whole dispatch, in the first row's header, then those of each row.
const uint kNextFirst = 0u, kNextSecond = 1u, kFinishes = 2u, kDone = 3u, kReady = 4u;
const uint kNoTask = 0u, kFirstStep = 1u, kSecondStep = 2u;
const uint kPatience = 64u;  // looks at the queue, each of which takes the device's memory latency

struct Task {
    uint step, row, block;
};

shared uint task_step, task_index;
shared bool task_last;

// Taken by one invocation.
void take_task(uint firsts, uint seconds, uint row_words) {
    task_step = kNoTask;
    bool more_firsts = true;
    for (uint look = 0u; look < kPatience; ++look) {
        uint next = atomicAdd(tasks[kNextSecond], 0u);
        while (next < count * seconds && atomicAdd(tasks[(next / seconds) * row_words + kReady], 0u) != 0u) {
            const uint found = atomicCompSwap(tasks[kNextSecond], next, next + 1u);
            if (found == next) {
                task_step = kSecondStep;
                task_index = next;
                return;
            }
            next = found;
        }
        if (more_firsts) {
            task_index = atomicAdd(tasks[kNextFirst], 1u);
            more_firsts = task_index < count * firsts;
            if (more_firsts) {
                task_step = kFirstStep;
                return;
            }
        }
        if (next >= count * seconds) return;
    }
}

Task next_task(uint firsts, uint seconds, uint row_words) {
    barrier();
    if (gl_LocalInvocationIndex == 0u) take_task(firsts, seconds, row_words);
    memoryBarrierBuffer();
    barrier();
    Task task;
    const uint per_row = task_step == kFirstStep ? firsts : max(seconds, 1u);
    task.step = task_step;
    task.row = task_index / per_row;
    task.block = task_index - task.row * per_row;
    return task;
}

// A first step is done, all that the workgroup wrote for it included. True for the last of its row.
bool finish_first(uint row, uint firsts, uint row_words) {
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0u)
        task_last = atomicAdd(tasks[row * row_words + kDone], 1u) + 1u == firsts;
    memoryBarrierBuffer();
    barrier();
    return task_last;
}

// Lets the second steps of a row begin. Returns the place of this among all rows' finishes, from 1 on.
uint finish_row(uint row, uint row_words) {
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        atomicExchange(tasks[row * row_words + kReady], 1u);
        memoryBarrierBuffer();
        task_index = atomicAdd(tasks[kFinishes], 1u) + 1u;
    }
    memoryBarrierBuffer();
    barrier();
    return task_index;
}

// Whether the workgroup that finished a row as number `mine` may leave the rest to a later one.
bool relieved(uint mine) {
    barrier();
    if (gl_LocalInvocationIndex == 0u) task_last = atomicAdd(tasks[kFinishes], 0u) != mine;
    barrier();
    return task_last;
}

#endif
