# SPDX-License-Identifier: Apache-2.0
"""Your own compute shader over arrays: as one batch, and job by job as data arrives. own_glsl.py [FILE]"""

import sys
from pathlib import Path

import numpy as np

import weftgpu

MAX_STEPS = 500
JOBS, ELEMENTS = 4, 100_000


def steps_on_host(start: np.ndarray) -> np.ndarray:
    n, steps = start.copy(), np.zeros(len(start), np.uint32)
    while (under_way := (n != 1) & (steps < MAX_STEPS)).any():
        n = np.where(under_way, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
        steps += under_way
    return steps


def main() -> int:
    # The shader of examples/glsl_kernel.cpp: steps in which a number reaches 1.
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "glsl_kernel.comp"
    program = weftgpu.Program(weftgpu.compile_glsl(file, macros={"MAX_STEPS": MAX_STEPS}))
    starts = [np.arange(1 + j * ELEMENTS, 1 + (j + 1) * ELEMENTS, dtype=np.uint32) for j in range(JOBS)]
    steps = [np.empty(ELEMENTS, np.uint32) for _ in starts]

    report = weftgpu.run_batch(program, [weftgpu.Job([start], [out]) for start, out in zip(starts, steps)])
    print(f"{weftgpu.default_backend().name}: {JOBS} jobs in {report.wall_s * 1e3:.2f} ms, {report.gb_per_s:.2f} GB/s")

    # A pipeline takes jobs while others run. submit() never waits; result() gives the outputs of the job.
    with weftgpu.JobPipeline(program) as pipeline:
        futures = [pipeline.submit(weftgpu.Job([start], [np.empty_like(start)])) for start in starts]
        streamed = [future.result(timeout=60)[0] for future in futures]

    wrong = sum(int((out != steps_on_host(start)).sum()) for start, out in zip(starts, steps))
    wrong += sum(int((one != other).sum()) for one, other in zip(steps, streamed))
    print(f"the most steps: {max(int(out.max()) for out in steps)}; {wrong} wrong")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
