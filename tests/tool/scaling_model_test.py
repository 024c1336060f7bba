#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of how ranks scale: bounds that hold for every way to hand out work, and its tables.

Usage: scaling_model_test.py PATH_OF_MODEL [unittest arguments].
"""
import os
import random
import subprocess
import sys
import unittest

MODEL = None


class Model(unittest.TestCase):
    def test_hand_out_is_within_the_bounds_of_list_scheduling(self):
        random.seed(1)
        for items in 0, 1, 7, 100, 1000:
            costs = [random.uniform(0.5, 2) for _ in range(items)]
            for ranks in 1, 2, 5, 64:
                ends, made = scaling_model.hand_out(costs, ranks, 4)
                step = scaling_model.step_of(items, ranks, 4)
                self.assertEqual(sum(made), items)
                self.assertGreaterEqual(max(ends) + 1e-9, sum(costs) / ranks)
                self.assertLessEqual(max(ends), sum(costs) / ranks + 2 * step + 1e-9)

    def test_a_faster_rank_makes_more_and_the_counter_binds_short_jobs(self):
        ends, made = scaling_model.hand_out([0.01] * 6000, 3, 1, speeds=[1, 2, 3])
        for got, want in zip(made, (1000, 2000, 3000)):
            self.assertLess(abs(got - want), 5)
        ends, _ = scaling_model.hand_out([1e-7] * 1000, 100, 1, serve_s=1e-5)
        self.assertGreater(max(ends), 1000 * 1e-5)

    def test_blocks_have_every_pair_once(self):
        for samples, rows in ((1, 64), (64, 64), (1000, 64), (1000, 4096)):
            self.assertEqual(sum(scaling_model.blocks_of(samples, rows)), samples * (samples + 1) // 2)
        self.assertEqual(scaling_model.tile_rows(4), 4096)
        self.assertEqual(scaling_model.tile_rows(8), 2880)

    def test_tables(self):
        for kind in "stored", "applied", "batches":
            out = subprocess.run([sys.executable, MODEL, kind, "--ranks", "1,8,1024"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout.splitlines()
            self.assertEqual(len(out), 5)
            gains = [float(line.split("|")[3]) for line in out[2:]]
            self.assertEqual(gains[0], 1)
            self.assertTrue(all(0 < gain <= n * 1.001 for gain, n in zip(gains, (1, 8, 1024))))


if __name__ == "__main__":
    MODEL = os.path.abspath(sys.argv.pop(1))
    sys.path.append(os.path.dirname(MODEL))
    import scaling_model
    unittest.main()
