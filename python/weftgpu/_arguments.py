# SPDX-License-Identifier: Apache-2.0
"""Arguments that calls refuse, in the words of weft and not in those of the binding.

Importing this module puts every public function and method of the extension modules behind :func:`in_plain_words`.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from typing import TYPE_CHECKING, Any, TypeVar

from weftgpu import _core
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


def no_effect(call: str, **given: bool) -> None:
    """Refuses options of a call on a stream that only calls on host memory have; ``given``: whether each one is given."""
    for name, is_given in given.items():
        if is_given:
            raise InvalidArgument(f"{call}: {name} has no effect with a stream; leave it out", "invalid_argument")


def refuse_circuit(call: str, x: Any, **given: bool) -> None:
    """Refuses options of a circuit if ``x`` has states; ``given``: whether each one is given."""
    if "complex" not in str(getattr(x, "dtype", "")):
        return
    for name, is_given in given.items():
        if is_given:
            raise InvalidArgument(f"{call}: {name} does not apply to states; leave it out", "invalid_argument")


def int_of(call: str, name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{call}: {name}: wrong type (got {type(value).__name__}, need int)") from None


def extents_of(call: str, shape: Any, name: str = "shape") -> tuple[int, ...]:
    """A shape as a tuple; an int is that of a vector."""
    given = tuple(shape) if hasattr(shape, "__iter__") and getattr(shape, "ndim", 1) != 0 else (shape,)
    extents = tuple(int_of(call, name, extent) for extent in given)
    if any(extent < 0 for extent in extents):
        raise InvalidArgument(f"{call}: {name}: negative (got {extents}, need 0 or more)", "invalid_argument")
    return extents


def items_of(call: str, name: str, items: Any, kind: str) -> list[Any]:
    """The items of an iterable. One array, or one text, is none."""
    if not isinstance(items, str) and not hasattr(items, "__dlpack__") and not _converts(memoryview, items):
        try:
            return list(items)
        except TypeError:
            pass
    raise TypeError(f"{call}: {name}: wrong type (got {type(items).__name__}, need an iterable of {kind})")


def mapping_of(call: str, name: str, mapping: Any, kind: str) -> dict[Any, Any]:
    if mapping is None:
        return {}
    if not hasattr(mapping, "items"):
        raise TypeError(f"{call}: {name}: wrong type (got {type(mapping).__name__}, need a mapping of {kind})")
    return dict(mapping)


def path_of(call: str, name: str, path: Any) -> str:
    """A path as text."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{call}: {name}: wrong type (got {type(path).__name__}, need str or os.PathLike)")
    text: str = os.fspath(path)
    if not text:
        raise InvalidArgument(f"{call}: {name}: no file (got an empty path, need one)", "invalid_argument")
    return text


def path_or_none(call: str, name: str, path: Any) -> str | None:
    return None if path is None else path_of(call, name, path)


