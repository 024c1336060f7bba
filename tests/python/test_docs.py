# SPDX-License-Identifier: Apache-2.0
"""The examples of the docstrings run, and everything that is public has a docstring."""
import doctest
import inspect
import pathlib
import re

import numpy as np
import pytest

import weftgpu


def documented():
    for name in weftgpu.__all__:
        thing = getattr(weftgpu, name)
        if name == "__version__":
            continue
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    yield f"{name}.{member}", value


@pytest.mark.parametrize("name, thing", list(documented()))
def test_docstring(name, thing):
    text = inspect.getdoc(thing)
    trivial = isinstance(thing, property) or name.split(".")[-1] in ("running", "cancelled", "replace")
    assert text or trivial or "." in name, f"{name} has no docstring"
    examples = doctest.DocTestParser().get_doctest(text or "", {"weftgpu": weftgpu, "np": np}, name, None, None)
    failures = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples).failed
    assert failures == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_first_program_of_a_page(page):
    text = (pathlib.Path(__file__).parents[2] / page).read_text()
    exec(re.search(r"```python\n(.*?)```", text, re.S).group(1), {})
