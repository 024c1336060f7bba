#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_encode from outside: smallest states, what it says it verified, options, a disk that is full.

Usage: bench_encode_test.py PATH_OF_BENCH_ENCODE [unittest arguments].
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = ""


class BenchEncode(unittest.TestCase):
    def run_bench(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.json")
            done = subprocess.run([BENCH, *arguments, "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path) as file:
                return json.load(file)

    def test_every_route_is_verified_from_one_qubit_on(self):
        methods = ["amplitude", "angle", "basis", "phase", "iqp", "iqp-z"]
        figures = self.run_bench("--qubits", "1,2,3,9", "--trials", "1", "--mib", "1")
        self.assertEqual([(r["method"], r["qubits"], r["from"]) for r in figures["rows"]],
                         [(m, n, f) for m in methods for n in (1, 2, 3, 9) for f in ("resident", "page-locked", "ordinary")])
        for row in figures["rows"]:
            samples, verified = row["samples"], row["verified"]
            self.assertEqual(verified["rows"], [0, samples // 2, samples - 1], row)
            size = 2**row["qubits"]
            self.assertEqual(verified["amplitudes"], 3 * (5 if row["method"] == "iqp" and size > 256 else size), row)
            self.assertLess(verified["largest_error"], verified["bound"], row)
            self.assertGreater(row["vectors_per_s"], 0)

    def test_options_win_over_quick(self):
        figures = self.run_bench("--quick", "--qubits", "4", "--trials", "3", "--methods", "angle")
        self.assertEqual((figures["trials"], {r["qubits"] for r in figures["rows"]}), (3, {4}))
        seed = figures["seed_workload"]
        self.assertEqual(seed["batches"], 2)
        for row in seed["rows"]:
            self.assertEqual(row["verified"]["rows"], [0, 32, 63])
            self.assertEqual((row["verified"]["amplitudes"], row["verified"]["sums_of_magnitudes"]), (3 << 16, 3 * 2))
            self.assertLess(row["verified"]["largest_error"], row["verified"]["bound"])

    def test_a_full_disk(self):
        done = subprocess.run([BENCH, "--quick", "--methods", "basis", "--json", "/dev/full"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=240)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("bench_encode: /dev/full cannot be written", done.stderr)

    def test_usage(self):
        for arguments in (["--methods", "angel"], ["--qubits", "0"], ["--qubits", "25"], ["--trials", "0"]):
            done = subprocess.run([BENCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=240)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    BENCH = sys.argv[1]
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
