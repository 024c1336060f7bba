# SPDX-License-Identifier: Apache-2.0
"""The Backend, and the one that calls use by default."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._cuda import stream_number
from weftgpu._errors import call_core

if TYPE_CHECKING:
    from types import TracebackType


class Backend(_core._Backend):
    """A device that is ready for work, with its memory, queues and caches.

    Making one opens the Vulkan loader and the driver. It may be used from many threads simultaneously. Settings
    that are not given come from the environment (docs/configuration.md), then from what suits the device.

    Parameters
    ----------
    device : str, int, Device or None
        Index, start of the UUID, part of the name, ``"cpu"``, ``"auto"`` for the best one, or a Device of
        :func:`devices`.
    path : {"auto", "staged", "direct", "imported", "host"}
        How bytes reach the kernels.
    queues : {"auto", "single", "split"}
        Which queues a batch uses.
    host_allocator : {"auto", "vulkan", "cuda"}
        What allocates page-locked memory.
    chunk_elements, ring_slots, copy_threads : int
        Elements of a chunk, slots of the ring (1 to 16), threads that copy (1 to 256).
    memory_limit : int
        The most bytes of device memory that this backend takes; 0: no limit but the device's.
    validation : {"off", "on", "sync"}
        The Khronos validation layer.
    log_level : {"off", "error", "warning", "info", "debug"}
        Messages from this level on go to standard error.
    trace : str
        A file that gets a trace of everything, written when the backend is closed.
    cache : bool
        Whether pipelines are kept on disk, in ``cache_dir``.
    cache_dir, vulkan_library : str
        The folder of the caches, and the Vulkan loader to open.

    Raises
    ------
    Unavailable
        No Vulkan loader, or no device that can be used; the text lists each device with its reasons. Also in a
        process that was forked after its parent had opened a driver, because a driver does not survive a fork: use
        the ``spawn`` start method of multiprocessing.
    InvalidArgument
        A setting out of its range, or a device that matches nothing.

    Examples
    --------
    >>> with weftgpu.Backend() as backend:
    ...     name = backend.name
    """

    def __init__(
        self,
        device: str | int | _core.Device | None = None,
        *,
        path: str | None = None,
        queues: str | None = None,
        host_allocator: str | None = None,
        chunk_elements: int | None = None,
        ring_slots: int | None = None,
        copy_threads: int | None = None,
        memory_limit: int | None = None,
        validation: str | None = None,
        log_level: str | None = None,
        trace: str | os.PathLike[str] | None = None,
        cache: bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        vulkan_library: str | None = None,
    ) -> None:
        if isinstance(device, _core.Device):
            device = device.uuid
        call_core(
            "Backend", _core._Backend.__init__, self, None if device is None else str(device), path, queues,
            host_allocator, validation, log_level, None if trace is None else os.fspath(trace),
            None if cache_dir is None else os.fspath(cache_dir), vulkan_library, chunk_elements, memory_limit, ring_slots,
            copy_threads, cache,
        )

    def cuda_event(self, stream: Any) -> _core.Event:
        """An event that is reached when all work that a CUDA stream has been given so far is done.

        Parameters
        ----------
        stream : int, or stream of PyTorch or CuPy
            An int as DLPack has it: 1 is CUDA's default stream.

        Returns
        -------
        Event
            For :meth:`Stream.wait_for`, before weft uses memory that CUDA has written.

        Examples
        --------
        >>> stream.wait_for(backend.cuda_event(torch.cuda.current_stream()))  # doctest: +SKIP
        """
        return self._cuda_event(stream_number(stream))

    def __enter__(self) -> Backend:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<weftgpu.Backend on {self.name}>"


_default: Backend | None = None
_making = threading.Lock()


def default_backend() -> Backend:
    """The backend of calls that are not given one: made on first use, one a process.

    Returns
    -------
    Backend
        On the device that ``WEFT_DEVICE`` names, or on the best one.

    Raises
    ------
    Unavailable
        As :class:`Backend`.

    Examples
    --------
    >>> weftgpu.default_backend() is weftgpu.default_backend()
    True
    """
    global _default
    if _default is not None:
        return _default
    with _making:
        if _default is None:
            _default = Backend()
        return _default


def set_default_backend(backend: Backend | None) -> None:
    """Makes ``backend`` the one that calls use by default; None: the next call makes a new one.

    Parameters
    ----------
    backend : Backend or None

    Examples
    --------
    >>> weftgpu.set_default_backend(weftgpu.Backend("cpu"))  # doctest: +SKIP
    """
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


_of_parent: list[Backend] = []
os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
