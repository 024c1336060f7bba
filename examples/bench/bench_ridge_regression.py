# SPDX-License-Identifier: Apache-2.0
"""Ridge regression over a quantum kernel by `weft kernel solve`, whole processes, beside a dense solve in float64.

The dense solve makes K with NumPy, or on a GPU with PyTorch, factors K + lambda I and solves. A solution of weft with
residual r may differ from the exact one by r |y| / lambda, because no eigenvalue of K is below 0; a larger difference
makes the exit status 1. Without --dense the residual that weft computes is all there is, which a million rows allow.

    bench_ridge_regression.py build/release/tools/weft --samples 100000 --dense
    bench_ridge_regression.py build/release/tools/weft --samples 1000000 --to float32:1e-4 --backend cuda
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 4096


def problem(samples: int, qubits: int) -> tuple[np.ndarray, np.ndarray]:
    """Features [samples, qubits] and targets [samples], float32."""
    random = np.random.default_rng(1)
    x = random.uniform(-1.5, 1.5, (samples, qubits)).astype(np.float32)
    y = np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + x[:, 2] ** 2 + 0.1 * random.standard_normal(samples)
    return x, y.astype(np.float32)


def kernel(module: Any, a: Any, b: Any) -> Any:
    """K of map ryrz of the angles a [rows, qubits] with b, by NumPy or PyTorch."""
    k = None
    for s, t in zip(a.T, b.T):
        dot = module.outer(module.cos(s), module.cos(t))
        for part in (module.cos, module.sin):
            dot += module.outer(module.sin(s) * part(s), module.sin(t) * part(t))
        fidelity = dot.mul_(0.5).add_(0.5) if hasattr(dot, "mul_") else 0.5 + 0.5 * dot
        k = fidelity if k is None else k * fidelity
    return k


def dense_numpy(x: np.ndarray, y: np.ndarray, shift: float) -> tuple[np.ndarray, float]:
    k = kernel(np, x.astype(np.float64), x.astype(np.float64))
    begin = time.perf_counter()
    return np.linalg.solve(k + shift * np.eye(len(k)), y.astype(np.float64)), time.perf_counter() - begin


def dense_torch(torch: Any, x: np.ndarray, y: np.ndarray, shift: float) -> tuple[np.ndarray, float]:
    """K takes 8 bytes a value; its factor takes the place of K, block by block of columns."""
    n, a = len(x), torch.from_numpy(x.astype(np.float64)).cuda()
    k = torch.empty((n, n), dtype=torch.float64, device="cuda")
    blocks = [slice(i, min(n, i + BLOCK)) for i in range(0, n, BLOCK)]
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for i, rows in enumerate(blocks):
        for columns in blocks[: i + 1]:
            k[rows, columns] = kernel(torch, a[rows], a[columns])
        k[rows, rows].diagonal().fill_(1 + shift)
    out = torch.from_numpy(y.astype(np.float64)).cuda()[:, None]
    for i, own in enumerate(blocks):
        factor = k[own, own] = torch.linalg.cholesky(k[own, own])
        below = k[own.stop :, own]
        if len(below) == 0:
            out[own] = torch.linalg.solve_triangular(factor, out[own], upper=False)
            break
        below.copy_(torch.linalg.solve_triangular(factor, below.T, upper=False).T)
        for other in blocks[i + 1 :]:
            k[other.start :, other] -= below[other.start - own.stop :] @ k[other, own].T
        out[own] = torch.linalg.solve_triangular(factor, out[own], upper=False)
        out[own.stop :] -= below @ out[own]
    for own in reversed(blocks):
        out[own] = torch.linalg.solve_triangular(k[own, own].T, out[own] - k[own.stop :, own].T @ out[own.stop :], upper=True)
    result = out[:, 0].cpu().numpy()
    return result, time.perf_counter() - begin


def dense(x: np.ndarray, y: np.ndarray, shift: float) -> np.ndarray | None:
    try:
        import torch

        free = torch.cuda.mem_get_info()[0] if torch.cuda.is_available() else 0
    except ImportError:
        free = 0
    if free > 8 * len(x) ** 2 * 1.1 + 2**32:
        alpha, seconds = dense_torch(torch, x, y, shift)
        name = "PyTorch, Cholesky on the GPU"
    elif len(x) <= 20_000:
        alpha, seconds = dense_numpy(x, y, shift)
        name = "NumPy"
    else:
        print(f"no dense solve: no PyTorch with {8 * len(x) ** 2 * 1.1e-9 + 4:.0f} GB of free GPU memory (got {free * 1e-9:.0f})")
        return None
    print(f"  dense, float64 ({name}): {seconds:.2f} s")
    return alpha


def solved(options: Any, folder: Path, run: str, y: np.ndarray, want: np.ndarray | None) -> tuple[bool, str]:
    """A process of weft; whether its solution is as near to `want` as its residual says, and a line about it."""
    backend, dtype, tolerance = run.split(":")
    words: list[Any] = [options.weft.resolve(), "kernel", "solve", folder / "x.npy", folder / "y.npy", "--json"]
    words += ["-o", folder / "alpha.npy", "--lambda", options.shift, "--rank", options.rank]
    words += ["--tolerance", tolerance, "--dtype", dtype, "--backend", backend]
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE)
    seconds, report = time.perf_counter() - begin, json.loads(done.stdout)
    line = (
        f"{backend}, {dtype}: {seconds:.2f} s (preconditioner {report['preconditioner_s']:.2f}, products "
        f"{report['product_s']:.2f}), {report['iterations']} iterations, residual {report['residual']:.1e}"
    )
    right = bool(report["converged"])
    if want is not None:
        size = float(np.linalg.norm(want))
        difference = np.linalg.norm(np.load(folder / "alpha.npy").astype(np.float64) - want) / size
        bound = report["residual"] * np.linalg.norm(y.astype(np.float64)) / options.shift / size
        right = right and bool(difference <= 1.01 * bound + (1e-6 if dtype == "float32" else 1e-12))
        line += f", {difference:.1e} from the dense alpha (bound {bound:.1e})"
    return right, line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft", type=Path, help="the command weft")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--qubits", type=int, default=8)
    parser.add_argument("--lambda", type=float, default=10, dest="shift")
    parser.add_argument("--rank", type=int, default=500)
    parser.add_argument("--to", default="float64:1e-8,float32:1e-4", help="types of the arithmetic and residuals")
    parser.add_argument("--backend", default="vulkan,cuda", help="one or several, with commas between")
    parser.add_argument("--dense", action="store_true")
    options = parser.parse_args()
    x, y = problem(options.samples, options.qubits)
    print(f"{options.samples} rows, {options.qubits} qubits, ryrz, lambda {options.shift:g}, rank {options.rank}")
    want = dense(x, y, options.shift) if options.dense else None
    status = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "x.npy", x)
        np.save(folder / "y.npy", y)
        for run in (f"{backend}:{to}" for to in options.to.split(",") for backend in options.backend.split(",")):
            right, line = solved(options, folder, run, y, want)
            print(f"  weft, {line}, {'verified' if right else 'WRONG'}", flush=True)
            status |= not right
    return int(status)


if __name__ == "__main__":
    raise SystemExit(main())
