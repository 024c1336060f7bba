#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The weft command: results compared with Python's integers, exit statuses, files that are left.

Usage: command_test.py PATH_OF_WEFT [unittest arguments]. Needs the standard library only; .npy files are made byte by
byte, so that the test shares no code with the command.
"""
import ctypes
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

P = int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
MASK = 2**64 - 1
USAGE, NO_DEVICE, FAILED = 2, 3, 4
WEFT = ""


def driver_of_cuda():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


def pack(values):
    """Elements as rows of six limbs, least significant first."""
    return b"".join(v.to_bytes(48, "little") for v in values)


def header_text(descr, shape, fortran=False):
    return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)


def with_header(text, data, version=1, pad=64):
    """A .npy file with this header text; with pad=1 the data begins directly after the text."""
    raw = text if isinstance(text, bytes) else text.encode("latin1" if version < 3 else "utf8")
    preamble = 10 if version == 1 else 12
    raw += b" " * (-(preamble + len(raw) + 1) % pad) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(raw))
    return b"\x93NUMPY" + bytes([version, 0]) + length + raw + data


def npy(values, **kwargs):
    return with_header(header_text("<u8", "(%d, 6)" % len(values)), pack(values), **kwargs)


def read_result(path):
    """Elements of a version 1 file, whose header is checked as strictly as by NumPy."""
    with open(path, "rb") as file:
        raw = file.read()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    length, = struct.unpack("<H", raw[8:10])
    assert (10 + length) % 64 == 0 and raw[9 + length:10 + length] == b"\n"
    fields = eval(raw[10:10 + length].decode("latin1"), {})
    assert set(fields) == {"descr", "fortran_order", "shape"} and fields["fortran_order"] is False
    assert fields["descr"] == "<u8" and fields["shape"][1:] == (6,), fields
    data = raw[10 + length:]
    assert len(data) == 48 * fields["shape"][0], (len(data), fields)
    return [int.from_bytes(data[i:i + 48], "little") for i in range(0, len(data), 48)]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def run_weft(self, *arguments, env=None, **kwargs):
        return subprocess.run([WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=240,
                              env={**os.environ, **(env or {})}, **kwargs)

    def succeed(self, *arguments, **kwargs):
        done = self.run_weft(*arguments, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refuse(self, status, pattern, *arguments, **kwargs):
        """Ends with this status and exactly one line of weft on stderr; drivers may add other lines."""
        done = self.run_weft(*arguments, **kwargs)
        lines = [line for line in done.stderr.splitlines() if line.startswith("weft: ")]
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], pattern)
        return done.stdout

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def wait_for_output(self, process):
        """Waits until the process has made its output file, and returns whether the file has no name yet."""
        folder, deadline = os.path.realpath(self.folder.name), time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            for descriptor in os.listdir("/proc/%d/fd" % process.pid):
                try:
                    name = os.readlink("/proc/%d/fd/%s" % (process.pid, descriptor))
                except FileNotFoundError:
                    continue
                if name.startswith(folder) and name.endswith(" (deleted)"):
                    return True
                if name.startswith(folder + "/.weft-"):
                    return False
            time.sleep(0.001)
        self.fail("the process made no output")


FIELDS = {
    "bls12-381-fp": P,
    "bls12-381-fr": 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001,
    "bn254-fp": 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47,
    "bn254-fr": 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001,
    "bls12-377-fp": int("01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f"
                        "1ef3622fba094800170b5d44300000008508c00000000001", 16),
    "bls12-377-fr": 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001,
    "stark252": 2**251 + 17 * 2**192 + 1,
    "goldilocks": 2**64 - 2**32 + 1,
    "babybear": 2**31 - 2**27 + 1,
    "koalabear": 2**31 - 2**24 + 1,
    "mersenne31": 2**31 - 1,
}


def wanted(p, r, pairs, scalar, montgomery):
    """The results of every operation for pairs (a, b), in Python's integers."""
    k = pow(r, -1, p) if montgomery else 1
    return {
        "add": [(a + b) % p for a, b in pairs],
        "sub": [(a - b) % p for a, b in pairs],
        "neg": [-a % p for a, _ in pairs],
        "mul": [a * b * k % p for a, b in pairs],
        "square": [a * a * k % p for a, _ in pairs],
        "inverse": [pow(a, p - 2, p) * (r * r if montgomery else 1) % p for a, _ in pairs],
        "to-montgomery": [a * r % p for a, _ in pairs],
        "from-montgomery": [a * pow(r, -1, p) % p for a, _ in pairs],
        "axpy": [(scalar * a * k + b) % p for a, b in pairs],
        "sum": [sum(a for a, _ in pairs) % p],
        "inner-product": [sum(a * b for a, b in pairs) * k % p],
    }


OPERATIONS = list(wanted(7, 2, [], 0, False))
TWO_OPERANDS = {"add", "sub", "mul", "axpy", "inner-product"}


