# SPDX-License-Identifier: Apache-2.0
"""Work on memory that stays where it is."""

from __future__ import annotations

import atexit
import contextlib
import weakref
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, extents_of, items_of
from weftgpu._batch import pack_parameters
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._program import Program


class Buffer(_core._Buffer):
    """Memory of a type and a shape that stays where it is between calls; contents undefined.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64
    pinned : bool
        Page-locked memory of the host, which the device reaches, and ``array`` shows; otherwise memory of the device.
    cuda : bool
        Memory of the device that CUDA uses, too: ``torch.from_dlpack``, ``cupy.from_dlpack`` and
        ``jax.dlpack.from_dlpack`` take the Buffer without a copy. Their work runs after what streams of weft were
        given before; for the other direction see :meth:`Backend.cuda_event`.
    name : str
        In reports.
    backend : Backend or Devices, optional
        Devices for pinned memory alone: it is that of the first device, which the others reach too.

    Raises
    ------
    OutOfMemory
        With the figures.
    Unavailable
        ``cuda=True`` where weftgpu was built without CUDA, or the device of the backend is not one of CUDA.

    Examples
    --------
    >>> stream = weftgpu.Stream()
    >>> F = weftgpu.Field("babybear")
    >>> a, c = weftgpu.Buffer(3, "uint32"), weftgpu.Buffer(3, "uint32")
    >>> stream.upload(F.array([1, 2, 3]), a)
    >>> stream.download(F.mul(a, a, c, stream=stream))
    array([1, 4, 9], dtype=uint32)
    """

    def __init__(
        self, shape: int | tuple[int, ...], dtype: DTypeLike = "float32", *, pinned: bool = False, cuda: bool = False,
        name: str = "", backend: Backend | Devices | None = None,
    ) -> None:
        extents = extents_of("Buffer", shape)
        call_core("Buffer", _core._Buffer.__init__, self, backend, extents, dtype, pinned, cuda, name)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._dtype  # type: ignore[assignment]
        return dtype


def from_dlpack(x: Any, *, backend: Backend | None = None) -> Buffer:
    """A CUDA array of another library as a Buffer, for work on a Stream.

    The Buffer is the array's own memory where that can be shared: it comes from cuMemCreate with a file descriptor, and
    its library lets others write it. Otherwise it is a copy on the device, because memory of cudaMalloc, which most
    libraries use, cannot be shared. Work that weft is given from now on runs after the work that made the array.

    Parameters
    ----------
    x : array on a CUDA device
        With ``__dlpack__`` or ``__cuda_array_interface__``.
    backend : Backend, optional
        On the same device.

    Returns
    -------
    Buffer

    Raises
    ------
    InvalidArgument
        An array in host memory, which calls use where it lies, or on another device.
    Unavailable
        weftgpu was built without CUDA, or the device of the backend is not one of CUDA.

    Examples
    --------
    >>> weftgpu.from_dlpack(torch.arange(6, device="cuda"))  # doctest: +SKIP
    <weftgpu.Buffer (6,) int64 on the device and in CUDA>
    """
    if x is None:
        raise TypeError("from_dlpack: x: wrong type (got None, need an array on a CUDA device)")
    buffer: Buffer = Buffer.__new__(Buffer)
    _core._Buffer.__init__(buffer, backend, x)
    return buffer


def pinned_empty(
    shape: int | tuple[int, ...], dtype: DTypeLike = "float32", *, backend: Backend | Devices | None = None
) -> NDArray[Any]:
    """A NumPy array in page-locked memory: calls on it need no staging copy. Contents undefined.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64
    backend : Backend or Devices, optional
        With Devices, none of them needs a staging copy.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> weftgpu.pinned_empty((2, 3)).shape
    (2, 3)
    """
    array: NDArray[Any] = Buffer(shape, dtype, pinned=True, backend=backend).array
    return array


class Stream(_core._Stream):
    """Ordered work on Buffers: each step sees the results of the steps before it.

    Recorded work runs when it is submitted: by submit(), wait(), download() or replay(). Independent steps run
    simultaneously. Belongs to one thread at a time.

    Parameters
    ----------
    backend : Backend, optional
    name : str
        In traces and messages.
    queue : {"compute", "upload", "download"}
        Copies on the other two run while kernels run; such a stream takes everything but dispatches.

    Examples
    --------
    See :class:`Buffer`.
    """

    def __init__(self, backend: Backend | None = None, *, name: str = "", queue: str = "compute") -> None:
        call_core("Stream", _core._Stream.__init__, self, backend, name, queue)
        _open.add(self)

    def dispatch(
        self, program: Program, buffers: Sequence[_core._Buffer], elements: int, parameters: Any = None
    ) -> None:
        """Runs ``program`` over ``elements``; one buffer a binding, in ascending order of bindings.

        Parameters
        ----------
        program : Program
        buffers : sequence of Buffer
        elements : int
        parameters : bytes, int, float, NumPy value, or tuple of these
            As :class:`Job` takes them.
        """
        given = items_of("Stream.dispatch", "buffers", buffers, "Buffer")
        call_core(
            "Stream.dispatch", _core._Stream._dispatch, self, program, given, elements,
            pack_parameters("Stream.dispatch", parameters),
        )

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None and not self.closed:
            self.wait()
        self.close()


_open: weakref.WeakSet[Stream] = weakref.WeakSet()


def _close_all() -> None:
    for stream in list(_open):
        with contextlib.suppress(InvalidArgument):  # a daemon thread uses it
            stream.close()


atexit.register(_close_all)
