#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reports of `weft profile`, read back from their files.

Usage: report_test.py PATH_OF_WEFT [unittest arguments]. Needs the standard library only.
"""
import csv
import ctypes
import json
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import unittest

from terminal import run_on_terminal

USAGE, NO_DEVICE, FAILED = 2, 3, 4
PATHS = ["cpu", "ordinary", "page-locked", "resident"]
WEFT = ""


def driver_of_cuda():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "made", "here")

    def run_weft(self, *arguments, env=None):
        return subprocess.run([WEFT, "profile", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=280, env={**os.environ, **(env or {})})

    def report(self, *arguments, env=None, status=0):
        done = self.run_weft(*arguments, "--repeats", "4", "--warmup", "1", "--max-seconds", "2", "--output-dir", self.out,
                             env=env)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done.stdout

    def file(self, pattern):
        names = [name for name in os.listdir(self.out) if re.fullmatch(pattern, name)]
        self.assertEqual(len(names), 1, (pattern, os.listdir(self.out)))
        return os.path.join(self.out, names[0])

    def text(self, pattern):
        with open(self.file(pattern), encoding="utf8") as file:
            return file.read()

    def results(self, kernel):
        return json.loads(self.text(kernel + r"_results_\d{8}_\d{6}\.json"))

    def paths(self, results):
        return PATHS + ["cuda"] * ("cuda" in results["machine"])

    def check_png(self, pattern, least_width):
        with open(self.file(pattern), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreaterEqual(struct.unpack(">I", head[16:20])[0], least_width)

    def check_figures(self, results, unit):
        for result in results["results"]:
            self.assertEqual([path["path"] for path in result["paths"]], self.paths(results))
            cpu = result["paths"][0]
            for path in result["paths"]:
                times = path["all_s"]
                self.assertGreaterEqual(len(times), 3)
                self.assertTrue(path["verified"])
                self.assertAlmostEqual(path["median_s"], statistics.median(times), delta=1e-12)
                self.assertAlmostEqual(path["std_s"], statistics.stdev(times), delta=1e-9)
                self.assertEqual((path["min_s"], path["max_s"]), (min(times), max(times)))
                self.assertAlmostEqual(path[unit + "_per_s"] * path["median_s"] / result["batch_size"], 1, places=6)
                moved = result["bytes_in"] + result["bytes_out"]
                self.assertAlmostEqual(path["gb_per_s"] * path["median_s"] * 1e9 / moved, 1, places=6)
                self.assertTrue(path["median_s"] <= path["p95_s"] <= path["max_s"])
                resident = {p["path"]: p["median_s"] for p in result["paths"]}.get("resident")
                self.assertEqual("of_resident" in path, path["path"] not in ("cpu", "resident") and resident is not None)
                if "of_resident" in path:
                    self.assertAlmostEqual(path["of_resident"], resident / path["median_s"], places=6)
                if path is not cpu:
                    self.assertFalse(path["speedup_extrapolated"])
                    self.assertNotIn("verified_items", path)
                    self.assertAlmostEqual(path["speedup"], cpu["median_s"] / path["median_s"], places=6)
                    self.assertAlmostEqual(path["of_ceiling"], path["ceiling_s"] / path["median_s"], places=6)


class Reports(Case):
    def test_transforms(self):
        self.report("ntt", "--field", "babybear", "--log-size", "7", "--orders", "nn,nr,nn,rn,nr", "--batch-sizes", "1,9", "--no-plot")
        results = self.results("ntt")
        self.assertEqual([(r["process"], r["batch_size"]) for r in results["results"]],
                         [(p, n) for n in (1, 9) for p in ("nn", "nr", "rn")])
        self.check_figures(results, "transforms")
        for result in results["results"]:
            self.assertEqual((result["bytes_in"], result["bytes_out"]), (result["batch_size"] * 512, result["batch_size"] * 512))
        self.assertEqual(results["configuration"],
                         {**results["configuration"], "field": "babybear", "size": "2^7 elements"})
        for arguments, pattern in (["--field", "bn254-fp"], "bn254-fp has no transforms"), (
                ["--field", "koalabear", "--log-size", "25"], "25"), (["--orders", "nn,rr"], "no such order .got rr"):
            done = self.run_weft("ntt", *arguments)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertRegex(done.stderr, pattern)

    def test_lattice(self):
        self.report("lattice", "--lattice", "e8", "--q", "5", "--levels", "3", "--batch-sizes", "100, 7,1,100")
        results = self.results("lattice")
        self.assertEqual(results["batch_sizes"], [1, 7, 100])
        self.assertEqual([(r["process"], r["batch_size"]) for r in results["results"]],
                         [(p, n) for n in (1, 7, 100) for p in ("encode", "decode", "combined")])
        self.check_figures(results, "vectors")
        # Three levels of eight digits of three bits, and a status byte, instead of eight floats.
        for result in results["results"]:
            self.assertEqual(result.get("compression_ratio"), None if result["process"] == "combined" else 32 / 10)
        encode = results["results"][-3]
        self.assertEqual((encode["bytes_in"], encode["bytes_out"]), (3200, 1000))
        self.assertEqual(results["configuration"]["lattice"], "E8")
        self.assertEqual([(s["process"], s["batch_size"]) for s in results["stages"]],
                         [(p, 100) for p in ("encode", "decode", "combined")])
        for stages, timed in zip(results["stages"], results["results"][-3:]):
            self.assertEqual(stages["timed_median_s"], timed["paths"][1]["median_s"])
            self.assertIn("their own", stages["run"])
            busy, any_busy = stages["busy_s"].values(), (1 - stages["idle"]) * stages["wall_s"]
            self.assertGreater(stages["busy_s"]["kernel"], 0)
            self.assertTrue(0 <= stages["idle"] < 1, stages)
            self.assertLessEqual(any_busy, sum(busy) * 1.001)
            self.assertGreaterEqual(any_busy * 1.001, max(busy))
        with open(self.file(r"lattice_summary_.*\.csv"), newline="", encoding="utf8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([(l["process"], int(l["batch_size"]), l["path"]) for l in lines],
                         [(r["process"], r["batch_size"], p) for r in results["results"] for p in self.paths(results)])
        first = results["results"][0]["paths"][1]
        self.assertAlmostEqual(float(lines[1]["median_ms"]), first["median_s"] * 1e3, places=6)
        self.assertEqual(lines[1]["verified"], "yes")
        self.check_png(r"lattice_profile_.*\.png", 1000)
        summary = self.text(r"summary_report_.*\.md")
        for word in ("lattice: E8", "CPU baseline", "driver", "## Findings", "highest rate", "of ceiling", "## Files",
                     "Where the time goes", results["machine"]["driver"]):
            self.assertIn(word, summary)
        for name in os.listdir(self.out):  # the report names all other files
            self.assertIn(name, summary)

    def test_field_and_encode(self):
        self.report("field", "--field", "koalabear", "--batch-sizes", "1,5000", "--no-plot")
        results = self.results("field")
        self.assertEqual({r["process"] for r in results["results"]}, {"add", "mul"})
        self.assertEqual(results["results"][0]["bytes_in"], 8)
        self.check_figures(results, "elements")
        self.assertFalse([name for name in os.listdir(self.out) if name.endswith((".png", ".gp"))])
        self.out = os.path.join(os.path.dirname(self.out), "encode")  # in the same second a stamp would get a number
        self.report("encode", "--method", "basis,PHASE,iqp-z", "--qubits", "3", "--batch-sizes", "1,300", "--no-plot")
        results = self.results("encode")
        self.assertEqual([c["process"] for c in results["ceilings"]], ["basis", "phase", "iqp-z"])
        self.check_figures(results, "samples")

    def test_every_operation_of_a_field_in_montgomery_form_beside_its_multiplications(self):
        ops = ["add", "sub", "neg", "mul", "square", "inverse", "to-montgomery", "from-montgomery", "axpy", "sum",
               "inner-product"]
        for field, element in ("mersenne31", 4), ("bls12-377-fp", 48):
            self.report("field", "--field", field, "--ops", "all", "--form", "montgomery", "--batch-sizes", "700",
                        "--no-plot")
            results = self.results("field")
            self.assertEqual([r["process"] for r in results["results"]], ops)
            self.assertEqual(results["configuration"]["form"], "montgomery")
            self.check_figures(results, "elements")
            for result in results["results"]:
                op, resident = result["process"], result["paths"][3]
                self.assertEqual(result["bytes_in"],
                                 700 * element * (2 if op in ("add", "sub", "mul", "axpy", "inner-product") else 1))
                self.assertEqual(result["bytes_out"], element * (1 if op in ("sum", "inner-product") else 700))
                self.assertEqual("arithmetic_s" in resident, op not in ("add", "sub", "neg", "sum"))
                if "arithmetic_s" in resident:
                    floors = {"memory": resident["ceiling_s"], "multiply": resident["arithmetic_s"]}
                    self.assertEqual(resident["bound"], max(floors, key=floors.get))
                    self.assertAlmostEqual(resident["of_floor"], max(floors.values()) / resident["median_s"], places=6)
            for name in os.listdir(self.out):
                os.remove(os.path.join(self.out, name))
        self.report("field", "--field", "goldilocks", "--ops", "sum,mul", "--shader", "limbs32", "--workgroup-size", "64",
                    "--block-elements", "4096", "--batch-sizes", "10000", "--no-plot")
        results = self.results("field")
        self.check_figures(results, "elements")
        self.assertFalse([p for r in results["results"] for p in r["paths"] if "of_floor" in p])  # in plain form

    def test_float64_values_and_states_that_stay_on_the_device(self):
        every = "amplitude,angle,basis,phase,iqp,iqp-z"
        self.report("encode", "--method", every, "--qubits", "1", "--values", "float64", "--batch-sizes", "70", "--no-plot")
        results = self.results("encode")
        self.assertEqual(results["configuration"]["values"], "float64")
        self.assertEqual(results["results"][0]["bytes_in"], 70 * 2 * 8)
        self.check_figures(results, "samples")
        os.remove(self.file(r"encode_results_.*"))
        self.report("encode", "--method", every, "--qubits", "6", "--values", "float64", "--keep-states", "--batch-sizes",
                    "64,200", "--no-plot")
        results = self.results("encode")
        for result in results["results"]:
            self.assertEqual(result["bytes_out"], 0)
            self.assertEqual([p["path"] for p in result["paths"][:4]], PATHS)
            for path in result["paths"][:4]:
                self.assertTrue(path["verified"], path)

    def test_kernel(self):
        self.report("kernel", "--map", "ry", "--qubits", "3", "--batch-sizes", "1,50", "--no-plot")
        results = self.results("kernel")
        processes = ["features", "layers", "states", "gram"]
        self.assertEqual([c["process"] for c in results["ceilings"]], processes)
        self.assertEqual([c["rate_unit"] for c in results["ceilings"]], ["pairs", "pairs", "states", "pairs"])
        self.assertIn("2 layers", results["configuration"]["depth"])
        for result in results["results"]:
            n, states = result["batch_size"], result["process"] == "states"
            self.assertEqual(result["bytes_out"], 4 * n * (1 if states else n))
            for path in result["paths"]:
                self.assertTrue(path["verified"], path)
                items, unit = (n, "states") if states else (n * (n + 1) / 2, "pairs")
                self.assertAlmostEqual(path[unit + "_per_s"] * path["median_s"] / items, 1, places=6)

    def test_all(self):
        self.report("all", "--batch-sizes", "20", "--qubits", "2", "--method", "amplitude", "--field", "goldilocks")
        for kernel in "field", "encode", "kernel", "lattice":
            self.assertEqual(self.results(kernel)["kernel"], kernel)
            self.check_png(kernel + r"_profile_.*\.png", 1000)
        self.check_png(r"all_profile_.*\.png", 1000)
        summary = self.text(r"summary_report_.*\.md")
        for word in "## field", "## encode", "## kernel", "## lattice", "goldilocks", "all_profile_", "## Advice":
            self.assertIn(word, summary)
        if self.results("field")["machine"]["type"] == "cpu":
            self.assertIn("is a software device", summary)

    def test_from_results(self):
        """Makes tables and pictures again, of two runs together, from the files alone."""
        self.report("lattice", "--batch-sizes", "1,30")
        self.report("field", "--field", "babybear", "--batch-sizes", "5", "--no-plot")
        results = [self.file(k + r"_results_\d{8}_\d{6}(_2)?\.json") for k in ("lattice", "field")]
        old = self.text(r"lattice_summary_\d{8}_\d{6}\.csv")
        again = os.path.join(self.out, "again")
        done = self.run_weft("from", *results, "--output-dir", again, env={"VK_DRIVER_FILES": "/nonexistent"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.out = again
        self.assertEqual(self.text(r"lattice_summary_.*\.csv"), old)
        self.assertFalse([name for name in os.listdir(again) if name.endswith(".json")])
        for picture in "lattice", "field", "all":
            self.check_png(picture + r"_profile_.*\.png", 1000)
        summary = self.text(r"summary_report_.*\.md")
        for word in "# weft profile lattice, field", "batch sizes | 1, 5, 30 |", os.path.basename(results[1]):
            self.assertIn(word, summary)
        bad = os.path.join(again, "bad.json")
        with open(bad, "w", encoding="utf8") as file:
            file.write("{}")
        for files, pattern in ([bad], "bad.json: not results of weft profile"), ([again], "again: cannot be read"), (
                ["none.json"], "none.json: cannot be read"), ([results[0]] * 2, "a kernel that another file has too .got lattice"), (
                [], "RESULTS is required"):
            done = self.run_weft("from", *files, "--output-dir", os.path.join(again, "never"))
            self.assertEqual(done.returncode, USAGE, done.stdout)
            self.assertRegex(done.stderr, pattern)
        self.assertFalse(os.path.exists(os.path.join(again, "never")))

    def test_compression_is_that_of_the_bytes_of_each_batch(self):
        self.report("lattice", "--lattice", "Z2", "--q", "3", "--levels", "1", "--batch-sizes", "1,3,1000", "--no-plot")
        ratios = {1: 8 / 2, 3: 24 / (2 + 3), 1000: 8000 / (500 + 1000)}  # 4 bits a vector in whole bytes, and a status
        for result in self.results("lattice")["results"]:
            read, wrote = result["bytes_in"], result["bytes_out"]
            ratio = {"encode": read / wrote, "decode": wrote / read}.get(result["process"])
            self.assertEqual(result.get("compression_ratio"), ratio)
            if ratio is not None:
                self.assertAlmostEqual(ratio, ratios[result["batch_size"]])
        with open(self.file(r"lattice_summary_.*\.csv"), newline="", encoding="utf8") as file:
            for line in csv.DictReader(file):
                wanted = "" if line["process"] == "combined" else "%.9g" % ratios[int(line["batch_size"])]
                self.assertEqual(line["compression_ratio"], wanted)
        self.assertIn("Compression 4x from 1 on, 4.8x from 3 on, 5.33x from 1,000 on", self.text(r"summary_report_.*\.md"))

    def test_reports_of_the_same_second_keep_apart(self):
        self.report("lattice", "--batch-sizes", "3", "--no-plot")
        results, again = self.file(r"lattice_results_.*\.json"), os.path.join(self.out, "again")
        started = [subprocess.Popen([WEFT, "profile", "from", results, "--no-plot", "--output-dir", again],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(12)]
        written = []
        for process in started:
            out, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors), (0, ""))
            written.append(re.findall(r"^  (\S+)$", out.split("written to", 1)[1], re.M))
        every = [name for names in written for name in names]
        self.assertEqual(len(every), len(set(every)), "a name used twice")
        self.assertEqual(sorted(os.listdir(again)), sorted(every))
        for names in written:
            self.assertEqual(len({re.search(r"\d{8}_\d{6}(_\d+)?", name).group() for name in names}), 1, names)
            for name in names:
                self.assertGreater(os.path.getsize(os.path.join(again, name)), 0)

    def test_a_size_that_fails_leaves_the_rest(self):
        out = self.report("lattice", "--batch-sizes", "3,1000000000000", "--no-plot")
        self.assertRegex(out, r"1,000,000,000,000 +did not run: does not fit host memory \(needs .*B, .*B are free\)")
        results = self.results("lattice")
        small, large = results["results"][0], results["results"][3]
        self.assertNotIn("failure", small["paths"][1])
        for path in large["paths"]:
            self.assertRegex(path["failure"], "does not fit host memory")
        self.assertRegex(self.text(r"summary_report_.*\.md"), r"1,000,000,000,000 vectors did not run: does not fit")

    def test_nothing_runs(self):
        done = self.run_weft("field", "--batch-sizes", "1000000000000", "--output-dir", self.out)
        self.assertEqual(done.returncode, FAILED, done.stdout)
        self.assertIn("no size ran", done.stderr)
        self.assertIn("did not run", self.text(r"summary_report_.*\.md"))

    def test_without_gnuplot(self):
        out = self.report("field", "--batch-sizes", "2", env={"PATH": self.out})
        self.assertIn("gnuplot is not installed", out)
        self.assertIn("gnuplot is not installed", self.text(r"summary_report_.*\.md"))
        self.results("field")
        self.assertFalse([name for name in os.listdir(self.out) if name.endswith(".png")])

    def test_cuda(self):
        """CUDA alone: without weft::cuda in the build or without a driver, the error names the missing one."""
        options = ["--backend", "cuda", "--batch-sizes", "1,50", "--no-plot"]
        built = "or cuda" in self.run_weft("lattice", "--help").stdout
        for kernel in "field", "encode", "kernel", "lattice", "all":
            with self.subTest(kernel):
                if built and driver_of_cuda():
                    self.report(kernel, *options)
                    continue
                done = self.run_weft(kernel, *options, "--output-dir", self.out)
                status, pattern = ((NO_DEVICE, r"no NVIDIA driver \(libcuda.so.1 cannot be opened\)") if built
                                   else (USAGE, "cuda.*need vulkan"))
                self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
                self.assertRegex(done.stderr, pattern)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
                self.assertFalse(os.path.exists(self.out))
        if built and driver_of_cuda():
            for name in os.listdir(self.out):
                if name.endswith(".json"):
                    with open(os.path.join(self.out, name), encoding="utf8") as file:
                        results = json.load(file)
                    self.assertEqual(results["backend"], "cuda")
                    for result in results["results"]:
                        self.assertEqual([p["path"] for p in result["paths"]], ["cpu", "cuda"])
                        self.assertTrue(all(p["verified"] for p in result["paths"]), result)

    def test_refusals(self):
        for status, pattern, *arguments in [
            (USAGE, "no such backend .*got metal", "lattice", "--backend", "metal"),
            (USAGE, "cuda", "field", "--backend", "cuda", "--jobs", "2"),
            (USAGE, r"--batch-sizes: out of range \(got 0, need 1 to 2\^48", "lattice", "--batch-sizes", "1,0"),
            (USAGE, "not a whole number .got nothing", "field", "--batch-sizes", "1,,2"),
            (USAGE, "not a whole number .got many", "encode", "--batch-sizes", "many"),
            (USAGE, "A2", "lattice", "--lattice", "A2"),
            (USAGE, "levels", "lattice", "--levels", "5"),
            (USAGE, "no such method", "encode", "--method", "angle,amplitude2"),
            (USAGE, "qubits", "all", "--qubits", "31"),
            (USAGE, "layers", "kernel", "--layers", "1"),
            (USAGE, "total-seconds", "all", "--total-seconds", "0"),
            (USAGE, "rubbish", "all", "--field", "rubbish"),
            (USAGE, "excludes", "field", "--jobs", "2", "--batch-sizes", "1"),
            (NO_DEVICE, "nomatch", "lattice", "--device", "nomatch"),
            (FAILED, "--output-dir: /proc/weft cannot be written", "lattice", "--output-dir", "/proc/weft"),
        ]:
            with self.subTest(arguments):
                done = self.run_weft(*arguments, *([] if "--output-dir" in arguments or "--jobs" in arguments
                                                   else ["--output-dir", self.out]))
                self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
                self.assertRegex(done.stderr, pattern)


class Patience(Case):
    """What takes too long, and people who do not wait."""

    def large(self, *arguments):
        """A report of a size that takes the CPU more than the 8 ms that a run may take, with many cores too."""
        done = self.run_weft(*arguments, "--repeats", "3", "--warmup", "1", "--total-seconds", "0.1", "--no-plot",
                             "--output-dir", self.out)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        return done.stdout

    def test_where_the_cpu_is_too_slow_the_device_is_measured(self):
        """Of every op: sampled, extrapolated, and marked in every file. A size alone, so that nothing tells how long the
        device takes, which here may be longer still."""
        for kernel, arguments, size in (("field", ["--field", "bls12-377-fp", "--ops", "inverse"], 20000),
                                        ("encode", ["--method", "iqp", "--qubits", "10"], 1500),
                                        ("kernel", ["--qubits", "8", "--layers", "3"], 500),
                                        ("lattice", ["--lattice", "E8", "--levels", "4"], 600000)):
            with self.subTest(kernel):
                self.out = os.path.join(os.path.dirname(self.out), kernel)
                out = self.large(kernel, *arguments, "--batch-sizes", str(size))
                results = self.results(kernel)
                large = [r for r in results["results"] if r["batch_size"] == size]
                guessed = [r for r in large if r["paths"][0].get("extrapolated")]
                self.assertTrue(guessed, large)
                with open(self.file(kernel + r"_summary_.*\.csv"), newline="", encoding="utf8") as file:
                    lines = [l for l in csv.DictReader(file) if int(l["batch_size"]) == size]
                for result in guessed:
                    cpu, rest = result["paths"][0], result["paths"][1:]
                    self.assertTrue(cpu["extrapolated_from"] and max(cpu["extrapolated_from"]) < size, cpu)
                    self.assertNotIn("all_s", cpu)
                    for path in rest:
                        self.assertTrue(path["verified"] and path["speedup_extrapolated"], path)
                        self.assertTrue(4 <= path["verified_items"] <= 4096, path)
                        self.assertAlmostEqual(path["speedup"], cpu["median_s"] / path["median_s"], places=6)
                    mine = {l["path"]: l for l in lines if l["process"] == result["process"]}
                    self.assertEqual(mine["cpu"]["extrapolated"], "time")
                    for path in rest:
                        self.assertEqual(mine[path["path"]]["extrapolated"], "speedup")
                        self.assertEqual(int(mine[path["path"]]["verified_items"]), path["verified_items"])
                self.assertRegex(out, r"cpu +~.* extrapolated from smaller sizes")
                summary = self.text(r"summary_report_.*\.md")
                self.assertIn("| cpu, extrapolated | ~", summary)
                self.assertIn("the CPU's time is extrapolated, and so are speed-ups (~), at", summary)
                again = self.run_weft("from", self.file(kernel + r"_results_.*"), "--no-plot", "--output-dir",
                                      os.path.join(self.out, "again"))
                self.assertEqual((again.returncode, again.stderr), (0, ""))

    def test_a_total_that_is_too_short_leaves_out_and_says_so(self):
        out = self.report("encode", "--method", "iqp", "--qubits", "12", "--batch-sizes", "10,100,10000", "--no-plot",
                          "--total-seconds", "1")
        failures = [p["failure"] for r in self.results("encode")["results"] for p in r["paths"] if "failure" in p]
        if self.results("encode")["machine"]["type"] != "cpu":
            self.skipTest("a GPU may have the time")
        self.assertTrue(failures)
        for failure in failures:
            self.assertRegex(failure, r"^left out: one run would take about .*--total-seconds 1 ")
        self.assertRegex(out, r"advice:\n(- .*\n)*- .*raise --total-seconds to measure them")

    def start(self, *arguments, terminal=None):
        """A report in a process of its own that lasts until it is interrupted."""
        process = subprocess.Popen([WEFT, "profile", *arguments, "--batch-sizes", "1,4,16,64,256", "--repeats", "1000000",
                                    "--max-seconds", "2", "--no-plot", "--output-dir", self.out], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=terminal or subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, process, text):
        lines = []
        while text not in (lines[-1] if lines else ""):
            line = process.stdout.readline()
            self.assertTrue(line, ("ended before " + text, lines))
            lines.append(line)

    def test_files_are_written_kernel_by_kernel_and_an_interrupt_keeps_what_is_done(self):
        process = self.start("all", "--qubits", "2", "--field", "goldilocks", "--method", "amplitude", "--total-seconds", "20")
        self.wait_for(process, "encode amplitude")  # the first size of the second op
        field = self.results("field")  # is there, and whole
        self.assertEqual(len(field["results"]), 2 * 5)
        self.assertNotIn("stopped", field)
        self.assertIn("## field", self.text(r"summary_report_.*\.md"))
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, (out, errors))
        self.assertIn("weft: interrupted: what is measured so far is written; interrupt again to end now", errors)
        self.assertIn("weft: profile: interrupted; the report has what was measured", errors)
        encode = self.results("encode")
        self.assertTrue(encode["stopped"])
        self.assertLess(len(encode["results"]), 5)
        for result in encode["results"]:
            self.assertTrue(all(path["verified"] for path in result["paths"]))
        self.assertIn("written to", out)
        summary = self.text(r"summary_report_.*\.md")
        for word in "## field", "## encode", "The run was interrupted":
            self.assertIn(word, summary)
        self.assertFalse([name for name in os.listdir(self.out) if name.startswith(("kernel", "lattice", ".weft"))])

    def test_a_second_interrupt_ends_now(self):
        """The first is caught in a run that takes long, so that the second comes while it lasts."""
        process = self.start("kernel", "--qubits", "2", "--total-seconds", "60")
        self.wait_for(process, "kernel gram")
        process.send_signal(signal.SIGSTOP)  # both wait for it to go on
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        first = process.stderr.readline() + process.stderr.readline()
        self.assertIn("interrupt again to end now", first)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        # Ended by the signal, or by itself where it had written everything before the second came.
        self.assertIn(process.returncode, (-signal.SIGINT, 130))
        if os.path.isdir(self.out):
            self.assertFalse([name for name in os.listdir(self.out) if name.startswith(".weft")])

    def test_an_interrupt_before_anything_is_measured_leaves_no_files(self):
        process = self.start("kernel", "--qubits", "10", "--total-seconds", "60")
        self.wait_for(process, "CPU baseline")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        if "before anything was measured" in errors:
            self.assertEqual(os.listdir(self.out), [])

    def test_the_bar_shows_time_left(self):
        for command in (["profile", "lattice", "--batch-sizes", "1,4,16,64,256", "--max-seconds", "1", "--repeats", "1000000",
                         "--total-seconds", "3", "--no-plot", "--output-dir", self.out],
                        ["tune", "--dry-run", "--elements", "131072", "--repeats", "20"],
                        ["tune", "kernel", "--dry-run", "--samples", "256", "--qubits", "8", "--repeats", "20"]):
            with self.subTest(command):
                status, shown = run_on_terminal(WEFT, *command)
                self.assertEqual(status, 0)
                self.assertRegex(shown, rb"\] +\d+%, about (\d+ min )?\d+ s left")
                self.assertTrue(shown.endswith(b"\x1b[K"), shown[-40:])


class Tune(Case):
    QUICK = ["--elements", "4096", "--repeats", "3"]

    def run_tune(self, *arguments, status=0, env=None):
        done = subprocess.run([WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=280,
                              env={**os.environ, "WEFT_CACHE_DIR": self.out, **(env or {})})
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done.stdout if status == 0 else done.stderr

    def plan(self, env=None):
        return json.loads(self.run_tune("info", "--json", env=env))["plan"]

    def tuning_files(self):
        return [name for name in os.listdir(self.out) if name.startswith("tuning-")] if os.path.isdir(self.out) else []

    def test_what_is_measured_and_kept(self):
        report = json.loads(self.run_tune("tune", *self.QUICK, "--json"))
        settings = [trial["setting"] for trial in report["trials"]]
        for setting in "copy threads", "ordinary path", "page-locked path", "slots":
            self.assertIn(setting, settings)
        for trial in report["trials"]:
            self.assertNotEqual(trial["default"], trial["best"])
            self.assertGreaterEqual(trial["noise"], 0)
            if trial["kept"]:
                self.assertGreater(trial["gain"], max(trial["noise"], 0.03))
        plan = self.plan()
        self.assertIn("stored in " if report["tuning"] else "the defaults stay", report["outcome"])
        if report["tuning"]:
            self.assertEqual(len(self.tuning_files()), 1)
            self.assertEqual(plan["tuning"]["state"], "used")
            for name, value in report["tuning"].items():
                self.assertEqual(plan[{"page_locked_path": "large_path"}.get(name, name)], value)
        else:
            self.assertEqual(self.tuning_files(), [])
            self.assertEqual(plan["tuning"]["state"], "absent")

    def test_tiles_of_transforms(self):
        small = ["tune", "ntt", "--log-size", "6", "--repeats", "3"]
        report = json.loads(self.run_tune(*small, "--dry-run", "--json"))
        self.assertEqual(report["outcome"], "not stored (--dry-run)")
        self.assertGreater(len(report["trials"]), 1)
        self.assertEqual(self.tuning_files(), [])
        report = json.loads(self.run_tune(*small, "--json"))
        best = [trial["tile_bytes"] for trial in report["trials"] if trial["best"]]
        self.assertEqual(len(self.tuning_files()), len(best))
        self.assertEqual(self.plan()["tuning"].get("ntt_tile_bytes"), best[0] if best else None)
        self.assertRegex(self.run_tune(*small), r"stored in|the planned tiles (stay|are as good)")
        stored = self.tuning_files()
        self.assertIn("--log-size is too large for this device (got 27",
                      self.run_tune("tune", "ntt", "--log-size", "27", status=USAGE))
        self.assertEqual(self.tuning_files(), stored)
        self.assertEqual(json.loads(self.run_tune("tune", "ntt", "--reset", "--json"))["outcome"], "planned tiles again")
        self.assertEqual(self.tuning_files(), [])
        self.assertNotIn("ntt_tile_bytes", self.plan()["tuning"])
        self.assertIn("WEFT_CACHE=0", self.run_tune(*small, status=USAGE, env={"WEFT_CACHE": "0"}))

    def stored(self, **values):
        """A hand-made tuning for the device that info selects."""
        plan = self.plan()
        with open(plan["tuning"]["file"], "w", encoding="utf8") as file:
            file.write("{\n" + ",\n".join('  "%s": %s' % (k, json.dumps(v)) for k, v in values.items()) + "\n}\n")
        return plan

    def test_info_says_what_is_used_and_why_not(self):
        os.makedirs(self.out)
        self.stored(schema=0, weft="0.1.0")
        self.assertEqual(self.plan()["tuning"]["state"], "of another schema")
        self.assertIn("of another schema", self.run_tune("info"))
        self.stored(schema=1)
        self.assertEqual(self.plan()["tuning"]["state"], "of another version of weft")
        with open(self.plan()["tuning"]["file"], "w", encoding="utf8") as file:
            file.write("rubbish")
        self.assertEqual(self.plan()["tuning"]["state"], "damaged: not what weft writes")
        self.assertEqual(self.plan(env={"WEFT_CACHE": "0"})["tuning"], {"state": "off", "file": ""})
        self.assertEqual(json.loads(self.run_tune("tune", "--reset", "--json"))["outcome"], "defaults again")
        self.assertEqual(self.tuning_files(), [])
        self.assertEqual(self.plan()["tuning"]["state"], "absent")

    def test_a_cache_folder_that_cannot_be_is_refused_before_measuring(self):
        os.makedirs(os.path.dirname(self.out))
        with open(self.out, "w", encoding="utf8"):
            pass
        self.assertIn("cannot be written", self.run_tune("tune", "--elements", "67108864", "--repeats", "1000", status=FAILED))

    def test_empty_names_and_sizes(self):
        self.assertIn("--batch-sizes: no size (got nothing", self.run_tune("profile", "lattice", "--batch-sizes", "", status=USAGE))
        self.assertIn("--output-dir: no name (got nothing", self.run_tune("profile", "lattice", "--output-dir", "", status=USAGE))

    def test_tiles_of_kernel_matrices(self):
        small = ["tune", "kernel", "--samples", "64", "--qubits", "3", "--repeats", "3"]
        tiles = lambda: [name for name in os.listdir(self.out) if name.startswith("gram-")]
        report = json.loads(self.run_tune(*small, "--dry-run", "--json"))
        self.assertEqual(tiles(), [])
        report = json.loads(self.run_tune(*small, "--json"))
        self.assertEqual(len(tiles()), 1)
        for row in report["classes"]:
            self.assertIn(row["best"], [trial["tile"] for trial in row["trials"]])
            self.assertTrue(all(trial["right"] and trial["seconds"] > 0 for trial in row["trials"]))
        with open(os.path.join(self.out, tiles()[0]), encoding="utf8") as file:
            kept = json.load(file)
        self.assertEqual([kept[row["products"]] for row in report["classes"]],
                         [row["best"] for row in report["classes"]])
        info = json.loads(self.run_tune("info", "--json"))
        tiles_of = info["plan"]["kernel_tiles"]
        self.assertEqual(tiles_of["state"], "used")
        self.assertEqual(tiles_of["kept"], [{"products": row["products"], "tile": row["best"]} for row in report["classes"]])
        text = self.run_tune(*small, "--dtype", "float64")
        self.assertRegex(text, r"the planned one stays|gains [0-9.]+ % over the planned one")
        self.assertRegex(text, r" ms \+- [0-9.]+  planned")
        self.run_tune("tune", "kernel", "--reset")
        self.assertEqual(tiles(), [])
        self.assertIn("WEFT_CACHE=0", self.run_tune(*small, status=USAGE, env={"WEFT_CACHE": "0"}))
        self.assertIn("qubits", self.run_tune("tune", "kernel", "--qubits", "0", status=USAGE))

    def test_dry_run_and_refusals(self):
        self.assertIn("not stored (--dry-run)", self.run_tune("tune", *self.QUICK, "--dry-run"))
        self.assertEqual(self.tuning_files(), [])
        self.assertIn("WEFT_CACHE=0", self.run_tune("tune", *self.QUICK, status=USAGE, env={"WEFT_CACHE": "0"}))
        self.assertIn("excludes", self.run_tune("tune", "--reset", "--dry-run", status=USAGE))
        self.assertIn("elements", self.run_tune("tune", "--elements", "3", status=USAGE))
        self.assertIn("nomatch", self.run_tune("tune", "--device", "nomatch", status=NO_DEVICE))


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
