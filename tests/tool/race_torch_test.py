#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""race_torch.py reports in one line what is missing: PyTorch, a CUDA device, right arguments.

Usage: race_torch_test.py PATH_OF_race_torch.py [unittest arguments].
"""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = ""


class RaceTorch(unittest.TestCase):
    def refused(self, status, text, torch, *arguments):
        """`torch` is the text of a module in place of PyTorch."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "torch.py"), "w") as file:
                file.write(torch)
            done = subprocess.run([sys.executable, SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=60, env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", "race_torch.py: " + text + "\n"))

    def test_without_pytorch(self):
        self.refused(2, "PyTorch cannot be imported (No module named 'torch'; need the package torch)",
                     "raise ModuleNotFoundError(\"No module named 'torch'\")")

    def test_without_a_device(self):
        self.refused(3, "PyTorch 9.9 finds no CUDA device",
                     "__version__ = '9.9'\nclass cuda:\n    is_available = staticmethod(lambda: False)\n")

    def test_arguments(self):
        self.refused(2, "no such arguments (got --quik, need none or --quick)", "", "--quik")


if __name__ == "__main__":
    SCRIPT = sys.argv[1]
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
