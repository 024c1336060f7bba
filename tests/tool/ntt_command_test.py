#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft ntt: transforms and low-degree extensions compared with polynomials that Python's integers evaluate point by
point, reports, and what is refused.

Usage: ntt_command_test.py PATH_OF_WEFT [unittest arguments].
"""
import json
import os
import random
import struct
import sys
import unittest

import command_test
from command_test import FIELDS, USAGE, Case, header_text, with_header

# Generators of the multiplicative groups; the other fields have no transforms.
GENERATORS = {"bls12-381-fr": 7, "bn254-fr": 5, "bls12-377-fp": 15, "bls12-377-fr": 22, "stark252": 3, "goldilocks": 7,
              "babybear": 31, "koalabear": 3}


def two_adicity(p):
    return ((p - 1) & -(p - 1)).bit_length() - 1


def root_of(name, n):
    """The root of order n that weft documents."""
    p = FIELDS[name]
    return pow(pow(GENERATORS[name], (p - 1) >> two_adicity(p), p), (1 << two_adicity(p)) // n, p)


def evaluate(p, coefficients, points):
    values = []
    for at in points:
        value = 0
        for c in reversed(coefficients):
            value = (value * at + c) % p
        values.append(value)
    return values


def forward(p, x, w, g=1):
    return evaluate(p, x, [g * pow(w, j, p) % p for j in range(len(x))])


def inverse(p, values, w, g=1):
    """By the inverse matrix, whose entries are powers of 1 / w."""
    n = len(values)
    sums = evaluate(p, values, [pow(w, -j, p) for j in range(n)])
    return [s * pow(n, -1, p) * pow(g, -i, p) % p for i, s in enumerate(sums)]


def bit_reversed(x):
    bits = len(x).bit_length() - 1
    return [x[int(format(i, "0%db" % bits)[::-1], 2)] for i in range(len(x))]


def columns(rows):
    return [list(column) for column in zip(*rows)]


class NttCase(Case):
    def size(self, name):
        bits = FIELDS[name].bit_length()
        return 4 if bits == 31 else 8 if bits == 64 else 48 if bits > 256 else 32

    def write_rows(self, file, name, rows):
        """A list of numbers, or of lists of numbers."""
        size, batch = self.size(name), isinstance(rows[0], list)
        shape = ([len(rows), len(rows[0])] if batch else [len(rows)]) + [size // 8] * (size > 8)
        flat = [v for row in rows for v in row] if batch else rows
        return self.write(file, with_header(header_text("<u4" if size == 4 else "<u8", tuple(shape)),
                                            b"".join(v.to_bytes(size, "little") for v in flat)))

    def read_rows(self, file, name):
        raw, size = self.content(file), self.size(name)
        start = 10 + struct.unpack("<H", raw[8:10])[0]
        header = eval(raw[10:start].decode("latin1"), {})
        self.assertEqual(header["descr"], "<u4" if size == 4 else "<u8")
        shape = header["shape"]
        if size > 8:
            self.assertEqual(shape[-1], size // 8)
            shape = shape[:-1]
        values = [int.from_bytes(raw[i:i + size], "little") for i in range(start, len(raw), size)]
        if len(shape) == 1:
            return values
        self.assertEqual(len(values), shape[0] * shape[1])
        return [values[i:i + shape[1]] for i in range(0, len(values), shape[1])]

    def rows(self, name, batch, n):
        numbers = random.Random("%s %d %d" % (name, batch, n))
        p = FIELDS[name]
        return [[numbers.choice([0, 1, p - 1, numbers.randrange(p), numbers.randrange(p)]) for _ in range(n)]
                for _ in range(batch)]

    def transform(self, name, rows, *arguments):
        source = self.write_rows("x.npy", name, rows)
        self.succeed("ntt", source, "-o", self.path("y.npy"), "--field", name, "--checked", *arguments)
        return self.read_rows("y.npy", name)


class Transforms(NttCase):
    def test_every_field(self):
        for name in GENERATORS:
            p, rows, w = FIELDS[name], self.rows(name, 3, 32), root_of(name, 32)
            g = random.Random(name).randrange(2, p)
            with self.subTest(field=name):
                self.assertEqual(self.transform(name, rows, "--coset", str(g)), [forward(p, x, w, g) for x in rows])
                self.assertEqual(self.transform(name, rows, "--inverse", "--coset", hex(g)),
                                 [inverse(p, x, w, g) for x in rows])

    def test_one_transform_without_an_axis_for_it(self):
        for name in "bn254-fr", "goldilocks", "babybear":
            x, = self.rows(name, 1, 16)
            self.assertEqual(self.transform(name, x), forward(FIELDS[name], x, root_of(name, 16)))

    def test_sizes(self):
        p, name = FIELDS["goldilocks"], "goldilocks"
        for n in 2, 512:
            x, = self.rows(name, 1, n)
            self.assertEqual(self.transform(name, x), forward(p, x, root_of(name, n)), n)
        # Of several passes: a polynomial of few terms.
        n = 1 << 16
        x = [0] * n
        x[0], x[1], x[n // 2 + 3] = 5, p - 1, 77
        w = root_of(name, n)
        wanted = [(5 - a + 77 * pow(a, n // 2 + 3, p)) % p for a in (pow(w, j, p) for j in range(n))]
        self.assertEqual(self.transform(name, x), wanted)

    def test_orders_and_layouts(self):
        for name in "babybear", "bls12-381-fr":
            p, n = FIELDS[name], 64
            rows, w = self.rows(name, 3, n), root_of(name, n)
            natural = [forward(p, x, w) for x in rows]
            orders = {"nn": (rows, natural), "nr": (rows, [bit_reversed(x) for x in natural]),
                      "rn": ([bit_reversed(x) for x in rows], natural)}
            for order, (given, wanted) in orders.items():
                with self.subTest(field=name, order=order):
                    self.assertEqual(self.transform(name, given, "--order", order), wanted)
                    self.assertEqual(self.transform(name, columns(given), "--order", order, "--layout", "columns"),
                                     columns(wanted))

    def test_extensions(self):
        for name, layout in ("babybear", "columns"), ("goldilocks", "rows"), ("bls12-377-fr", "rows"):
            p, n, rows = FIELDS[name], 16, self.rows(name, 3, 16)
            given = columns(rows) if layout == "columns" else rows
            for times in (2, 16) if name == "babybear" else (8,) if name == "goldilocks" else (4,):
                w, g = root_of(name, n * times), GENERATORS[name]
                wanted = []
                for x in rows:
                    coefficients = inverse(p, x, pow(w, times, p))
                    wanted.append(forward(p, coefficients + [0] * (n * times - n), w, g))
                with self.subTest(field=name, times=times):
                    got = self.transform(name, given, "--lde", str(times), "--coset", str(g), "--layout", layout)
                    self.assertEqual(columns(got) if layout == "columns" else got, wanted)

    def test_another_root_and_montgomery_form(self):
        name, n = "koalabear", 32
        p, r = FIELDS[name], 2**32
        rows, g = self.rows(name, 2, n), 5
        w = pow(root_of(name, n), 3, p)
        wanted = [forward(p, x, w, g) for x in rows]
        self.assertEqual(self.transform(name, rows, "--root", str(w), "--coset", str(g)), wanted)
        form = lambda rows: [[v * r % p for v in x] for x in rows]
        self.assertEqual(self.transform(name, form(rows), "--montgomery", "--root", str(w * r % p), "--coset",
                                        str(g * r % p)), form(wanted))

    def test_several_devices_write_the_same_file(self):
        name, rows = "babybear", self.rows("babybear", 40, 256)
        alone = self.transform(name, rows, "--device", "cpu")
        self.assertEqual(self.transform(name, rows, "--device", "cpu,cpu"), alone)


class Refusals(NttCase):
    def setUp(self):
        super().setUp()
        self.x = self.write_rows("x.npy", "goldilocks", self.rows("goldilocks", 2, 16))
        self.out = self.path("out.npy")

    def check(self, pattern, *arguments, path=None, output=True):
        self.refuse(USAGE, pattern, "ntt", path or self.x, *(["-o", self.out] if output else []), *arguments)
        self.assertFalse(os.path.exists(self.out))

    def test_arguments(self):
        for arguments, pattern in [
            (["--field", "mersenne31"], "wrong type"),
            (["--order", "rr"], "--order.*nn"),
            (["--layout", "planes"], "--layout.*rows"),
            (["--lde", "3"], "--lde"),
            (["--lde", "4", "--inverse"], "--lde: extends values"),
            (["--coset", "0"], "coset is zero"),
            (["--coset", "x"], "--coset.*need a number"),
            (["--coset", str(FIELDS["goldilocks"])], "--coset: not canonical"),
            (["--root", str(2**64)], "--root: not canonical"),
            (["--root", "1"], r"root.*order 2\^4"),
            (["--inner"], "not expected"),
        ]:
            with self.subTest(arguments):
                self.check(pattern, *arguments)
        self.check("--output: no file name", output=False)

    def test_fields_without_transforms(self):
        for name in set(FIELDS) - set(GENERATORS):
            path = self.write_rows("none.npy", name, [1, 2])
            self.check(name + " has no transforms", "--field", name, path=path)

    def test_shapes(self):
        def array(shape, size=8, descr="<u8"):
            count = 1
            for extent in shape:
                count *= extent
            return self.write("shape.npy", with_header(header_text(descr, shape), bytes(count * size)))

        self.check(r"shape.npy: wrong shape .*\(4, 4, 4\), need \(n,\) or \(batch, n\)", path=array((4, 4, 4)))
        self.check(r"wrong shape .*\(4, 5\), need \(n, 4\) or \(n, batch, 4\)", "--field", "bn254-fr", "--layout",
                   "columns", path=array((4, 5)))
        self.check("got 12 elements along axis 1", path=array((8, 12)))
        self.check("got 12 elements along axis 0", "--layout", "columns", path=array((12, 8)))
        self.check("got 1 elements", path=array((1,)))
        self.check("need uint32", "--field", "babybear")

    def test_values(self):
        p = FIELDS["goldilocks"]
        rows = self.rows("goldilocks", 3, 8)
        rows[2][5] = p
        self.check(r"bad.npy: element \(2, 5\) is not canonical.*%x" % p, "--checked",
                   path=self.write_rows("bad.npy", "goldilocks", rows))
        self.check("bad.npy: row 5 is not canonical", "--checked",
                   path=self.write_rows("bad.npy", "goldilocks", rows[2]))

    def test_output_over_input(self):
        self.refuse(USAGE, "x.npy", "ntt", self.x, "-o", self.x)
        self.assertEqual(self.files(), ["x.npy"])


class Reports(NttCase):
    def setUp(self):
        super().setUp()
        self.x = self.write_rows("x.npy", "babybear", self.rows("babybear", 3, 64))

    def test_report(self):
        arguments = "ntt", self.x, "-o", self.path("y.npy"), "--field", "babybear"
        report = json.loads(self.succeed(*arguments, "--lde", "4", "--json"))
        self.assertEqual([report[key] for key in ("action", "field", "order", "layout", "log_size", "transforms", "blowup")],
                         ["extend", "babybear", "nn", "rows", 6, 3, 4])
        self.assertEqual((report["bytes_in"], report["bytes_out"]), (3 * 64 * 4, 3 * 256 * 4))
        self.assertGreater(report["seconds"], 0)
        self.assertTrue(report["passes"])
        self.assertIn("ntt babybear inverse: 3 transforms of 2^6 elements", self.succeed(*arguments, "--inverse"))

    def test_explain(self):
        arguments = "ntt", self.x, "--field", "babybear", "--explain"
        plan = json.loads(self.succeed(*arguments, "--lde", "4", "--json"))
        self.assertEqual((plan["log_size"], plan["transforms"], plan["bytes_out"]), (6, 3, 3 * 256 * 4))
        self.assertEqual((int(plan["root"], 16), plan["root_log_order"]), (root_of("babybear", 256), 8))
        self.assertTrue(plan["fits"])
        self.assertIn("root of order 2^6, in plain form: 0x%08x" % root_of("babybear", 64), self.succeed(*arguments))
        self.refuse(USAGE, "root is no root of unity", *arguments, "--root", "5")
        self.refuse(USAGE, "coset is zero", *arguments, "--coset", "0")
        self.assertEqual(self.files(), ["x.npy"])

    def test_no_transforms(self):
        empty = self.write("empty.npy", with_header(header_text("<u4", (0, 8)), b""))
        self.succeed("ntt", empty, "-o", self.path("y.npy"), "--field", "babybear", "--lde", "2")
        self.assertIn(b"(0, 16)", self.content("y.npy"))

    def test_list_has_the_two_adicity(self):
        for field in json.loads(self.succeed("field", "list", "--json")):
            p = FIELDS[field["name"]]
            self.assertEqual(field["two_adicity"], two_adicity(p) if field["name"] in GENERATORS else 0)


if __name__ == "__main__":
    command_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
