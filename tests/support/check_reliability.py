#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_reliability.py REPOSITORY: every report in docs/reliability.md names test cases that exist, or says why not."""
import pathlib
import re
import sys


def cases(root):
    names = set()
    for file in (root / "tests").rglob("*.cpp"):
        # A long name may stand on a line of its own, in pieces.
        for match in re.finditer(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', file.read_text()):
            names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1])))
    return names


def main():
    root = pathlib.Path(sys.argv[1])
    known = cases(root)
    text = (root / "docs" / "reliability.md").read_text()
    problems, numbers = [], []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not re.fullmatch(r"\d+(, \d+)*", cells[0]):
            continue
        numbers += [int(n) for n in cells[0].split(", ")]
        if len(cells) != 4 or not cells[2]:
            problems.append(f"{cells[0]}: need a number, a report, where it is, and tests")
            continue
        named = re.findall(r"`([^`]+)`", cells[3])
        if cells[3].startswith("cannot: "):
            continue
        if not named:
            problems.append(f"{cells[0]}: neither a test nor a reason")
        problems += [f"{cells[0]}: no test case '{name}'" for name in named if name not in known]
    problems += [f"{n}: twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    if len(numbers) < 80:
        problems.append(f"only {len(numbers)} reports found: has the table changed its form?")
    print("\n".join(problems) or f"{len(numbers)} reports, every named test is there")
    return 1 if problems else 0


sys.exit(main())
