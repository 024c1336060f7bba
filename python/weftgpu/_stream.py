# SPDX-License-Identifier: Apache-2.0
"""Work on memory that stays where it is."""

from __future__ import annotations

import atexit
import contextlib
import weakref
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._backend import default_backend
from weftgpu._batch import pack_parameters
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from weftgpu._backend import Backend
    from weftgpu._program import Program


class Buffer(_core._Buffer):
    """Memory of a type and a shape that stays where it is between calls; contents undefined.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64
    pinned : bool
        Page-locked memory of the host, which the device reaches, and ``array`` shows; otherwise memory of the device.
    name : str
        In reports.
    backend : Backend, optional

    Raises
    ------
    OutOfMemory
        With the figures.

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
        self, shape: int | tuple[int, ...], dtype: DTypeLike = "float32", *, pinned: bool = False, name: str = "",
        backend: Backend | None = None,
    ) -> None:
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        super().__init__(backend if backend is not None else default_backend(), extents, dtype, pinned, name)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._dtype  # type: ignore[assignment]
        return dtype


def pinned_empty(
    shape: int | tuple[int, ...], dtype: DTypeLike = "float32", *, backend: Backend | None = None
) -> NDArray[Any]:
    """A NumPy array in page-locked memory: calls on it need no staging copy. Contents undefined.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64
    backend : Backend, optional

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
        super().__init__(backend if backend is not None else default_backend(), name, queue)
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
        self._dispatch(program, list(buffers), elements, pack_parameters(parameters))

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