class Fields(Case):
    def pack_field(self, name, values):
        size = self.size(name)
        shape = "(%d,)" % len(values) if size == 4 else "(%d, %d)" % (len(values), size // 8)
        return with_header(header_text("<u4" if size == 4 else "<u8", shape),
                           b"".join(v.to_bytes(size, "little") for v in values))

    def size(self, name):
        bits = FIELDS[name].bit_length()
        return 4 if bits == 31 else 8 if bits == 64 else 48 if bits > 256 else 32

    def read_field(self, name, path):
        with open(path, "rb") as file:
            raw = file.read()
        start = 10 + struct.unpack("<H", raw[8:10])[0]
        size, header = self.size(name), eval(raw[10:start].decode("latin1"), {})
        self.assertEqual(header["descr"], "<u4" if size == 4 else "<u8")
        self.assertEqual(header["shape"][1:], () if size == 4 else (size // 8,))
        self.assertEqual(len(raw) - start, header["shape"][0] * size)
        return [int.from_bytes(raw[i:i + size], "little") for i in range(start, len(raw), size)]

    def check_operations(self, name, operations, montgomery):
        p, r, numbers = FIELDS[name], 2**(8 * self.size(name)), random.Random(name)
        edge = [0, 1, p - 1, p - 2, (p + 1) // 2, r % p, 2**(p.bit_length() - 1) - 1]
        pairs = [(a, b) for a in edge for b in edge] + [(numbers.randrange(p), numbers.randrange(p)) for _ in range(99)]
        a = self.write("a.npy", self.pack_field(name, [a for a, _ in pairs]))
        b = self.write("b.npy", self.pack_field(name, [b for _, b in pairs]))
        scalar, out = numbers.randrange(p), self.path("out.npy")
        for op, values in wanted(p, r, pairs, scalar, montgomery).items():
            if op not in operations:
                continue
            with self.subTest(field=name, op=op, montgomery=montgomery):
                arguments = [op, a] + [b] * (op in TWO_OPERANDS) + ["-o", out, "--field", name, "--checked"]
                arguments += ["--scalar", numbers.choice([str, hex])(scalar)] * (op == "axpy")
                self.succeed("field", *arguments, *["--montgomery"] * montgomery)
                self.assertEqual(self.read_field(name, out), values)

    def test_every_operation_of_each_size(self):
        for name in "bls12-377-fp", "bls12-381-fr", "goldilocks", "mersenne31":
            self.check_operations(name, OPERATIONS, False)
            self.check_operations(name, OPERATIONS, True)

    def test_every_field(self):
        for name in FIELDS:
            self.check_operations(name, {"add", "mul", "sum"}, False)

    def test_one_limb_as_a_row_or_as_a_column(self):
        for name, descr in ("goldilocks", "<u8"), ("babybear", "<u4"):
            size, out = self.size(name), self.path("out.npy")
            data = b"".join(v.to_bytes(size, "little") for v in (5, 0, 7))
            row = self.write("row.npy", with_header(header_text(descr, "(3,)"), data))
            column = self.write("column.npy", with_header(header_text(descr, "(3, 1)"), data))
            wide = self.write("wide.npy", with_header(header_text(descr, "(1, 3)"), data))
            for a, b in (row, column), (column, row):
                self.succeed("field", "add", a, b, "-o", out, "--field", name, "--checked")
                with open(out, "rb") as file:
                    raw = file.read()
                self.assertIn(b"(3,)" if a == row else b"(3, 1)", raw)
                self.assertEqual(raw[-3 * size:], b"".join(v.to_bytes(size, "little") for v in (10, 0, 14)))
            self.refuse(USAGE, r"wide.npy: wrong shape .*\(1, 3\), need \(n,\) or \(n, 1\)",
                        "field", "sum", wide, "-o", out, "--field", name)

    def test_no_element_and_one(self):
        out = self.path("out.npy")
        for name in "bls12-381-fp", "stark252", "goldilocks", "koalabear":
            p, r = FIELDS[name], 2**(8 * self.size(name))
            none, one = self.write("none.npy", self.pack_field(name, [])), self.write("one.npy", self.pack_field(name, [p - 3]))
            for values, path in ([], none), ([(p - 3, p - 3)], one):
                for op, results in wanted(p, r, values, 5, False).items():
                    with self.subTest(field=name, op=op, elements=len(values)):
                        arguments = [op, path] + [path] * (op in TWO_OPERANDS) + ["--scalar", "5"] * (op == "axpy")
                        self.succeed("field", *arguments, "-o", out, "--field", name, "--checked")
                        self.assertEqual(self.read_field(name, out), results)

    def test_scalars_in_capitals(self):
        a, out = self.write("a.npy", npy([1])), self.path("out.npy")
        for scalar in "0xABCDEF", "0XabcDEF", "0xabcdef", "11259375":
            self.succeed("field", "axpy", a, a, "-o", out, "--scalar", scalar)
            self.assertEqual(read_result(out), [0xabcdf0])

    def test_a_number_of_31_bits_that_is_not_canonical(self):
        bad = self.write("bad.npy", self.pack_field("mersenne31", [1, 2**31 - 1]))
        self.refuse(USAGE, "bad.npy: row 1 is not canonical .*0x7fffffff, need below p = 0x7fffffff",
                    "field", "neg", bad, "-o", self.path("out.npy"), "--field", "mersenne31", "--checked")
        self.assertEqual(self.files(), ["bad.npy"])


class Values(Case):
    def operands(self):
        numbers = random.Random(381)
        edge = [0, 1, 2, P - 1, P - 2, (P - 1) // 2, (P + 1) // 2, MASK, 2**64, 2**128 - 1, 2**320, 2**380,
                P - 2**64, P - 2**320]
        pairs = [(a, b) for a in edge for b in edge]
        pairs += [(numbers.randrange(P), numbers.randrange(P)) for _ in range(1000)]
        return [a for a, _ in pairs], [b for _, b in pairs]

    def test_operations(self):
        a, b = self.operands()
        a_path, b_path, out = self.write("a.npy", npy(a)), self.write("b.npy", npy(b)), self.path("out.npy")
        for flags in [], ["--checked"], ["--montgomery", "--checked"]:
            self.succeed("field", "add", a_path, b_path, "-o", out, *flags)
            self.assertEqual(read_result(out), [(x + y) % P for x, y in zip(a, b)])
            self.succeed("field", "sub", a_path, b_path, "-o", out, *flags)
            self.assertEqual(read_result(out), [(x - y) % P for x, y in zip(a, b)])
            self.succeed("field", "neg", a_path, "--output", out, "--field", "bls12-381-fp", *flags)
            self.assertEqual(read_result(out), [-x % P for x in a])
        self.assertEqual(self.files(), ["a.npy", "b.npy", "out.npy"])

    def test_more_elements_than_one_job(self):
        # Slightly more than two jobs; blocks repeat, so that Python need not add two million numbers.
        block = [random.Random(7).randrange(P) for _ in range(997)]
        times = (2 << 20) // len(block) + 1
        n = times * len(block)
        text = header_text("<u8", "(%d, 6)" % n)
        a = self.write("a.npy", with_header(text, pack(block) * times))
        b = self.write("b.npy", with_header(text, pack(block[::-1]) * times))
        out = self.path("out.npy")
        report = json.loads(self.succeed("field", "add", a, b, "-o", out, "--json"))
        self.assertEqual(report["elements"], n)
        expected = pack([(x + y) % P for x, y in zip(block, block[::-1])]) * times
        with open(out, "rb") as file:
            self.assertTrue(file.read().endswith(expected))
        self.assertEqual(os.path.getsize(out), 128 + len(expected))

    def test_no_output_over_an_input(self):
        a, b = [1, P - 1, 5], [2, 3, P - 5]
        a_path, b_path = self.write("a.npy", npy(a)), self.write("b.npy", npy(b))
        self.refuse(USAGE, "a.npy: output and A are the same file", "field", "add", a_path, b_path, "-o", a_path)
        self.refuse(USAGE, "b.npy: output and B are the same file", "field", "sub", a_path, b_path, "-o", b_path)
        self.refuse(USAGE, "a.npy: output and A are the same file", "field", "neg", a_path, "-o", a_path)
        self.assertEqual((read_result(a_path), read_result(b_path)), (a, b))
        self.assertEqual(self.files(), ["a.npy", "b.npy"])

    def test_output_in_the_current_folder_and_through_a_link(self):
        self.write("a.npy", npy([1]))
        self.write("target.npy", b"old")
        os.chmod(self.path("target.npy"), 0o640)
        os.symlink("target.npy", self.path("link.npy"))
        self.succeed("field", "neg", "a.npy", "-o", "link.npy", cwd=self.folder.name)
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(read_result(self.path("target.npy")), [P - 1])
        self.assertEqual(os.stat(self.path("target.npy")).st_mode & 0o777, 0o640)
        self.succeed("field", "neg", "a.npy", "-o", "new.npy", cwd=self.folder.name, umask=0o027)
        self.assertEqual(os.stat(self.path("new.npy")).st_mode & 0o777, 0o640)

    def test_header_versions_and_spellings(self):
        data = pack([1, P - 1])
        spellings = {
            "v1": npy([1, P - 1]),
            "v2": npy([1, P - 1], version=2),
            "v3": npy([1, P - 1], version=3),
            "misaligned": with_header(header_text("<u8", "(2, 6)"), data, pad=1),
            "misaligned_more": with_header(header_text("<u8", "(2, 6)") + "  ", data, pad=1),
            "old_alignment": with_header(header_text("<u8", "(2, 6)"), data, pad=16),
            "python2": with_header("{'shape': (2L, 6L), 'fortran_order': False, 'descr': '<u8'}", data),
            "double_quotes": with_header('{"descr":"<u8","fortran_order":False,"shape":(2,6,)}', data),
            "long_v2": with_header(header_text("<u8", "(2, 6)") + " " * 100000, data, version=2),
        }
        for name, raw in spellings.items():
            with self.subTest(name):
                self.succeed("field", "neg", self.write("a.npy", raw), "-o", self.path("out.npy"), "--checked")
                self.assertEqual(read_result(self.path("out.npy")), [P - 1, 1])

    def test_no_elements(self):
        empty = self.write("a.npy", npy([]))
        self.succeed("field", "add", empty, empty, "-o", self.path("out.npy"), "--checked")
        self.assertEqual(read_result(self.path("out.npy")), [])


class BadInput(Case):
    def setUp(self):
        super().setUp()
        self.good = self.write("good.npy", npy([1, 2]))
        self.out = self.path("out.npy")

    def test_damaged_and_foreign_files(self):
        data = pack([1, 2])
        whole = npy([1, 2])
        head = lambda descr, shape, fortran=False: with_header(header_text(descr, shape, fortran), data)
        text = lambda literal: with_header(literal, data)
        cases = [
            (b"", "empty"),
            (b"\x93NUM", "truncated"),
            (b"PK\x03\x04" + bytes(100), "damaged .npz file"),
            (b"hello", "not a .npy file"),
            (whole[:9], "truncated"),
            (npy([1, 2], version=2)[:11], "truncated"),
            (whole[:60], "truncated"),
            (whole[:6] + b"\x04" + whole[7:], "version"),
            (whole[:6] + b"\x00" + whole[7:], "version"),
            (whole[:6] + b"\x02\x00\xff\xff\xff\xff" + whole[12:], "truncated"),
            (whole[:-1], "shorter"),
            (whole[:128], "shorter"),
            (whole + b"x", "longer"),
            (head(">u8", "(2, 6)"), r"big-endian.*astype\('<u8'\)"),
            (head("|u1", "(96,)"), r"wrong type.*\|u1.*<u8"),
            (head("|u1", "(16, 6)"), r"wrong type.*\|u1.*<u8"),
            (head("<i8", "(2, 6)"), "wrong type.*<i8.*<u8"),
            (head("<u4", "(4, 6)"), "wrong type.*<u4"),
            (head("<f8", "(2, 6)"), "wrong type.*<f8"),
            (head("<c16", "(1, 6)"), "wrong type.*<c16"),
            (head("<M8[ns]", "(2, 6)"), "plain numbers"),
            (head("<U4", "(6,)"), "plain numbers"),
            (head("|O", "(2, 6)"), "pickled"),
            (head("O", "(2, 6)"), "pickled"),
            (head("<u99999999999999999999", "(2, 6)"), "dtype"),
            (head("<u0", "(2, 6)"), "dtype"),
            (head("<u8x", "(2, 6)"), "dtype"),
            (head("", "(2, 6)"), "plain numbers"),
            (text("{'descr': [('x', '<u8'), ('y', '<f8')], 'fortran_order': False, 'shape': (6,)}"), "structured"),
            (head("<u8", "()"), "shorter|longer"),
            (with_header(header_text("<u8", "()"), bytes(8)), r"shape.*\(\).*\(n, 6\)"),
            (with_header(header_text("<u8", "(6,)"), bytes(48)), r"shape.*\(6,\).*\(n, 6\)"),
            (with_header(header_text("<u8", "(12,)"), data), r"shape.*\(12,\).*\(n, 6\)"),
            (head("<u8", "(3, 4)"), r"shape.*\(3, 4\)"),
            (head("<u8", "(6, 2)"), r"shape.*\(6, 2\)"),
            (head("<u8", "(1, 2, 6)"), r"shape.*\(1, 2, 6\)"),
            (with_header(header_text("<u8", "(0, 5)"), b""), r"shape.*\(0, 5\)"),
            (head("<u8", "(3074457345618258603, 6)"), "larger than any memory"),
            (head("<u8", "(18446744073709551615, 18446744073709551615)"), "larger than any memory"),
            (head("<u8", "(0, 18446744073709551615, 18446744073709551615)"), "larger than any memory"),
            (head("<u8", "(18446744073709551616, 6)"), "damaged"),
            (head("<u8", "(-2, 6)"), "damaged"),
            (head("<u8", "(2.0, 6)"), "damaged"),
            (head("<u8", "(2 6)"), "damaged"),
            (head("<u8", "(6)"), "damaged"),
            (head("<u8", "(" + "1, " * 40 + ")"), "32 axes"),
            (head("<u8", "12"), "damaged"),
            (text("{}"), "missing"),
            (text("{'descr': '<u8', 'shape': (2, 6)}"), "missing"),
            (text("{'descr': '<u8', 'fortran_order': 0, 'shape': (2, 6)}"), "damaged"),
            (text("{'descr': '<u8', 'descr': '<u8', 'fortran_order': False, 'shape': (2, 6)}"), "damaged"),
            (text("{'descr': '<u8', 'fortran_order': False, 'shape': (2, 6), 'more': 1}"), "damaged"),
            (text(header_text("<u8", "(2, 6)") + "x"), "damaged"),
            (text("{'descr': '<u8"), "damaged"),
            (text("{'descr"), "damaged"),
            (text("{" * 60000), "damaged"),
            (text(b"\xff\x00\n\x1b[31m" * 20), "damaged"),
            (with_header(b"", data, pad=1), "damaged"),
        ]
        for raw, pattern in cases:
            with self.subTest(pattern=pattern, start=raw[:90]):
                bad = self.write("bad.npy", raw)
                self.refuse(USAGE, "bad.npy: .*(" + pattern + ")", "field", "neg", bad, "-o", self.out)
                self.refuse(USAGE, "bad.npy: .*(" + pattern + ")", "field", "add", self.good, bad, "-o", self.out)
        self.assertEqual(self.files(), ["bad.npy", "good.npy"])

    def test_unreadable_files(self):
        os.mkfifo(self.path("pipe"))
        for path, pattern in [(self.path("missing.npy"), "No such file"), (self.folder.name, "directory"),
                              (self.path("pipe"), "regular file"), ("/dev/null", "regular file"), ("", "no name")]:
            self.refuse(USAGE, pattern, "field", "neg", path, "-o", self.out)
        if os.geteuid() != 0:
            os.chmod(self.good, 0)
            self.refuse(USAGE, "good.npy: .*Permission denied", "field", "neg", self.good, "-o", self.out)

    def test_different_lengths(self):
        other = self.write("other.npy", npy([1, 2, 3]))
        self.refuse(USAGE, r"other.npy: .*got 3, need 2", "field", "add", self.good, other, "-o", self.out)
        self.assertFalse(os.path.exists(self.out))

    def test_checked_names_file_and_row(self):
        for value in P, P + 1, 2**384 - 1, P + 2**320, P - 2**320 + 2**381:
            bad = self.write("bad.npy", npy([1, P - 1, value]))
            fine = self.write("fine.npy", npy([1, P - 1, 0]))
            for arguments in ["add", bad, fine], ["sub", fine, bad], ["neg", bad]:
                self.refuse(USAGE, "bad.npy: row 2 is not canonical.*%x" % value, "field", *arguments, "-o",
                            self.out, "--checked")
        self.assertFalse(os.path.exists(self.out))

    def test_usage(self):
        good, out = self.good, self.out
        for arguments, pattern in [
            ([], "info, field, ntt, encode, kernel, profile, lattice"),
            (["nonsense"], "nonsense.*info, field"),
            (["--nonsense"], "--nonsense"),
            (["field"], "add, sub, neg, mul, .*inner-product, list"),
            (["field", "div", good, good, "-o", out], "div.*add, sub, neg, mul"),
            (["field", "axpy", good, good, "-o", out], "--scalar is required"),
            (["field", "axpy", good, good, "-o", out, "--scalar", "12x"], "scalar.*number.*12x"),
            (["field", "axpy", good, good, "-o", out, "--scalar", str(2**384)], "scalar.*up to 384 bits"),
            (["field", "axpy", good, good, "-o", out, "--scalar", hex(P)], "--scalar: not canonical.*%x" % P),
            (["field", "mul", good, good, "-o", out, "--scalar", "1"], "not expected"),
            (["field", "add", good, good], "--output"),
            (["field", "add", good, "-o", out], "B is required"),
            (["field", "neg", good, good, "-o", out], "not expected"),
            (["field", "neg", good, "-o"], "--output"),
            (["field", "neg", good, "-o", out, "-o", out], "--output"),
            (["field", "neg", good, "-o", ""], "output"),
            (["field", "neg", good, "-o", out, "--field", "bn254-fp"], r"good.npy: wrong shape .*\(2, 6\), need \(n, 4\)"),
            (["field", "neg", good, "-o", out, "--field", "babybear"], "good.npy: wrong type .*'<u8', need uint32"),
            (["field", "neg", good, "-o", out, "--field", "rubbish"], "no such field.*rubbish.*bls12-381-fp"),
            (["field", "neg", good, "-o", out, "--backend", "metal"], "metal.*need vulkan"),
            (["field", "neg", good, "-o", out, "--sideways"], "--sideways"),
            (["info", "extra"], "extra"),
            (["info", "--backend", "cuda"], "cuda"),
        ]:
            with self.subTest(arguments):
                self.assertEqual(self.refuse(USAGE, pattern, *arguments), "")
        self.assertEqual(self.files(), ["good.npy"])

    def test_cuda(self):
        """Without weft::cuda in the build or without a driver, the error names the missing one."""
        arguments = ["field", "neg", self.good, "-o", self.out, "--backend", "cuda"]
        help_text = self.succeed("field", "neg", "--help")
        if "or cuda" not in help_text:
            self.refuse(USAGE, "cuda.*need vulkan", *arguments)
        elif not driver_of_cuda():
            self.refuse(NO_DEVICE, r"no NVIDIA driver \(libcuda.so.1 cannot be opened\)", *arguments)
        else:
            self.succeed(*arguments)

    def test_bad_variables(self):
        for name, value in [("GPU_STREAM_CHUNK_ELEMS", "abc"), ("GPU_STREAM_CHUNK_ELEMS", "0"),
                            ("GPU_STREAM_CHUNK_ELEMS", "-1"), ("WEFT_PATH", "sideways"), ("WEFT_SLOTS", "17")]:
            for arguments in ["field", "neg", self.good, "-o", self.out], ["info"]:
                self.refuse(USAGE, name + ".*" + value, *arguments, env={name: value})
        self.assertFalse(os.path.exists(self.out))


def floats(rows):
    width = len(rows[0])
    return with_header(header_text("<f4", "(%d, %d)" % (len(rows), width)),
                       b"".join(struct.pack("<%df" % width, *row) for row in rows))


def load(path):
    """Type, shape and flat values of a file that weft wrote."""
    with open(path, "rb") as file:
        raw = file.read()
    length, = struct.unpack("<H", raw[8:10])
    fields = eval(raw[10:10 + length].decode("latin1"), {})
    code = {"<f4": "f", "<i4": "i", "|u1": "B"}[fields["descr"]]
    data = raw[10 + length:]
    return fields["descr"], fields["shape"], list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data))


class Lattice(Case):
    X = [[2.4, -3.3, 1.2, 0.4], [-5.2, 3.1, 0.7, -2.9], [0.6, -1.1, 1.7, 0.1]]
    DIGITS = [0, 2, 3, 0, 0, 1, 0, 0] + [2, 1, 2, 3, 1, 3, 1, 1] + [3, 0, 2, 0, 0, 0, 0, 0]
    POINTS = [2, -3, 1, 0, -5, 3, 1, -3, 1, -1, 2, 0]

    def setUp(self):
        super().setUp()
        self.x, self.codes, self.y = self.write("x.npy", floats(self.X)), self.path("codes.npy"), self.path("y.npy")

    def test_known_codes(self):
        self.succeed("lattice", "encode", self.x, "-o", self.codes)
        self.assertEqual(load(self.codes), ("|u1", (3, 2, 4), self.DIGITS))
        self.succeed("lattice", "decode", self.codes, "-o", self.y)
        self.assertEqual(load(self.y), ("<f4", (3, 4), self.POINTS))
        self.succeed("lattice", "decode", self.codes, "-o", self.y, "--depth", "1")
        self.assertEqual(load(self.y)[2][:8], [4, -4, 0, 0, -8, 4, 0, -4])
        self.succeed("lattice", "quantize", self.x, "-o", self.y, "--lattice", "d4", "--q", "4", "--levels", "2")
        self.assertEqual(load(self.y), ("<f4", (3, 4), self.POINTS))
        self.succeed("lattice", "encode", self.x, "-o", self.codes, "--packed")
        self.assertEqual(load(self.codes), ("|u1", (3, 2), [0x38, 0x04, 0xe6, 0x5d, 0x23, 0x00]))
        self.succeed("lattice", "decode", self.codes, "-o", self.y, "--packed", "--device", "cpu")
        self.assertEqual(load(self.y)[2], self.POINTS)
        self.assertEqual(self.files(), ["codes.npy", "x.npy", "y.npy"])

    def test_retries_and_scales(self):
        x = self.write("x.npy", floats([[20.3, 20.4], [1, 1], [1e6, 0]]))
        scales = self.path("t.npy")
        form = ["--lattice", "Z2", "--max-retries", "3"]
        report = json.loads(self.succeed("lattice", "encode", x, "-o", self.codes, *form, "--scales", scales, "--json"))
        self.assertEqual((report["vectors"], report["retried"], report["unresolved"]), (3, 2, 1))
        self.assertEqual(load(scales), ("<i4", (3,), [2, 0, -4]))
        self.succeed("lattice", "decode", self.codes, "-o", self.y, *form, "--scales", scales)
        wanted = load(self.y)
        # The largest number of retries is read from the counts.
        self.succeed("lattice", "decode", self.codes, "-o", self.y, "--lattice", "Z2", "--scales", scales)
        self.assertEqual(load(self.y), wanted)
        # Twelve retries of a quarter are a factor of exactly 8.
        quarters = ["--lattice", "Z2", "--alpha", "0.25", "--max-retries", "12", "--scales", scales]
        self.succeed("lattice", "encode", self.write("far.npy", floats([[40, 0]])), "-o", self.codes, *quarters)
        self.assertEqual(load(scales)[2], [12])
        self.succeed("lattice", "decode", self.codes, "-o", self.y, *quarters)
        self.assertEqual(load(self.y)[2], [40, 0])
        many = self.write("many.npy", floats([[20.3, 20.4], [1, 1], [1e6, 0]]))
        steep = ["--lattice", "Z2", "--alpha", "4", "--scales", scales]
        self.succeed("lattice", "encode", many, "-o", self.codes, *steep, "--max-retries", "16")
        self.succeed("lattice", "decode", self.codes, "-o", self.y, *steep)
        self.succeed("lattice", "encode", x, "-o", self.codes, *form, "--scales", scales)
        for operation in ["encode", "quantize"]:
            done = self.run_weft("lattice", operation, x, "-o", self.codes, *form, "--scales", scales)
            self.assertRegex(done.stderr, "weft: 1 of 3 vectors overload and stand for wrong values")
        self.succeed("lattice", "encode", x, "-o", self.codes, *form, "--scales", scales)
        self.succeed("lattice", "decode", self.codes, "-o", self.y, *form, "--scales", scales)
        self.assertEqual(load(self.y)[2][:4], [20, 20, 1, 1])
        self.succeed("lattice", "quantize", x, "-o", self.path("z.npy"), *form, "--scales", scales)
        self.assertEqual(load(self.path("z.npy")), load(self.y))
        self.refuse(USAGE, r"t.npy: vector 0 has too many retries \(got 2", "lattice", "decode", self.codes, "-o", self.y,
                    "--lattice", "Z2", "--max-retries", "1", "--scales", scales)
        self.refuse(USAGE, "same file", "lattice", "encode", x, "-o", self.codes, "--scales", self.codes)
        self.refuse(FAILED, "nowhere/t.npy", "lattice", "encode", x, "-o", self.path("new.npy"), "--lattice", "Z2",
                    "--scales", self.path("nowhere/t.npy"))
        self.assertNotIn("new.npy", self.files())

    def test_no_output_is_another_file_of_the_command(self):
        x, scales = self.write("x.npy", floats([[1, 2], [3, 4]])), self.path("t.npy")
        self.succeed("lattice", "encode", x, "-o", self.codes, "--lattice", "Z2", "--scales", scales)
        os.link(x, self.path("hard.npy"))
        os.symlink("x.npy", self.path("soft.npy"))
        os.symlink(self.folder.name, self.path("folder"))
        os.symlink("new.npy", self.path("dangling.npy"))
        before = {name: self.content(name) for name in ("x.npy", "codes.npy", "t.npy")}
        for same in x, self.path("./x.npy"), self.path("hard.npy"), self.path("soft.npy"), self.path("folder/x.npy"):
            for operation in "encode", "quantize":
                self.refuse(USAGE, "--scales and input are the same file", "lattice", operation, x, "-o",
                            self.path("new.npy"), "--lattice", "Z2", "--scales", same)
                self.refuse(USAGE, "output and input are the same file", "lattice", operation, x, "-o", same,
                            "--lattice", "Z2")
        self.refuse(USAGE, "output and input are the same file", "lattice", "decode", self.codes, "-o", self.codes,
                    "--lattice", "Z2")
        self.refuse(USAGE, "output and --scales are the same file", "lattice", "decode", self.codes, "-o", scales,
                    "--lattice", "Z2", "--scales", scales)
        for new in self.path("new.npy"), self.path("folder/new.npy"), self.path("dangling.npy"):
            self.refuse(USAGE, "output and --scales are the same file", "lattice", "encode", x, "-o",
                        self.path("new.npy"), "--lattice", "Z2", "--scales", new)
        y, w = self.write("y.npy", floats([[1, 2]])), self.write("w.npy", floats([[5, 6]]))
        for role, out in ("X", x), ("X", self.path("hard.npy")), ("Y", y), ("--weights", w):
            self.refuse(USAGE, "output and %s are the same file" % role, "kernel", x, y, "--weights", w, "-o", out)
        self.refuse(USAGE, "output and input are the same file", "encode", "angle", x, "-o", self.path("soft.npy"),
                    "--qubits", "2")
        self.assertFalse(os.path.exists(self.path("new.npy")))
        for name, content in before.items():
            self.assertEqual(self.content(name), content, name)

    def test_rows_of_any_width(self):
        numbers = random.Random(5)
        for lattice, width, flags in [("D4", 10, []), ("E8", 3, ["--packed"]), ("Z2", 5, ["--packed", "--q", "3", "--levels", "1"])]:
            rows = [[numbers.randrange(-2, 2) / 2 for _ in range(width)] for _ in range(7)]
            x = self.write("x.npy", floats(rows))
            form = ["--lattice", lattice, *flags]
            self.succeed("lattice", "encode", x, "-o", self.codes, *form)
            more = ["--width", str(width)] + (["--rows", "7"] if lattice == "Z2" else [])
            self.succeed("lattice", "decode", self.codes, "-o", self.y, *form, *more)
            quantized = [flag for flag in form if flag != "--packed"]
            self.succeed("lattice", "quantize", x, "-o", self.path("z.npy"), *quantized)
            self.assertEqual(load(self.y), load(self.path("z.npy")))
            self.assertEqual(load(self.y)[1], (7, width))
        self.refuse(USAGE, "need --rows", "lattice", "decode", self.codes, "-o", self.y, *form)
        self.refuse(USAGE, r"--rows does not fit \(got 9 rows of 1 vectors of 4 bits, need the 11 bytes", "lattice", "decode",
                    self.codes, "-o", self.y, *form, "--rows", "9")
        for rows in "281474976710656", "0":
            self.refuse(USAGE, "--rows does not fit", "lattice", "decode", self.codes, "-o", self.y, *form, "--rows", rows,
                        "--width", "281474976710656")

    def test_dither(self):
        for seed in "1", "18446744073709551615":
            form = ["--beta", "0.25", "--q", "16", "--dither", "--seed", seed]
            self.succeed("lattice", "encode", self.x, "-o", self.codes, *form)
            self.succeed("lattice", "decode", self.codes, "-o", self.y, *form)
            for got, want in zip(load(self.y)[2], sum(self.X, [])):
                self.assertLess(abs(got - want), 0.2501)
        first = load(self.codes)
        self.succeed("lattice", "encode", self.x, "-o", self.codes, "--beta", "0.25", "--q", "16", "--dither")
        self.assertNotEqual(load(self.codes), first)

    def test_beta(self):
        numbers = random.Random(6)
        sample = self.write("s.npy", floats([[numbers.gauss(0, 1) for _ in range(8)] for _ in range(500)]))
        report = json.loads(self.succeed("lattice", "beta", sample, "--lattice", "E8", "--json", "--steps", "20"))
        self.assertIn(len(report["trials"]), (30, 40, 50))
        self.assertRegex(self.run_weft("lattice", "beta", sample, "--steps", "3").stderr,
                         r"^weft: --steps 3 is too few to be sure of the best beta \(got 3, need 16 or more\)$")
        self.assertEqual(report["best"], min(report["trials"], key=lambda trial: trial["mean_squared_error"]))
        self.assertTrue(0.2 < report["best"]["beta"] < 1, report["best"])
        self.assertRegex(self.succeed("lattice", "beta", sample), "^beta [0-9.]+: mean squared error")

    def test_beta_of_data_with_few_large_values(self):
        numbers = random.Random(3)
        for seed in range(3):
            rows = [[numbers.gauss(0, 1) / math.sqrt(numbers.gammavariate(1.5, 1) / 1.5) for _ in range(2)]
                    for _ in range(3000)]
            sample = self.write("s.npy", floats(rows))
            form = ["--lattice", "Z2", "--q", "4", "--levels", "1", "--json"]
            found = json.loads(self.succeed("lattice", "beta", sample, *form))["best"]
            grid = json.loads(self.succeed("lattice", "beta", sample, *form, "--steps", "400"))["best"]
            self.assertLessEqual(found["mean_squared_error"], 1.02 * grid["mean_squared_error"], (seed, found, grid))

    def test_no_vectors(self):
        empty = self.write("x.npy", with_header(header_text("<f4", "(0, 4)"), b""))
        self.succeed("lattice", "encode", empty, "-o", self.codes, "--scales", self.path("t.npy"))
        self.assertEqual(load(self.codes), ("|u1", (0, 2, 4), []))
        self.succeed("lattice", "decode", self.codes, "-o", self.y)
        self.assertEqual(load(self.y), ("<f4", (0, 4), []))
        self.succeed("lattice", "decode", self.codes, "-o", self.y, "--rows", "0")
        ragged = ["--lattice", "Z2", "--q", "3", "--levels", "1", "--packed"]
        self.succeed("lattice", "encode", self.write("y.npy", with_header(header_text("<f4", "(0, 2)"), b"")), "-o", self.codes,
                     *ragged)
        self.refuse(USAGE, "need --rows", "lattice", "decode", self.codes, "-o", self.y, *ragged)
        self.succeed("lattice", "decode", self.codes, "-o", self.y, *ragged, "--rows", "0")
        self.assertEqual(load(self.y), ("<f4", (0, 2), []))
        # An array without rows can be encoded, but it has no best beta; rows without values are refused.
        self.refuse(USAGE, r"x.npy: .*the sample is empty \(got 0 values, need", "lattice", "beta", empty)
        no_width = self.write("w.npy", with_header(header_text("<f4", "(4, 0)"), b""))
        self.refuse(USAGE, r"w.npy: wrong shape \(got \(4, 0\)", "lattice", "encode", no_width, "-o", self.codes)

    def test_bad_values(self):
        for value, text in (float("nan"), "nan"), (float("inf"), "inf"):
            bad = self.write("bad.npy", floats([[1, 2, 3, 4], [1, 2, value, 4]]))
            for operation in "encode", "quantize":
                self.refuse(USAGE, "bad.npy: .*value 2 of row 1 is not finite.*" + text, "lattice", operation, bad,
                            "-o", self.y)
        wide = self.write("wide.npy", floats([[0.0] * 8 for _ in range(9)] + [[0.0] * 7 + [float("inf")]]))
        self.refuse(USAGE, "wide.npy: .*value 7 of row 9 is not finite", "lattice", "encode", wide, "-o", self.y)
        digits = self.write("digits.npy", with_header(header_text("|u1", "(1, 2, 4)"), bytes([0, 1, 2, 3, 0, 0, 4, 0])))
        self.refuse(USAGE, "digits.npy: .*digit 2 of level 1 of vector 0 is out of range .got 4", "lattice", "decode",
                    digits, "-o", self.y)
        self.refuse(USAGE, "wrong shape", "lattice", "decode", digits, "-o", self.y, "--levels", "3")
        self.refuse(USAGE, "wrong shape", "lattice", "decode", digits, "-o", self.y, "--packed")
        self.refuse(USAGE, "--width does not fit", "lattice", "decode", digits, "-o", self.y, "--width", "5")
        self.refuse(USAGE, r"--width: out of range \(got 0, need 1 to ", "lattice", "decode", digits, "-o", self.y, "--width", "0")
        for rows in "0", "2":
            self.refuse(USAGE, r"digits.npy: --rows does not fit \(got %s, need the 1 of \(1, 2, 4\), or none" % rows, "lattice",
                        "decode", digits, "-o", self.y, "--rows", rows)
        self.refuse(USAGE, "wrong type", "lattice", "decode", self.x, "-o", self.y)
        self.refuse(USAGE, "wrong type", "lattice", "encode", digits, "-o", self.y)
        flat = self.write("flat.npy", with_header(header_text("<f4", "(4,)"), bytes(16)))
        self.refuse(USAGE, r"flat.npy: wrong shape \(got \(4,\)", "lattice", "encode", flat, "-o", self.y)
        self.assertFalse(os.path.exists(self.y))

    def test_usage(self):
        for arguments, pattern in [
            ([], "encode, decode, quantize, beta"),
            (["encode", self.x], "--output"),
            (["encode", self.x, "-o", self.y, "--lattice", "A2"], r"--lattice: no such lattice \(got A2, need Z2, D4 or E8"),
            (["encode", self.x, "-o", self.y, "--lattice", "1"], r"--lattice: no such lattice \(got 1"),
            (["encode", self.x, "-o", self.x], "x.npy: output and input are the same file"),
            (["encode", self.x, "-o", self.y, "--max-retries", "2"], "--max-retries needs --scales"),
            (["decode", self.x, "-o", self.y, "--max-retries", "2"], "--max-retries needs --scales"),
            (["encode", self.x, "-o", self.y, "--q", "2"], "--q.*no code for positive values"),
            (["encode", self.x, "-o", self.y, "--q", "17"], "--q.*17"),
            (["encode", self.x, "-o", self.y, "--levels", "0"], "--levels.*0"),
            (["encode", self.x, "-o", self.y, "--beta", "0"], r"--beta: out of range \(got 0, need 2\^-40 to 2\^40"),
            (["encode", self.x, "-o", self.y, "--beta", "nan"], "--beta: not a finite number .got nan"),
            (["encode", self.x, "-o", self.y, "--alpha", "-1"], "--alpha"),
            (["quantize", self.x, "-o", self.y, "--alpha", "4", "--max-retries", "99"], "max_retries"),
            (["encode", self.x, "-o", self.y, "--seed", "1"], "--dither"),
            (["decode", self.x, "-o", self.y, "--depth", "3"], "type|depth"),
            (["beta", self.x, "--steps", "1"], "steps"),
        ]:
            with self.subTest(arguments):
                self.assertEqual(self.refuse(USAGE, pattern, "lattice", *arguments), "")
        self.assertEqual(self.files(), ["x.npy"])


def number_options():
    """All (command, option) that take fractions, and all that take whole numbers."""
    lattice = [["lattice", operation, "x.npy", "-o", "y.npy"] for operation in ("encode", "decode", "quantize")]
    profile = [["profile", kernel] for kernel in ("field", "encode", "kernel", "lattice", "all")]
    ntt = ["profile", "ntt"], ["tune", "ntt"]
    beta, kernel, tiles = ["lattice", "beta", "x.npy"], ["kernel", "x.npy", "-o", "k.npy"], ["tune", "kernel"]
    fractions = [(lattice, "--beta --alpha"), ([beta], "--alpha"), (profile, "--max-seconds"), (profile[3:], "--beta"),
                 ([kernel], "--scale --jitter --vram-fraction"), ([tiles], "--flops")]
    wholes = [(lattice + [beta], "--q --levels --max-retries"), ([lattice[0] + ["--dither"], beta + ["--dither"]], "--seed"),
              ([lattice[1]], "--width --rows --depth"), ([beta], "--steps"), (profile, "--repeats --warmup --batch-sizes"),
              (profile[3:], "--q --levels"), (profile[1:3] + profile[4:], "--qubits"), (profile[:1], "--elements --jobs"),
              ([kernel], "--tile"), ([["encode", "angle", "x.npy", "-o", "s.npy"]], "--qubits"),
              ([["tune"]], "--elements --repeats"), (ntt, "--log-size --repeats"), ([tiles], "--samples --qubits --repeats")]
    return ([(command, option) for commands, options in rows for command in commands for option in options.split()]
            for rows in (fractions, wholes))


class Numbers(Case):
    """Wrong numbers are refused with the bounds, before the search for files and devices."""

    def test_refused(self):
        fractions, wholes = number_options()
        for options, words in (fractions, ["nan", "NAN", "inf", "1e999", "x", "1x", "0x1p3"]), (wholes, [
                "18446744073709551616", "-2", "1.5", "1e3", "0x10", "7x", "x", "nan"]):
            for command, option in options:
                for word in words:
                    if (option, word) == ("--tile", "18446744073709551616"):
                        word = "9223372036854775808"
                    with self.subTest(command=command, option=option, word=word):
                        need = "a finite number" if option == "--scale" else r".*\d"
                        pattern = r"%s: (not a|out of)[a-z ]* \(got %s, need %s" % (option, re.escape(word), need)
                        self.assertEqual(self.refuse(USAGE, pattern, *command, option + "=" + word), "")
        self.assertEqual(self.files(), [])

    def test_shape_of_a_file_without_header(self):
        raw = self.write("x.raw", bytes(16))
        for shape, text in ("2", "not a shape"), ("18446744073709551616,1", "out of range"), ("2,-2", "out of range"), (
                "2,2,2", "not a whole number"), ("2,", "got nothing"):
            self.refuse(USAGE, "--shape: .*" + text, "encode", "angle", raw, "-o", self.path("s.npy"), "--qubits", "2",
                        "--dtype-in", "float32", "--shape", shape)

    def test_help_shows_defaults(self):
        for command, texts in ["lattice encode", ["--beta NUMBER=1 ", "--seed N=0 ", "--max-retries N=0 "]], [
                "lattice decode", ["--width N  ", "--depth N=0 "]], ["kernel", ["--vram-fraction NUMBER=0.85 ", "--tile N=-1 "]], [
                "tune kernel", ["--repeats N=5 "]], ["profile lattice", ["--max-seconds S=5 "]]:
            shown = self.succeed(*command.split(), "--help")
            for text in texts:
                self.assertIn(text, shown)


class Rates(Case):
    """Small jobs have small rates, which are not shown as zeros."""

    def test_small_jobs(self):
        rate = r" \d+\.?\d* [KMG]?%s/s, "
        x = self.write("x.npy", floats([[0.5, 0.25]]))
        self.assertRegex(self.succeed("lattice", "encode", x, "-o", self.path("c.npy"), "--lattice", "Z2"), rate % "B")
        self.assertRegex(self.succeed("kernel", x, "-o", self.path("k.npy")), rate % "pairs")
        self.assertRegex(self.succeed("encode", "angle", x, "-o", self.path("s.npy"), "--qubits", "2"), rate % "samples")
        self.assertRegex(self.succeed("kernel", x, "--explain"), r"1 pairs, 4\.00 B\n")
        a = self.write("a.npy", with_header(header_text("<u8", "(1, 1)"), bytes(8)))
        self.assertRegex(self.succeed("field", "neg", a, "-o", self.path("n.npy"), "--field", "goldilocks"), rate % "B")


class NoDevice(Case):
    CAUSES = [({"WEFT_DEVICE": "nomatch"}, "nomatch"), ({"VK_DRIVER_FILES": "/nonexistent"}, "driver|device"),
              ({"WEFT_VULKAN_LIBRARY": "/nonexistent"}, "/nonexistent")]

    def test_field(self):
        good, out = self.write("good.npy", npy([1])), self.write("out.npy", b"before")
        for env, pattern in self.CAUSES:
            env = {"VK_ICD_FILENAMES": "", **env} if "VK_DRIVER_FILES" in env else env
            self.refuse(NO_DEVICE, pattern, "field", "neg", good, "-o", out, env=env)
        self.refuse(NO_DEVICE, "nomatch", "field", "neg", good, "-o", out, "--device", "nomatch")
        with open(out, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assertEqual(self.files(), ["good.npy", "out.npy"])

    def test_info_lists_what_is_there(self):
        for env, pattern in self.CAUSES:
            self.assertIn("weft ", self.refuse(NO_DEVICE, pattern, "info", env=env))
            report = json.loads(self.refuse(NO_DEVICE, pattern, "info", "--json", env=env))
            self.assertRegex(report["error"], pattern)
            self.assertNotIn("plan", report)
            self.assertEqual(bool(report["devices"]), "WEFT_DEVICE" in env)
        self.assertIn("device 0: ", self.refuse(NO_DEVICE, "nomatch", "info", env={"WEFT_DEVICE": "nomatch"}))


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.good = self.write("good.npy", npy([1, 2]))

    def test_output_cannot_be_written(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        for path, pattern in [(self.path("nowhere/out.npy"), "nowhere/out.npy: .*No such file"),
                              (self.path("good.npy/out.npy"), "Not a directory"),
                              (self.path("folder"), "directory"), (self.path("pipe"), "regular file"),
                              ("/dev/null", "regular file"), ("/proc/out.npy", "/proc/out.npy")]:
            self.refuse(FAILED, pattern, "field", "neg", self.good, "-o", path)
        if os.geteuid() != 0:
            self.write("locked.npy", b"before")
            os.chmod(self.path("locked.npy"), 0o444)
            self.refuse(FAILED, "Permission denied", "field", "neg", self.good, "-o", self.path("locked.npy"))
            os.chmod(self.path("folder"), 0o555)
            self.refuse(FAILED, "Permission denied", "field", "neg", self.good, "-o", self.path("folder/out.npy"))

    def test_disk_full(self):
        big = self.write("big.npy", npy([1] * 100000))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        out = self.write("out.npy", b"before")
        self.refuse(FAILED, "out.npy: .*(File too large|No space)", "field", "neg", big, "-o", out,
                    preexec_fn=limit, env={"WEFT_CACHE": "0"})
        with open(out, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assertEqual(self.files(), ["big.npy", "good.npy", "out.npy"])

    def test_report_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            for arguments in ["info"], ["field", "list"], ["--help"], \
                    ["field", "neg", self.good, "-o", self.path("out.npy"), "--json"]:
                done = subprocess.run([WEFT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, FAILED, done.stderr)
                self.assertIn("standard output", done.stderr)

    def zeros(self, name, elements):
        """A sparse file whose elements are 0."""
        with open(self.path(name), "wb") as file:
            file.write(with_header(header_text("<u8", "(%d, 6)" % elements), b""))
            file.truncate(file.tell() + 48 * elements)
        return self.path(name)

    def test_signals_leave_nothing_behind(self):
        big = self.zeros("big.npy", 8 << 20)
        self.write("out.npy", b"before")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM,
                       signal.SIGUSR1, signal.SIGUSR2, signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL):
            with self.subTest(signal=number.name):
                process = subprocess.Popen([WEFT, "field", "neg", big, "-o", self.path("out.npy")],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
                nameless = self.wait_for_output(process)
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
                if nameless or number != signal.SIGKILL:
                    self.assertEqual(self.files(), ["big.npy", "good.npy", "out.npy"])
                self.assertEqual(self.content("out.npy"), b"before")

    def test_closed_standard_descriptors(self):
        # Messages of the library and of drivers must not reach a file that was opened with the descriptor of stderr.
        good, x = self.good, self.write("x.npy", with_header(header_text("<f4", "(2, 8)"), struct.pack("<16f", *[1] * 16)))
        for arguments in (["field", "add", good, good], ["kernel", x], ["encode", "angle", x, "--qubits", "8"],
                          ["lattice", "encode", x, "--lattice", "E8", "--beta", "1"]):
            self.succeed(*arguments, "-o", self.path("wanted"))
            for closed in "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-":
                with self.subTest(command=arguments[0], closed=closed):
                    out = self.path("out")
                    done = subprocess.run(["sh", "-c", '"$@" ' + closed, "sh", WEFT, *arguments, "-o", out],
                                          env={**os.environ, "WEFT_LOG": "info"})
                    self.assertEqual(done.returncode, 0)
                    self.assertEqual(self.content("out"), self.content("wanted"))

    def test_input_that_changes(self):
        n = 2 << 20
        big = self.zeros("big.npy", n)
        rows = self.write("rows.npy", with_header(header_text("<f4", "(3000, 10)"), bytes(4 * 30000)))
        layers = self.write("layers.npy", with_header(header_text("<f8", "(2, 10)"), bytes(8 * 20)))
        values = self.path("values.npy")
        with open(values, "wb") as file:
            file.write(with_header(header_text("<f4", "(%d, 8)" % n), b""))
            file.truncate(file.tell() + 32 * n)
        for arguments, changed in (
                (["field", "inverse", big], big), (["field", "mul", big, big], big),
                (["kernel", rows, "--weights", layers, "--reupload"], layers),
                (["lattice", "encode", values, "--lattice", "E8", "--beta", "1", "--levels", "4"], values)):
            with self.subTest(command=arguments[:2]):
                process = subprocess.Popen([WEFT, *arguments, "-o", self.path("out.npy")], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                self.wait_for_output(process)
                with open(changed, "r+b") as file:
                    file.seek(-1, os.SEEK_END)
                    file.write(b"\0")
                _, errors = process.communicate(timeout=120)
                self.assertEqual(process.returncode, USAGE, errors)
                self.assertIn(os.path.basename(changed) + ": the file was written to while it was read", errors)
                self.assertNotIn("out.npy", self.files())

    def test_trace_over_another_file(self):
        out = self.path("out.npy")
        before = self.content("good.npy")
        for trace in self.good, out:
            self.refuse(USAGE, "WEFT_TRACE( and .*)? are the same file", "field", "neg", self.good, "-o", out,
                        env={"WEFT_TRACE": trace})
        self.assertEqual(self.content("good.npy"), before)
        self.refuse(USAGE, "WEFT_TRACE are the same file", "profile", "field", "--json", out, env={"WEFT_TRACE": out})

    def test_links_and_owners(self):
        os.symlink(self.path("target.json"), self.path("link.json"))
        self.succeed("profile", "field", "--elements", "64", "--jobs", "1", "--json", self.path("link.json"))
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertTrue(json.loads(self.content("target.json"))["verified"])
        if os.geteuid() != 0:
            return  # only root can give files to another user
        nobody = 65534
        owned = self.write("owned.npy", b"before")
        os.chmod(owned, 0o640)
        os.chown(owned, nobody, nobody)
        self.succeed("field", "neg", self.good, "-o", owned)
        status = os.stat(owned)
        self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (nobody, nobody, 0o640))
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o1777)
        self.write("other.npy", b"before")
        for link in "shared/to_file", "shared/to_nothing":
            os.symlink(self.path("other.npy" if link == "shared/to_file" else "new.npy"), self.path(link))
            os.lchown(self.path(link), nobody, nobody)
            self.refuse(FAILED, "a link of another user", "field", "neg", self.good, "-o", self.path(link))
        self.assertNotIn("new.npy", self.files())
        self.assertEqual(self.content("other.npy"), b"before")

    def test_results_from_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        self.refuse(USAGE, "pipe: cannot be read", "profile", "from", self.path("pipe"))

    def test_input_that_shrinks(self):
        big = self.zeros("big.npy", 16 << 20)
        process = subprocess.Popen([WEFT, "field", "neg", big, "-o", self.path("out.npy"), "--checked"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        mapped = False
        while not mapped and process.poll() is None:
            with open("/proc/%d/maps" % process.pid) as maps:
                mapped = "big.npy" in maps.read()
        # The check of the values has begun and takes some time.
        os.truncate(big, 4096)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, USAGE, errors)
        self.assertRegex(errors, "(?m)^weft: an input file shrank")
        self.assertEqual(self.files(), ["big.npy", "good.npy"])

    def test_input_that_shrinks_under_the_device(self):
        # A software device reads imported pages on threads of the driver, which block all signals.
        n = 1 << 20
        big, out = self.zeros("big.npy", n), self.path("out.npy")
        for path in "imported", "staged":
            with self.subTest(path=path):
                os.truncate(big, 128)
                os.truncate(big, 128 + 48 * n)
                process = subprocess.Popen([WEFT, "field", "inverse", big, "-o", out], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True, env=dict(os.environ, WEFT_PATH=path))
                # The output is made when the input is mapped, and before a device is opened.
                self.wait_for_output(process)
                os.truncate(big, 4096)
                _, errors = process.communicate(timeout=60)
                if "path imported needs" in errors:
                    self.skipTest(errors)
                self.assertEqual(process.returncode, USAGE, errors)
                self.assertRegex(errors, "(?m)^weft: an input file shrank or became unreadable while it was read$")
                self.assertEqual(self.files(), ["big.npy", "good.npy"])


class Reports(Case):
    def test_field_report(self):
        good = self.write("good.npy", npy([1, 2, 3]))
        report = json.loads(self.succeed("field", "add", good, good, "-o", self.path("out.npy"), "--json"))
        self.assertEqual((report["op"], report["field"], report["elements"]), ("add", "bls12-381-fp", 3))
        self.assertEqual((report["bytes_in"], report["bytes_out"]), (288, 144))
        self.assertGreater(report["seconds"], 0)
        self.assertGreater(report["gb_per_s"], 0)
        self.assertIn(report["path"], ["staged", "direct", "imported", "host", "mixed"])
        self.assertTrue(report["device"])
        self.assertIn("3 elements", self.succeed("field", "neg", good, "-o", self.path("out.npy")))

    def test_field_list(self):
        self.assertIn("bls12-381-fp", self.succeed("field", "list"))
        fields = json.loads(self.succeed("field", "list", "--json"))
        self.assertEqual(fields[0], {"name": "bls12-381-fp", "bits": P.bit_length(), "limbs": 6, "dtype": "<u8",
                                     "modulus": hex(P), "two_adicity": 0})
        self.assertEqual([(f["name"], int(f["modulus"], 16)) for f in fields], list(FIELDS.items()))
        for field in fields:
            self.assertEqual(field["bits"], FIELDS[field["name"]].bit_length())
            self.assertEqual(field["dtype"], "<u4" if field["bits"] == 31 else "<u8")

    def test_info(self):
        report = json.loads(self.succeed("info", "--json"))
        chosen, = [device for device in report["devices"] if device["chosen"]]
        self.assertEqual(report["plan"]["device"], chosen["index"])
        self.assertEqual(chosen["refused"], [])
        self.assertTrue(chosen["queue_families"] and chosen["driver"] and report["plan"]["reasons"])
        self.assertGreaterEqual(chosen["limits"]["max_storage_buffer_range"], 1 << 27)
        self.assertTrue(report["cache"]["state"])
        text = self.succeed("info", "--device", str(chosen["index"]))
        address, node = chosen["pci_address"], chosen["numa_node"]
        if address is None:
            self.assertIsNone(node)
        else:
            self.assertRegex(address, r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
            self.assertIn(address + ("" if node is None else f", next to NUMA node {node}"), text)
        startup = report["startup"]
        self.assertEqual(startup.pop("first_result"), "verified")
        self.assertEqual(set(startup), {name + "_s" for name in (
            "before", "loader", "instance", "devices", "device", "caches", "first_pipeline", "first_dispatch",
            "first_result")})
        for name, value in startup.items():
            self.assertGreater(value, 0, name)
        parts = sum(value for name, value in startup.items() if name != "first_result_s")
        self.assertLessEqual(parts, startup["first_result_s"])
        low, high = (chosen["limits"][end + "_subgroup_size"] for end in ("min", "max"))
        self.assertTrue(0 < low <= chosen["limits"]["subgroup_size"] <= high)
        self.assertEqual("subgroup_size_control" in chosen["features"],
                         any("can be asked for" in reason for reason in report["plan"]["reasons"]))
        for word in chosen["name"] + "  [chosen]", "driver", "queues", "limits", "features", "reasons", "cache", \
                "start-up", "first result", "verified":
            self.assertIn(word, text)
        cold = json.loads(self.succeed("info", "--json", env={"WEFT_CACHE": "0"}))
        self.assertEqual(cold["cache"]["state"], "off")
        # --device wins over the variable.
        self.succeed("info", "--device", chosen["uuid"][:8], env={"WEFT_DEVICE": "nomatch"})
        # Of a list, a command takes the best device.
        for setting in "all", f"{chosen['index']}, {chosen['uuid'][:8]}":
            self.assertIn(chosen["name"] + "  [chosen]", self.succeed("info", "--device", setting))
        self.refuse(NO_DEVICE, "has an empty name", "info", "--device", "0,,1")

    def write_manifest(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_info_shows_the_loader_and_the_manifests_of_drivers(self):
        loader = json.loads(self.succeed("info", "--json"))["loader"]
        self.assertTrue(os.path.isfile(loader["file"]))
        self.assertTrue([d for d in loader["drivers"] if not d["problem"] and os.path.isfile(d["manifest"])])
        self.assertIn("loader     " + loader["file"], self.succeed("info"))
        good = self.write_manifest("good.json", '{"ICD": {"library_path": "./driver.so", "api_version": "1.3.5"}}')
        bare = self.write_manifest("bare.json", '{"ICD": {"library_path": "driver_of_nobody.so"}}')
        damaged = self.write_manifest("damaged.json", "{[")
        with open(self.path("driver.so"), "w"):
            pass
        want = [(good, "1.3.5", self.path("driver.so"), ""), (damaged, "", "", "names no library"),
                (bare, "", "driver_of_nobody.so", ""), (self.path("none.json"), "", "", "cannot be read")]

        def drivers(**env):
            loader = json.loads(self.run_weft("info", "--json", env=env).stdout)["loader"]
            return [(d["manifest"], d["api"], d["library"], d["problem"]) for d in loader["drivers"]]
        for name in "VK_DRIVER_FILES", "VK_ICD_FILENAMES":
            env = {"VK_DRIVER_FILES": "", name: ":".join(w[0] for w in want)}
            self.assertEqual(drivers(**env), want)
        self.assertEqual(drivers(VK_DRIVER_FILES=self.folder.name), sorted(want[:3]))
        text = self.run_weft("info", env={"VK_DRIVER_FILES": good}).stdout
        self.assertIn("drivers    %s (VK_DRIVER_FILES): %s, Vulkan 1.3.5" % (good, self.path("driver.so")), text)
        env = {"VK_DRIVER_FILES": "", "VK_ICD_FILENAMES": ""}
        standard = drivers(**env)
        self.assertEqual(drivers(VK_ADD_DRIVER_FILES=good, **env), [want[0]] + standard)
        os.makedirs(self.path("data/vulkan/icd.d"))
        os.rename(damaged, self.path("data/vulkan/icd.d/damaged.json"))
        self.assertIn(self.path("data/vulkan/icd.d/damaged.json"),
                      [d[0] for d in drivers(XDG_DATA_DIRS=self.path("data"), **env)])

    def test_info_tells_of_a_loader_of_an_environment(self):
        system = json.loads(self.succeed("info", "--json"))["loader"]["file"]
        os.mkdir(self.path("lib"))
        copy = self.path("lib/libvulkan.so.1")
        shutil.copy(system, copy)
        env = {"WEFT_VULKAN_LIBRARY": copy, "CONDA_PREFIX": self.folder.name}
        loader = json.loads(self.succeed("info", "--json", env=env))["loader"]
        self.assertEqual((loader["file"], loader["environment"]), (copy, self.folder.name))
        self.assertIn("of the environment %s, not of the system" % self.folder.name, self.succeed("info", env=env))
        other = json.loads(self.succeed("info", "--json", env={"CONDA_PREFIX": self.folder.name}))["loader"]
        self.assertEqual((other["file"], other["environment"]), (system, None))

    def test_help_has_an_example_each(self):
        for command in [], ["info"], ["field"], ["field", "list"], *(["field", op] for op in OPERATIONS), \
                ["ntt"], ["encode"], ["kernel"], ["lattice"], ["lattice", "encode"], ["lattice", "decode"], ["lattice", "quantize"], ["lattice", "beta"]:
            self.assertRegex(self.succeed(*command, "--help"), "Example: weft " + " ".join(command))
        self.assertRegex(self.succeed("--version"), r"^weft \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
