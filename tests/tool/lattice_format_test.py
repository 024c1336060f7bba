#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Codes of D4 and E8 by the definition in docs/lattice.md, compared with `weft lattice encode`.

Values are multiples of beta / 8, where most vectors are equally near to several points, and where float sums decide.

Usage: lattice_format_test.py PATH_OF_WEFT [unittest arguments]. Needs the standard library only.
"""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

WEFT = ""


def fl(value):
    """Rounds to the nearest float. A sum or product of two floats is rounded once, because it is exact as a double."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def first_level(g):
    """The doubled point of E8 nearest to eight floats, or of D4 nearest to four."""
    below = [math.floor(fl(v + 2.0**-30)) for v in g]
    c = [fl(v - (f + 0.5)) for v, f in zip(g, below)]
    sizes = [abs(v) for v in c]
    up = [v >= 0 for v in c]
    whole, half = [f + u for f, u in zip(below, up)], list(below)
    odd_whole, odd_half = sum(whole) % 2, sum(half) % 2
    least, most = sizes.index(min(sizes)), sizes.index(max(sizes))
    if len(g) == 4:
        whole[least] += 0 if not odd_whole else -1 if up[least] else 1
        return [2 * n for n in whole]
    total = 0.0
    for size in sizes:
        total = fl(total + size)
    difference = fl(total - 2)
    difference = fl(difference + (fl(1 - 2 * sizes[most]) if odd_half else 0))
    difference = fl(difference - (2 * sizes[least] if odd_whole else 0))
    if odd_whole:
        whole[least] += -1 if up[least] else 1
    if odd_half:
        half[most] += 1 if up[most] else -1
    doubled_whole, doubled_half = [2 * n for n in whole], [2 * n + 1 for n in half]
    take_half = difference < 0 or (difference == 0 and doubled_half[0] > doubled_whole[0])
    return doubled_half if take_half else doubled_whole


def next_level(n, q):
    """The doubled point nearest to n / q, for doubled n, in integers."""
    candidates = []
    for offset in (0, 1)[:1 + len(n) // 8]:
        f = [(v - offset * q + q) // (2 * q) for v in n]
        rest = [v - q * (2 * k + offset) for v, k in zip(n, f)]
        if sum(f) % 2:
            at = max(range(len(n)), key=lambda i: abs(rest[i]))
            step = 1 if rest[at] >= 0 else -1
            f[at] += step
            rest[at] -= 2 * q * step
        candidates.append((sum(r * r for r in rest), rest, [2 * k + offset for k in f]))
    return min(candidates)[2]


def coordinates(n):
    """G^-1 of a doubled point."""
    if len(n) == 4:
        a, b, c, d = (v // 2 for v in n)
        return [(-a - b - c - d) // 2, (a - b - c - d) // 2, -c - d, -d]
    tails = [sum(v - n[7] for v in n[k:7]) // 2 for k in range(1, 7)]
    return [sum(v - n[7] for v in n[:7]) // 4] + tails + [n[7]]


def encode(x, q, levels, beta):
    inverse, codes = fl(1 / fl(beta)), []
    n = first_level([max(-131072.0, min(131072.0, fl(v * inverse))) for v in x])
    for _ in range(levels):
        codes += [b % q for b in coordinates(n)]
        n = next_level(n, q)
    return codes


class Codes(unittest.TestCase):
    def device_codes(self, folder, rows, q, levels, beta):
        d = len(rows[0])
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), d)
        text += " " * (-(10 + len(text) + 1) % 64) + "\n"
        x, out = os.path.join(folder, "x.npy"), os.path.join(folder, "codes.npy")
        with open(x, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
            file.write(b"".join(struct.pack("<%df" % d, *row) for row in rows))
        done = subprocess.run([WEFT, "lattice", "encode", x, "-o", out, "--lattice", "%s%d" % ("D" if d == 4 else "E", d), "--q", str(q), "--levels",
                               str(levels), "--beta", repr(beta)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, "rb") as file:
            raw = file.read()
        return raw[10 + struct.unpack_from("<H", raw, 8)[0]:]

    def check(self, rows, q, levels, beta):
        with self.subTest(d=len(rows[0]), q=q, levels=levels, beta=beta), tempfile.TemporaryDirectory() as folder:
            codes, size = self.device_codes(folder, rows, q, levels, beta), len(rows[0]) * levels
            self.assertEqual(len(codes), len(rows) * size)
            wrong = [row for i, row in enumerate(rows)
                     if list(codes[i * size:(i + 1) * size]) != encode(row, q, levels, beta)]
            self.assertEqual(len(wrong), 0, wrong[:2])

    def test_multiples_of_an_eighth_and_any_values(self):
        numbers = random.Random(8)
        for q, levels, beta in (4, 2, 0.35), (5, 1, 0.35), (16, 4, 0.35), (8, 2, 0.45), (3, 2, 0.3), (4, 1, 1.0):
            for d in 4, 8:
                rows = [[fl(numbers.randint(-16, 16) / 8 * beta) for _ in range(d)] for _ in range(6000)]
                rows += [[fl(numbers.gauss(0, 2 * beta)) for _ in range(d)] for _ in range(500)]
                rows += [[fl(numbers.gauss(0, 1e6)) for _ in range(d)] for _ in range(50)]
                self.check(rows, q, levels, beta)

    def test_residuals_that_differ_by_less_than_their_rounding(self):
        numbers = random.Random(4)
        rows = [[1.0, 2.0**-26, 0.0, 0.0], [2.0**-8, fl(2.0**-8 * (1 + 2.0**-20)), 1.0, 0.0]]
        for _ in range(3000):
            small = fl(numbers.uniform(2.0**-12, 0.25))
            row = [small, fl(small * (1 + 2.0**-numbers.randint(16, 23))), float(numbers.randint(-2, 2)),
                   float(numbers.randint(-2, 2))]
            numbers.shuffle(row)
            rows.append(row)
        self.check(rows, 4, 2, 1.0)
        self.check([row + row[::-1] for row in rows], 4, 2, 1.0)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
