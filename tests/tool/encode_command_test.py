#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command weft encode: states compared with sums in Python's complex numbers, every kind of file, refusals.

Usage: encode_command_test.py PATH_OF_WEFT PATH_OF_MAKE_HDF5 [unittest arguments].
"""
import cmath
import json
import math
import os
import pty
import random
import re
import struct
import subprocess
import sys
import unittest

import command_test
from command_test import FAILED, USAGE, Case, header_text, with_header

MAKE_HDF5 = ""
FORMATS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}


def array(rows, descr="<f8", fortran=False):
    """The bytes of a matrix."""
    flat = [row[c] for c in range(len(rows[0])) for row in rows] if fortran else [v for row in rows for v in row]
    return struct.pack("<%d%s" % (len(flat), FORMATS[descr]), *flat)


def matrix(rows, descr="<f8", fortran=False):
    return with_header(header_text(descr, "(%d, %d)" % (len(rows), len(rows[0])), fortran), array(rows, descr, fortran))


def read_states(path, descr, shape):
    with open(path, "rb") as file:
        raw = file.read()
    length, = struct.unpack("<H", raw[8:10])
    fields = eval(raw[10:10 + length].decode("latin1"), {})
    assert fields == {"descr": descr, "fortran_order": False, "shape": shape}, fields
    data = raw[10 + length:]
    flat = struct.unpack("<%d%s" % (2 * shape[0] * shape[1], "f" if descr == "<c8" else "d"), data)
    numbers = [complex(flat[2 * i], flat[2 * i + 1]) for i in range(shape[0] * shape[1])]
    return [numbers[r * shape[1]:(r + 1) * shape[1]] for r in range(shape[0])]


def amplitude(x, n):
    norm = math.hypot(*x)
    return [v / norm for v in x] + [0] * (2**n - len(x))


def angle(x, n):
    return [math.prod(math.sin(v) if i >> k & 1 else math.cos(v) for k, v in enumerate(x)) for i in range(2**n)]


def basis(x, n):
    return [float(i == x[0]) for i in range(2**n)]


def phase(x, n):
    return [2**(-n / 2) * cmath.exp(1j * sum(v for k, v in enumerate(x) if i >> k & 1)) for i in range(2**n)]


def iqp(x, n):
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    angles = x + [0] * (n + len(pairs) - len(x))
    def theta(z):
        return (sum(v for k, v in enumerate(angles[:n]) if z >> k & 1) +
                sum(v for (i, j), v in zip(pairs, angles[n:]) if z >> i & z >> j & 1))
    terms = [cmath.exp(1j * theta(z)) / 2**n for z in range(2**n)]
    return [sum(-t if bin(x & z).count("1") & 1 else t for x, t in enumerate(terms)) for z in range(2**n)]


METHODS = {"amplitude": (amplitude, lambda n: 2**n - 1), "angle": (angle, lambda n: n), "basis": (basis, lambda n: 1),
           "phase": (phase, lambda n: n), "iqp": (iqp, lambda n: n + n * (n - 1) // 2), "iqp-z": (iqp, lambda n: n)}


def rows_for(method, n, samples):
    numbers = random.Random(n)
    if method == "basis":
        return [[numbers.randrange(2**n)] for _ in range(samples)]
    # Numbers that float32 represents exactly.
    return [[numbers.randrange(-1000, 1000) / 256 for _ in range(METHODS[method][1](n))] for _ in range(samples)]


# Method, qubits, values, and amplitudes by index.
PUBLISHED = (
    ("amplitude", 2, [1, 2, 3], {0: 0.267261241912424, 1: 0.534522483824849, 2: 0.801783725737273, 3: 0}),
    ("amplitude", 1, [3e200, 4e200], {0: 0.6, 1: 0.8}),
    ("amplitude", 1, [3e-200, 4e-200], {0: 0.6, 1: 0.8}),
    ("angle", 3, [0.1, 0.2, 0.3], {0: 0.931615796688451, 3: 0.018947989233612, 4: 0.288182536624687, 7: 0.005861299927169}),
    ("angle", 2, [math.pi / 2, 0], {0: 0, 1: 1, 2: 0, 3: 0}),
    ("basis", 3, [3], {0: 0, 3: 1, 7: 0}),
    ("phase", 2, [math.pi / 2, math.pi], {0: 0.5, 1: 0.5j, 2: -0.5, 3: -0.5j}),
    ("phase", 3, [0.1, 0.2, 0.3], {0: 0.353553390593274, 7: 0.291800205028701 + 0.199631260941787j}),
    ("iqp-z", 2, [math.pi / 2, math.pi], {0: 0, 1: 0, 2: 0.5 + 0.5j, 3: 0.5 - 0.5j}),
    ("iqp", 2, [0.1, 0.2, 0.3], {0: 0.950101589507236 + 0.215786305209231j, 3: -0.037433782052397 + 0.066534931488287j}),
    ("iqp", 3, [0.1 * k for k in range(1, 7)], {0: 0.658201175578218 + 0.471998034709839j,
                                                7: 0.051810893666964 + 0.107689954521813j}),
    ("iqp", 11, [7 * k % 13 * 0.1 for k in range(66)], {0: -0.019167699237249 - 0.005133128093861j,
                                                        2047: 0.364613606860402 - 0.049097359818257j}))


class Encode(Case):
    def close(self, got, rows, method, n, slack):
        self.assertEqual(len(got), len(rows))
        for state, row in zip(got, rows):
            want = METHODS[method][0](row, n)
            self.assertLess(max(abs(a - b) for a, b in zip(state, want)), slack)

    def test_methods_and_types(self):
        out = self.path("s.npy")
        for method in METHODS:
            for n, samples in (1, 3), (3, 5), (6, 2):
                rows = rows_for(method, n, samples)
                for descr in ("<f8", "<f4", "<i8") if method == "basis" else ("<f8", "<f4"):
                    x = self.write("x.npy", matrix(rows, descr))
                    self.succeed("encode", method, x, "-o", out, "--qubits", str(n))
                    self.close(read_states(out, "<c8", (samples, 2**n)), rows, method, n, 1e-6)
                    self.succeed("encode", method.upper(), x, "-o", out, "--qubits", str(n), "--dtype", "complex128")
                    self.close(read_states(out, "<c16", (samples, 2**n)), rows, method, n, 1e-12)
        self.assertEqual(self.files(), ["s.npy", "x.npy"])

    def test_files_of_all_kinds_give_the_same(self):
        rows, out = rows_for("amplitude", 6, 200), self.path("s.npy")
        common = ["-o", out, "--qubits", "6", "--dtype", "complex128"]
        self.succeed("encode", "amplitude", self.write("c.npy", matrix(rows)), *common)
        want = read_states(out, "<c16", (200, 64))
        self.close(want, rows, "amplitude", 6, 1e-12)
        self.succeed("encode", "amplitude", self.write("f.npy", matrix(rows, fortran=True)), *common)
        self.assertEqual(read_states(out, "<c16", (200, 64)), want)
        self.succeed("encode", "amplitude", self.write("raw.bin", array(rows)), "--shape", "200,63", "--dtype-in",
                     "float64", *common)
        self.assertEqual(read_states(out, "<c16", (200, 64)), want)
        self.hdf5("x.h5", "/group/x", "float64", rows, "<f8")
        self.succeed("encode", "amplitude", self.path("x.h5") + ":/group/x", *common)
        self.assertEqual(read_states(out, "<c16", (200, 64)), want)
        same = self.path("same.npy")  # a relative name
        self.succeed("encode", "amplitude", self.path("x.h5") + ":group/x", "-o", same, *common[2:])
        self.assertEqual(open(same, "rb").read(), open(out, "rb").read())
        self.hdf5("x32.h5", "/x", "float32", rows, "<f4")
        self.succeed("encode", "amplitude", self.path("x32.h5") + ":/x", *common)
        self.close(read_states(out, "<c16", (200, 64)), rows, "amplitude", 6, 1e-12)
        self.hdf5("i.h5", "/i", "int64", [[3], [0], [7]], "<i8")
        self.succeed("encode", "basis", self.path("i.h5") + ":/i", "-o", out, "--qubits", "3")
        self.close(read_states(out, "<c8", (3, 8)), [[3], [0], [7]], "basis", 3, 0.5e-9)

    def test_published_values_from_every_kind_of_file(self):
        out = self.path("s.npy")
        for method, n, row, known in PUBLISHED:
            rows = [row, row, row]
            self.hdf5("x.h5", "/x", "float64", rows, "<f8")
            for source in ([self.write("x.npy", matrix(rows))], [self.write("f.npy", matrix(rows, fortran=True))],
                           [self.write("x.bin", array(rows)), "--shape", "3,%d" % len(row), "--dtype-in", "float64"],
                           [self.path("x.h5") + ":/x"]):
                for dtype, descr, slack in ("complex128", "<c16", 2e-15), ("complex64", "<c8", 6e-8):
                    self.succeed("encode", method, *source, "-o", out, "--qubits", str(n), "--dtype", dtype)
                    for state in read_states(out, descr, (3, 2**n)):
                        for index, want in known.items():
                            self.assertLess(abs(state[index] - want), slack, (method, row, source, dtype, index))

    def hdf5(self, name, data_set, kind, rows, descr):
        subprocess.run([MAKE_HDF5, self.path(name), data_set, kind, str(len(rows)), str(len(rows[0]))],
                       input=array(rows, descr), check=True)

    def test_more_rows_than_one_chunk(self):
        # A chunk has 128 MiB of states: there are 2 chunks and a remainder, which contains a row that fails.
        n, samples = 16, 600
        raw = struct.pack("<%dd" % n, *[0.01 * k for k in range(n)]) * samples
        x = self.write("x.bin", raw)
        out = self.path("s.npy")
        common = ["-o", out, "--qubits", str(n), "--shape", "%d,%d" % (samples, n), "--dtype-in", "float64"]
        report = json.loads(self.succeed("encode", "angle", x, *common, "--json"))
        self.assertEqual((report["samples"], report["bytes_out"]), (samples, samples * 8 << n))
        with open(out, "rb") as file:
            data = file.read()[-(samples * 8 << n):]
        first = data[:8 << n]
        self.assertTrue(all(data[s * (8 << n):(s + 1) * (8 << n)] == first for s in range(samples)))
        os.remove(out)
        bad = bytearray(raw)
        for row, column, value in (599, 5, math.nan), (3, 15, -math.inf), (300, 0, math.nan):
            struct.pack_into("<d", bad, 8 * (row * n + column), value)
        self.write("x.bin", bad)
        self.refuse(USAGE, r"x\.bin: row 3 value 15 is infinite, row 300 value 0 is not a number, "
                    "row 599 value 5 is not a number$", "encode", "angle", x, *common)
        self.assertEqual(self.files(), ["x.bin"])

    def test_rows_that_cannot_be_encoded(self):
        out = self.path("s.npy")
        for method, n, rows, pattern in (
                ("amplitude", 2, [[1, 2], [0, 0], [0, 0]], "row 1 has zero norm, row 2 has zero norm$"),
                ("angle", 2, [[0, math.nan]] * 25, "row 19 value 1 is not a number, and 5 more rows$"),
                ("angle", 2, [[1, 2], [3, math.inf]], "row 1 value 1 is infinite"),
                ("basis", 3, [[1], [8]], "row 1 value 0 is out of range"),
                ("basis", 3, [[2.5]], "row 0 value 0 is not a whole number"),
                ("basis", 3, [[-1]], "row 0 value 0 is negative")):
            x = self.write("x.npy", matrix(rows))
            self.refuse(USAGE, pattern, "encode", method, x, "-o", out, "--qubits", str(n))
        self.assertEqual(self.files(), ["x.npy"])

    def test_more_states_than_can_be_counted(self):
        x, out = self.path("x.bin"), self.path("s.npy")
        with open(x, "wb") as file:
            file.truncate(4 * ((1 << 28) + 1))  # takes no space on the disk
        common = ["encode", "basis", x, "-o", out, "--shape", f"{(1 << 28) + 1},1", "--dtype-in", "float32"]
        self.refuse(USAGE, r"x\.bin: too many rows \(got 268435457 for 30 qubits, need at most 2\^58 amplitudes\)",
                    *common, "--qubits", "30")
        self.assertEqual(self.files(), ["x.bin"])

    def test_what_it_takes(self):
        x, out = self.write("x.npy", matrix([[1.0, 2.0, 3.0]] * 1000)), self.path("s.npy")
        common = ["encode", "amplitude", x, "--qubits", "30", "--dtype", "complex128"]
        plan = json.loads(self.succeed(*common, "--explain", "--json"))
        self.assertEqual((plan["bytes_in"], plan["bytes_out"], plan["host_bytes"]), (24000, 16000 << 30, 3 * 24))
        self.assertNotIn("disk_bytes", plan)
        self.assertGreater(plan["host_memory_bytes"], 1 << 20)
        # 17 TB are more than any test machine's disk, and no space is allocated.
        self.assertIn("no room on the disk", self.succeed(*common, "-o", out, "--explain"))
        self.refuse(FAILED, r"s\.npy: cannot be written: no room on the disk \(got [0-9]+ bytes, need 17179869184[0-9]+\)",
                    *common, "-o", out)
        for name in out, "s.npy", os.path.join(".", "s.npy"):
            plan = json.loads(self.succeed("encode", "amplitude", x, "--qubits", "2", "-o", name, "--explain", "--json",
                                           cwd=self.folder.name))
            self.assertEqual((plan["fits"], plan["reasons"]), (True, []))
            self.assertLess(plan["disk_bytes"], 1 << 63)
        self.assertEqual(self.files(), ["x.npy"])
        self.refuse(USAGE, "output: no file name", "encode", "amplitude", x, "--qubits", "2")

    def test_what_one_call_takes(self):
        # 52 GB of states pass through the device 256 rows at a time: 128 MiB of states, 32 KiB of values, and staging
        # memory.
        x = self.write("x.bin", b"")
        os.truncate(x, 100000 * 16 * 8)
        common = ["encode", "angle", x, "--shape", "100000,16", "--dtype-in", "float64", "--qubits", "16", "--explain"]
        plan = json.loads(self.succeed(*common, "--json"))
        self.assertEqual((plan["rows_per_call"], plan["bytes_out"]), (256, 100000 * 8 << 16))
        self.assertGreaterEqual(plan["device_bytes"], 32 << 20)
        self.assertLess(plan["device_bytes"], 1 << 30)
        if plan["fits"]:
            self.assertLessEqual(plan["device_bytes"], plan["available_bytes"])
        self.assertRegex(self.succeed(*common), r"(?m)^device memory: [0-9.]+ MB of .*, 256 rows a call$")

    def test_explain_refuses_outputs_as_the_run_does(self):
        x = self.write("x.npy", matrix([[1.0, 2.0]]))
        os.mkdir(self.path("folder"))
        for out, pattern in (("none/o.npy", "No such file or directory"), ("x.npy/o.npy", "Not a directory"),
                             ("folder", "Is a directory"), ("/dev/null", "not a regular file")):
            for more in [], ["--explain"]:
                self.refuse(FAILED, re.escape(out) + ": cannot be written: " + pattern, "encode", "angle", x, "-o",
                            os.path.join(self.folder.name, out), "--qubits", "2", *more)

    def test_names_with_colons(self):
        rows, out = [[0.25, 0.5]], self.path("s.npy")
        os.mkdir(self.path("d:"))
        common = ["-o", out, "--qubits", "2"]
        for name in "d:/a.npy", "a:/b", "a:b.npy", "x.h5:/y":
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.succeed("encode", "angle", self.write(name, matrix(rows)), *common)
            self.close(read_states(out, "<c8", (1, 4)), rows, "angle", 2, 1e-6)
        for name in "d:/x.h5", "d:/x:y.h5":
            self.hdf5(name, "/g/x.npy", "float64", rows, "<f8")
            for data_set in "/g/x.npy", "g/x.npy":
                self.succeed("encode", "angle", self.path(name) + ":" + data_set, *common)
                self.close(read_states(out, "<c8", (1, 4)), rows, "angle", 2, 1e-6)
            self.refuse(USAGE, "name of a data set", "encode", "angle", self.path(name), *common)
        os.remove(out)
        self.refuse(USAGE, "none:/a.npy: cannot be read: No such file", "encode", "angle", self.path("none:/a.npy"),
                    *common)
        self.refuse(USAGE, "d:/none.h5:/x: cannot be read: No such file", "encode", "angle",
                    self.path("d:/none.h5:/x"), *common)

    def test_progress_on_a_terminal_alone(self):
        # One row in parts of 2^23 values; parts of the file that are never written take no space on the disk.
        n = 24
        x = self.write("x.bin", b"")
        with open(x, "r+b") as file:
            file.truncate(4 << n)
            file.write(struct.pack("<f", 1))
        command = ["encode", "amplitude", x, "--shape", "1,%d" % 2**n, "--dtype-in", "float32", "-o",
                   self.path("s.npy"), "--qubits", str(n)]
        self.assertNotIn("[", self.run_weft(*command).stderr)
        ours, theirs = pty.openpty()
        with subprocess.Popen([command_test.WEFT, *command], stdout=subprocess.DEVNULL, stderr=theirs) as done:
            os.close(theirs)
            text = b""
            while True:
                try:
                    some = os.read(ours, 1 << 16)
                except OSError:  # Linux reports the end of a terminal that no process has open in this way
                    break
                if not some:
                    break
                text += some
        os.close(ours)
        self.assertEqual(done.returncode, 0, text)
        if b"[" in text:  # a run of less than half a second shows no bar
            self.assertRegex(text, rb"encode amplitude \[[#.]{30}\] +[0-9]+% .*samples/s, [0-9]+ s left")
            self.assertTrue(text.endswith(b"\r\x1b[K"), text)

    def test_damaged_hdf5(self):
        self.hdf5("x.h5", "/g/x", "float64", rows_for("angle", 3, 400), "<f8")
        with open(self.path("x.h5"), "rb") as file:
            whole = file.read()
        numbers, out = random.Random(1), self.path("s.npy")
        damaged = [whole[:length] for length in (0, 7, 100, len(whole) // 2, len(whole) - 1)]
        # A byte of the header with the size of a chunk is changed; the HDF5 library itself would read beyond the chunk.
        for _ in range(25):
            some = bytearray(whole)
            for _ in range(3):
                some[numbers.randrange(2048)] = numbers.randrange(256)
            damaged.append(bytes(some))
        for data in damaged:
            done = self.run_weft("encode", "angle", self.write("d.h5", data) + ":/g/x", "-o", out, "--qubits", "3")
            self.assertIn(done.returncode, (0, USAGE, FAILED), done.stderr)
            self.assertNotIn("HDF5-DIAG", done.stderr)
        at = whole.index(struct.pack("<III", 200, 3, 8))
        self.refuse(USAGE, "fewer values than its shape says", "encode", "angle",
                    self.write("d.h5", whole[:at + 4] + struct.pack("<I", 17) + whole[at + 8:]) + ":/g/x", "-o", out,
                    "--qubits", "3")

    def test_usage(self):
        x, out = self.write("x.npy", matrix([[1.0, 2.0, 3.0]])), self.path("s.npy")
        good = ["encode", "angle", x, "-o", out, "--qubits", "3"]
        self.succeed(*good)
        os.remove(out)
        for pattern, arguments in (
                ("no such method", ["encode", "angel", x, "-o", out, "--qubits", "3"]),
                ("need 2 for 2 qubits", ["encode", "angle", x, "-o", out, "--qubits", "2"]),
                ("need 1 to 2 for 1 qubits", ["encode", "amplitude", x, "-o", out, "--qubits", "1"]),
                ("qubits", ["encode", "angle", x, "-o", out, "--qubits", "31"]),
                ("qubits", ["encode", "angle", x, "-o", out, "--qubits", "0"]),
                ("qubits", ["encode", "angle", x, "-o", out]),
                ("dtype", good + ["--dtype", "float64"]),
                ("needs --dtype-in", good + ["--shape", "1,3"]),
                ("together with --shape", good + ["--dtype-in", "float64"]),
                ("not a shape", good + ["--shape", "1x3", "--dtype-in", "float64"]),
                ("size does not fit the shape", good + ["--shape", "1,3", "--dtype-in", "float64"]),
                ("not an HDF5 file", ["encode", "angle", x + ":/x", "-o", out, "--qubits", "3"]),
                ("No such file", ["encode", "angle", self.path("none.h5") + ":/x", "-o", out, "--qubits", "3"]),
                ("not a regular file", ["encode", "angle", self.folder.name + ":/x", "-o", out, "--qubits", "3"]),
                ("cannot be read", ["encode", "angle", self.path("none"), "-o", out, "--qubits", "3"])):
            self.refuse(USAGE, pattern, *arguments)
        self.hdf5("x.h5", "/x", "uint64", [[1]], "<i8")
        self.refuse(USAGE, "wrong type .got uint64", "encode", "basis", self.path("x.h5") + ":/x", "-o", out, "--qubits",
                    "3")
        self.hdf5("i.h5", "/g/i", "int32", [[1, 2, 3]], "<i4")
        self.refuse(USAGE, "wrong type .got int32, need float64 or float32.; to convert it", "encode", "angle",
                    self.path("i.h5") + ":/g/i", "-o", out, "--qubits", "3")
        i = self.write("i.npy", matrix([[1, 2, 3]], "<i8"))
        self.refuse(USAGE, "wrong type .got '<i8', need float64 or float32.; to convert it", "encode", "phase", i, "-o", out, "--qubits", "3")
        self.refuse(USAGE, "not a data set", "encode", "angle", self.path("i.h5") + ":/g", "-o", out, "--qubits", "3")
        for path in "/g/none", "/none/i":
            self.refuse(USAGE, "no such data set", "encode", "angle", self.path("i.h5") + ":" + path, "-o", out,
                        "--qubits", "3")
        with open(self.path("i.h5"), "rb") as file:
            cut = self.write("cut.h5", file.read()[:900])
        self.refuse(USAGE, "cannot be read, HDF5 says: .*truncated", "encode", "angle", cut + ":/g/i", "-o", out, "--qubits", "3")
        self.refuse(USAGE, "name of a data set", "encode", "basis", self.path("x.h5"), "-o", out, "--qubits", "3")
        self.refuse(USAGE, "no such data set", "encode", "basis", self.path("x.h5") + ":/y", "-o", out, "--qubits", "3")
        os.mkfifo(self.path("pipe"))
        for name in "pipe", "pipe:/x":
            self.refuse(USAGE, "not a regular file", "encode", "basis", self.path(name), "-o", out, "--qubits", "3")
        self.refuse(USAGE, "--output: no name", "encode", "angle", x, "-o", "", "--qubits", "3")
        for name, data, pattern in (
                ("flat.npy", with_header(header_text("<f8", "(3,)"), struct.pack("<3d", 1, 2, 3)), "wrong shape"),
                ("half.npy", with_header(header_text("<f2", "(1, 3)"), bytes(6)), "wrong type"),
                ("none.npy", with_header(header_text("<f8", "(0, 3)"), b""), "no values")):
            self.refuse(USAGE, pattern, "encode", "angle", self.write(name, data), "-o", out, "--qubits", "3")
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    command_test.WEFT, MAKE_HDF5 = sys.argv[1], sys.argv[2]
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
