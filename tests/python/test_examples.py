# SPDX-License-Identifier: Apache-2.0
"""Each script of examples/python runs, checks its own results, and says so by its exit status."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "python"
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


def test_bench(tmp_path):
    script, report = EXAMPLES / "bench" / "bench_python.py", tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(script), "--quick", "--json", str(report)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(report.read_text())["rows"]
    assert {row["section"] for row in rows} >= {"overhead", "throughput", "kernel matrix", "field", "encode"}
    assert all(row["verified"] for row in rows)
