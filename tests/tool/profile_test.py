#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks traces against the trace event format, and the command `weft profile`.

Usage: profile_test.py PATH_OF_WEFT [unittest arguments]. Needs the standard library only.
"""
import collections
import csv
import json
import os
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

from terminal import run_on_terminal

USAGE, NO_DEVICE, FAILED = 2, 3, 4
STAGES = {"upload", "kernel", "download", "copy-in", "copy-out"}
WEFT = ""


def field_file(count):
    """A .npy file of `count` zeros."""
    text = ("{'descr': '<u8', 'fortran_order': False, 'shape': (%d, 6), }" % count).encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(48 * count)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_weft(self, *arguments, env=None):
        return subprocess.run([WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=240, env={**os.environ, **(env or {})})

    def succeed(self, *arguments, env=None):
        done = self.run_weft(*arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refuse(self, status, pattern, *arguments, env=None):
        done = self.run_weft(*arguments, env=env)
        lines = [line for line in done.stderr.splitlines() if line.startswith("weft: ")]
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], pattern)

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def read_trace(self, name):
        """The complete events of a trace, after a check of all requirements of the format."""
        with open(self.path(name), encoding="utf8") as file:
            trace = json.load(file)
        self.assertEqual(trace["otherData"]["dropped_events"], 0)
        rows, complete = {}, []
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], "XiCM")
            self.assertIsInstance(event["name"], str)
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            self.assertIsInstance(event.get("args", {}), dict)
            if event["ph"] == "M":
                self.assertIn(event["name"], ["process_name", "thread_name", "thread_sort_index"])
                if event["name"] == "thread_name":
                    self.assertNotIn(event["tid"], rows)
                    rows[event["tid"]] = event["args"]["name"]
                continue
            self.assertIsInstance(event["ts"], (int, float))
            self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "i":
                self.assertIn(event["s"], "gpt")
                self.assertIn(event["name"], ["ring wait", "replay", "allocation", "release"])
            elif event["ph"] == "C":
                self.assertGreaterEqual(event["args"]["live_bytes"], 0)
            else:
                self.assertIsInstance(event["dur"], (int, float))
                self.assertGreaterEqual(event["dur"], 0)
                self.assertIn(event["name"], STAGES)
                self.assertGreater(event["args"]["bytes"], 0)
                complete.append(event)
        self.assertEqual(len({event["pid"] for event in trace["traceEvents"]}), 1)
        self.assertEqual(complete, sorted(complete, key=lambda e: e["ts"]))
        by_row = collections.defaultdict(list)
        for event in complete:
            by_row[event["tid"]].append(event)
        for row, events in by_row.items():
            device = rows[row].startswith("queue ")
            self.assertEqual(device, not rows[row].startswith("copy worker "), rows[row])
            open_until = []  # ends of the events that enclose the next one
            for event in events:
                self.assertEqual(event["name"] in ("copy-in", "copy-out"), not device)
                begin, end = event["ts"], event["ts"] + event["dur"]
                while open_until and open_until[-1] <= begin + 0.0005:
                    open_until.pop()
                if open_until:
                    self.assertLessEqual(end, open_until[-1] + 0.0005, "nested, or apart: " + rows[row])
                open_until.append(end)
        return complete

    def bytes_by_stage(self, events):
        total = collections.Counter()
        for event in events:
            total[event["name"]] += event["args"]["bytes"]
        return total


class Traces(Case):
    def trace_of_field(self, count, env):
        with open(self.path("a.npy"), "wb") as file:
            file.write(field_file(count))
        self.succeed("field", "add", self.path("a.npy"), self.path("a.npy"), "-o", self.path("out.npy"),
                     env={**env, "WEFT_TRACE": self.path("trace.json")})
        return self.read_trace("trace.json")

    def test_bytes_of_every_stage(self):
        for count in 1, 1000, 300000:
            for queues in "single", "split":
                with self.subTest(count=count, queues=queues):
                    env = {"WEFT_PATH": "staged", "WEFT_QUEUES": queues, "GPU_STREAM_CHUNK_ELEMS": "50000"}
                    events = self.trace_of_field(count, env)
                    self.assertEqual(self.bytes_by_stage(events),
                                     {"copy-in": 96 * count, "upload": 96 * count, "kernel": 144 * count,
                                      "download": 48 * count, "copy-out": 48 * count})
                    for event in events:
                        self.assertIn(event["args"]["slot"], range(16))
                        self.assertEqual(event["args"]["program"], "field_add")
                        self.assertTrue(event["args"]["job"])
                        self.assertGreaterEqual(event["args"]["jobs"], 1)

    def test_stages_of_a_slot_follow_each_other(self):
        """On one clock: a chunk is copied in before it is uploaded, and so on; the clocks of device and host agree."""
        events = self.trace_of_field(400000, {"WEFT_PATH": "staged", "GPU_STREAM_CHUNK_ELEMS": "100000"})
        order = {"copy-in": 0, "upload": 1, "kernel": 2, "download": 3, "copy-out": 4}
        tolerance = 200  # the allowed error of a calibration in microseconds
        for slot in {event["args"]["slot"] for event in events}:
            mine = [event for event in events if event["args"]["slot"] == slot]
            kernels = [event for event in mine if event["name"] == "kernel"]
            for number, kernel in enumerate(kernels):
                for event in mine:
                    later = [e for e in mine if order[e["name"]] == order[event["name"]]]
                    if len(later) != len(kernels) or event is not later[number]:
                        continue  # copies by several threads
                    if order[event["name"]] < 2:
                        self.assertLessEqual(event["ts"] + event["dur"], kernel["ts"] + tolerance)
                    if order[event["name"]] > 2:
                        self.assertGreaterEqual(event["ts"] + tolerance, kernel["ts"] + kernel["dur"])

    def test_paths_without_copies(self):
        events = self.trace_of_field(100000, {"WEFT_PATH": "host"})
        self.assertEqual(self.bytes_by_stage(events),
                         {"copy-in": 9600000, "kernel": 14400000, "copy-out": 4800000})

    def test_trace_that_cannot_be_written(self):
        with open(self.path("a.npy"), "wb") as file:
            file.write(field_file(10))
        done = self.run_weft("field", "neg", self.path("a.npy"), "-o", self.path("out.npy"),
                             env={"WEFT_TRACE": self.path("absent/trace.json")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "weft: trace: cannot create .*absent/trace.json.*No such file")
        self.assertEqual(self.files(), ["a.npy", "out.npy"])


class ProfileField(Case):
    SMALL = ["--elements", "3000", "--jobs", "4", "--repeats", "3"]

    def test_everything_it_writes_agrees(self):
        out = self.succeed("profile", "field", *self.SMALL, "--json", self.path("p.json"), "--csv", self.path("p.csv"),
                           "--trace", self.path("p.trace"), env={"WEFT_PATH": "staged"})
        self.assertRegex(out, "profile field add: 3 runs .* results verified")
        for word in "kernel", "upload", "field_add", "queue family", "ring:", "pool:", "utilisation":
            self.assertIn(word, out)
        with open(self.path("p.json"), encoding="utf8") as file:
            report = json.load(file)
        self.assertEqual((report["op"], report["elements"], report["jobs"], report["repeats"], report["verified"]),
                         ("add", 3000, 4, 3, True))
        profile = report["profile"]
        stages = {stage["stage"]: stage for stage in profile["stages"]}
        self.assertEqual(set(stages), STAGES)
        elements = 3000 * 4 * 3
        self.assertEqual({name: stage["bytes"] for name, stage in stages.items()},
                         {"upload": 96 * elements, "kernel": 144 * elements, "download": 48 * elements,
                          "copy-in": 96 * elements, "copy-out": 48 * elements})
        for stage in stages.values():
            self.assertAlmostEqual(stage["gb_per_s"] * stage["busy_s"] * 1e9, stage["timed_bytes"], delta=1)
            self.assertLessEqual(stage["min_s"], stage["median_s"])
            self.assertLessEqual(stage["median_s"], stage["max_s"])
        self.assertEqual(stages["kernel"]["count"], 12)  # every chunk is a dispatch
        self.assertEqual(profile["kernels"][0]["program"], "field_add")
        self.assertEqual(profile["dropped_events"], 0)
        # The trace has the same bytes and the same time.
        events = self.read_trace("p.trace")
        self.assertEqual(self.bytes_by_stage(events), {name: stage["bytes"] for name, stage in stages.items()})
        for name, stage in stages.items():
            total = sum(event["dur"] for event in events if event["name"] == name) / 1e6
            self.assertAlmostEqual(total, stage["total_s"], delta=1e-9 * len(events))
        with open(self.path("p.csv"), newline="", encoding="utf8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual({line["name"]: int(line["bytes"]) for line in lines if line["kind"] == "stage"},
                         {name: stage["bytes"] for name, stage in stages.items()})
        self.assertEqual([line["name"] for line in lines if line["kind"] == "kernel"], ["field_add"])
        self.assertEqual(self.files(), ["p.csv", "p.json", "p.trace"])

    def test_operations_and_modes(self):
        for op in "add", "sub", "neg":
            for mode in "pipelined", "sequential":
                self.assertIn("field_" + op, self.succeed("profile", "field", "--op", op, "--mode", mode, *self.SMALL,
                                                          "--warmup", "0", "--device", "0"))

    def test_refusals(self):
        for arguments, pattern in [
            ([], "profile.*field"),
            (["field", "--op", "divide"], "divide"),
            (["field", "--field", "rubbish"], "rubbish"),
            (["field", "--elements", "0"], "elements"),
            (["field", "--elements", "many"], "elements"),
            (["field", "--jobs", "-1"], "jobs"),
            (["field", "--repeats", "0"], "repeats"),
            (["field", "--mode", "sideways"], "sideways"),
            (["field", "--sideways"], "--sideways"),
        ]:
            with self.subTest(arguments):
                self.refuse(USAGE, pattern, "profile", *arguments)
        self.refuse(NO_DEVICE, "nomatch", "profile", "field", "--device", "nomatch")
        os.mkdir(self.path("folder"))
        for option in "--json", "--csv", "--trace":
            for bad, pattern in [("absent/x", "absent/x: cannot be written.*No such file"),
                                 ("folder", "folder: cannot be written.*directory")]:
                self.refuse(FAILED, pattern, "profile", "field", *self.SMALL, option, self.path(bad))
        self.refuse(USAGE, "--json and --csv are the same file", "profile", "field", *self.SMALL, "--json", self.path("one"), "--csv",
                    self.path("one"))
        # A device or a pipe must not be replaced.
        os.mkfifo(self.path("pipe"))
        self.refuse(FAILED, "pipe: cannot be written: not a regular file", "profile", "field", *self.SMALL, "--json",
                    self.path("pipe"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertEqual(sorted(self.files()), ["folder", "pipe"])

    def test_help(self):
        self.assertRegex(self.succeed("profile", "--help"), "Example: weft profile field")
        self.assertRegex(self.succeed("profile", "field", "--help"), "Example: weft profile field")

    def stderr_of(self, *arguments, stderr):
        return subprocess.run([WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
                              timeout=240).returncode

    def test_progress_bar_on_a_terminal_only(self):
        # Long enough for the progress display on any machine: 200 runs are shown as they end.
        work = ["profile", "field", "--elements", "100000", "--jobs", "8", "--repeats", "60"]
        with open(self.path("plain"), "wb") as plain:
            self.assertEqual(self.stderr_of(*work, stderr=plain), 0)
        with open(self.path("plain"), "rb") as plain:
            self.assertNotIn(b"[#", plain.read())
        status, shown = run_on_terminal(WEFT, *work)
        self.assertEqual(status, 0)
        self.assertRegex(shown, rb"profile field add \[#*\.*\] +\d+%")
        self.assertTrue(shown.rstrip().endswith(b"\r\x1b[K".strip()) or shown.endswith(b"\x1b[K"), shown[-20:])


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
