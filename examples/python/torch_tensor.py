# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch in and out: they are used where they lie, through DLPack."""

import sys

import weftgpu

try:
    import torch
except ImportError:
    print("PyTorch is not installed: nothing to show")
    sys.exit(0)

SAMPLES, QUBITS = 300, 8


def main() -> int:
    torch.manual_seed(3)
    x = torch.rand(SAMPLES, QUBITS)
    k = torch.empty(SAMPLES, SAMPLES)

    # Reads the tensor x and writes the tensor k, without a copy of either.
    weftgpu.kernel_matrix(x, map="ry", out=k)
    expected = torch.cos((x[:, None, :] - x[None, :, :]) / 2).square().prod(dim=2)
    deviation = (k - expected).abs().max().item()
    print(f"kernel matrix of {SAMPLES} rows: largest deviation from PyTorch {deviation:.1e}")

    # Page-locked memory of weftgpu as a tensor: what PyTorch writes there, the device reads without a staging copy.
    buffer = weftgpu.Buffer((SAMPLES, QUBITS), "float32", pinned=True)
    tensor = torch.from_dlpack(buffer)
    tensor.copy_(x)
    states = torch.from_dlpack(weftgpu.encode(buffer.array, "angle"))
    of_norm = (torch.linalg.vector_norm(states, dim=1) - 1).abs().max().item()
    print(f"states {tuple(states.shape)} {states.dtype}: largest deviation of a norm from 1: {of_norm:.1e}")
    return 0 if deviation < 2e-6 and of_norm < 1e-5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
