#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's rows of the comparison: encoders written with tensors in the usual way, with the sizes and columns of
examples/bench/bench_race. As there, rates are by the device's clock (events), and each time covers several runs.

Usage: race_torch.py [--quick]. Figures are medians of 9. The norms of the first and last state of every row are verified.
Exit status: 2 without PyTorch or for wrong arguments, 3 without a CUDA device, 1 if a norm is wrong.
"""
import statistics
import sys
import time


def end(status, line):
    print("race_torch.py: " + line, file=sys.stderr)
    sys.exit(status)


if sys.argv[1:] not in ([], ["--quick"]):
    end(2, "no such arguments (got %s, need none or --quick)" % " ".join(sys.argv[1:]))
try:
    import torch
except ImportError as error:
    end(2, "PyTorch cannot be imported (%s; need the package torch)" % error)
if not torch.cuda.is_available():
    end(3, "PyTorch %s finds no CUDA device" % torch.__version__)

QUICK = "--quick" in sys.argv
BYTES = (6 if QUICK else 1024) << 20
TRIALS, REPEATS = (3 if QUICK else 9), 4


def amplitude(x):
    return torch.complex(x / x.norm(dim=1, keepdim=True), torch.zeros((), device=x.device))


def product(zero, one):
    """States that are products of one factor for each qubit; qubit 0 is the lowest bit of the index."""
    state = torch.ones(zero.shape[0], 1, dtype=zero.dtype, device=zero.device)
    for k in range(zero.shape[1]):
        state = torch.cat((state * zero[:, k:k + 1], state * one[:, k:k + 1]), dim=1)
    return state


def angle(x):
    return product(torch.complex(x.cos(), torch.zeros_like(x)), torch.complex(x.sin(), torch.zeros_like(x)))


def phase(x):
    one = torch.polar(torch.full_like(x, 0.5**0.5), x)
    return product(torch.full_like(one, 0.5**0.5), one)


def iqp(x, qubits):
    index = torch.arange(2**qubits, device=x.device)
    bits = (index[:, None] >> torch.arange(qubits, device=x.device)) & 1
    pairs = [bits[:, i] & bits[:, j] for i in range(qubits) for j in range(i + 1, qubits)]
    terms = torch.cat((bits, torch.stack(pairs, dim=1)), dim=1).to(x.dtype)
    state = torch.polar(torch.full((), 2.0**-qubits, device=x.device), x @ terms.T)
    for k in range(qubits):
        pair = state.view(x.shape[0], -1, 2, 2**k)
        a, b = pair[:, :, 0], pair[:, :, 1]
        state = torch.stack((a + b, a - b), dim=2).view(x.shape[0], -1)
    return state


def row(name, values, make):
    state = make(values)
    for sample in state[0], state[-1]:
        norm = sample.abs().square().sum().item()
        if not abs(norm - 1) < 1e-3:
            end(1, "%s: a state is wrong (its norm squared is %g)" % (name, norm))
    moved = values.numel() * 4 + state.numel() * 8
    del state
    walls, devices = [], []
    for _ in range(TRIALS):
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin = time.perf_counter()
        first.record()
        for _ in range(REPEATS):
            make(values)
        last.record()
        torch.cuda.synchronize()
        walls.append(1e3 * (time.perf_counter() - begin))
        devices.append(first.elapsed_time(last))
    ms = statistics.median(devices)
    print(f"{name:32} {'PyTorch ' + torch.__version__:20} {ms:10.3f} {statistics.median(walls):10.3f} "
          f"{REPEATS * moved / 1e6 / ms:9.1f} GB/s", flush=True)


def main():
    print(torch.cuda.get_device_name())
    print(f"{'row':32} {'by':20} {'device ms':>10} {'wall ms':>10} {'rate':>18}")
    for qubits in 8, 16:
        samples = BYTES >> (qubits + 3)

        def values(features):
            i = torch.arange(samples * features, device="cuda")
            return (0.1 + 0.37 * ((i + i // features) % 17)).to(torch.float32).view(samples, features)

        row(f"encode amplitude {qubits} qubits", values(2**qubits), amplitude)
        row(f"encode angle {qubits} qubits", values(qubits), angle)
        row(f"encode phase {qubits} qubits", values(qubits), phase)
        row(f"encode iqp {qubits} qubits", values(qubits + qubits * (qubits - 1) // 2), lambda x: iqp(x, qubits))


main()
