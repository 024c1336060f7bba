#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft field, encode, kernel and lattice on several devices write the file of one device, bit by bit, and report what
each device did. Two backends on the software device are two devices, so every machine can run this.

Usage: devices_test.py PATH_OF_WEFT [unittest arguments].
"""
import json
import os
import random
import sys
import unittest

import command_test
from command_test import NO_DEVICE, USAGE, Case, floats, npy

# Small chunks, so that small calls are shared too.
CHUNKS = {"GPU_STREAM_CHUNK_ELEMS": "64"}
TWO = ("--device", "cpu,cpu")


class Devices(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        self.a, self.b = (self.write(name, npy([rng.randrange(command_test.P) for _ in range(60000)]))
                          for name in ("a.npy", "b.npy"))
        self.x = self.write("x.npy", floats([[rng.uniform(-3, 3) for _ in range(8)] for _ in range(4000)]))
        self.out = self.path("out.npy")

    def result(self, *arguments, env=None):
        """The file and what --json prints."""
        report = json.loads(self.succeed(*arguments, "-o", self.out, "--json", env=env))
        return self.content("out.npy"), report

    def check(self, *arguments, shared=True, env=None):
        """Compares two devices with one. `shared`: both must have had a part."""
        alone, one = self.result(*arguments, "--device", "cpu", env=env)
        for _ in range(20):  # on a busy machine one device may be done before the thread of the other runs
            together, two = self.result(*arguments, *TWO, env=env)
            if not shared or all(row["shares"] for row in two["devices"]):
                break
        self.assertEqual(alone, together)
        self.assertNotIn("devices", one)
        rows = two["devices"]
        self.assertEqual([row["index"] for row in rows], [0, 1])
        self.assertEqual(two["device"], "2 x " + one["device"])
        self.assertEqual({row["device"] for row in rows}, {one["device"]})
        self.assertEqual(two["driver"], one["driver"])
        self.assertFalse(any(row["lost"] for row in rows))
        if shared:
            for row in rows:
                self.assertGreater(row["shares"], 0, rows)
                self.assertGreater(row["items"], 0)
                self.assertGreater(row["busy_s"], 0)
                self.assertGreaterEqual(row["idle_end_s"], 0)
        else:
            idle, = [row for row in rows if row["shares"] == 0]
            self.assertIn("too little work to share", idle["note"])
        return two

    def test_field(self):
        report = self.check("field", "add", self.a, self.b, env=CHUNKS)
        rows = report["devices"]
        self.assertEqual(sum(row["items"] for row in rows), 60000)
        self.assertEqual(sum(row["bytes_in"] for row in rows), report["bytes_in"])
        self.assertEqual(sum(row["bytes_out"] for row in rows), report["bytes_out"])
        self.check("field", "add", self.a, self.b, shared=False)

    def test_encode(self):
        report = self.check("encode", "angle", self.x, "--qubits", "8", env=CHUNKS)
        self.assertEqual(sum(row["items"] for row in report["devices"]), 4000)
        by_variable, _ = self.result("encode", "angle", self.x, "--qubits", "8",
                                     env={**CHUNKS, "WEFT_DEVICE": "cpu,cpu"})
        by_option, _ = self.result("encode", "angle", self.x, "--qubits", "8", "--device", "cpu")
        self.assertEqual(by_variable, by_option)

    def test_lattice(self):
        code = ["--lattice", "E8", "--q", "4", "--beta", "0.5"]
        report = self.check("lattice", "encode", self.x, *code, "--packed", env=CHUNKS)
        self.assertEqual(sum(row["items"] for row in report["devices"]), report["vectors"])
        self.check("lattice", "quantize", self.x, *code, env=CHUNKS)

    def test_kernel(self):
        # Devices have no common time for states and products, and no common plan.
        few = self.write("few.npy", floats([[0.1 * (i + j) for j in range(4)] for i in range(300)]))
        report = self.check("kernel", few, shared=False)
        self.assertNotIn("states_s", report)
        self.assertEqual(report["pairs"], 300 * 301 // 2)
        self.assertEqual(sum(row["shares"] for row in report["devices"]), 1)
        plan = json.loads(self.succeed("kernel", few, "--explain", "--json", *TWO))
        self.assertTrue(plan["fits"])
        self.assertFalse(plan["device"].startswith("2 x"))

    def test_text_has_a_line_for_each_device(self):
        text = self.succeed("field", "add", self.a, self.b, "-o", self.out, *TWO, env=CHUNKS)
        self.assertRegex(text.splitlines()[0], "60000 elements.*, 2 x ")
        self.assertRegex(text, r"(?m)^  device 0, .*: [\d,]+ items in \d+ shares?, .*B, busy .*s, idle at the end .*s")
        self.assertRegex(text, r"(?m)^  device 1, ")
        self.assertNotIn("device 0", self.succeed("field", "neg", self.a, "-o", self.out, "--device", "cpu"))

    def test_wrong_lists(self):
        call = ("field", "neg", self.a, "-o", self.out, "--device")
        self.refuse(NO_DEVICE, "nomatch", *call, "cpu,nomatch")
        for empty in ("cpu,,cpu", ",", "cpu,"):
            self.refuse(NO_DEVICE, "has an empty name", *call, empty)
        self.refuse(NO_DEVICE, "nomatch", *call[:-1], env={"WEFT_DEVICE": "cpu,nomatch"})
        self.assertEqual(self.files(), ["a.npy", "b.npy", "x.npy"])

    def test_tune_works_on_one(self):
        for command in (["tune", "--dry-run"], ["tune", "--reset"], ["tune", "kernel", "--dry-run"],
                        ["tune", "kernel", "--reset"]):
            self.refuse(USAGE, r'--device: works on one device \(got "cpu,cpu", which is 2 devices', *command, *TWO)
            self.refuse(USAGE, r'WEFT_DEVICE: works on one device \(got "cpu,cpu"', *command,
                        env={"WEFT_DEVICE": "cpu,cpu"})

    def test_help_says_what_several_devices_do(self):
        for command in (["field", "add"], ["encode"], ["kernel"], ["lattice", "encode"]):
            self.assertRegex(" ".join(self.succeed(*command, "--help").split()), "or all: they share the work")
        self.assertIn("or all: the best of them", " ".join(self.succeed("info", "--help").split()))
        self.assertIn("or all: refused", " ".join(self.succeed("tune", "--help").split()))


if __name__ == "__main__":
    command_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
