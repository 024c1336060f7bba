#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How work over ranks scales, from figures of one device: docs/scaling.md has the model and what it assumes.

scaling_model.py stored  --samples N [options]     a kernel matrix that goes to one file (weft::mpi::kernel_matrix)
scaling_model.py applied --samples N [options]     products with a kernel matrix that is not stored, rows split over ranks
scaling_model.py batches --jobs J [options]        jobs by the shared counter (weft::mpi::run_batch)

Prints a row for each number of ranks: seconds, the gain over one rank, the share of each rank that is used, and what
binds. `hand_out` is the simulation; tests compare it with ranks that really take numbers from the counter.
"""
import argparse
import heapq
import math


def step_of(items, ranks, most):
    """Items that a rank takes at a time, as src/mpi has it."""
    return max(1, min(most, items // (ranks * 8)))


def hand_out(costs, ranks, most, take_s=0.0, serve_s=0.0, speeds=None):
    """Simulates the counter: costs in seconds of each item at speed 1. Taking costs a rank take_s; the counter serves
    one rank at a time, for serve_s. Returns the end of each rank and the items that it made."""
    step = step_of(len(costs), ranks, most)
    speeds = speeds or [1.0] * ranks
    idle = [(0.0, rank) for rank in range(ranks)]
    ends, made, at, served = [0.0] * ranks, [0] * ranks, 0, 0.0
    while idle:
        now, rank = heapq.heappop(idle)
        served = max(served, now) + serve_s
        now = served + take_s
        taken = costs[at:at + step]
        at += len(taken)
        made[rank] += len(taken)
        ends[rank] = now + sum(taken) / speeds[rank]
        if taken:
            heapq.heappush(idle, (ends[rank], rank))
    return ends, made


def blocks_of(samples, rows):
    """Pairs of each block on and below the diagonal, in the order in which they are made."""
    sides = [min(rows, samples - first) for first in range(0, samples, rows)]
    return [side * (side + 1) // 2 if i == j else side * sides[j]
            for i, side in enumerate(sides) for j in range(i + 1)]


def tile_rows(value_bytes, tile_bytes=128 << 20, most=4096):
    """Of a square K, whose tiles have an image across the diagonal."""
    return min(most, int(math.sqrt(tile_bytes / 2 / value_bytes)) // 64 * 64)


def stored(a, ranks):
    """Seconds and what binds. Every rank that has a tile makes all states, because it cannot know its next tiles."""
    costs = [pairs / a.pairs_per_s for pairs in blocks_of(a.samples, tile_rows(a.value_bytes))]
    ends, _ = hand_out(costs, ranks, 4, a.take_s, a.serve_s)
    states = a.samples / a.states_per_s if a.states_per_s else 0
    compute = states + max(ends)
    disk = a.value_bytes * a.samples ** 2 / min(a.disk_bytes_per_s, ranks * a.rank_bytes_per_s)
    used = sum(costs) / ranks
    parts = {"disk": disk - used, "states": states, "end": max(ends) - used}
    binds = max(parts, key=parts.get)
    return max(compute, disk), binds if parts[binds] > 0.1 * used else "pairs"


def applied(a, ranks):
    """A product: all ranks need V, have rows of K, and each keeps its rows of the result. Half of a square K cannot be
    saved over ranks, because the image of a block belongs to another rank's rows."""
    pairs = a.samples ** 2 if ranks > 1 else a.samples * (a.samples + 1) / 2
    compute = pairs / (ranks * a.pairs_per_s)
    v = a.samples * a.columns * a.value_bytes
    gather = 0 if ranks == 1 else v * (ranks - 1) / ranks / a.network_bytes_per_s + a.message_s * math.ceil(math.log2(ranks))
    return compute + gather, "gather of V" if gather > 0.1 * compute else "pairs"


def batches(a, ranks):
    ends, _ = hand_out([a.job_s] * a.jobs, ranks, 64, a.take_s, a.serve_s)
    used = a.jobs * a.job_s / ranks
    serving = a.serve_s * a.jobs / step_of(a.jobs, ranks, 64)
    binds = "counter" if serving > 0.5 * max(ends) else "last jobs" if max(ends) - used > 0.1 * used else "jobs"
    return max(ends), binds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("stored", "applied", "batches"))
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--value-bytes", type=int, default=4)
    parser.add_argument("--columns", type=int, default=1, help="of V")
    parser.add_argument("--pairs-per-s", type=float, default=241e6, help="of one device: weft kernel --json")
    parser.add_argument("--states-per-s", type=float, default=0, help="of one device; 0: no states")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--job-s", type=float, default=0.1)
    parser.add_argument("--take-s", type=float, default=5e-6, help="to take a number from the counter, for the rank")
    parser.add_argument("--serve-s", type=float, default=1e-6, help="the same, for the counter")
    parser.add_argument("--disk-bytes-per-s", type=float, default=50e9, help="of the file system, for all ranks")
    parser.add_argument("--rank-bytes-per-s", type=float, default=2e9, help="that a rank writes")
    parser.add_argument("--network-bytes-per-s", type=float, default=20e9, help="into a rank")
    parser.add_argument("--message-s", type=float, default=5e-6, help="of a message over the network")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")],
                        default=[1, 8, 32, 128, 512, 1024])
    arguments = parser.parse_args()
    model = {"stored": stored, "applied": applied, "batches": batches}[arguments.kind]
    one, _ = model(arguments, 1)
    print("| ranks | s | gain | used | binds |\n|---:|---:|---:|---:|---|")
    for ranks in arguments.ranks:
        seconds, binds = model(arguments, ranks)
        print("| %d | %.3g | %.1f | %.0f %% | %s |" % (ranks, seconds, one / seconds, 100 * one / seconds / ranks, binds))


if __name__ == "__main__":
    main()
