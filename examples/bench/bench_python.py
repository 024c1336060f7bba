# SPDX-License-Identifier: Apache-2.0
"""What Python costs over C++, and weftgpu beside PennyLane, qiskit-machine-learning, galois and PyTorch.

Every result is compared with one that NumPy or Python's integers give, in the same run; a row that is wrong makes the
exit status 1. Peers that are not installed are named and left out. Rows are medians of calls in turns. A peer that
takes minutes is timed on fewer rows or elements, and its seconds are scaled to all of them: `~` marks such rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import weftgpu

QUBITS = 8
PACKAGES = ("pennylane", "qiskit-machine-learning", "galois", "torch")
LONG_S = 2.0  # a call that takes longer is made once


def installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


class Table:
    """The rows of the run, printed as they come."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def section(self, name: str, columns: str) -> None:
        self.name = name
        print(f"\n{name}: {columns}")

    def add(self, case: str, who: str, verified: bool, **figures: Any) -> None:
        self.rows.append({"section": self.name, "case": case, "who": who, "verified": bool(verified), **figures})
        text = "  ".join(f"{value:>12,.0f}" if value >= 1000 else f"{value:>12.4g}" for value in figures.values())
        print(f"  {case:<34} {who:<28} {text}  {'yes' if verified else 'WRONG'}", flush=True)

    def add_in_turns(self, case: str, calls: dict[str, Peer], repeats: int) -> None:
        """Times all calls in turns; the first one is the one that the others are compared with."""
        times: dict[str, list[float]] = {who: [] for who in calls}
        for turn in range(repeats):
            for who, peer in calls.items():
                if turn == 0 or times[who][0] < LONG_S:
                    times[who].append(peer.seconds())
        medians = {who: statistics.median(taken) * calls[who].factor for who, taken in times.items()}
        first = next(iter(medians.values()))
        for who, peer in calls.items():
            mark = "~" if peer.factor != 1 else ""
            self.add(case, mark + who, peer.right(), ms=medians[who] * 1e3, times=medians[who] / first)


class Peer:
    """A call to time, the check of its last result, and the factor to the whole problem if it does a part."""

    def __init__(self, call: Callable[[], Any], right: Callable[[Any], bool], factor: float = 1) -> None:
        self.call, self.check, self.factor = call, right, factor
        self.result: Any = call()  # makes pipelines, compiles

    def seconds(self) -> float:
        begin = time.perf_counter()
        self.result = self.call()
        return time.perf_counter() - begin

    def right(self) -> bool:
        return bool(self.check(self.result))


# ------------------------------------------------------------------------------------------------ Python over C++


def paired(call: Callable[[], Any], repeats: int) -> tuple[list[float], list[float]]:
    """Seconds of each call, and those that C++ reports for it."""
    whole, inside = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        whole.append(time.perf_counter() - begin)
        inside.append(weftgpu.last_report().wall_s)
    return whole, inside


def overhead(table: Table, quick: bool) -> None:
    """Fields only: their reports cover the whole call in C++, those of the other ops begin later."""
    table.section("overhead", "us of a call with out=, of which in C++, difference (medians); verified")
    F = weftgpu.Field("bls12-381-fp")
    for op, of_ints in (("add", int.__add__), ("mul", int.__mul__)):
        for elements in (0, 64):  # a call without elements does all but run
            a, b = F.random(elements, seed=1), F.random(elements, seed=2)
            out = np.empty_like(a)
            call = partial(getattr(F, op), a, b, out)
            call()
            whole, inside = paired(call, 50 if quick else 5000)
            over = statistics.median([w - i for w, i in zip(whole, inside)])
            right = F.to_ints(out) == [of_ints(i, j) % F.modulus for i, j in zip(F.to_ints(a), F.to_ints(b))]
            figures = {"us": statistics.median(whole) * 1e6, "cpp_us": statistics.median(inside) * 1e6}
            table.add(f"Field.{op}, {elements} elements", "weftgpu", right, **figures, over_us=over * 1e6)


