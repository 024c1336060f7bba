# SPDX-License-Identifier: Apache-2.0
"""Kernel matrices that are never stored, by PyTorch beside bench_kernel_operator on the same device.

PyTorch makes K a tile at a time from the Bloch vectors of the qubits, multiplies it and throws it away: as it stands, by
torch.compile, and by torch.compile with the product as a sum that the compiler may fuse. It does a part of the rows, and
its seconds are scaled to all of them. Sampled values are compared with NumPy in float64; a wrong one makes the exit
status 1. Without PyTorch or a GPU the rows of PyTorch are left out.

    bench_kernel_operator.py build/release/examples/bench/bench_kernel_operator --samples 1000000 --qubits 8
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TILE = 8192
LARGEST_ERROR = 1e-4  # of the sum of |V|; float32 in one level


class Row(NamedTuple):
    by: str
    way: str
    ms: float
    verified: bool


def bloch_vectors(samples: int, qubits: int) -> np.ndarray:
    """[3, qubits, samples], those of map ryrz, of the features that the bench in C++ has."""
    i = np.arange(samples * qubits, dtype=np.float64)
    t = np.sin(0.731 * i + 1e-4 * (i % 977)).astype(np.float32).astype(np.float64).reshape(samples, qubits)
    return np.ascontiguousarray(np.stack([np.sin(t) * np.cos(t), np.sin(t) ** 2, np.cos(t)]).transpose(0, 2, 1))


def right(a: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
    for row in (0, len(out) // 3, len(out) - 1):
        fidelities = 0.5 + 0.5 * np.einsum("cq,cqj->qj", a[:, :, row], a)
        want = np.prod(fidelities, axis=0) @ v.astype(np.float64)
        if not abs(want - out[row]).max() <= LARGEST_ERROR * np.abs(v).sum(axis=0).max():
            return False
    return True


def kernel_tile(a: Any, b: Any) -> Any:
    """a [3, qubits, rows], b [3, qubits, columns]."""
    k = None
    for q in range(a.shape[1]):
        f = 0.5 + 0.5 * (a[0, q, :, None] * b[0, q] + a[1, q, :, None] * b[1, q] + a[2, q, :, None] * b[2, q])
        k = f if k is None else k * f
    return k


def product_tile(a: Any, b: Any, v: Any) -> Any:
    return kernel_tile(a, b) @ v


def summed_tile(a: Any, b: Any, v: Any) -> Any:
    return (kernel_tile(a, b)[:, :, None] * v).sum(1)


def by_tiles(make: Callable[[Any, Any, Any], Any], a: Any, v: Any, rows: int) -> Any:
    import torch

    out = torch.zeros((rows, v.shape[1]), device=v.device)
    for i in range(0, rows, TILE):
        for j in range(0, len(v), TILE):
            out[i : i + TILE] += make(a[:, :, i : i + TILE].contiguous(), a[:, :, j : j + TILE], v[j : j + TILE])
    return out


def of_torch(samples: int, qubits: int, columns: int, rows: int, repeats: int) -> Iterator[Row]:
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed")
        return
    if not torch.cuda.is_available():
        print("PyTorch has no GPU")
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    numbers = bloch_vectors(samples, qubits)
    i = np.arange(samples * columns, dtype=np.float64)
    values = np.sin(0.37 * i + 1e-4 * (i % 977)).astype(np.float32).reshape(samples, columns)
    a = torch.from_numpy(numbers.astype(np.float32)).cuda()
    v = torch.from_numpy(values).cuda()
    makers = {
        "torch.compile by tiles": torch.compile(product_tile),
        "torch.compile, sums by tiles": torch.compile(summed_tile),
        "PyTorch by tiles": product_tile,
    }
    for name, make in makers.items():
        try:
            out = by_tiles(make, a, v, rows)  # compiles
            seconds = []
            for _ in range(repeats):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                out = by_tiles(make, a, v, rows)
                torch.cuda.synchronize()
                seconds.append((time.perf_counter() - begin) * samples / rows)
        except Exception as error:  # a peer that cannot do it is named, and no reason to stop
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        yield Row(name, "full", sorted(seconds)[len(seconds) // 2] * 1e3, right(numbers, values, out.cpu().numpy()))


def of_bench(bench: Path, samples: int, qubits: int, columns: int, repeats: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        shape = ["--samples", samples, "--qubits", qubits, "--columns", columns, "--map", "ryrz"]
        command = [bench.resolve(), *shape, "--repeats", repeats, "--json", report]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)  # it verifies itself
        rows = json.loads(report.read_text())["rows"]
    for row in rows:
        way = "low rank" if row["method"] == "low_rank" else "symmetric" if row["symmetric"] else "full"
        yield Row("weft", way, row["ms"], True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="the program bench_kernel_operator")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--qubits", type=int, default=8)
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--rows", type=int, default=4 * TILE, help="rows that PyTorch does")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    shape = (options.samples, options.qubits, options.columns)
    print(f"{shape[0]} rows, {shape[1]} qubits, ryrz, {shape[2]} columns, float32; times of the first row")
    first, verified = 0.0, True
    torch_rows = min(options.rows, options.samples)
    for row in chain(of_bench(options.bench, *shape, options.repeats), of_torch(*shape, torch_rows, options.repeats)):
        first = first or row.ms
        verified = verified and row.verified
        rate = options.samples**2 / row.ms * 1e-6
        print(
            f"  {row.by:<30} {row.way:<10} {row.ms:>12,.1f} ms {rate:>9,.1f} Gpairs/s {row.ms / first:>8.2f}"
            f"  {'verified' if row.verified else 'WRONG'}",
            flush=True,
        )
    return 0 if verified else 1


if __name__ == "__main__":
    raise SystemExit(main())
