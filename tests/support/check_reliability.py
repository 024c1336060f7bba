#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_reliability.py REPOSITORY: every report in docs/reliability.md must name test cases that exist, or a reason."""
import pathlib
import re
import sys


def cases(root):
    names = set()
    for file in (root / "tests").rglob("*.cpp"):
        # A long name may be on a separate line, in several strings.
        for match in re.finditer(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', file.read_text()):
            names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1])))
    return names


def reports(text):
    """Each report as (numbers, text, lines below it). It has the form `- **1, 2.** text`, then `  - ` for each test."""
    found = []
    for line in text.splitlines():
        head = re.match(r"- \*\*(\d+(?:, \d+)*)\.\*\* (.*)", line)
        if head:
            found.append((head[1], [head[2]], []))
        elif found and line.startswith("  - "):
            found[-1][2].append(line[4:])
        elif found and line.startswith("  "):
            (found[-1][2] or found[-1][1]).append(line.strip())
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    known = cases(root)
    problems, numbers = [], []
    for number, words, below in reports((root / "docs" / "reliability.md").read_text()):
        numbers += [int(n) for n in number.split(", ")]
        if not re.search(r"\([^()]*#\d+[^()]*\)\.$", " ".join(words)):
            problems.append(f"{number}: need a report, and in brackets where it is")
        if below and below[0].startswith("Cannot happen: "):
            continue
        if not below:
            problems.append(f"{number}: neither a test nor a reason")
        for line in below:
            named = re.fullmatch(r"`([^`]+)`", line)
            if not named:
                problems.append(f"{number}: not a test case in backticks: {line}")
            elif named[1] not in known:
                problems.append(f"{number}: no test case '{named[1]}'")
    problems += [f"{n}: twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    if len(numbers) < 80:
        problems.append(f"only {len(numbers)} reports found: has the page changed its layout?")
    print("\n".join(problems) or f"{len(numbers)} reports, every named test is there")
    return 1 if problems else 0


sys.exit(main())
