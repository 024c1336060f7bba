# SPDX-License-Identifier: Apache-2.0
"""The exceptions of weftgpu. Every failure of a call is an :class:`Error`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Error(Exception):
    """A call of weftgpu failed; the text names the call, what is wrong, and what it needs.

    Attributes
    ----------
    code : str
        Why, as a stable name: ``invalid_argument``, ``invalid_shader``, ``no_loader``, ``no_device``,
        ``unsupported``, ``out_of_memory``, ``device_lost``, ``cancelled``, ``io`` or ``driver``.
    native_code : int
        The VkResult of a failure of the driver, or errno for ``io``; 0 if there is none.
    """

    def __init__(self, text: str = "", code: str = "driver", native_code: int = 0) -> None:
        super().__init__(text, code, native_code)
        self.code = code
        self.native_code = native_code

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidArgument(Error, ValueError):
    """A mistake of the caller, found before any work; outputs are untouched."""


class EncodeError(InvalidArgument):
    """Values that cannot be encoded.

    Attributes
    ----------
    rows : list of int
        Every sample, row or vector at fault, in ascending order.
    failures : list of tuple of (int, int, str)
        The same rows with the position of the value at fault, and the fault: ``zero norm`` and the like.
    """

    def __init__(self, text: str = "", code: str = "invalid_argument", native_code: int = 0,
                 failures: list[tuple[int, int, str]] | None = None) -> None:
        super().__init__(text, code, native_code)
        self.failures: list[tuple[int, int, str]] = failures or []
        self.args = (text, code, native_code, self.failures)

    @property
    def rows(self) -> list[int]:
        return [row for row, _, _ in self.failures]


class OutOfMemory(Error, MemoryError):
    """Device memory or page-locked memory does not suffice; the text has the figures. The backend stays usable."""


class DeviceLost(Error):
    """The driver lost the device, or every device of a Devices: make a new one."""


class Unavailable(Error, RuntimeError):
    """No Vulkan, no device that can be used, or the device lacks what the call needs; the text gives the reasons."""


class Cancelled(Error):
    """The call or the job was cancelled before it was done."""


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


def call_core(call: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """``function(*arguments)`` of the extension modules, whose texts about arguments of a wrong kind become weft's."""
    try:
        return function(*arguments)
    except TypeError as error:
        if "incompatible function arguments" not in str(error):
            raise
        text = _wrong_kind(function, arguments)
        if text is None:
            raise
        if text.endswith("int of its range)"):
            raise InvalidArgument(f"{call}: {text}", "invalid_argument") from None
        raise TypeError(f"{call}: {text}") from None


def _wrong_kind(function: Any, arguments: tuple[Any, ...]) -> str | None:
    """Which argument is not of the kind that the signature has, and what it needs."""
    declared = _declared(function.__nb_signature__[0][0])
    for (name, kind), given in zip(declared, arguments):
        if not any(_is_a(part.strip(), given) for part in kind.split(" | ")):
            got = "None" if given is None else type(given).__name__
            return f"{name}: wrong type (got {got}, need {kind.replace('collections.abc.', '')})"
    for (name, kind), given in zip(declared, arguments):
        if kind.startswith("int") and isinstance(given, int) and not 0 <= given < 1 << 32:
            return f"{name}: out of range (got {given}, need an int of its range)"
    return None


def _declared(signature: str) -> list[tuple[str, str]]:
    """Names and kinds of "def f(name: kind, ...) -> kind"."""
    found, depth, begin = [], 0, signature.index("(") + 1
    for at in range(begin, len(signature)):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(signature[at], 0)
        if depth < 0 or (depth == 0 and signature[at] == ","):
            name, _, kind = signature[begin:at].strip().partition(": ")
            found.append((name, kind or "object"))
            begin = at + 1
        if depth < 0:
            break
    return found


def _is_a(kind: str, given: Any) -> bool:
    if kind == "None":
        return given is None
    if kind == "bool":
        return isinstance(given, bool)
    if kind == "int":
        return hasattr(given, "__index__") and not isinstance(given, bool)
    if kind == "float":
        return hasattr(given, "__float__") or hasattr(given, "__index__")
    if kind == "str":
        return isinstance(given, str)
    if kind.startswith("collections.abc.Sequence["):
        item = kind[len("collections.abc.Sequence[") : -1]
        return isinstance(given, (list, tuple)) and all(_is_a(item, one) for one in given)
    if kind == "weftgpu._core._Stream":
        return type(given).__name__ in ("Stream", "_Stream")
    return True  # arrays and objects of weft say it themselves
