# SPDX-License-Identifier: Apache-2.0
"""weftgpu.mpi on 1, 2 and 3 ranks of this machine."""
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec")
if MPIEXEC is None:
    pytest.skip("mpiexec is not installed", allow_module_level=True)
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi_program.py")


def run(ranks, case, folder):
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True).stdout
    open_mpi = "Open MPI" in version or "OpenRTE" in version
    return subprocess.run(
        [MPIEXEC, *(["--oversubscribe", "--allow-run-as-root"] if open_mpi else []), "-n", str(ranks), sys.executable,
         PROGRAM, case, str(folder)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
        env={**os.environ, "LP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
             "MPICH_ASYNC_PROGRESS": "1"})


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks, tmp_path):
    done = run(ranks, "matrix,operator,batch,refusals", tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, [f"DONE {ranks}"]), done.stdout + done.stderr


@pytest.mark.parametrize("case", ["silent", "stopped"])
def test_a_rank_that_is_lost_is_named(case, tmp_path):
    done = run(3, case, tmp_path)
    assert done.returncode != 0 and done.stdout.count("NAMED") == 2, done.stdout + done.stderr
    assert os.listdir(tmp_path / case) == []


def test_the_package_does_not_import_mpi(run_python):
    run_python("import sys, weftgpu; assert 'mpi4py' not in sys.modules and 'weftgpu.mpi' not in sys.modules")