def throughput(table: Table, quick: bool) -> None:
    table.section("throughput", "MB in and out, GB/s of the call, share of the speed in C++; verified")
    F = weftgpu.Field("bls12-381-fp")
    for elements in (8_192, 65_536) if quick else (8_192, 65_536, 524_288, 2_097_152):
        a, b = F.random(elements, seed=1), F.random(elements, seed=2)
        out = np.empty_like(a)
        F.add(a, b, out)
        whole, inside = paired(lambda: F.add(a, b, out), 5 if quick else max(15, 4_194_304 // elements))
        bytes_moved = a.nbytes * 3
        share = statistics.median([i / w for w, i in zip(whole, inside)])
        some = slice(None, None, max(1, elements // 5000))
        x, y, z = F.to_ints(a[some]), F.to_ints(b[some]), F.to_ints(out[some])
        right = all((i + j) % F.modulus == s for i, j, s in zip(x, y, z))
        figures = {"mb": bytes_moved / 1e6, "gb_per_s": bytes_moved / statistics.median(whole) / 1e9, "share": share}
        table.add(f"Field.add, {elements} elements", "weftgpu", right, **figures)


# ------------------------------------------------------------------------------------------------ kernel matrices


def bloch(x: np.ndarray) -> np.ndarray:
    """The Bloch vectors of RY(x) then RZ(x): (samples, qubits, 3)."""
    x = np.asarray(x, np.float64)
    return np.stack([np.sin(x) * np.cos(x), np.sin(x) * np.sin(x), np.cos(x)], axis=2)


def kernel_of(x: np.ndarray) -> np.ndarray:
    r, k = bloch(x), np.ones((len(x), len(x)))
    for q in range(r.shape[1]):
        k *= (1 + r[:, q] @ r[:, q].T) / 2
    return k


def within(expected: np.ndarray, limit: float) -> Callable[[Any], bool]:
    def check(got: Any) -> bool:
        got = np.asarray(got)
        return got.shape == expected.shape and bool(abs(got - expected).max() < limit)

    return check


def pennylane_kernels(x: np.ndarray, expected: np.ndarray) -> dict[str, Peer]:
    import pennylane as qml

    wires = range(QUBITS)
    n, part = len(x), 24

    def embed(row: Any) -> None:
        qml.AngleEmbedding(row, wires=wires, rotation="Y")
        qml.AngleEmbedding(row, wires=wires, rotation="Z")

    def pairs_on(device: str) -> Peer:
        @qml.qnode(qml.device(device, wires=QUBITS))
        def probabilities(a: Any, b: Any) -> Any:
            embed(a)
            qml.adjoint(embed)(b)
            return qml.probs(wires=wires)

        def matrix() -> Any:
            return qml.kernels.square_kernel_matrix(x[:part], lambda a, b: probabilities(a, b)[0], True)

        return Peer(matrix, within(expected[:part, :part], 1e-10), n * (n - 1) / (part * (part - 1)))

    @qml.qnode(qml.device("default.qubit", wires=QUBITS))
    def states(rows: Any) -> Any:
        embed(rows)
        return qml.state()

    def product() -> Any:
        s = states(x)
        return abs(s @ s.conj().T) ** 2

    return {
        "qml.kernels, default.qubit": pairs_on("default.qubit"),
        "qml.kernels, lightning.qubit": pairs_on("lightning.qubit"),
        "PennyLane states, NumPy product": Peer(product, within(expected, 1e-10)),
    }


def qiskit_kernels(x: np.ndarray, expected: np.ndarray) -> dict[str, Peer]:
    from qiskit.circuit import ParameterVector, QuantumCircuit
    from qiskit_machine_learning.kernels import FidelityStatevectorKernel

    circuit, angles = QuantumCircuit(QUBITS), ParameterVector("x", QUBITS)
    for q in range(QUBITS):
        circuit.ry(angles[q], q)
        circuit.rz(angles[q], q)
    kernel = FidelityStatevectorKernel(feature_map=circuit, enforce_psd=False)
    return {"qiskit FidelityStatevectorKernel": Peer(lambda: kernel.evaluate(x), within(expected, 1e-10))}


def kernel_matrices(table: Table, quick: bool) -> None:
    table.section("kernel matrix", f"{QUBITS} qubits, RY and RZ: ms, times the first row; verified")
    for n in (60,) if quick else (200, 1000):
        x = np.random.default_rng(n).uniform(0, np.pi, (n, QUBITS))
        expected = kernel_of(x)
        calls = {
            "weftgpu float32": Peer(lambda: weftgpu.kernel_matrix(x), within(expected, 2e-6)),
            "weftgpu float64": Peer(lambda: weftgpu.kernel_matrix(x, dtype="float64"), within(expected, 1e-12)),
        }
        if installed("pennylane"):
            calls.update(pennylane_kernels(x, expected))
        if installed("qiskit-machine-learning"):
            calls.update(qiskit_kernels(x, expected))
        table.add_in_turns(f"{n} rows", calls, 2 if quick else 15)


# --------------------------------------------------------------------------------------------- fields and states


def galois_product(F: weftgpu.Field, a: np.ndarray, b: np.ndarray, factor: float) -> Peer:
    import galois

    # Its arrays of large fields hold Python's integers. A primitive element that is given saves a factorization.
    known = {"babybear": 31, "goldilocks": 7, "bls12-381-fr": 7}
    GF = galois.GF(F.modulus, primitive_element=known[F.name], verify=False)
    x, y = GF(F.to_ints(a)), GF(F.to_ints(b))
    return Peer(lambda: x * y, lambda c: [int(v) for v in c] == F.to_ints(F.mul(a, b)), factor)


def fields(table: Table, quick: bool) -> None:
    table.section("field", "products: ms, times the first row; verified")
    for name in ("babybear", "goldilocks", "bls12-381-fr"):
        F = weftgpu.Field(name)
        elements = 10_000 if quick else 1_000_000
        a, b = F.random(elements, seed=1), F.random(elements, seed=2)
        part = slice(0, 1_000 if quick else 20_000)
        expected = [i * j % F.modulus for i, j in zip(F.to_ints(a[part]), F.to_ints(b[part]))]
        calls = {"weftgpu": Peer(lambda: F.mul(a, b), lambda c: F.to_ints(c[part]) == expected)}
        if installed("galois"):
            whole = F.dtype == np.uint32
            some = slice(None) if whole else part
            calls["galois"] = galois_product(F, a[some], b[some], 1 if whole else elements / part.stop)
        table.add_in_turns(f"{name}, {elements} elements", calls, 2 if quick else 15)


def encoded(method: str, x: np.ndarray) -> np.ndarray:
    if method == "amplitude":
        return x / np.linalg.norm(x, axis=1, keepdims=True)
    states = np.ones((len(x), 1))
    for q in range(x.shape[1]):  # qubit q is bit q
        factor = np.stack([np.cos(x[:, q]), np.sin(x[:, q])], axis=1)
        states = (factor[:, :, None] * states[:, None, :]).reshape(len(x), -1)
    return states


def pennylane_states(method: str, x: np.ndarray, expected: np.ndarray) -> Peer:
    import pennylane as qml

    qubits = expected.shape[1].bit_length() - 1

    @qml.qnode(qml.device("default.qubit", wires=qubits))
    def states(rows: Any) -> Any:
        if method == "amplitude":
            qml.AmplitudeEmbedding(rows, wires=range(qubits), normalize=True)
        else:
            qml.AngleEmbedding(2 * rows, wires=range(qubits)[::-1], rotation="Y")
        return qml.state()

    return Peer(lambda: states(x), within(expected, 1e-10))


def encoders(table: Table, quick: bool) -> None:
    table.section("encode", "states of rows: ms, times the first row; verified")
    samples, qubits = (50, 6) if quick else (2000, 10)
    rng = np.random.default_rng(5)
    for method, features in (("angle", qubits), ("amplitude", 2**qubits)):
        x = rng.uniform(0, np.pi, (samples, features))
        expected = encoded(method, x)
        calls = {
            f"weftgpu {dtype}": Peer(partial(weftgpu.encode, x, method, dtype=dtype), within(expected, limit))
            for dtype, limit in (("complex64", 1e-5), ("complex128", 1e-12))
        }
        if installed("pennylane"):
            calls["PennyLane, all rows in one call"] = pennylane_states(method, x, expected)
        table.add_in_turns(f"{method}, {samples} rows, {qubits} qubits", calls, 2 if quick else 15)


# ------------------------------------------------------------------------------------------------------- PyTorch


def against_torch(table: Table, quick: bool) -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    table.section(f"PyTorch on {device}", "from host memory to host memory: ms, times the first row; verified")
    n = 60 if quick else 10_000 if device == "cuda" else 1000
    x = np.random.default_rng(n).uniform(0, np.pi, (n, QUBITS)).astype(np.float32)

    def product() -> Any:
        r = torch.from_numpy(x).to(device)
        r = torch.stack([r.sin() * r.cos(), r.sin() * r.sin(), r.cos()], dim=2)
        k = torch.ones(n, n, device=device)
        for q in range(QUBITS):
            k *= torch.addmm(torch.ones(1, device=device), r[:, q], r[:, q].T, beta=0.5, alpha=0.5)
        return k.cpu().numpy()

    expected = kernel_of(x)
    calls = {
        "weftgpu": Peer(lambda: weftgpu.kernel_matrix(x), within(expected, 2e-6)),
        "PyTorch": Peer(product, within(expected, 1e-4)),
    }
    table.add_in_turns(f"product kernel, {n} rows", calls, 2 if quick else 15)

    samples, qubits = (40, 5) if quick else (4096, 12) if device == "cuda" else (500, 10)
    states = weftgpu.encode(np.random.default_rng(6).standard_normal((samples, 2**qubits)).astype(np.float32))

    def gram() -> Any:
        s = torch.from_numpy(states).to(device)
        return (s @ s.conj().T).abs().square().cpu().numpy()

    wide = states.astype(np.complex128)
    expected = abs(wide @ wide.conj().T) ** 2
    calls = {
        "weftgpu": Peer(lambda: weftgpu.kernel_matrix(states), within(expected, 1e-5)),
        "PyTorch": Peer(gram, within(expected, 1e-3)),
    }
    table.add_in_turns(f"given states, {samples} rows, {qubits} qubits", calls, 2 if quick else 15)


PARTS: dict[str, Callable[[Table, bool], None]] = {
    "overhead": overhead, "throughput": throughput, "kernel": kernel_matrices, "field": fields, "encode": encoders,
    "torch": against_torch,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small and few: a test that the bench works, no figures")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the rows here")
    parser.add_argument("--only", metavar="PART", nargs="+", choices=PARTS, default=list(PARTS), help=", ".join(PARTS))
    options = parser.parse_args()

    backend, versions = weftgpu.default_backend(), {package: installed(package) for package in PACKAGES}
    print(f"{backend.name}; weftgpu {weftgpu.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("  ".join(f"{package} {version or 'is not installed: left out'}" for package, version in versions.items()))

    table = Table()
    for part in options.only:
        if part != "torch" or versions["torch"]:
            PARTS[part](table, options.quick)
    if options.json:
        report = {"device": backend.name, "version": weftgpu.__version__, "packages": versions, "rows": table.rows}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if all(row["verified"] for row in table.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
