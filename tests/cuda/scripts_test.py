#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts for CUDA report what is missing: a program that is not built, or NVIDIA's driver.

Usage: scripts_test.py SOURCE_FOLDER PATH_OF_weft_cuda_every_kernel [unittest arguments].
"""
import ctypes
import os
import subprocess
import sys
import unittest

SOURCE, EVERY_KERNEL = sys.argv[1:3]


def driver():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


class Scripts(unittest.TestCase):
    def refused(self, part, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def script(self, name):
        return os.path.join(SOURCE, "tools", name)

    def test_program_that_is_not_there(self):
        self.refused("no examples/bench/bench_race in /no/such/build (need a build folder",
                     self.script("race-h100.sh"), "/no/such/build")
        self.refused("no program /no/such/program (need weft_cuda_every_kernel", self.script("sanitize-cuda.sh"),
                     "/no/such/program")

    @unittest.skipIf(driver(), "a driver is there")
    def test_driver_that_is_not_there(self):
        missing = "no NVIDIA driver (libcuda.so.1 cannot be opened)"
        self.refused(missing, EVERY_KERNEL)
        self.refused(missing, EVERY_KERNEL, "field")
        self.refused(missing, self.script("sanitize-cuda.sh"), EVERY_KERNEL)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
