# SPDX-License-Identifier: Apache-2.0
"""Each script of examples/python runs, checks its own results, and says so by its exit status."""
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"
NEEDS = {"svm.py": "sklearn"}  # the others do without what they compare with


@pytest.mark.parametrize("script", sorted(file.name for file in FOLDER.glob("*.py")))
def test_example(script, tmp_path):
    if script in NEEDS:
        pytest.importorskip(NEEDS[script])
    done = subprocess.run(
        [sys.executable, str(FOLDER / script)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() and not done.stderr.strip()
