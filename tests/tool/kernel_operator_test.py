#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft kernel apply, solve, predict and eigen, compared with the closed form in Python's floats.

Usage: kernel_operator_test.py PATH_OF_WEFT [unittest arguments].
"""
import cmath
import fcntl
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time
import unittest

import command_test
from command_test import USAGE, Case, header_text, with_header
from kernel_command_test import FORMATS, matrix


def bloch(t, name):
    return (math.sin(t), 0, math.cos(t)) if name == "ry" else (
        math.sin(t) * math.cos(t), math.sin(t) * math.sin(t), math.cos(t))


def kernel(x, y, name="ryrz", scale=1.0):
    """The fidelity of a qubit is (1 + a . b) / 2 for its Bloch vectors; K is the product over the qubits."""
    def value(a, b):
        return math.prod((1 + sum(p * q for p, q in zip(bloch(scale * s, name), bloch(scale * t, name)))) / 2
                         for s, t in zip(a, b))
    return [[value(a, b) for b in y] for a in x]


def times(k, v):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*v)] for row in k]


def vector(values, descr="<f8"):
    return with_header(header_text(descr, "(%d,)" % len(values)), struct.pack("<%d%s" % (len(values), FORMATS[descr]), *values))


class KernelOperator(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(21)
        rows = lambda n, m: [[rng.uniform(-2, 2) for _ in range(m)] for _ in range(n)]
        self.x_rows, self.y_rows, self.v_rows, self.w_rows = rows(23, 3), rows(7, 3), rows(23, 2), rows(7, 3)
        self.x, self.y, self.v, self.w = (self.write(name + ".npy", matrix(values)) for name, values in (
            ("x", self.x_rows), ("y", self.y_rows), ("v", self.v_rows), ("w", self.w_rows)))
        self.out = self.path("out.npy")
        self.inputs = self.files()

    def read(self, descr="<f8"):
        with open(self.out, "rb") as file:
            raw = file.read()
        length, = struct.unpack("<H", raw[8:10])
        header = eval(raw[10:10 + length].decode("latin1"), {})
        self.assertEqual((header["descr"], header["fortran_order"]), (descr, False))
        shape = header["shape"]
        flat = struct.unpack("<%d%s" % (math.prod(shape), FORMATS[descr]), raw[10 + length:])
        os.remove(self.out)
        columns = shape[1] if len(shape) == 2 else 1
        return shape, [flat[i:i + columns] for i in range(0, len(flat), columns)]

    def near(self, got, want, slack):
        self.assertEqual((len(got), len(got[0])), (len(want), len(want[0])))
        self.assertLess(max(abs(a - b) for g, w in zip(got, want) for a, b in zip(g, w)), slack)

    def test_apply(self):
        for options, circuit in (([], {}), (["--map", "RY", "--scale", "0.7"], {"name": "ry", "scale": 0.7})):
            square, across = kernel(self.x_rows, self.x_rows, **circuit), kernel(self.x_rows, self.y_rows, **circuit)
            self.succeed("kernel", "apply", self.x, self.v, "-o", self.out, *options)
            self.near(self.read()[1], times(square, self.v_rows), 1e-12)
            self.succeed("kernel", "apply", self.x, self.v, "-o", self.out, "--dtype", "float32", *options)
            self.near(self.read("<f4")[1], times(square, self.v_rows), 1e-4)
            self.succeed("kernel", "apply", self.x, self.w, "--y", self.y, "-o", self.out, *options)
            self.near(self.read()[1], times(across, self.w_rows), 1e-12)
            self.succeed("kernel", "apply", self.x, self.v, "--y", self.y, "--transpose", "-o", self.out, *options)
            self.near(self.read()[1], times(list(zip(*across)), self.v_rows), 1e-12)
        damped = [[a / 1.5 for a in row] for row in kernel(self.x_rows, self.x_rows)]
        for i in range(23):
            damped[i][i] = 1.25
        self.succeed("kernel", "apply", self.x, self.v, "-o", self.out, "--normalize", "--jitter", "0.5", "--lambda", "0.25")
        self.near(self.read()[1], times(damped, self.v_rows), 1e-12)
        one = self.write("one.npy", vector([row[0] for row in self.v_rows], "<f4"))
        report = json.loads(self.succeed("kernel", "apply", self.x, one, "-o", self.out, "--json"))
        self.assertEqual((report["samples"], report["vectors"], report["arithmetic"]), (23, 1, "float32"))
        self.assertGreater(report["pairs_per_s"], 0)
        self.assertEqual(self.read("<f4")[0], (23,))
        self.assertEqual(self.files(), sorted([*self.inputs, "one.npy"]))

    def test_solve_and_predict(self):
        report = json.loads(self.succeed("kernel", "solve", self.x, self.v, "--lambda", "0.1", "--tolerance", "1e-10", "-o",
                                         self.out, "--json"))
        self.assertTrue(report["converged"])
        self.assertLess(max(report["residuals"]), 1e-10)
        self.assertGreater(report["iterations"], 0)
        _, alpha = self.read()
        back = times(kernel(self.x_rows, self.x_rows), alpha)
        self.near([[b + 0.1 * a for a, b in zip(*rows)] for rows in zip(alpha, back)], self.v_rows, 1e-8)
        coefficients = self.write("alpha.npy", matrix(alpha))
        self.succeed("kernel", "predict", self.y, self.x, coefficients, "-o", self.out)
        self.near(self.read()[1], times(kernel(self.y_rows, self.x_rows), alpha), 1e-10)
        text = self.succeed("kernel", "solve", self.x, self.v, "-o", self.out, "--rank", "5", "--dtype", "float32")
        self.assertRegex(text, "kernel solve: 23 rows, 3 qubits, 2 columns, residual .* iterations, rank 5")
        self.assertEqual(self.read("<f4")[0], (23, 2))

    def states(self, rows):
        """Product states of the rows, which need no simulation: their K is the closed form."""
        def state(row):
            amplitudes = [1]
            for t in row:  # qubit k is bit k
                zero, one = (math.cos(t / 2) * cmath.exp(-0.5j * t), math.sin(t / 2) * cmath.exp(0.5j * t))
                amplitudes = [a * zero for a in amplitudes] + [a * one for a in amplitudes]
            return amplitudes
        flat = [part for row in rows for a in state(row) for part in (a.real, a.imag)]
        return with_header(header_text("<c16", "(%d, %d)" % (len(rows), 2 ** len(rows[0]))), struct.pack("<%dd" % len(flat), *flat))

    def test_states(self):
        x, y = self.write("sx.npy", self.states(self.x_rows)), self.write("sy.npy", self.states(self.y_rows))
        square, across = kernel(self.x_rows, self.x_rows), kernel(self.x_rows, self.y_rows)
        text = self.succeed("kernel", "apply", x, self.v, "-o", self.out, "--states")
        self.assertIn("by states", text)
        self.near(self.read()[1], times(square, self.v_rows), 1e-11)
        self.succeed("kernel", "apply", x, self.v, "--y", y, "--transpose", "-o", self.out, "--states")
        self.near(self.read()[1], times(list(zip(*across)), self.v_rows), 1e-11)
        self.succeed("kernel", "solve", x, self.v, "--lambda", "0.1", "--tolerance", "1e-10", "-o", self.out, "--states")
        _, alpha = self.read()
        self.near([[b + 0.1 * a for a, b in zip(*rows)] for rows in zip(alpha, times(square, alpha))], self.v_rows, 1e-8)
        coefficients = self.write("alpha.npy", matrix(alpha))
        self.succeed("kernel", "predict", y, x, coefficients, "-o", self.out, "--states")
        self.near(self.read()[1], times(kernel(self.y_rows, self.x_rows), alpha), 1e-9)
        self.succeed("kernel", "eigen", x, "-k", "2", "-o", self.out, "--states")
        self.read("<f4")
        self.assertIn("method: states", self.succeed("kernel", "apply", x, self.v, "--explain", "--states"))
        self.refuse(USAGE, "--states: given states have no circuit", "kernel", "apply", x, self.v, "-o", self.out, "--states",
                    "--map", "ry")

    def test_layers(self):
        """K of a circuit with re-upload is that of weft kernel, which kernel_command_test compares with a simulation."""
        weights = self.write("weights.npy", matrix([[0.3, -1.1, 2.0], [1.7, 0.4, -0.6]]))
        circuit = ["--weights", weights, "--reupload", "--scale", "0.7"]
        self.succeed("kernel", self.x, "-o", self.out, "--dtype", "float64", *circuit)
        square = self.read()[1]
        text = self.succeed("kernel", "apply", self.x, self.v, "-o", self.out, *circuit)
        self.assertIn("by states", text)
        self.near(self.read()[1], times(square, self.v_rows), 1e-11)
        self.succeed("kernel", "solve", self.x, self.v, "--lambda", "0.1", "--tolerance", "1e-9", "-o", self.out, *circuit)
        alpha = self.read()[1]
        self.near([[b + 0.1 * a for a, b in zip(*rows)] for rows in zip(alpha, times(square, alpha))], self.v_rows, 1e-7)
        self.refuse(USAGE, "--reupload: needs the layers' --weights", "kernel", "apply", self.x, self.v, "-o", self.out,
                    "--reupload")
        wrong = self.write("wrong.npy", matrix([[0.3, -1.1]]))
        self.refuse(USAGE, "wrong.npy: wrong number of columns .got 2, need the 3 of", "kernel", "apply", self.x, self.v, "-o",
                    self.out, "--reupload", "--weights", wrong)

    def test_resume_after_kills(self):
        rng = random.Random(5)
        x = self.write("long.npy", matrix([[rng.uniform(-2, 2) for _ in range(6)] for _ in range(900)]))
        y = self.write("right.npy", matrix([[rng.uniform(-1, 1)] for _ in range(900)]))
        solve = ["kernel", "solve", x, y, "-o", self.out, "--lambda", "1e-4", "--tolerance", "1e-9", "--rank", "5",
                 "--max-iterations", "60"]
        self.run_weft(*solve)
        want = self.content("out.npy")
        os.remove(self.out)
        before = self.files()
        file = self.path("solve.ckpt")
        resume = [*solve, "--checkpoint", file, "--every", "4", "--resume"]
        version = lambda: os.stat(file).st_ino if os.path.exists(file) else None
        killed = 0
        for _ in range(5):
            seen = version()
            process = subprocess.Popen([command_test.WEFT, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and version() == seen:
                time.sleep(0.001)
            time.sleep(0.01 * rng.random())
            process.send_signal(signal.SIGKILL)
            process.wait()
            if os.path.exists(self.out):  # the kill came late; the result is whole
                self.assertEqual(self.content("out.npy"), want)
                os.remove(self.out)
            else:
                killed += os.path.exists(file)
        self.assertGreater(killed, 0)
        report = json.loads(self.run_weft(*resume, "--json").stdout)
        self.assertEqual(self.content("out.npy"), want)
        self.assertEqual(report["converged"], not os.path.exists(file))
        if os.path.exists(file):  # it has not converged, and may go on
            other = resume.copy()
            other[other.index("1e-4")] = "1e-3"
            self.refuse(USAGE, "solve.ckpt: the checkpoint is of another lambda", *other)
            with open(file, "r+b") as damaged:
                damaged.seek(200)
                damaged.write(b"?!")
            self.refuse(USAGE, "solve.ckpt: the checkpoint is damaged", *resume)
            os.remove(file)
        self.assertEqual(self.files(), sorted([*before, "out.npy"]))
        with open(file, "w") as notes:
            notes.write("my notes")
        self.refuse(USAGE, "solve.ckpt: it is no checkpoint of a solve", *resume)
        with open(file) as notes:
            fcntl.flock(notes, fcntl.LOCK_EX)  # as another solve does
            self.refuse(4, "solve.ckpt: another solve, of this process or another, has this checkpoint", *resume)
        self.refuse(USAGE, "--resume: needs the file", *solve, "--resume")

    def test_a_solve_that_does_not_converge_says_so(self):
        done = self.run_weft("kernel", "solve", self.x, self.v, "-o", self.out, "--lambda", "1e-9", "--rank", "0",
                             "--max-iterations", "2", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "weft: not converged: the residual is .* .need 1.0e-04; a larger --rank")
        self.assertFalse(json.loads(done.stdout)["converged"])
        self.assertEqual(self.read()[0], (23, 2))

    def test_eigen(self):
        report = json.loads(self.succeed("kernel", "eigen", self.x, "-k", "3", "--dtype", "float64", "--tolerance", "1e-9",
                                         "-o", self.out, "--json"))
        shape, vectors = self.read()
        self.assertEqual((shape, report["converged"]), ((23, 3), True))
        values = report["values"]
        self.assertEqual(values, sorted(values, reverse=True))
        k = kernel(self.x_rows, self.x_rows)
        self.near(times(k, vectors), [[a * value for a, value in zip(row, values)] for row in vectors], 1e-7)
        self.near(times(list(zip(*vectors)), vectors), [[float(i == j) for j in range(3)] for i in range(3)], 1e-9)
        # The largest by the power method, so that it is not some other eigenvalue.
        power = [[1.0] for _ in k]
        for _ in range(200):
            power = times(k, power)
            norm = math.sqrt(sum(a[0] ** 2 for a in power))
            power = [[a[0] / norm] for a in power]
        self.assertAlmostEqual(values[0], norm, places=6)
        self.assertRegex(self.succeed("kernel", "eigen", self.x, "-k", "2", "-o", self.out), "2 values, .*\n  .*, residual")

    def test_explain(self):
        for arguments in (["apply", self.x, self.v], ["solve", self.x, self.v], ["eigen", self.x, "-k", "2"],
                          ["predict", self.y, self.x, self.v]):
            plan = json.loads(self.succeed("kernel", *arguments, "--explain", "--json"))
            self.assertEqual((plan["qubits"], plan["vectors"], plan["fits"]), (3, 2, True))
            self.assertGreater(len(plan["reasons"]), 0)
            self.assertRegex(self.succeed("kernel", *arguments, "--explain"), "never stored; a product with 2 columns")
        self.assertEqual(self.files(), self.inputs)

    def test_help_of_normalize_is_true_of_any_norm(self):
        for command in (["kernel"], *(["kernel", name] for name in ("apply", "solve", "eigen"))):
            text = " ".join(self.succeed(*command, "--help").split())
            self.assertIn("--normalize Divide by the roots of the diagonal", text)
            self.assertIn("Added to the diagonal that --normalize divides by", text)

    def test_several_devices(self):
        self.succeed("kernel", "apply", self.x, self.v, "-o", self.out)
        _, alone = self.read()
        report = json.loads(self.succeed("kernel", "apply", self.x, self.v, "-o", self.out, "--device", "cpu,cpu", "--json"))
        self.near(self.read()[1], alone, 1e-12)
        self.assertEqual(len(report["devices"]), 2)
        plan = json.loads(self.succeed("kernel", "apply", self.x, self.v, "--explain", "--json", "--device", "cpu,cpu"))
        self.assertTrue(plan["device"].startswith("2 x "))
        self.assertIn("not symmetric over 2 devices: a software device", plan["reasons"])

    def test_refusals(self):
        bad = self.write("bad.npy", matrix([*self.x_rows[:4], [0, math.inf, 0], *self.x_rows[5:]]))
        single = self.write("single.npy", matrix(self.x_rows, "<f4"))
        odd = self.write("odd.npy", matrix([*self.v_rows[:9], [0, math.nan], *self.v_rows[10:]]))
        large = self.write("large.npy", matrix([*self.v_rows[:9], [1e300, 0], *self.v_rows[10:]]))
        wide = self.write("wide.npy", matrix([[0.0] * 65 for _ in range(23)]))
        inputs, o = self.files(), ["-o", self.out]
        for pattern, arguments in (
                ("-o: needs the file", ["apply", self.x, self.v]),
                ("--checkpoint: no name", ["solve", self.x, self.v, "--checkpoint", "", *o]),
                ("--y: no name", ["apply", self.x, self.v, "--y", "", *o]),
                ("--weights: no name", ["apply", self.x, self.v, "--weights", "", *o]),
                ("-o.*: no name", ["apply", self.x, self.v, "-o", ""]),
                ("X: no name", ["apply", "", self.v, *o]),
                ("V is required", ["apply", self.x, *o]),
                (r"w.npy: wrong shape .got .7, 3., need .23,. or .23, columns", ["apply", self.x, self.w, *o]),
                ("columns out of range .got 65, need 1 to 64", ["apply", self.x, wide, *o]),
                (r"bad.npy: .*4", ["apply", bad, self.v, *o]),
                (r"bad.npy: .*4", ["solve", bad, self.v, *o]),
                (r"bad.npy: row 4", ["predict", bad, self.x, self.v, *o]),
                (r"bad.npy: row 4", ["predict", self.y, bad, self.v, *o]),
                ("single.npy: wrong type .got '<f4', need float64", ["predict", self.y, single, self.v, *o]),
                ("--lambda: of the diagonal", ["apply", self.x, self.w, "--y", self.y, "--lambda", "1", *o]),
                ("--jitter: goes with --normalize", ["apply", self.x, self.v, "--jitter", "1", *o]),
                ("--lambda: .*got 0, need above 0", ["solve", self.x, self.v, "--lambda", "0", *o]),
                ("--tolerance", ["solve", self.x, self.v, "--tolerance", "1", *o]),
                ("got 49, need 1 to 48", ["eigen", self.x, "-k", "49", *o]),
                ("-k: more values than rows .got 24, need at most 23", ["eigen", self.x, "-k", "24", *o]),
                ("no such map .got iqp", ["apply", self.x, self.v, "--map", "iqp", *o]),
                ("--mpi: not with --backend cuda|not available in this build",
                 ["apply", self.x, self.v, "--mpi", "--backend", "cuda", *o]),
                ("output and V are the same file", ["apply", self.x, self.v, "-o", self.v]),
                ("output and y are the same file", ["solve", self.x, self.v, "-o", self.v]),
                ("output and X_NEW are the same file", ["predict", self.y, self.x, self.v, "-o", self.y]),
                ("output and ALPHA are the same file", ["predict", self.y, self.x, self.v, "-o", self.v]),
                ("odd.npy: row 9 column 1 is not a finite number of type float64 .got nan", ["apply", self.x, odd, *o]),
                ("odd.npy: row 9 column 1", ["solve", self.x, odd, *o]),
                ("odd.npy: row 9 column 1", ["predict", self.y, self.x, odd, *o]),
                ("large.npy: row 9 column 0 .*of type float32 .got inf, .*--dtype float64",
                 ["apply", self.x, large, "--dtype", "float32", *o]),
                ("--every: needs the file that --checkpoint names", ["solve", self.x, self.v, "--every", "5", *o]),
                ("--lambda: given more than once .got 2 values, need one",
                 ["solve", self.x, self.v, "--lambda", "1", "--lambda", "2", *o]),
                ("come after its name .got --map", ["--map", "ry", "apply", self.x, self.v, *o]),
                ("not expected: .*x.npy", ["apply", self.x, self.v, self.x, *o]),
                ("X is required", []),
                ("X is required", o)):
            self.refuse(USAGE, pattern, "kernel", *arguments)
        self.assertEqual(self.files(), inputs)

    def test_a_file_that_is_named_like_a_subcommand(self):
        self.write("apply", matrix(self.x_rows))
        done = self.run_weft("kernel", "./apply", "-o", self.out, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.near(self.read("<f4")[1], kernel(self.x_rows, self.x_rows), 1e-5)


if __name__ == "__main__":
    command_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
