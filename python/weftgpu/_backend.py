# SPDX-License-Identifier: Apache-2.0
"""The Backend."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, path_or_none
from weftgpu._cuda import stream_number
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    from types import TracebackType


def name_of(device: str | int | _core.Device | None) -> str | None:
    """A device as the setting ``device`` has it."""
    if isinstance(device, _core.Device):
        return device.uuid
    return None if device is None else str(device)


class Backend(_core._Backend):
    """A device that is ready for work, with its memory, queues and caches.

    Making one opens the Vulkan loader and the driver. It may be used from many threads simultaneously. Settings
    that are not given come from the environment (docs/configuration.md), then from what suits the device.

    Parameters
    ----------
    device : str, int, Device or None
        Index, start of the UUID, part of the name, ``"cpu"``, ``"auto"`` for the best one, or a Device of
        :func:`devices`. Of several that it names, the best one; :class:`Devices` uses them all.
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
        call_core(
            "Backend", _core._Backend.__init__, self, name_of(device), path, queues, host_allocator, validation, log_level,
            path_or_none("Backend", "trace", trace), path_or_none("Backend", "cache_dir", cache_dir), vulkan_library, chunk_elements, memory_limit, ring_slots, copy_threads,
            cache,
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
        try:
            return f"<weftgpu.Backend on {self.name}>"
        except InvalidArgument:
            return "<weftgpu.Backend, closed>"
