#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command reads every kind of file, to the same output; what is refused ends with the line to type.

Usage: inputs_test.py PATH_OF_WEFT PATH_OF_MAKE_HDF5 [unittest arguments]. Needs the standard library only.
"""
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import unittest
import zipfile

import command_test
from command_test import USAGE, Case, header_text, with_header

MAKE_HDF5 = ""
FORMATS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "<u4": "I", "<u8": "Q", "|u1": "B", "<c16": "d", "<f2": "e"}
NAMES = {"<f4": "float32", "<f8": "float64", "<i4": "int32", "<i8": "int64", "<u4": "uint32", "<u8": "uint64",
         "|u1": "uint8", "<c16": "complex128"}


def pack(values, descr):
    return struct.pack("<%d%s" % (len(values), FORMATS[descr]), *values)


def in_fortran_order(values, shape):
    """The values of an array in C order, with the first axis fastest."""
    if len(shape) < 2:
        return values
    rest = len(values) // shape[0]
    rows = [in_fortran_order(values[r * rest:(r + 1) * rest], shape[1:]) for r in range(shape[0])]
    return [row[i] for i in range(rest) for row in rows]


def npy(values, shape, descr, fortran=False):
    parts = 2 if descr[1] == "c" else 1
    if fortran and parts == 1:
        values = in_fortran_order(values, shape)
    text = "(%s%s)" % (", ".join(map(str, shape)), "," if len(shape) == 1 else "")
    return with_header(header_text(descr, text, fortran), pack(values, descr))


def npz(members, method=zipfile.ZIP_STORED, **more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, **more) as archive:
        for name, data in members.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:  # as NumPy does
                member.write(data)
    return file.getvalue()


def table(values, shape, separator=",", header="", end="\n"):
    columns = shape[1] if len(shape) > 1 else 1
    lines = [separator.join(map(repr, values[i:i + columns])) for i in range(0, len(values), columns)]
    return (header + end.join(lines) + end).encode()


class Inputs(Case):
    def hdf5(self, name, data_set, values, shape, descr):
        subprocess.run([MAKE_HDF5, self.path(name), data_set, NAMES[descr], *map(str, shape)],
                       input=pack(values, descr), check=True)
        return self.path(name) + ":" + data_set

    def kinds(self, values, shape, descr, tables=True):
        """The array in every kind of file that can hold it."""
        c = npy(values, shape, descr)
        kinds = {
            "C order": self.write("c.npy", c),
            "Fortran order": self.write("f.npy", npy(values, shape, descr, True)),
            "HDF5": self.hdf5("x.h5", "/group/x", values, shape, descr),
            "stored": self.write("stored.npz", npz({"x": c})),
            "deflated": self.write("deflated.npz", npz({"x": c}, zipfile.ZIP_DEFLATED)),
            "one of two": self.write("two.npz", npz({"a": b"", "x": c}, zipfile.ZIP_DEFLATED)) + ":x",
            "its file": self.path("two.npz") + ":x.npy",
            "Fortran order in .npz": self.write("f.npz", npz({"x": npy(values, shape, descr, True)})),
            "archive with a comment": self.write("comment.npz", npz({"x": c}) + b""),
        }
        with zipfile.ZipFile(self.path("comment.npz"), "a") as archive:
            archive.comment = b"PK\5\6" * 1000
        if tables and len(shape) == 2:
            kinds.update({
                "commas": self.write("x.csv", table(values, shape, header="first,second\n")),
                "semicolons": self.write("y.CSV", table(values, shape, ";", end="\r\n")),
                "tabs": self.write("x.tsv", b"\xef\xbb\xbf" + table(values, shape, "\t")),
                "blanks": self.write("x.txt", table(values, shape, "  ", "# columns\n\n", "\n  ")),
            })
        return kinds

    def same_output(self, kinds, *command):
        wanted, out = None, self.path("out.npy")
        for kind, path in kinds.items():
            with self.subTest(kind):
                self.succeed(*[path if word is None else word for word in command], "-o", out)
                wanted = wanted or self.content("out.npy")
                self.assertEqual(self.content("out.npy"), wanted)
        return wanted

    def test_encode(self):
        numbers = random.Random(1)
        values = [numbers.uniform(-3, 3) for _ in range(40)]
        self.same_output(self.kinds(values, (8, 5), "<f8"), "encode", "angle", None, "--qubits", "5")
        self.same_output(self.kinds([3, 0, 7, 5], (4, 1), "<i8"), "encode", "basis", None, "--qubits", "3")

    def test_kernel(self):
        numbers = random.Random(2)
        values = [numbers.uniform(-3, 3) for _ in range(24)]
        self.same_output(self.kinds(values, (8, 3), "<f8"), "kernel", None)
        kinds = self.kinds(values[:6], (2, 3), "<f8")
        x = self.write("rows.npy", npy(values, (8, 3), "<f8"))
        self.same_output(kinds, "kernel", x, None)
        self.same_output(kinds, "kernel", x, "--reupload", "--weights", None)
        half = math.sqrt(0.5)
        states = npy([1, 0, 0, 0, half, 0, 0, half], (2, 2), "<c16")
        h5 = self.hdf5("s.h5", "s", [1, 0, 0, 0, half, 0, 0, half], (2, 2), "<c16")
        self.same_output({"npy": self.write("s.npy", states), "HDF5": h5}, "kernel", "--states", None)
        self.refuse(USAGE, r"x.csv: tables of text hold no complex numbers", "kernel", "--states", self.path("x.csv"),
                    "-o", self.path("k.npy"))

    def test_field(self):
        numbers = random.Random(3)
        values = [numbers.randrange(2**60) for _ in range(30)]
        kinds = self.kinds(values, (5, 6), "<u8")
        b = self.write("b.npy", npy(values[::-1], (5, 6), "<u8"))
        self.same_output(kinds, "field", "add", None, b)
        self.same_output(kinds, "field", "add", b, None)
        self.same_output(self.kinds([1, 2, 2**31 - 2], (3, 1), "<u4"), "field", "neg", None, "--field", "mersenne31")
        self.same_output(self.kinds([1, 2, 3], (3,), "<u8"), "field", "neg", None, "--field", "goldilocks")
        narrow = self.hdf5("narrow.h5", "/x", [1, 2, 3], (3,), "<u4")
        self.same_output({"npy": self.path("c.npy"), "uint32": narrow}, "field", "neg", None, "--field", "goldilocks")

    def test_lattice(self):
        numbers = random.Random(4)
        values = [numbers.randrange(-80, 80) / 8 for _ in range(48)]
        form = ["--lattice", "Z2", "--max-retries", "5", "--scales", self.path("t.npy")]
        kinds = self.kinds(values, (8, 6), "<f4")
        self.same_output(kinds, "lattice", "quantize", None, *form)
        raw = self.same_output(kinds, "lattice", "encode", None, *form)
        codes = list(raw[128:])
        wanted = self.same_output(self.kinds(codes, (8, 3, 2, 2), "|u1"), "lattice", "decode", None, *form)
        self.write("wanted.npy", wanted)
        self.write("codes.npy", raw)
        retries = list(struct.unpack("<24i", self.content("t.npy")[-96:]))
        for kind, path in self.kinds(retries, (8, 3), "<i4").items():
            with self.subTest(kind):
                self.succeed("lattice", "decode", self.path("codes.npy"), *form[:4], "--scales", path, "-o",
                             self.path("y.npy"))
                self.assertEqual(self.content("y.npy"), wanted)
        beta = {self.succeed("lattice", "beta", path, "--lattice", "Z2") for path in kinds.values() if "csv" in path}
        self.assertEqual(len(beta), 1)

    def test_counts_of_one_vector_a_row_as_a_column(self):
        x, codes = self.write("x.npy", npy([20.3, 20.4, 1, 1], (2, 2), "<f4")), self.path("c.npy")
        form = ["--lattice", "Z2", "--max-retries", "3", "--scales"]
        self.succeed("lattice", "encode", x, "-o", codes, *form, self.path("t.npy"))
        self.succeed("lattice", "decode", codes, "-o", self.path("y.npy"), *form, self.write("t.csv", b"2\n0\n"))
        self.refuse(USAGE, r"t.csv: line 1, column 1: not a whole number \(got 2\.0, need int32\); to write whole "
                    r"numbers: np\.savetxt\('x\.csv', x, fmt='%d', delimiter=','\)$", "lattice", "decode", codes, "-o",
                    self.path("y.npy"), *form, self.write("t.csv", b"2.0\n0\n"))

    def test_tables_that_are_refused(self):
        out = self.path("k.npy")
        for text, pattern in (
                ("1,2\n3,x\n", r"line 2, column 2: not a number \(got x, need float64\)$"),
                ("a,b\n1,2\n3\n", r"line 3, column 2: a row of another length \(got 1 values, need the 2 of line 2\)$"),
                ("1,2\n3,4,5\n", r"line 2, column 3: a row of another length"),
                ("1,2\n\n3,\n", r"line 3, column 2: not a number \(got nothing, need float64\)$"),
                ("1,b\n1,2\n", r"line 1, column 2: not a number \(got b"),  # half a header would lose a row
                ("1,2\n1,1e999\n", r"line 2, column 2: out of range \(got 1e999"),
                ("1,2\n1,0x10\n", r"line 2, column 2: not a number \(got 0x10"),
                ("1,5;2,5\n", r"line 1, column 2: not a number \(got 5;2"),
                ("a,b\n", r"no values"), ("# only\n", r"no values"), ("\n", "no values"), ("", "empty")):
            with self.subTest(text):
                self.refuse(USAGE, r"x\.csv: .*" + pattern, "kernel", self.write("x.csv", text.encode()), "-o", out)
        tabs = self.write("x.tsv", b"1\t2\n3\t\n")
        self.refuse(USAGE, r"x\.tsv: line 2, column 2: not a number \(got nothing", "kernel", tabs, "-o", out)
        self.refuse(USAGE, r"x\.csv: line 1, column 1: out of range \(got 18446744073709551616, need uint64\)", "field",
                    "neg", self.write("x.csv", b"18446744073709551616\n"), "-o", out, "--field", "goldilocks")
        self.succeed("kernel", self.write("x.csv", b"+1,-2.5e-400\r\n.5,1e3"), "-o", out)
        self.assertEqual(self.content("k.npy")[128:132], struct.pack("<f", 1))

    def test_archives_that_are_refused(self):
        good, out = npy([1.0, 2.0], (1, 2), "<f8"), self.path("k.npy")
        two = self.write("two.npz", npz({"a": good, "b": good}))
        self.refuse(USAGE, r"two\.npz: several arrays in the \.npz file \(got a, b\); to take one: .*two\.npz:a$",
                    "kernel", two, "-o", out)
        self.refuse(USAGE, r"two\.npz:c: no such array in the \.npz file \(got c, need a, b\)", "kernel", two + ":c",
                    "-o", out)
        self.refuse(USAGE, "no arrays", "kernel", self.write("none.npz", npz({})), "-o", out)
        self.refuse(USAGE, r"missing\.npz:x: cannot be read: No such file", "kernel", self.path("missing.npz:x"), "-o", out)
        self.refuse(USAGE, "a method that is not read", "kernel",
                    self.write("x.npz", npz({"x": good}, zipfile.ZIP_BZIP2)), "-o", out)
        self.refuse(USAGE, "not a .npy file", "kernel", self.write("x.npz", npz({"x": b"text" * 50})), "-o", out)
        numbers, changed = random.Random(5), 0
        for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            whole = npz({"x": npy([0.5] * 400, (100, 4), "<f8")}, method)
            damaged = [whole[:n] for n in (4, 21, 100, len(whole) // 2, len(whole) - 1)]
            for _ in range(30):
                some = bytearray(whole)
                some[numbers.randrange(len(some))] ^= 1 << numbers.randrange(8)
                damaged.append(bytes(some))
            for data in damaged:
                done = self.run_weft("kernel", self.write("d.npz", data), "-o", out)
                self.assertIn(done.returncode, (0, USAGE), (data, done.stderr))
                changed += done.returncode
        self.assertGreater(changed, 60)  # times a status of 2

    def test_types_and_shapes_end_with_the_line_to_type(self):
        def say(what):
            return re.escape("; to convert it: np.save('x.npy', %s)" % what) + "$"
        f8, one = npy([0.5] * 8, (2, 4), "<f8"), npy([0.5] * 8, (8,), "<f8")
        whole, states = npy([1] * 12, (2, 6), "<i8"), npy([1, 0, 0, 0], (1, 2), "<c16")
        out, encode, lattice = ["-o", self.path("out.npy")], ["encode", "angle", None, "--qubits"], ["lattice", "encode"]
        h5 = self.hdf5("x.h5", "/g/x", [1, 2], (1, 2), "<i4")
        cases = [
            (whole, ["field", "neg"], r"\(got '<i8', need uint64\)" + say("x.astype('<u8')")),
            (npy([1] * 12, (6, 2), "<u8"), ["field", "neg"], say("x.T")),
            (npy([1] * 12, (12,), "<u8"), ["field", "neg"], say("x.reshape(-1, 6)")),
            (npy([1] * 4, (2, 2), "<u8"), ["field", "neg", "--field", "goldilocks"], say("x.reshape(-1)")),
            (f8, lattice, r"\(got '<f8', need float32\)" + say("x.astype('<f4')")),
            (npy([1] * 8, (8,), "<f4"), lattice, say("x.reshape(-1, 4)")),
            (npy([1] * 8, (2, 2, 2), "<f4"), lattice, say("x.reshape(2, -1)")),
            (npy([1] * 8, (2, 4), "|u1"), ["lattice", "decode"], "; packed codes need --packed$"),
            (npy([1] * 16, (4, 2, 2), "|u1"), ["lattice", "decode"], say("x.reshape(-1, 2, 4)")),
            (npy([1] * 16, (2, 2, 4), "<i4"), ["lattice", "decode"], say("x.astype('|u1')")),
            (whole, ["kernel"], r"\(got '<i8', need float64 or float32\)" + say("x.astype('<f8')")),
            (states, ["kernel"], "; states are for weft kernel --states" + say("x.real.astype('<f8')")),
            (one, ["kernel"], say("x.reshape(-1, 1)")),
            (f8, ["kernel", "--states"], say("x.astype('<c16')")),
            (npy([1, 0, 0, 0], (2,), "<c16"), ["kernel", "--states"], say("x.reshape(1, -1)")),
            (one, ["kernel", self.write("r.npy", f8)], say("x.reshape(-1, 4)")),
            (npy([0.5] * 8, (4, 2), "<f8"), ["kernel", self.path("r.npy")], say("x.T")),
            (npy([0.5] * 8, (2, 4), "<f4"), ["kernel", self.path("r.npy")], say("x.astype('<f8')")),
            (npy([0.5] * 4, (4,), "<f8"), ["kernel", self.path("r.npy"), "--weights"], say("x.reshape(-1, 4)")),
            (one, encode + ["8"], say("x.reshape(1, -1)")),
            (one, encode + ["4"], say("x.reshape(-1, 4)")),
            (npy([0.5] * 8, (2, 2, 2), "<f8"), encode + ["4"], say("x.reshape(2, -1)")),
            (f8, encode + ["2"], say("x.T")),
            (f8, encode + ["3"], "; what fits: --qubits 4$"),
            (npy([0.5] * 8, (2, 4), "<f2"), encode + ["4"], say("x.astype('<f8')")),
            (npy([1] * 4, (4,), "<i8"), ["encode", "basis", None, "--qubits", "2"], say("x.reshape(-1, 1)")),
            (with_header(header_text(">f8", "(1, 4)"), bytes(32)), ["kernel"], say("x.astype('<f8')")),
            (with_header(header_text("|O", "(1, 4)"), bytes(32)), ["kernel"], "pickled.*" + say("np.array(x.tolist())")),
            (b"1,2,3\n", ["kernel"], r"bad\.npy: not a \.npy file.*\.npz.*\.csv.*np\.save\('x\.npy', np\.loadtxt\("
             r"'x\.csv', delimiter=','\)\)$"),
            (b"PAR1" + bytes(50), ["kernel"], r"np\.save\('x\.npy', pandas\.read_parquet\('x\.parquet'\)\.to_numpy\(\)\)$")]
        for data, command, pattern in cases:
            with self.subTest(pattern):
                bad = self.write("bad.npy", data)
                words = [bad if word is None else word for word in command]
                self.refuse(USAGE, pattern, *words, *([] if None in command else [bad]), *out)
        self.refuse(USAGE, say("f['/g/x'][...].astype('<f8')"), "kernel", h5, *out)
        bad = self.write("bad.npz", npz({"a": f8, "b": f8}))
        self.refuse(USAGE, say("z['b'].astype('<u8')"), "field", "neg", bad + ":b", *out)
        codes = npy([0] * 16, (2, 2, 4), "|u1")
        t = self.write("t.npy", npy([0] * 2, (1, 2), "<i4"))
        self.refuse(USAGE, say("x.reshape(2,)"), "lattice", "decode", self.write("c.npy", codes), "--scales", t, *out)
        raw = self.write("x.raw", bytes(64))
        self.refuse(USAGE, "; what fits: --shape 2,4$", "encode", "angle", raw, "--shape", "3,4", "--dtype-in", "float64",
                    "--qubits", "4", *out)
        self.assertNotIn("out.npy", self.files())

    def test_hdf5_in_use(self):
        x, out = self.hdf5("x.h5", "/x", [0.5] * 4, (2, 2), "<f8"), self.path("k.npy")
        with subprocess.Popen([MAKE_HDF5, self.path("x.h5")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
            self.assertEqual(writer.stdout.readline(), b"open\n")
            for command in ["kernel", x], ["encode", "angle", x, "--qubits", "2"]:
                self.refuse(USAGE, "x.h5:/x: cannot be read: another process has the file open to write .*errno = 11.*; "
                            "to read it without a lock: HDF5_USE_FILE_LOCKING=FALSE weft", *command, "-o", out)
            self.succeed("kernel", x, "-o", out, env={"HDF5_USE_FILE_LOCKING": "FALSE"})
            writer.stdin.close()
        self.succeed("kernel", x, "-o", out)
        with open(self.path("x.h5"), "rb") as file:
            cut = self.write("cut.h5", file.read()[:900])
        self.refuse(USAGE, "cut.h5:/x: cannot be read, HDF5 says: .*truncated", "kernel", cut + ":/x", "-o", out)

    def test_outputs_are_no_inputs(self):
        x = self.hdf5("x.h5", "/x", [0.5] * 4, (2, 2), "<f8")
        before = self.content("x.h5")
        z = self.write("z.npz", npz({"z": npy([1.0] * 4, (2, 2), "<f4")}))
        self.refuse(USAGE, "output and X are the same file", "kernel", x, "-o", self.path("x.h5"))
        self.refuse(USAGE, "output and input are the same file", "encode", "angle", x, "-o", self.path("x.h5"), "--qubits",
                    "2")
        self.refuse(USAGE, "output and input are the same file", "lattice", "encode", z + ":z", "-o", z)
        u = self.hdf5("u.h5", "/u", [1, 2], (2,), "<u8")
        good = self.write("u.npy", npy([1, 2], (2,), "<u8"))
        for operands, role in ((u, good), "A"), ((good, u), "B"):
            self.refuse(USAGE, "output and %s are the same file" % role, "field", "add", *operands, "-o", self.path("u.h5"),
                        "--field", "goldilocks")
        for operands, role in ((good, u), "A"), ((u, good), "B"):
            self.refuse(USAGE, "u.npy: output and %s are the same file" % role, "field", "add", *operands, "-o", good,
                        "--field", "goldilocks")
        self.assertEqual(self.content("x.h5"), before)

    def test_standard_input(self):
        values, out = [0.25, 0.5, 0.75, 1.0], self.path("s.npy")
        self.succeed("encode", "angle", self.write("x.npy", npy(values, (2, 2), "<f8")), "-o", out, "--qubits", "2")
        wanted = self.content("s.npy")
        command = [command_test.WEFT, "encode", "angle", "-", "-o", out, "--qubits", "2"]
        form = ["--shape", "2,2", "--dtype-in", "float64"]
        os.remove(out)
        for data, more, pattern in ((pack(values, "<f8"), form, None), (pack(values, "<f8")[:-1], form, "ended early"),
                                    (pack(values, "<f8") + b"x", form, "continues"), (b"", [], "need --shape")):
            done = subprocess.run(command + more, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, USAGE if pattern else 0, done.stderr)
            self.assertIn((pattern or "").encode(), done.stderr)
            if not pattern:
                self.assertEqual(self.content("s.npy"), wanted)
                os.remove(out)
        self.assertNotIn("s.npy", self.files())


class Fits(Case):
    def test_encode_before_there_are_values(self):
        common = ["encode", "angle", "--samples", "1000", "--qubits", "16", "--explain"]
        plan = json.loads(self.succeed(*common, "--json"))
        self.assertEqual((plan["samples"], plan["features"], plan["bytes_in"]), (1000, 16, 1000 * 16 * 8))
        most, memory = plan["most_samples_on_device"], plan["most_samples_in_memory"]
        self.assertEqual(memory, plan["host_memory_bytes"] // ((8 << 16) + 128))
        self.assertGreater(most, 0)
        self.assertLessEqual(most * (8 << 16), plan["available_bytes"])
        more = json.loads(self.succeed(*common, "--json", "--dtype", "complex128"))
        self.assertLessEqual(abs(more["most_samples_on_device"] - most // 2), most // 50 + 1)
        text = self.succeed(*common)
        self.assertRegex(text, r"(?m)^values and states that fit as a whole: %d samples on the device, %d in this "
                         "machine's memory" % (most, memory))
        self.assertNotIn("0.00", text.replace("0.00 B", ""))
        plan = json.loads(self.succeed("encode", "amplitude", "--samples", "5", "--features", "3", "--dtype-in", "float32",
                                       "--qubits", "2", "--explain", "--json"))
        self.assertEqual(plan["bytes_in"], 60)
        self.assertEqual(self.files(), [])

    def test_options_that_do_not_go_together(self):
        x = self.write("x.npy", npy([0.5] * 4, (1, 4), "<f8"))
        common = ["encode", "angle", "--qubits", "4"]
        for more, pattern in ((["--samples", "5"], "need --explain"), ([x, "--samples", "5", "--explain"], "leave out X"),
                              (["--samples", "5", "--features", "3", "--explain"], "--features: wrong number of columns"),
                              ([x, "--features", "4", "--explain"], "--features: goes with --samples"),
                              (["--explain"], "X: no input"), (["--samples", "0", "--explain"], "--samples: out of range"),
                              (["--samples", "5", "--dtype-in", "int64", "--explain"], "takes no whole numbers")):
            self.refuse(USAGE, pattern, *common, *more)

    def test_unknown_words_are_named_in_their_order(self):
        self.refuse(USAGE, "not expected: --M 2 ", "lattice", "beta", "x.npy", "--M", "2")
        self.refuse(USAGE, "not expected: --one --two ", "lattice", "encode", "x.npy", "-o", "y.npy", "--one", "--two")

    def test_levels_have_two_names_in_reports(self):
        for name in "--levels", "--M":
            self.refuse(USAGE, r"--levels: out of range \(got 9, need 1 to 4\)", "profile", "lattice", name, "9")

    def test_a_wrong_shape_of_elements_names_the_field(self):
        flat = self.write("flat.npy", npy([1] * 4, (4,), "<u8"))
        self.refuse(USAGE, r"need \(n, 6\) for bls12-381-fp, a row an element; --field names another field\)", "field",
                    "neg", flat, "-o", self.path("o.npy"))
        self.refuse(USAGE, r"need \(n, 4\) for bn254-fr, ", "field", "neg", flat, "-o", self.path("o.npy"), "--field",
                    "bn254-fr")

    def test_small_jobs_have_units_that_show_them(self):
        x = self.write("x.npy", npy([0.5] * 4, (1, 4), "<f8"))
        text = self.succeed("encode", "angle", x, "--qubits", "4", "--explain")
        self.assertRegex(text, r"1 samples of 4 qubits, 32\.0 B of values, 128 B of states\n")

    def test_kernel(self):
        x = self.write("x.npy", npy([0.5] * 40, (10, 4), "<f8"))
        plan = json.loads(self.succeed("kernel", x, "--explain", "--json"))
        memory = plan["host_memory_bytes"]
        most = plan["most_samples_in_memory"]
        self.assertLessEqual(4 * most**2, memory)
        self.assertGreater(4 * (most + 1)**2, memory)
        self.assertGreaterEqual(plan["most_samples_on_device"], 10)
        self.assertIn("samples that fit: ", self.succeed("kernel", x, "--explain"))
        self.assertIn("samples that fit with this Y: ", self.succeed("kernel", x, x, "--explain"))
        clip = json.loads(self.succeed("kernel", x, "--clip", "--explain", "--json"))
        self.assertEqual(clip["host_bytes"], 100 * 20)
        w = self.write("w.npy", npy([0.5] * 8, (2, 4), "<f8"))
        deep = json.loads(self.succeed("kernel", x, "--weights", w, "--reupload", "--explain", "--json"))
        self.assertGreaterEqual(deep["most_samples_on_device"], 10)


def alignment(k, labels, norm=True):
    """As docs/kernel_matrix.md defines it, and the polarity."""
    counts = {label: labels.count(label) for label in labels}
    y = [label / counts[label] for label in labels]
    n = range(len(y))
    polarity = sum(y[i] * y[j] * k[i][j] for i in n for j in n)
    if not norm:
        return polarity
    return polarity / math.sqrt(sum(v * v for row in k for v in row)) / sum(v * v for v in y)


class Post(Case):
    def setUp(self):
        super().setUp()
        numbers = random.Random(7)
        self.n = 6
        self.x = self.write("x.npy", npy([numbers.uniform(-2, 2) for _ in range(12)], (6, 2), "<f8"))
        self.labels = [1, -1, 1, 1, -1, 1]
        self.y = self.write("y.npy", npy(self.labels, (6,), "<i8"))

    def kernel(self, *more):
        report = json.loads(self.succeed("kernel", self.x, "-o", self.path("k.npy"), "--dtype", "float64", "--json", *more))
        flat = struct.unpack("<36d", self.content("k.npy")[-288:])
        return report, [list(flat[6 * i:6 * i + 6]) for i in range(6)]

    def near(self, a, b):
        self.assertLess(max(abs(p - q) for r, s in zip(a, b) for p, q in zip(r, s)), 1e-12)

    def test_labels_without_a_name(self):
        for option in "--alignment", "--polarity":
            self.refuse(USAGE, option + ": no name .got nothing, need a file", "kernel", self.x, "-o", self.path("k.npy"),
                        option, "")

    def test_alignment_and_polarity(self):
        report, k = self.kernel("--alignment", self.y, "--polarity", self.y)
        self.assertAlmostEqual(report["alignment"], alignment(k, self.labels), 12)
        self.assertAlmostEqual(report["polarity"], alignment(k, self.labels, False), 12)
        text = self.succeed("kernel", self.x, "-o", self.path("k.npy"), "--alignment", self.y)
        self.assertRegex(text, r"(?m)^alignment -?[0-9.]+(e-[0-9]+)?$")
        column = self.write("y.csv", b"label\n" + b"".join(b"%d\n" % label for label in self.labels))
        again, _ = self.kernel("--alignment", column)
        self.assertEqual(again["alignment"], report["alignment"])
        self.assertNotIn("polarity", again)

    def test_center_before_clip_before_alignment(self):
        _, k = self.kernel()
        mean = [sum(row) / 6 for row in k]
        centered = [[k[i][j] - mean[i] - mean[j] + sum(mean) / 6 for j in range(6)] for i in range(6)]
        report, got = self.kernel("--center", "--polarity", self.y)
        self.near(got, centered)
        self.assertAlmostEqual(report["polarity"], alignment(centered, self.labels, False), 12)
        report, both = self.kernel("--center", "--clip", "--alignment", self.y)
        self.near(both, centered)  # of a quantum kernel, which has no negative eigenvalue but by rounding
        self.assertGreaterEqual(report["negative_eigenvalues"], 0)
        self.assertAlmostEqual(report["alignment"], alignment(centered, self.labels), 12)
        # States that are not normalized products: K of any size stays semidefinite, and --normalize comes first.
        report, norm = self.kernel("--normalize", "--jitter", "0.5", "--clip")
        self.near([[row[i]] for i, row in enumerate(norm)], [[1]] * 6)

    def test_refusals(self):
        out = ["-o", self.path("k.npy")]
        for data, pattern in ((npy([1, -1], (2,), "<i8"), r"wrong shape \(got \(2,\), need \(6,\): a label a sample\)"),
                              (npy([1, 0, 1, 1, 0, 1], (6,), "<i8"), r"row 1 is no label \(got 0, need 1 or -1\).*2 \* x - 1"),
                              (npy([1] * 6, (2, 3), "<i8"), r"x\.reshape\(-1\)\)$"),
                              (npy([1] * 6, (6,), "|u1"), r"x\.astype\('<f8'\)\)$")):
            for option in "--alignment", "--polarity":
                self.refuse(USAGE, r"l\.npy: .*" + pattern, "kernel", self.x, *out, option, self.write("l.npy", data))
        for option in ["--center"], ["--clip"], ["--alignment", self.y], ["--polarity", self.y]:
            self.refuse(USAGE, "of a square K", "kernel", self.x, self.x, *out, *option)
        self.refuse(USAGE, "output and --alignment are the same file", "kernel", self.x, "-o", self.y, "--alignment", self.y)
        self.assertNotIn("k.npy", self.files())


if __name__ == "__main__":
    command_test.WEFT, MAKE_HDF5 = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
