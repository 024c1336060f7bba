# SPDX-License-Identifier: Apache-2.0
"""The devices that calls use by default."""

from __future__ import annotations

import atexit
import os
import threading

from weftgpu import _core
from weftgpu._backend import Backend
from weftgpu._devices import Devices

_default: Backend | Devices | None = None
_making = threading.Lock()


def default_devices() -> Backend | Devices:
    """What calls on host arrays use by default: made on first use, one a process."""
    global _default
    if _default is not None:
        return _default
    with _making:
        if _default is None:
            devices = Devices()
            _default = devices if len(devices) > 1 else devices[0]
        return _default


def default_backend() -> Backend:
    """The backend of calls that are not given one: made on first use, one a process.

    Returns
    -------
    Backend
        On the device that ``WEFT_DEVICE`` names, or on the best one. If it names several, or a Devices is the default,
        calls on host arrays use them all; this is the first of them that is not lost, which streams and buffers use.

    Raises
    ------
    Unavailable
        As :class:`Backend`.

    Examples
    --------
    >>> weftgpu.default_backend() is weftgpu.default_backend()
    True
    """
    chosen = default_devices()
    if isinstance(chosen, Devices):
        lost = chosen.lost
        return chosen[lost.index(False) if False in lost else 0]
    return chosen


def set_default_backend(backend: Backend | Devices | None) -> None:
    """Makes ``backend`` the one that calls use by default; None: the next call makes a new one.

    Parameters
    ----------
    backend : Backend, Devices or None

    Examples
    --------
    >>> weftgpu.set_default_backend(weftgpu.Backend("cpu"))  # doctest: +SKIP
    >>> weftgpu.set_default_backend(weftgpu.Devices("all"))  # doctest: +SKIP
    """
    if backend is not None and not isinstance(backend, (Backend, Devices)):
        got = type(backend).__name__
        raise TypeError(f"set_default_backend: backend: wrong type (got {got}, need Backend, Devices or None)")
    global _default
    _default = backend


def _after_fork() -> None:
    global _default, _making
    _core._after_fork()
    if _default is not None:
        # Never destroyed here: the device belongs to the parent.
        _of_parent.append(_default)
        _default = None
    _making = threading.Lock()


def _at_exit() -> None:
    global _default
    _core._shut_down()
    _default = None


_of_parent: list[Backend | Devices] = []
os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