def call_core(call: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """``function(*arguments)`` of the extension modules, whose texts about its arguments become weft's."""
    try:
        return function(*arguments)
    except TypeError as error:
        raise plain_error(call, function, arguments, {}, error) from None


def in_plain_words(call: str, function: Callable[..., Result]) -> Callable[..., Result]:
    """``function`` of the extension modules for users, who call it themselves."""

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Result:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            raise plain_error(call, function, arguments, named, error) from None

    return called


def plain_error(
    call: str, function: Any, arguments: tuple[Any, ...], named: dict[str, Any], error: TypeError
) -> Exception:
    """The error in weft's words, if it is the binding's about these arguments."""
    if not str(error).startswith(f"{function.__name__}(): incompatible function arguments"):
        return error
    declared = _declared(function.__nb_signature__[0][0])
    if declared and declared[0][0] == "self":
        declared, arguments = declared[1:], arguments[1:]
    given = dict(zip((name for name, _, _ in declared), arguments))
    for name, kind, _ in declared:
        value = named.get(name, given.get(name))
        if (name in named or name in given) and not any(_is_a(part, value) for part in kind.split(" | ")):
            got = "None" if value is None else type(value).__name__
            return TypeError(f"{call}: {'' if name == 'arg' else name + ': '}wrong type (got {got}, need {_shown(kind)})")
    counted = _wrong_count(declared, arguments, given, named)
    if counted:
        return TypeError(f"{call}: {counted}")
    for name, kind, _ in declared:
        value = named.get(name, given.get(name))
        for number in _ints_of(kind, value):
            if not 0 <= number < 1 << 32:
                text = f"{call}: {name}: out of range (got {value}, need {'an int' if kind.startswith('int') else 'ints'} of its range)"
                return InvalidArgument(text, "invalid_argument")
    got = ", ".join(type(value).__name__ for value in (*arguments, *named.values()))
    need = ", ".join(f"{name}: {_shown(kind)}" for name, kind, _ in declared)
    return TypeError(f"{call}: arguments of wrong types (got {got}; need {need})")


def _ints_of(kind: str, value: Any) -> list[int]:
    """The integers of an argument that is declared as one, or as a sequence of them."""
    some: tuple[Any, ...] = (value,) if kind.startswith("int") else ()
    if kind.startswith("collections.abc.Sequence[int]") and value is not None:
        some = tuple(value)
    return [operator.index(one) for one in some if _converts(operator.index, one)]


def _wrong_count(
    declared: list[tuple[str, str, bool]], arguments: tuple[Any, ...], given: dict[str, Any], named: dict[str, Any]
) -> str | None:
    """Which argument is missing, or is one too many."""
    if len(arguments) > len(declared):
        return f"too many arguments (got {len(arguments)}, need at most {len(declared)})"
    for name in named:
        if name not in [known for known, _, _ in declared]:
            return f"{name}: no such argument (need {', '.join(known for known, _, _ in declared) or 'none'})"
        if name in given:
            return f"{name}: given twice"
    for name, kind, has_default in declared:
        if not has_default and name not in given and name not in named:
            return f"{name}: missing (need {_shown(kind)})"
    return None


def _declared(signature: str) -> list[tuple[str, str, bool]]:
    """Names and kinds of "def f(name: kind, other: kind = value) -> kind", and whether they have a default value."""
    found, depth, begin = [], 0, signature.index("(") + 1
    for at in range(begin, len(signature)):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(signature[at], 0)
        if depth < 0 or (depth == 0 and signature[at] == ","):
            name, _, rest = signature[begin:at].strip().partition(": ")
            kind, default, _ = rest.partition(" = ")
            if name and name not in "/*" and not name.startswith("*"):
                found.append((name, kind or "object", bool(default)))
            begin = at + 1
        if depth < 0:
            break
    return found


def _shown(kind: str) -> str:
    """A kind as users know it: "Job", not "weftgpu._core._Job"."""
    return re.sub(r"(collections\.abc\.|weftgpu\._core\._?)", "", kind)


def _converts(conversion: Callable[[Any], object], given: Any) -> bool:
    try:
        conversion(given)
    except Exception:  # of the conversion, which may raise anything
        return False
    return True


def _is_a(kind: str, given: Any) -> bool:
    simple = {"None": type(None), "bool": bool, "str": str, "bytes": bytes, "slice": slice}
    if kind in simple:
        return isinstance(given, simple[kind])
    if kind == "int":
        return _converts(operator.index, given)
    if kind == "float":
        return not isinstance(given, (str, bytes)) and _converts(float, given)
    if kind.startswith("collections.abc.Callable"):
        return callable(given)
    if kind.startswith("collections.abc.Sequence["):
        item = kind[len("collections.abc.Sequence[") : -1]
        return isinstance(given, (list, tuple)) and all(_is_a(item, one) for one in given)
    if kind.startswith("weftgpu._core."):
        return isinstance(given, getattr(_core, kind.rpartition(".")[2]))
    return True  # arrays say it themselves


_SHOWN_CLASSES = {"_Pipeline": "JobPipeline"}


def _put_in_plain_words() -> None:
    """Private functions are left: the package calls them by :func:`call_core`, which names the call of the user."""
    for name, value in list(vars(_core).items()):
        if type(value).__name__ == "nb_func" and not name.startswith("_"):
            setattr(_core, name, in_plain_words(name, value))
        if not isinstance(value, type):
            continue
        for method, function in list(vars(value).items()):
            if type(function).__name__ == "nb_method" and (not method.startswith("_") or method == "__getitem__"):
                shown = f"{_SHOWN_CLASSES.get(name, name.lstrip('_'))}.{method}"
                setattr(value, method, in_plain_words(shown, function))


_put_in_plain_words()
