#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work over 1 to 4 ranks of this machine, and ranks that die.

Usage: ranks_test.py MPIEXEC RANKS_PROGRAM [WEFT] [unittest arguments].
"""
import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import scaling_model  # noqa: E402

MPIEXEC = PROGRAM = WEFT = None


def under_mpi(ranks):
    """More ranks than cores, and as any user: options of Open MPI that MPICH has no need of."""
    version = subprocess.run([MPIEXEC, "--version"], stdout=subprocess.PIPE, text=True).stdout
    open_mpi = "Open MPI" in version or "OpenRTE" in version  # mpirun, and mpiexec of version 4
    return [MPIEXEC, *(["--oversubscribe", "--allow-run-as-root"] if open_mpi else []), "-n", str(ranks)]


def npy(rows):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    flat = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<%df" % len(flat), *flat)


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_ranks(self, ranks, *command, **options):
        # Ranks that wait should not take the cores of those that work; and those of MPICH need the first rank's help to
        # reach the counter, unless a thread of its own gives it.
        return subprocess.run([*under_mpi(ranks), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=200,
                              env={**os.environ, "LP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                                   "MPICH_ASYNC_PROGRESS": "1"}, **options)

    def check_case(self, name, *numbers_of_ranks):
        for ranks in numbers_of_ranks:
            done = self.run_ranks(ranks, PROGRAM, name, self.folder)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["DONE %d" % ranks]),
                             done.stdout + done.stderr)

    def test_matrices_have_the_bits_of_one_process(self):
        self.check_case("matrices", 1, 2, 3, 4)
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])

    def test_ranks_that_differ_or_fail(self):
        self.check_case("refusals", 1, 2, 4)
        self.assertEqual(os.listdir(self.folder), [])

    def test_local_parts(self):
        self.check_case("local", 1, 2, 3, 4)

    def test_factorization_by_scalapack(self):
        program = os.path.join(os.path.dirname(PROGRAM), "weft_mpi_scalapack")
        if not os.path.exists(program):
            self.skipTest("ScaLAPACK is not installed")
        for ranks in 1, 2, 4:
            done = self.run_ranks(ranks, program)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["DONE %d" % ranks]),
                             done.stdout + done.stderr)

    def test_shares_are_those_of_the_model(self):
        for ranks in 2, 3, 4:
            done = self.run_ranks(ranks, PROGRAM, "shares", self.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            lines = [line.split() for line in done.stdout.splitlines() if line.startswith("SHARE ")]
            made = [jobs for _, jobs in sorted((int(rank), int(jobs)) for _, rank, jobs, _ in lines)]
            step = scaling_model.step_of(64, ranks, 64)
            speeds = [1 / (rank + 1) for rank in range(ranks)]
            ends, wanted = scaling_model.hand_out([0.1 / step] * 64, ranks, 64, speeds=speeds)
            print("ranks: %d, jobs made: %s, by the model: %s; seconds: %s, by the model: %.2f" % (
                ranks, made, wanted, ", ".join(line[3] for line in lines), max(ends)))
            self.assertEqual(sum(made), 64)
            # A busy machine delays some; each rank may have taken three times more or less.
            for got, want in zip(made, wanted):
                self.assertLessEqual(abs(got - want), 3 * step, (made, wanted))

    def test_batches(self):
        self.check_case("batch", 1, 3)

    def test_operators_and_solvers(self):
        self.check_case("operators", 1, 2, 3, 4)

    def test_ranks_of_several_devices(self):
        self.check_case("devices", 1, 3)
        self.assertEqual(os.listdir(self.folder), ["devices.npy"])

    def test_a_rank_that_never_comes_is_named(self):
        for case in "silent", "silent in a solve":
            done = self.run_ranks(3, PROGRAM, case, self.folder)
            self.assertEqual(done.stdout.count("NAMED"), 2, done.stdout + done.stderr)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(os.listdir(self.folder), [])


class Command(Ranks):
    def setUp(self):
        super().setUp()
        if WEFT is None:
            self.skipTest("this build has no command")
        rows = [[math.sin(7 * i + 3 * q) for q in range(8)] for i in range(1024)]
        for name, values in (("x.npy", rows), ("w.npy", [[0.3] * 8] * 3), ("small.npy", rows[:100])):
            with open(self.path(name), "wb") as file:
                file.write(npy(values))
        self.arguments = ["kernel", self.path("x.npy"), "--weights", self.path("w.npy"), "--reupload", "--tile", "64",
                          "--bulk-states", "off"]

    test_matrices_have_the_bits_of_one_process = test_ranks_that_differ_or_fail = test_batches = None
    test_local_parts = test_factorization_by_scalapack = test_shares_are_those_of_the_model = None
    test_a_rank_that_never_comes_is_named = test_operators_and_solvers = test_ranks_of_several_devices = None

    def test_a_file_of_four_ranks(self):
        subprocess.run([WEFT, *self.arguments, "-o", self.path("want.npy")], check=True, stdout=subprocess.DEVNULL)
        done = self.run_ranks(4, WEFT, *self.arguments, "-o", self.path("k.npy"), "--mpi", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["ranks"], sum(report["rank_pairs"])), (4, 1024 * 1025 // 2))
        self.assertEqual(self.content("k.npy"), self.content("want.npy"))

    def test_models_over_ranks(self):
        """Commands over ranks give what they give alone, within their tolerance."""
        with open(self.path("y.npy"), "wb") as file:
            file.write(npy([[math.sin(5 * i), math.cos(3 * i)] for i in range(1024)]))
        out = self.path("out.npy")
        x, y = self.path("x.npy"), self.path("y.npy")

        def floats(name):
            content = self.content(name)
            at = 10 + struct.unpack("<H", content[8:10])[0]
            return struct.unpack("<%df" % ((len(content) - at) // 4), content[at:])

        for name, files, arguments, bound in (
                ("apply", (x, y), ("--lambda", "0.5"), 1e-3),
                ("solve", (x, y), ("--lambda", "0.5", "--tolerance", "1e-5", "--rank", "50"), 2e-3),
                ("predict", (self.path("small.npy"), x, y), (), 1e-3),
                ("eigen", (x,), ("-k", "2"), None)):
            alone = subprocess.run([WEFT, "kernel", name, *files, *arguments, "-o", self.path("want.npy"), "--json"],
                                   check=True, stdout=subprocess.PIPE)
            done = self.run_ranks(3, WEFT, "kernel", name, *files, *arguments, "-o", out, "--mpi", "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            report, wanted = json.loads(done.stdout), json.loads(alone.stdout)
            self.assertEqual(report["ranks"], 3)
            got, want = floats("out.npy"), floats("want.npy")
            self.assertEqual(len(got), len(want))
            if bound is not None:
                self.assertLess(max(abs(a - b) for a, b in zip(got, want)), bound, name)
            else:
                for a, b in zip(report["values"], wanted["values"]):
                    self.assertLess(abs(a - b), 2.1e-4 * wanted["values"][0])

    def test_refusals(self):
        for pattern, arguments in (
                ("weft: rank 0: .*none.npy", ["kernel", self.path("none.npy"), "-o", self.path("k.npy"), "--mpi"]),
                ("weft: rank 0: -o: needs the file", [*self.arguments, "--mpi"]),
                ("weft: rank 0: --explain: not with --mpi", ["kernel", "solve", self.path("x.npy"), self.path("x.npy"), "--mpi",
                                                             "--explain"]),
                ("weft: rank 0: .*none.npy", ["kernel", "solve", self.path("x.npy"), self.path("none.npy"), "-o",
                                              self.path("k.npy"), "--mpi"]),
                ("--mpi: not with --resume", [*self.arguments, "-o", self.path("k.npy"), "--mpi", "--resume"])):
            done = self.run_ranks(2, WEFT, *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, pattern)
        self.assertFalse(os.path.exists(self.path("k.npy")))

    def test_a_full_disk(self):
        """A file system of 1 MB has no room for K of 4 MB. Who may not mount one gets a limit of files instead."""
        disk = self.path("disk")
        os.mkdir(disk)
        limit = {}
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], stderr=subprocess.DEVNULL).returncode == 0:
            self.addCleanup(subprocess.run, ["umount", disk], check=True)
        else:
            def lower():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
            limit = {"preexec_fn": lower}
        k = os.path.join(disk, "k.npy")
        done = self.run_ranks(2, WEFT, *self.arguments, "-o", k, "--mpi", **limit)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "weft: rank 0: .*k.npy.mpi.part: ")
        self.assertEqual(os.listdir(disk), [])
        for more in [], ["--resume"]:
            done = subprocess.run([WEFT, *self.arguments, "-o", k, *more], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, **limit)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("k.npy", done.stderr)
            self.assertFalse(os.path.exists(k))

    def test_a_rank_that_is_killed(self):
        process = subprocess.Popen([*under_mpi(3), WEFT, *self.arguments, "-o", self.path("k.npy"), "--mpi"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        part, victim = self.path("k.npy.mpi.part"), None
        while not os.path.exists(part):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    command = file.read().split(b"\0")
                with open("/proc/%s/environ" % pid, "rb") as file:
                    variables = file.read().split(b"\0")
            except OSError:
                continue
            if command[0].decode() == WEFT and self.folder in str(command) and any(
                    v in variables for v in (b"OMPI_COMM_WORLD_RANK=1", b"PMI_RANK=1")):
                victim = int(pid)
        os.kill(victim, signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(errors, "rank 1")
        self.assertFalse(os.path.exists(self.path("k.npy")))


if __name__ == "__main__":
    MPIEXEC, PROGRAM = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
