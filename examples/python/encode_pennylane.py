# SPDX-License-Identifier: Apache-2.0
"""Encodes a data set into states for PennyLane, and compares them with the states that its own templates build.

Qubit k of weftgpu is bit k of an amplitude's index. PennyLane's first wire is the most significant bit, so wires are
given in reverse. Its angles are halved, as usual for rotations; those of weftgpu are not.
"""

import numpy as np

import weftgpu

try:
    import pennylane as qml
except ImportError:
    qml = None

SAMPLES, QUBITS = 200, 6


def states_of_pennylane(method: str, x: np.ndarray) -> np.ndarray:
    wires = range(QUBITS)[::-1]

    @qml.qnode(qml.device("default.qubit", wires=QUBITS))
    def circuit(row: np.ndarray) -> object:
        if method == "amplitude":
            qml.AmplitudeEmbedding(row, wires=range(QUBITS), normalize=True)
        else:
            qml.AngleEmbedding(2 * row, wires=wires, rotation="Y")
        return qml.state()

    return np.array([circuit(row) for row in x])


def expectation(state: np.ndarray) -> float:
    """A circuit of PennyLane that begins with a state of weftgpu."""

    @qml.qnode(qml.device("default.qubit", wires=QUBITS))
    def circuit() -> object:
        qml.StatePrep(state, wires=range(QUBITS))
        qml.CNOT(wires=[0, 1])
        return qml.expval(qml.PauliZ(1))

    return float(circuit())


def main() -> int:
    rng = np.random.default_rng(7)
    data = {"amplitude": rng.standard_normal((SAMPLES, 2**QUBITS)), "angle": rng.uniform(0, np.pi, (SAMPLES, QUBITS))}
    worst = 0.0
    for method, x in data.items():
        states = weftgpu.encode(x, method, dtype="complex128")
        seconds = weftgpu.last_report().wall_s
        norms = np.linalg.norm(states, axis=1)
        print(f"{method}: {len(x)} rows into states of {QUBITS} qubits in {seconds * 1e3:.2f} ms")
        worst = max(worst, abs(norms - 1).max())
        if qml is not None:
            deviation = abs(states - states_of_pennylane(method, x)).max()
            print(f"  largest deviation from PennyLane: {deviation:.1e}; <Z> = {expectation(states[0]):+.4f}")
            worst = max(worst, deviation)
    if qml is None:
        print("PennyLane is not installed: nothing was compared with it")
    return 0 if worst < 1e-12 else 1


if __name__ == "__main__":
    raise SystemExit(main())
