// SPDX-License-Identifier: Apache-2.0
// Two steps in one dispatch: rows are cut into blocks, and no second step of a row may begin before all of
// its first steps are done. Workgroups take such tasks one by one. Second steps are taken first, while the
// data of the first steps is still in the device's cache.
//
// No workgroup depends on another one to run. A workgroup that finds no task leaves after some tries. A
// workgroup that opens a row, which lets its second steps begin, continues until no task is left or another
// workgroup has opened a later row. So all tasks are done in whatever order the device runs workgroups.
// Scratch words must be 0 at the start.
//
// Needs `count` (rows) and `p` from the shader; after kTaskHeader the words of a row belong to the shader.
#ifndef WEFT_SHARED_ENCODE_TASKS_H
#define WEFT_SHARED_ENCODE_TASKS_H

layout(set = 0, binding = 3) coherent volatile buffer Tasks {
    uint tasks[];
};

// Words of the whole dispatch, in the header of the first row: the numbers of first and of second steps that
// were taken; the number of second steps that may be taken, which may be below 0 for a moment; the number of
// rows, in order, that are open; how often rows were finished, and how often rows were opened. Two words of
// each row follow.
WEFT_CONST uint kFirstTaken = 0u, kSecondTaken = 1u, kOpen = 2u, kOpenRows = 3u, kFinishes = 4u,
                kOpenings = 5u;
WEFT_CONST uint kDone = 6u, kReady = 7u, kTaskHeader = 8u;
WEFT_CONST uint kNoTask = 0u, kFirstStep = 1u, kSecondStep = 2u;
WEFT_CONST uint kPatience = 200u;  // tries before a workgroup leaves

struct Task {
    uint step, row, block;
};

WEFT_GROUP_ONE(uint, task_step);
WEFT_GROUP_ONE(uint, task_index);
WEFT_GROUP_ONE(uint, task_answer);
WEFT_GROUP_ONE(uint, task_opening);
WEFT_GROUP_ONE(uint, task_openings);

// Called by one invocation, like all functions down to next_task().
WEFT_GPU bool take_second() {
    while (int(tasks[kOpen]) > 0) {
        if (int(atomicAdd(tasks[kOpen], 0xffffffffu)) > 0) {
            task_index = atomicAdd(tasks[kSecondTaken], 1u);
            return true;
        }
        // The count is restored; the last invocation that does so sees steps that were opened in the
        // meantime.
        atomicAdd(tasks[kOpen], 1u);
    }
    return false;
}

WEFT_GPU void take_task(uint firsts, uint seconds, bool more_firsts) {
    for (uint look = 0u; look < kPatience; ++look) {
        task_step = kSecondStep;
        if (take_second()) return;
        task_step = kFirstStep;
        if (more_firsts) {
            task_index = atomicAdd(tasks[kFirstTaken], 1u);
            more_firsts = task_index < count * firsts;
            if (more_firsts) return;
        }
        task_step = kNoTask;
        if (tasks[kSecondTaken] >= count * seconds) return;
    }
}

// Takes a second step or, with `or_first`, a step of either kind.
WEFT_GPU Task next_task(uint firsts, uint seconds, bool or_first) {
    barrier();
    if (gl_LocalInvocationIndex == 0u) take_task(firsts, seconds, or_first);
    memoryBarrierBuffer();
    barrier();
    Task task;
    const uint per_row = task_step == kFirstStep ? firsts : max(seconds, 1u);
    task.step = task_step;
    task.row = task_index / per_row;
    task.block = task_index - task.row * per_row;
    return task;
}

// Counts a first step as done, after all writes of the workgroup. Returns true for the last one of its row.
WEFT_GPU bool finish_first(uint row, uint firsts, uint row_words) {
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0u) task_answer = atomicAdd(tasks[row * row_words + kDone], 1u) + 1u;
    memoryBarrierBuffer();
    barrier();
    return task_answer == firsts;
}

// Rows are opened in order, by the workgroup that finds the next one ready. If two workgroups finish rows
// simultaneously, the one that increments the count second sees the writes of both.
WEFT_GPU uint open_rows(uint row, uint seconds, uint row_words) {
    atomicExchange(tasks[row * row_words + kReady], 1u);
    memoryBarrierBuffer();
    atomicAdd(tasks[kFinishes], 1u);
    memoryBarrierBuffer();
    uint opening = 0u;
    for (uint next = atomicAdd(tasks[kOpenRows], 0u);
         next < count && atomicAdd(tasks[next * row_words + kReady], 0u) != 0u;) {
        const uint found = atomicCompSwap(tasks[kOpenRows], next, next + 1u);
        if (found == next) {
            memoryBarrierBuffer();
            atomicAdd(tasks[kOpen], seconds);
            opening = atomicAdd(tasks[kOpenings], 1u) + 1u;
        }
        next = found == next ? next + 1u : found;
    }
    return opening;
}

// Opens a row and returns the number of this opening, for relieved(). Returns 0 if it opened none.
WEFT_GPU uint finish_row(uint row, uint seconds, uint row_words) {
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0u) task_opening = open_rows(row, seconds, row_words);
    memoryBarrierBuffer();
    barrier();
    return task_opening;
}

// Whether the workgroup of opening `mine` may leave the rest to the workgroup of a later opening.
WEFT_GPU bool relieved(uint mine) {
    barrier();
    if (gl_LocalInvocationIndex == 0u) task_openings = tasks[kOpenings];
    barrier();
    return task_openings != mine;
}

#endif
