#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command weft kernel: published values, every kind of call, refusals.

Usage: kernel_command_test.py PATH_OF_WEFT [unittest arguments].
"""
import json
import math
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest

import command_test
from command_test import USAGE, Case, header_text, with_header

FORMATS = {"<f4": "f", "<f8": "d", "<c8": "f", "<c16": "d"}
X = [[0.1, 0.2], [0.5, -0.4], [1.0, 2.0]]
W = [[0.3, 0.7], [-0.2, 0.4]]
Y = [[0, 0], [0.3, -0.3]]
PRODUCT = [0.881398184544714, 0.219039574114769, 0.401203388635380]
REUPLOAD = [0.511382804912692, 0.314722519382784, 0.839342672523955]


def matrix(rows, descr="<f8"):
    flat = [part for row in rows for v in row for part in ((v.real, v.imag) if descr[1] == "c" else (v,))]
    return with_header(header_text(descr, "(%d, %d)" % (len(rows), len(rows[0]))),
                       struct.pack("<%d%s" % (len(flat), FORMATS[descr]), *flat))


def full(upper):
    a, b, c = upper
    return [1, a, b, a, 1, c, b, c, 1]


class Kernel(Case):
    def setUp(self):
        super().setUp()
        self.x, self.w, self.y = (self.write(n, matrix(m)) for n, m in (("x.npy", X), ("w.npy", W), ("y.npy", Y)))
        self.out = self.path("k.npy")

    def check(self, want, shape, slack, descr="<f4"):
        with open(self.out, "rb") as file:
            raw = file.read()
        length, = struct.unpack("<H", raw[8:10])
        self.assertEqual(eval(raw[10:10 + length].decode("latin1"), {}),
                         {"descr": descr, "fortran_order": False, "shape": shape})
        got = struct.unpack("<%d%s" % (len(want), FORMATS[descr]), raw[10 + length:])
        self.assertLess(max(abs(a - b) for a, b in zip(got, want)), slack)
        os.remove(self.out)

    def test_published_values(self):
        for descr, slack, arguments in (("<f4", 2e-6, []), ("<f8", 1e-12, ["--dtype", "float64"])):
            self.succeed("kernel", self.x, "-o", self.out, *arguments)
            self.check(full(PRODUCT), (3, 3), slack, descr)
            self.succeed("kernel", self.x, "-o", self.out, "--weights", self.w, *arguments)
            self.check(full(PRODUCT), (3, 3), slack, descr)
            self.succeed("kernel", self.x, "-o", self.out, "--weights", self.w, "--reupload", *arguments)
            self.check(full(REUPLOAD), (3, 3), slack, descr)
            self.succeed("kernel", self.x, "-o", self.out, "--scale", "2", *arguments)
            self.check(full([0.633910695216884, 0.091240923362661, 0.175938948298043]), (3, 3), slack, descr)
            self.succeed("kernel", self.x, "-o", self.out, "--map", "ANGLE", *arguments)
            self.check(full([0.876645262691814, 0.313294196676095, 0.123266245085645]), (3, 3), slack, descr)
        self.succeed("kernel", self.x, self.y, "-o", self.out, "--weights", self.w, "--reupload", "--tile", "1",
                     "--bulk-states", "off")
        self.check([0.936694574986341, 0.672936807780476, 0.671794441582328, 0.958384037211097, 0.446075436160675,
                    0.776141729151221], (3, 2), 2e-6)
        self.succeed("kernel", self.x, "-o", self.out, "--weights", self.w, "--reupload", "--normalize", "--jitter", "0.01")
        self.check(full([v / 1.01 for v in REUPLOAD]), (3, 3), 2e-6)
        self.assertEqual(self.files(), ["w.npy", "x.npy", "y.npy"])

    def test_given_states(self):
        half = math.sqrt(0.5)
        for descr in "<c8", "<c16":
            states = self.write("s.npy", matrix([[1 + 0j, 0j], [half + 0j, half * 1j]], descr))
            self.succeed("kernel", states, "-o", self.out, "--states")
            self.check([1, 0.5, 0.5, 1], (2, 2), 2e-6)

    def test_explain_and_report(self):
        plan = json.loads(self.succeed("kernel", self.x, "--weights", self.w, "--explain", "--json"))
        self.assertEqual((plan["method"], plan["pairs"], plan["fits"]), ("product", 6, True))
        self.assertRegex(" ".join(plan["reasons"]), "without re-upload all 2 layers cancel")
        text = self.succeed("kernel", self.x, "--weights", self.w, "--reupload", "--explain")
        self.assertRegex(text, "the last of 2 layers cancels; 1 layer matters")
        self.assertFalse(os.path.exists(self.out))
        report = json.loads(self.succeed("kernel", self.x, "-o", self.out, "--json"))
        self.assertGreater(report["pairs_per_s"], 0)

    def test_every_map_is_explained(self):
        for name in "angle", "ry", "ryrz", "RyRz":
            for circuit, method in (([], "product"), (["--weights", self.w], "product"),
                                    (["--weights", self.w, "--reupload"], "states")):
                plan = json.loads(self.succeed("kernel", self.x, "--map", name, *circuit, "--explain", "--json"))
                self.assertEqual((plan["method"], plan["fits"]), (method, True))
                self.assertGreater(len(plan["reasons"]), 0)
        plan = json.loads(self.succeed("kernel", self.x, self.y, "--explain", "--json"))
        self.assertEqual((plan["columns"], plan["pairs"]), (2, 6))
        self.assertEqual(os.path.exists(self.out), False)

    def tune(self, cache, *arguments):
        return self.run_weft("tune", "kernel", "--samples", "64", "--qubits", "4", "--repeats", "3", "--flops", "1e6",
                             *arguments, env={"WEFT_CACHE_DIR": cache})

    def test_kept_tiles_whatever_is_in_their_file(self):
        cache = self.path("tiles")
        self.assertEqual(self.tune(cache).returncode, 0)
        file, = (os.path.join(cache, n) for n in os.listdir(cache) if n.startswith("gram-"))
        with open(file, "rb") as kept:
            good = kept.read()
        for damaged in (b"", b"hello", b"[]", b"{", good[:90], good + good, good.replace(b'"schema": 1', b'"schema": 0'),
                        good.replace(b"64x", b"-64x"), good.replace(b"64x", b"99999999999x"), b"[" * 200000,
                        good.replace(b"llvmpipe", b"another"), os.urandom(5000)):
            with open(file, "wb") as kept:
                kept.write(damaged)
            self.succeed("kernel", self.x, "--weights", self.w, "--reupload", "-o", self.out,
                         env={"WEFT_CACHE_DIR": cache})
            self.check(full(REUPLOAD), (3, 3), 2e-6)
            self.assertEqual(self.tune(cache).returncode, 0)
            with open(file, "rb") as kept:
                self.assertIn(b'"schema": 1', kept.read())
        self.assertEqual(self.tune(cache, "--reset").returncode, 0)
        self.assertFalse(os.path.exists(file))
        self.assertEqual(self.tune(cache, "--dry-run").returncode, 0)
        self.assertFalse(os.path.exists(file))
        os.mkdir(file)
        refused = self.tune(cache)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("not kept", refused.stderr)

    def test_tuning_that_makes_no_sense(self):
        for arguments in (["--samples", "0"], ["--qubits", "23"], ["--qubits", "-1"], ["--dtype", "float16"],
                          ["--repeats", "0"], ["--repeats", "2"], ["--dtype", "float64", "--qubits", "22"], ["--flops", "-1"], ["--reset", "--dry-run"], ["--map", "ry"]):
            self.assertEqual(self.tune(self.path("none"), *arguments).returncode, USAGE, arguments)

    def test_tiles_bulk_states_and_autotune(self):
        rows = [[math.sin(7 * i + 3 * q) for q in range(3)] for i in range(150)]
        x = self.write("rows.npy", matrix(rows))
        w = self.write("layers.npy", matrix([[0.3, 0.7, -0.1], [-0.2, 0.4, 0.9]]))
        circuit = [x, "--weights", w, "--reupload"]
        explain = lambda *arguments: json.loads(self.succeed("kernel", *circuit, *arguments, "--explain", "--json"))
        whole, tiled = explain(), explain("--tile", "64", "--bulk-states", "off")
        self.assertEqual((whole["bulk_states"], whole["state_builds"]), (True, 1))
        self.assertEqual((tiled["bulk_states"], tiled["state_tile"], tiled["state_builds"]), (False, 64, 2))
        self.assertEqual(tiled["state_flops"], 2 * whole["state_flops"])
        self.assertEqual(explain("--tile", "64", "--bulk-states", "on")["bulk_states"], True)
        self.assertRegex(" ".join(tiled["reasons"]), "bulk states are off; each is made 2 times, with bulk states once")
        self.assertRegex(" ".join(whole["reasons"]), "in two tiles each would be made 1.5 times")
        text = self.succeed("kernel", *circuit, "--tile", "64", "--bulk-states", "off", "--explain")
        self.assertRegex(text, "states: 64 at a time, in tiles, made 2 times; tile of products: .*, (planned|measured)")
        self.assertEqual(explain("--no-autotune")["tile_choice"], "planned")
        self.assertIn("autotune is off", explain("--no-autotune")["reasons"])
        half, full = (explain("--vram-fraction", f)["available_bytes"] for f in ("0.25", "0.5"))
        self.assertLess(abs(full - 2 * half), 0.2 * full)
        results = []
        for arguments in ([], ["--tile", "64", "--bulk-states", "off"], ["--bulk-states", "on"], ["--no-autotune"]):
            report = json.loads(self.succeed("kernel", *circuit, "-o", self.out, "--json", *arguments))
            self.assertGreater(report["seconds"], 0)
            self.assertGreater(report["states_s"] + report["product_s"], 0)
            with open(self.out, "rb") as file:
                results.append(struct.unpack("<%df" % (150 * 150), file.read()[-4 * 150 * 150:]))
        for other in results[1:]:
            self.assertLess(max(abs(a - b) for a, b in zip(results[0], other)), 2e-6)

    def test_what_cannot_be_planned_is_told_without_figures(self):
        wide, deep = self.write("wide.npy", matrix([[0.5] * 23] * 2)), self.write("deep.npy", matrix([[0.5] * 23] * 2))
        arguments = ["kernel", wide, "--weights", deep, "--reupload", "--explain"]
        text, plan = self.succeed(*arguments), json.loads(self.succeed(*arguments, "--json"))
        self.assertNotIn("0.00 B", text)
        self.assertNotIn("errors: at most", text)
        self.assertNotIn("plan_gram", text)
        self.assertRegex(text, r"does not fit: 64 states do not fit one binding \(got [0-9]+ bytes, need at most [0-9]+\)")
        self.assertEqual((plan["error"], plan["device_bytes"], plan["fits"]), (None, None, False))

    def test_an_output_by_a_link_to_nothing_is_made_where_it_leads(self):
        target, link = self.path("made.npy"), self.path("link.npy")
        os.symlink("made.npy", link)
        self.succeed("kernel", self.x, "-o", link)
        self.assertTrue(os.path.islink(link))
        self.assertFalse(os.path.islink(target))
        self.out = target
        self.check(full(PRODUCT), (3, 3), 2e-6)
        os.remove(link)
        os.symlink("link.npy", link)
        self.assertEqual(self.run_weft("kernel", self.x, "-o", link).returncode, 4)
        self.assertTrue(os.path.islink(link))

    def test_tiles_that_no_plan_takes_are_not_listed(self):
        cache = self.path("tampered")
        self.assertEqual(self.tune(cache).returncode, 0)
        kept = lambda: json.loads(self.run_weft("info", "--json", env={"WEFT_CACHE_DIR": cache}).stdout)
        file, = (os.path.join(cache, n) for n in os.listdir(cache) if n.startswith("gram-"))
        with open(file) as source:
            text = source.read()
        before = json.dumps(kept())
        tile, = set(part.split('"')[-2] for part in text.splitlines() if " of 16\"" in part)
        self.assertIn(tile, before)
        with open(file, "w") as changed:
            changed.write(text.replace(tile, "256x256/16x16/2"))
        self.assertNotIn("256x256", json.dumps(kept()))

    def test_interrupted_work_leaves_nothing_behind(self):
        rows = [[math.sin(7 * i + 3 * q) for q in range(10)] for i in range(3000)]
        x, w = self.write("rows.npy", matrix(rows)), self.write("layers.npy", matrix([[0.3] * 10] * 2))
        before = self.files()
        for number in signal.SIGINT, signal.SIGTERM:
            process = subprocess.Popen([command_test.WEFT, "kernel", x, "--weights", w, "--reupload", "-o", self.out],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_for_output(process)
            process.send_signal(number)
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(self.files(), before)

    def resumable(self):
        """The arguments of a run with 136 tiles, and the file that one undisturbed run makes."""
        rows = [[math.sin(7 * i + 3 * q) for q in range(8)] for i in range(1024)]
        x, w = self.write("rows.npy", matrix(rows)), self.write("layers.npy", matrix([[0.3] * 8] * 3))
        arguments = ["kernel", x, "--weights", w, "--reupload", "--tile", "64", "--bulk-states", "off"]
        self.succeed(*arguments, "-o", self.path("want.npy"))
        return [*arguments, "-o", self.out, "--resume"], self.content("want.npy")

    def tiles_done(self):
        """How many of the 136 tiles have a record; the last record is that of the file."""
        try:
            with open(self.path("k.npy.tiles"), "rb") as file:
                marks = struct.unpack("<274Q", file.read()[-137 * 16:])[1:-1:2]
        except (FileNotFoundError, struct.error):
            return 0
        return sum(mark != 0 for mark in marks)

    def test_resume_after_kills(self):
        arguments, want = self.resumable()
        before = self.files()
        self.assertIn("0 of 136 tiles were there", self.succeed(*arguments))
        self.assertEqual(self.content("k.npy"), want)
        os.remove(self.out)
        rng, kills = random.Random(3), 0
        for number in [signal.SIGKILL, signal.SIGINT] * 3:
            done = self.tiles_done()
            process = subprocess.Popen([command_test.WEFT, *arguments, "--json"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
            while process.poll() is None and self.tiles_done() <= done:
                time.sleep(0.001)
            time.sleep(0.02 * rng.random())
            process.send_signal(number)
            process.communicate(timeout=60)
            if os.path.exists(self.out):  # the signal came late; K is whole, and what comes next begins again
                self.assertEqual(self.content("k.npy"), want)
                for name in self.files():
                    if name not in before:
                        os.remove(self.path(name))
            else:
                self.assertEqual(process.returncode, -number)
                kills += 1
        self.assertGreater(kills, 0)
        done = self.tiles_done()
        report = json.loads(self.succeed(*arguments, "--json"))
        self.assertEqual((report["tiles"], report["tiles_kept"], report["tiles_damaged"]), (136, done, 0))
        self.assertEqual(self.content("k.npy"), want)
        self.assertEqual(self.files(), sorted([*before, "k.npy"]))

    def test_resume_refuses_other_runs_and_a_second_one(self):
        arguments, want = self.resumable()
        process = subprocess.Popen([command_test.WEFT, *arguments], stdout=subprocess.DEVNULL)
        records = self.path("k.npy.tiles")
        while not os.path.exists(records) or os.path.getsize(records) == 0:
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        self.refuse(4, "another KernelMatrixStore, of this process or another, has this K", *arguments)
        process.kill()
        process.wait(60)
        self.refuse(USAGE, "another scale .the store has 1, the call has 2.; remove .*k.npy.part and .*k.npy.tiles",
                    *arguments, "--scale", "2")
        self.refuse(USAGE, "another state_tile .the store has 64, the call has 128", *("128" if a == "64" else a for a in arguments))
        self.refuse(USAGE, "another type .the store has float32", *arguments, "--dtype", "float64")
        with open(self.path("rows.npy"), "r+b") as x:
            x.seek(-8, os.SEEK_END)
            x.write(struct.pack("<d", 0.125))
        self.refuse(USAGE, "another X .the store has float64 ", *arguments)
        self.refuse(USAGE, "--resume: --explain makes nothing", *arguments, "--explain")
        self.refuse(USAGE, "--resume: not with --backend cuda|not available in this build", *arguments, "--backend", "cuda")
        self.assertFalse(os.path.exists(self.out))
        os.remove(self.path("k.npy.part"))
        os.remove(records)
        self.succeed(*arguments, "--center")
        self.assertNotEqual(self.content("k.npy"), want)

    def test_resume_on_a_disk_that_is_too_small(self):
        arguments, want = self.resumable()
        before = self.files()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.refuse(4, "k.npy.part: no room for 4194432 bytes", *arguments, preexec_fn=limit)
        self.assertEqual(self.files(), before)
        self.succeed(*arguments)
        self.assertEqual(self.content("k.npy"), want)

    def test_refusals(self):
        wide = self.write("wide.npy", matrix([[0.5] * 30] * 2))
        deep = self.write("deep.npy", matrix([[0.5] * 30] * 2))
        nan = self.write("nan.npy", matrix([[0, 1], [math.nan, 2]]))
        other = self.write("y32.npy", matrix(Y, "<f4"))
        odd = self.write("odd.npy", matrix([[1 + 0j, 0j, 0j]], "<c8"))
        for pattern, arguments in (
                ("^weft: .*nan.npy: row 1 column 0 is not a number", [nan, "-o", self.out]),
                ("^weft: .*nan.npy: row 1 column 0 is not a number", [self.x, nan, "-o", self.out]),
                ("^weft: .*nan.npy: row 1 column 0 is not a number", [self.x, "-o", self.out, "--weights", nan, "--reupload"]),
                ("no such map", [self.x, "-o", self.out, "--map", "rx"]),
                ("needs the file", [self.x]),
                ("needs the layers", [self.x, "-o", self.out, "--reupload"]),
                ("goes with --normalize", [self.x, "-o", self.out, "--jitter", "1"]),
                ("--jitter: out of range", [self.x, "-o", self.out, "--jitter", "-1", "--normalize"]),
                ("--jitter: of the diagonal", [self.x, self.y, "-o", self.out, "--jitter", "1", "--normalize"]),
                ("--tile: out of range .got 0", [self.x, "-o", self.out, "--tile", "0"]),
                ("--tile: this circuit has a closed form", [self.x, "-o", self.out, "--tile", "64"]),
                ("--tile: this circuit has a closed form", [self.x, "--explain", "--tile", "64"]),
                ("--bulk-states: this circuit has", [self.x, "-o", self.out, "--bulk-states", "on", "--weights", self.w]),
                ("--vram-fraction: out of range", [self.x, "-o", self.out, "--vram-fraction", "0"]),
                ("wrong number of columns", [self.x, wide, "-o", self.out]),
                ("wrong number of columns", [wide, "-o", self.out, "--weights", self.w]),
                ("wrong type .got '<f4', need float64", [self.x, other, "-o", self.out]),
                ("need complex128 or complex64", [self.x, "-o", self.out, "--states"]),
                ("no states", [odd, "-o", self.out, "--states"]),
                ("have no circuit", [odd, "-o", self.out, "--states", "--map", "ry"]),
                ("have no circuit", [odd, "-o", self.out, "--states", "--reupload", "--weights", self.w]),
                ("does not fit", [wide, "-o", self.out, "--weights", deep, "--reupload"]),
                ("dtype", [self.x, "-o", self.out, "--dtype", "float16"]),
                ("cannot be read", [self.path("none.npy"), "-o", self.out])):
            self.refuse(USAGE, pattern, "kernel", *arguments)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    command_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
