#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft field, ntt, encode, kernel and lattice with --backend cuda write the files of --backend vulkan, bit by bit or within the
bounds of floating results, and report the same errors. If weft::cuda or NVIDIA's driver is missing, each command names it.

Usage: backends_test.py PATH_OF_WEFT [unittest arguments].
"""
import cmath
import json
import os
import random
import struct
import sys
import unittest

import command_test
from command_test import NO_DEVICE, USAGE, Case, driver_of_cuda, floats, header_text, npy, with_header

FORMATS = {"<f4": ("f", 4e-6), "<f8": ("d", 1e-12), "<c8": ("f", 4e-6), "<c16": ("d", 1e-12)}


def contents(path):
    """Header and data of a file that weft wrote."""
    with open(path, "rb") as file:
        raw = file.read()
    length, = struct.unpack("<H", raw[8:10])
    return raw[:10 + length], raw[10 + length:]


class Backends(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.x = self.write("x.npy", floats([[rng.uniform(-3, 3) for _ in range(8)] for _ in range(70)]))
        self.a, self.b = (self.write(name, npy([rng.randrange(command_test.P) for _ in range(5000)]))
                          for name in ("a.npy", "b.npy"))
        states = [[cmath.rect(0.25, rng.uniform(0, 6)) for _ in range(16)] for _ in range(33)]
        self.states = self.write("states.npy", with_header(
            header_text("<c8", "(33, 16)"), b"".join(struct.pack("<2f", z.real, z.imag) for s in states for z in s)))
        self.built = "or cuda" in self.succeed("field", "neg", "--help")

    def close(self, one, other):
        """Checks for equal bits, or for floating results that differ by less than their bounds."""
        (header, data), (header_other, data_other) = contents(one), contents(other)
        self.assertEqual(header, header_other)
        descr = eval(header[10:].decode("latin1"), {})["descr"]
        if descr not in FORMATS:
            return self.assertEqual(data, data_other)
        code, bound = FORMATS[descr]
        pairs = zip(*(struct.unpack("<%d%s" % (len(d) // struct.calcsize(code), code), d) for d in (data, data_other)))
        self.assertLessEqual(max(abs(p - q) for p, q in pairs), bound)

    def both(self, *arguments):
        """Runs `arguments` on each back end; `-o` is added."""
        name = "-".join(arguments[:2]).replace("/", "").replace(".", "")[-40:]
        by_vulkan, by_cuda = self.path(name + "-vulkan.npy"), self.path(name + "-cuda.npy")
        self.succeed(*arguments, "-o", by_vulkan)
        if not self.built:
            self.refuse(USAGE, "cuda.*need vulkan", *arguments, "-o", by_cuda, "--backend", "cuda")
        elif not driver_of_cuda():
            self.refuse(NO_DEVICE, r"no NVIDIA driver \(libcuda.so.1 cannot be opened\)", *arguments, "-o", by_cuda,
                        "--backend", "cuda")
        else:
            self.succeed(*arguments, "-o", by_cuda, "--backend", "cuda")
            return self.close(by_vulkan, by_cuda)
        self.assertFalse(os.path.exists(by_cuda))

    def test_field(self):
        for operation in ("add", "mul", "inner-product"):
            self.both("field", operation, self.a, self.b)
        for operation in ("neg", "inverse", "sum", "to-montgomery"):
            self.both("field", operation, self.a)

    def test_ntt(self):
        g = self.write("g.npy", with_header(header_text("<u8", "(3, 64)"), struct.pack("<192Q", *range(192))))
        for options in [], ["--inverse", "--coset", "7", "--order", "nr"], ["--lde", "4", "--coset", "5"], ["--order", "rn"]:
            self.both("ntt", g, *options)

    def test_encode(self):
        self.both("encode", "amplitude", self.x, "--qubits", "4")
        self.both("encode", "amplitude", self.x, "--qubits", "3", "--dtype", "complex128")
        for method in ("angle", "phase", "iqp-z"):
            self.both("encode", method, self.x, "--qubits", "8")
        whole = self.write("whole.npy", floats([[float(i * 7 % 256)] for i in range(300)]))
        self.both("encode", "basis", whole, "--qubits", "8")
        rng = random.Random(3)
        pairs = self.write("pairs.npy", floats([[rng.uniform(-3, 3) for _ in range(45)] for _ in range(5)]))
        self.both("encode", "iqp", pairs, "--qubits", "9")

    def test_kernel(self):
        self.both("kernel", self.x)
        self.both("kernel", self.x, "--map", "angle", "--normalize", "--dtype", "float64")
        self.both("kernel", self.states, "--states")

    def test_kernel_operators(self):
        rng = random.Random(5)
        v, of_states = (self.write(name, floats([[rng.uniform(-1, 1) for _ in range(3)] for _ in range(rows)]))
                        for name, rows in (("v.npy", 70), ("w.npy", 33)))
        weights = self.write("weights.npy", floats([[0.1 * q for q in range(8)]] * 2))
        self.both("kernel", "apply", self.x, v, "--lambda", "0.5")
        self.both("kernel", "apply", self.x, v, "--weights", weights, "--reupload")
        self.both("kernel", "apply", self.states, of_states, "--states")
        self.both("kernel", "solve", self.x, v, "--lambda", "1", "--dtype", "float64")
        self.both("kernel", "predict", self.x, self.x, v)
        if not driver_of_cuda() or not self.built:
            return self.both("kernel", "eigen", self.x, "-k", "3")
        by_vulkan, by_cuda = (json.loads(self.succeed("kernel", "eigen", self.x, "-k", "3", "--json", "-o",
                                                      self.path("vectors.npy"), "--backend", backend))["values"]
                              for backend in ("vulkan", "cuda"))
        for one, other in zip(by_vulkan, by_cuda):
            self.assertAlmostEqual(one, other, delta=1e-3)
        for several in ([], ["--device", "0,0"]):
            plan = json.loads(self.succeed("kernel", "apply", self.x, v, "--explain", "--json", "--backend", "cuda", *several))
            self.assertTrue(plan["fits"])
            self.succeed("kernel", "solve", self.x, v, "-o", self.path("alpha.npy"), "--backend", "cuda", *several)

    def test_lattice(self):
        for lattice in ("Z2", "D4", "E8"):
            codes = self.path("codes-%s.npy" % lattice)
            self.both("lattice", "encode", self.x, "--lattice", lattice, "--packed")
            self.both("lattice", "quantize", self.x, "--lattice", lattice)
            self.succeed("lattice", "encode", self.x, "-o", codes, "--lattice", lattice)
            self.both("lattice", "decode", codes, "--lattice", lattice)
            beta = ["lattice", "beta", self.x, "--lattice", lattice, "--q", "4", "--json"]
            by_vulkan = self.succeed(*beta)
            if not self.built:
                self.refuse(USAGE, "cuda.*need vulkan", *beta, "--backend", "cuda")
            elif not driver_of_cuda():
                self.refuse(NO_DEVICE, r"no NVIDIA driver \(libcuda.so.1 cannot be opened\)", *beta, "--backend", "cuda")
            else:
                self.assertEqual(self.succeed(*beta, "--backend", "cuda"), by_vulkan)

    def test_explain(self):
        """The plan is that of Vulkan. CUDA has none, with and without a device, and no file is read."""
        text = "--explain: the plan is that of vulkan .got --backend cuda" if self.built else "not available in this build"
        for arguments in (["encode", "angle", self.x, "--qubits", "8"], ["kernel", self.x],
                          ["encode", "angle", self.path("none.npy"), "--qubits", "8"],
                          ["kernel", self.path("none.npy")]):
            with self.subTest(arguments):
                self.refuse(USAGE, text, *arguments, "--explain", "--backend", "cuda")
                if self.x in arguments:
                    self.succeed(*arguments, "--explain", "--backend", "vulkan")

    def test_settings(self):
        """Chunks, slots and threads apply; what cannot apply is refused by name before the search for a device."""
        if not self.built:
            return
        run = ["field", "neg", self.a, "-o", self.path("out.npy"), "--backend", "cuda"]
        for name, value in (("WEFT_TRACE", self.path("trace.json")), ("WEFT_PATH", "host"), ("GPU_DEVICE_LOCAL", "1"),
                            ("WEFT_QUEUES", "single"), ("WEFT_HOST_ALLOC", "vulkan"), ("WEFT_VALIDATION", "1"),
                            ("WEFT_DISPATCH_MS", "100")):
            with self.subTest(name):
                self.refuse(USAGE, "--backend cuda: %s does not apply" % name, *run, env={name: value})
                self.assertFalse(os.path.exists(self.path("out.npy")))
        self.refuse(USAGE, "WEFT_SLOTS must be a whole number", *run, env={"WEFT_SLOTS": "17"})
        if not driver_of_cuda():
            return
        whole, cut = self.path("whole.npy"), self.path("cut.npy")
        self.succeed("field", "inverse", self.a, "-o", whole, "--backend", "cuda")
        self.succeed("field", "inverse", self.a, "-o", cut, "--backend", "cuda",
                     env={"GPU_STREAM_CHUNK_ELEMS": "77", "WEFT_SLOTS": "2", "WEFT_COPY_THREADS": "3"})
        self.close(whole, cut)
        shared = self.path("shared.npy")
        report = json.loads(self.succeed("field", "inverse", self.a, "-o", shared, "--backend", "cuda", "--device", "0,0",
                                         "--json", env={"GPU_STREAM_CHUNK_ELEMS": "77"}))
        self.close(whole, shared)
        self.assertEqual([row["items"] > 0 for row in report["devices"]], [True, True])

    def test_same_errors(self):
        """Errors of arguments and files, which are checked before the search for a device."""
        wide = self.write("wide.npy", floats([[1.0] * 17] * 2))
        for arguments in (["field", "add", self.a, self.x], ["field", "neg", self.path("none.npy")],
                          ["encode", "amplitude", wide, "--qubits", "4"], ["encode", "angle", self.x, "--qubits", "31"],
                          ["kernel", self.a], ["lattice", "encode", self.x, "--q", "1"],
                          ["lattice", "decode", self.x]):
            with self.subTest(arguments):
                texts = []
                for backend in ("vulkan", "cuda") if self.built else ("vulkan",):
                    done = self.run_weft(*arguments, "-o", self.path("out.npy"), "--backend", backend)
                    self.assertEqual(done.returncode, USAGE, done.stderr)
                    texts.append([line for line in done.stderr.splitlines() if line.startswith("weft: ")])
                self.assertEqual(len(texts[0]), 1)
                self.assertEqual(texts[0], texts[-1])

    def test_same_errors_of_data(self):
        if not (self.built and driver_of_cuda()):
            return  # found by the device
        bad = self.write("bad.npy", floats([[1.0] * 8, [float("nan")] + [1.0] * 7, [0.0] * 8]))
        for arguments in (["encode", "amplitude", bad, "--qubits", "3"], ["encode", "angle", bad, "--qubits", "8"],
                          ["lattice", "encode", bad], ["kernel", bad]):
            with self.subTest(arguments):
                results = []
                for backend in ("vulkan", "cuda"):
                    done = self.run_weft(*arguments, "-o", self.path("out.npy"), "--backend", backend)
                    results.append((done.returncode, [l for l in done.stderr.splitlines() if l.startswith("weft: ")]))
                self.assertEqual(results[0], results[1])


if __name__ == "__main__":
    command_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
