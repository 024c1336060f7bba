# SPDX-License-Identifier: Apache-2.0
"""The exceptions of weftgpu. Every failure of a call is an :class:`Error`."""

from __future__ import annotations


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
