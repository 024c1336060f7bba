# SPDX-License-Identifier: Apache-2.0
"""Several devices that share the work of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftgpu import _core
from weftgpu._arguments import call_core, path_or_none
from weftgpu._backend import Backend, name_of
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from types import TracebackType


class Devices(_core._Devices):
    """One Backend for each device, which share the work of a call: give it as ``backend=`` of any call on host arrays.

    Results are those of one device, to the bit for fields and lattices, and for states and kernel matrices if the
    devices are of one kind. Calls that are too small to be shared run on the fastest device alone.
    ``last_report().devices`` says what each device did. A device that is lost leaves the call, and the others finish
    it. docs/devices.md has more. May be used from many threads simultaneously.

    Parameters
    ----------
    devices : str, int, Device or iterable of these, optional
        ``"all"``; or names as of a Backend, separated by commas: ``"0,2"``, ``"nvidia"`` (all whose name has that
        part). A device that is named twice gets two backends (``"cpu,cpu"``). By default what ``WEFT_DEVICE`` names,
        or the best device alone.
    path, queues, host_allocator, chunk_elements, ring_slots, copy_threads, memory_limit, validation, log_level, trace
        As :class:`Backend`, for each device. Without ``copy_threads`` the devices divide the cores among them.
    cache, cache_dir, vulkan_library
        As :class:`Backend`.

    Raises
    ------
    Unavailable, InvalidArgument
        As :class:`Backend`.

    Examples
    --------
    >>> F = weftgpu.Field("babybear")
    >>> with weftgpu.Devices("all") as devices:
    ...     total = F.sum(F.array([1, 2, 3]), backend=devices)
    ...     rows = weftgpu.last_report().devices
    >>> int(total), sum(row.items for row in rows)
    (6, 3)
    """

    def __init__(
        self,
        devices: str | int | _core.Device | Iterable[str | int | _core.Device] | None = None,
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
            "Devices", _core._Devices.__init__, self, _names_of(devices), path, queues, host_allocator, validation,
            log_level, path_or_none("Devices", "trace", trace), path_or_none("Devices", "cache_dir", cache_dir), vulkan_library, chunk_elements, memory_limit, ring_slots,
            copy_threads, cache,
        )
        self._backends = tuple(self._backend(index) for index in range(len(self)))

    def _backend(self, index: int) -> Backend:
        backend: Backend = Backend.__new__(Backend)
        _core._Backend.__init__(backend, self, index)
        return backend

    def __getitem__(self, index: int) -> Backend:
        """The Backend of a device, for everything that works on one device."""
        len(self)  # refuses Devices that are closed
        return self._backends[index]

    def __iter__(self) -> Iterator[Backend]:
        len(self)
        return iter(self._backends)

    def close(self) -> None:
        """Closes the Backend of each device. Buffers, programs and streams that were made with one keep it open."""
        try:
            self._close()
        finally:
            for backend in self._backends:
                backend.close()

    def __enter__(self) -> Devices:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<weftgpu.Devices on {', '.join(self.names)}>"
        except InvalidArgument:
            return "<weftgpu.Devices, closed>"


def _names_of(devices: str | int | _core.Device | Iterable[str | int | _core.Device] | None) -> str | None:
    if devices is None or isinstance(devices, (str, _core.Device)) or hasattr(devices, "__index__"):
        return name_of(devices)  # type: ignore[arg-type]
    names = [str(name_of(device)) for device in devices]
    if not names:
        raise InvalidArgument("Devices: no devices (got an empty list, need one or more)", "invalid_argument")
    return ",".join(names)
