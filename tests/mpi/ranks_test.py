#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work over 1 to 4 ranks of this machine, and ranks that die.

Usage: ranks_test.py MPIEXEC RANKS_PROGRAM [WEFT] [unittest arguments].
"""
import fcntl
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


# Ranks that wait should not take the cores of those that work; and those of MPICH need the first rank's help to reach the
# counter, unless a thread of its own gives it.
ENVIRONMENT = {**os.environ, "LP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "MPICH_ASYNC_PROGRESS": "1"}
# Cases of the program, each with the numbers of ranks that it is for.
CASES = {"matrices": (1, 3, 4), "refusals": (1, 2, 4), "local": (1, 3, 4), "batch": (1, 3), "operators": (1, 2, 3, 4),
         "checkpoints": (1, 2, 3, 4), "devices": (1, 2), "shares": (2, 3, 4)}


def is_open_mpi():
    version = subprocess.run([MPIEXEC, "--version"], stdout=subprocess.PIPE, text=True).stdout
    return "Open MPI" in version or "OpenRTE" in version  # mpirun, and mpiexec of version 4


def under_mpi(ranks, *options):
    """More ranks than cores, and as any user: options of Open MPI that MPICH has no need of."""
    return [MPIEXEC, *(["--oversubscribe", "--allow-run-as-root"] if is_open_mpi() else []), *options, "-n", str(ranks)]


def npy(rows):
    kind = "<c8" if isinstance(rows[0][0], complex) else "<f4"
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, len(rows), len(rows[0]))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    flat = [value for row in rows for value in row]
    if kind == "<c8":
        flat = [part for value in flat for part in (value.real, value.imag)]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<%df" % len(flat), *flat)


class InFolder(unittest.TestCase):
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
        return subprocess.run([*under_mpi(ranks), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=400, env=ENVIRONMENT, **options)


class Ranks(InFolder):
    """The cases of the program. Each is run over the first ranks of one start, because starting takes longer than most."""

    def test_cases(self):
        done = self.run_ranks(4, PROGRAM, self.folder,
                              *("%s:%s" % (name, ",".join(map(str, sizes))) for name, sizes in CASES.items()))
        wanted = ["DONE %s %d" % (name, size) for name, sizes in CASES.items() for size in sizes]
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, [line for line in lines if line.startswith("DONE")]), (0, wanted),
                         done.stdout + done.stderr)
        self.assertFalse([name for name in os.listdir(self.folder) if not name.endswith(".npy") or "refused" in name])
        for ranks in CASES["shares"]:
            self.check_shares(ranks, [line.split()[2:] for line in lines if line.startswith("SHARE %d " % ranks)])

    def check_shares(self, ranks, lines):
        made = [jobs for _, jobs in sorted((int(rank), int(jobs)) for rank, jobs, _ in lines)]
        step = scaling_model.step_of(64, ranks, 64)
        speeds = [1 / (rank + 1) for rank in range(ranks)]
        ends, wanted = scaling_model.hand_out([0.1 / step] * 64, ranks, 64, speeds=speeds)
        print("ranks: %d, jobs made: %s, by the model: %s; seconds: %s, by the model: %.2f" % (
            ranks, made, wanted, ", ".join(line[2] for line in lines), max(ends)))
        self.assertEqual(sum(made), 64)
        # A busy machine delays some; each rank may have taken three times more or less.
        for got, want in zip(made, wanted):
            self.assertLessEqual(abs(got - want), 3 * step, (made, wanted))

    def test_factorization_by_scalapack(self):
        program = os.path.join(os.path.dirname(PROGRAM), "weft_mpi_scalapack")
        if not os.path.exists(program):
            self.skipTest("ScaLAPACK is not installed")
        for ranks in 1, 4:
            done = self.run_ranks(ranks, program)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["DONE %d" % ranks]),
                             done.stdout + done.stderr)

    def test_a_rank_that_is_lost_is_named(self):
        losses = ["first stopped in a solve", "stopped in a batch", "stopped before a matrix"]
        if is_open_mpi():  # the starter of MPICH always ends the others when a rank dies
            losses.append("killed in a solve")
        running = []
        for loss in losses:
            os.mkdir(self.path(loss))
            running.append(subprocess.Popen(
                [*under_mpi(2, *(["--enable-recovery"] if "killed" in loss else [])), PROGRAM, self.path(loss),
                 "loss:" + loss], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=ENVIRONMENT))
        for loss, process in zip(losses, running):
            with self.subTest(loss):
                out, errors = process.communicate(timeout=120)
                self.assertEqual(out.count("NAMED"), 1, out + errors)
                self.assertFalse(os.path.exists(os.path.join(self.path(loss), "k.npy")))


class Command(InFolder):
    def setUp(self):
        super().setUp()
        if WEFT is None:
            self.skipTest("this build has no command")
        rows = [[math.sin(7 * i + 3 * q) for q in range(8)] for i in range(1024)]
        # One qubit: cos and i sin of half an angle.
        states = [[complex(math.cos(i), 0), complex(0, math.sin(i))] for i in range(1024)]
        y = [[math.sin(5 * i), math.cos(3 * i)] for i in range(1024)]
        for name, values in (("x.npy", rows), ("w.npy", [[0.3] * 8] * 3), ("small.npy", rows[:100]), ("few.npy", rows[:256]),
                             ("s.npy", states), ("y.npy", y), ("z.npy", [row[:1] for row in y[:256]])):
            with open(self.path(name), "wb") as file:
                file.write(npy(values))
        self.arguments = ["kernel", self.path("x.npy"), "--weights", self.path("w.npy"), "--reupload", "--tile", "64",
                          "--bulk-states", "off"]

    def test_a_file_of_four_ranks(self):
        subprocess.run([WEFT, *self.arguments, "-o", self.path("want.npy")], check=True, stdout=subprocess.DEVNULL)
        done = self.run_ranks(4, WEFT, *self.arguments, "-o", self.path("k.npy"), "--mpi", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["ranks"], sum(report["rank_pairs"])), (4, 1024 * 1025 // 2))
        self.assertEqual(self.content("k.npy"), self.content("want.npy"))

    def floats(self, name):
        content = self.content(name)
        at = 10 + struct.unpack("<H", content[8:10])[0]
        return struct.unpack("<%df" % ((len(content) - at) // 4), content[at:])

    def test_models_over_ranks(self):
        """Commands over ranks give what they give alone, within their tolerance."""
        x, y, s = self.path("x.npy"), self.path("y.npy"), self.path("s.npy")
        for name, files, arguments, bound in (
                ("apply", (x, y), ("--lambda", "0.5"), 1e-3),
                ("solve", (s, y), ("--states", "--lambda", "0.5", "--tolerance", "1e-5", "--rank", "5"), 2e-3),
                ("predict", (self.path("small.npy"), x, y), (), 1e-3),
                ("predict", (s, s, y), ("--states",), 1e-3),
                ("eigen", (s,), ("--states", "-k", "2"), None)):
            command = [WEFT, "kernel", name, *files, *arguments, "--json", "-o"]
            alone = subprocess.run([*command, self.path("want.npy")], check=True, stdout=subprocess.PIPE)
            done = self.run_ranks(3, *command, self.path("out.npy"), "--mpi")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            report, wanted = json.loads(done.stdout), json.loads(alone.stdout)
            self.assertEqual(report["ranks"], 3)
            got, want = self.floats("out.npy"), self.floats("want.npy")
            self.assertEqual(len(got), len(want))
            if bound is not None:
                self.assertLess(max(abs(a - b) for a, b in zip(got, want)), bound, name)
            else:
                for a, b in zip(report["values"], wanted["values"]):
                    self.assertLess(abs(a - b), 2.1e-4 * wanted["values"][0])

    def test_a_solve_that_is_killed_goes_on(self):
        """All ranks are killed after some checkpoints; the next run goes on to the same bits, and one process to the same
        answer."""
        kept = self.path("solve.ckpt")
        solve = [WEFT, "kernel", "solve", self.path("few.npy"), self.path("z.npy"), *self.arguments[2:5], "--lambda", "1",
                 "--tolerance", "1e-4", "--rank", "5", "--json", "-o"]
        resume = ["--checkpoint", kept, "--every", "1", "--resume"]

        def run(ranks, name, *options):
            command = [*solve, self.path(name), *options]
            done = self.run_ranks(ranks, *command, "--mpi") if ranks > 1 else subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        wanted = run(2, "want.npy")
        for checkpoints in 1, 2, 3:
            self.kill_after(checkpoints, kept, [*solve, self.path("out.npy"), *resume, "--mpi"])
            self.assertFalse(os.path.exists(self.path("out.npy")))
        with open(kept, "rb") as file:
            state = file.read()
        report = run(2, "out.npy", *resume)
        self.assertGreater(report["resumed"], 1)
        self.assertEqual((report["iterations"], self.content("out.npy")), (wanted["iterations"], self.content("want.npy")))
        self.assertFalse(os.path.exists(kept))
        with open(kept, "wb") as file:
            file.write(state)
        alone = run(1, "alone.npy", *resume)
        self.assertTrue(alone["converged"] and alone["resumed"] > 1)
        apart = math.dist(self.floats("alone.npy"), self.floats("want.npy"))
        self.assertLess(apart, 2.1e-4 * math.hypot(*self.floats("z.npy")))  # docs/mpi.md, of lambda = 1

    def test_refusals_end_all_ranks_alike(self):
        """A K that another run makes, and a checkpoint that is none."""
        part = self.path("k.npy.mpi.part")
        with open(part, "wb") as file:
            file.write(b"of another run")
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            done = self.run_ranks(2, WEFT, *self.arguments, "-o", self.path("k.npy"), "--mpi")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("another run over ranks makes this K", done.stderr)
            self.assertEqual(self.content("k.npy.mpi.part"), b"of another run")
        self.assertFalse(os.path.exists(self.path("k.npy")))
        kept = self.path("garbage")
        with open(kept, "wb") as file:
            file.write(b"my notes, longer than the first bytes of a checkpoint")
        solve = [WEFT, "kernel", "solve", self.path("few.npy"), self.path("z.npy"), "--lambda", "1", "-o",
                 self.path("out.npy"), "--checkpoint", kept, "--mpi"]
        for _ in range(3):
            done = self.run_ranks(2, *solve)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("it is no checkpoint of a solve", done.stderr)

    def kill_after(self, checkpoints, file, command):
        """Kills the starter and all ranks when `file` was written that often."""
        process = subprocess.Popen([*under_mpi(2), *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        before, seen = None if not os.path.exists(file) else os.stat(file).st_ino, 0
        while seen < checkpoints:
            self.assertIsNone(process.poll(), "the solve ends too early to be killed")
            now = os.stat(file).st_ino if os.path.exists(file) else None
            seen, before = seen + (now is not None and now != before), now
            time.sleep(0.001)
        for _, pid in self.ranks():
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()

    def ranks(self):
        """Number and process of each rank of the command that has this folder."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    command = file.read().split(b"\0")
                with open("/proc/%s/environ" % pid, "rb") as file:
                    variables = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
            except OSError:
                continue
            if command[0].decode() == WEFT and self.folder in str(command):
                yield int(variables.get(b"OMPI_COMM_WORLD_RANK", variables.get(b"PMI_RANK", b"-1"))), int(pid)

    def test_refusals(self):
        k = ["-o", self.path("k.npy"), "--mpi"]
        x, none = self.path("x.npy"), self.path("none.npy")
        cases = (("weft: rank 0: .*none.npy", ["kernel", none, *k]),
                 ("weft: rank 0: -o: needs the file", [*self.arguments, "--mpi"]),
                 ("weft: rank 0: --explain: not with --mpi", ["kernel", "solve", x, x, "--mpi", "--explain"]),
                 ("weft: rank 0: .*none.npy", ["kernel", "solve", x, none, *k]),
                 ("--mpi: not with --resume", [*self.arguments, *k, "--resume"]))
        running = [subprocess.Popen([*under_mpi(2), WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) for _, arguments in cases]
        for (pattern, _), process in zip(cases, running):
            _, errors = process.communicate(timeout=200)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(errors, pattern)
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
        while not os.path.exists(self.path("k.npy.mpi.part")):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        os.kill(dict(self.ranks())[1], signal.SIGKILL)
        said = "".join(process.communicate(timeout=120))
        self.assertNotEqual(process.returncode, 0)
        if "exited on signal" in said:  # Open MPI; MPICH says so at a terminal
            self.assertIn("rank 1", said)
        self.assertFalse(os.path.exists(self.path("k.npy")))


if __name__ == "__main__":
    MPIEXEC, PROGRAM = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
