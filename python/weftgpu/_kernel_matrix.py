# SPDX-License-Identifier: Apache-2.0
"""Quantum kernel matrices."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, no_effect, refuse_circuit
from weftgpu._errors import InvalidArgument
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress
    from weftgpu._stream import Stream


def kernel_matrix(
    x: Any,
    y: Any = None,
    *,
    map: str = "ryrz",
    weights: Any = None,
    reupload: bool = False,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    normalize: bool = False,
    jitter: float = 0.0,
    out: Any = None,
    resume: bool = False,
    state_tile: int | None = None,
    stream: Stream | None = None,
    backend: Backend | Devices | None = None,
    progress: Progress = None,
) -> Any:
    """K[i, j] = abs(<psi(y_j)|psi(x_i)>)**2 of features through a circuit, or of states.

    Parameters
    ----------
    x : array, (samples, qubits), float32 or float64
        Features in radians; or states, (samples, 2**qubits), complex64 or complex128.
    y : array of the same type, (others, ...), optional
        Without it K is that of ``x`` with itself, symmetric to the bit. In host memory a narrower type is widened.
    map : {"ryrz", "ry"}
        How a row is embedded: RY(scale x) on each qubit, then RZ(scale x) or nothing.
    weights : array, (layers, qubits), float32 or float64, optional
        Trained angles of the layers: RX on each qubit, then a ring of CNOTs.
    reupload : bool
        Embeds the row before each layer. Without it the layers cancel, and K depends on the map alone.
    scale : float
        Multiplies the features.
    dtype : float32 or float64, optional
        Of K and of the arithmetic; by default that of ``out``, or float32.
    normalize : bool
        Divides by sqrt(d_i d_j) with d_i = max(K[i, i] + jitter, 1e-12).
    jitter : float
        At least 0; ``normalize`` alone uses it.
    out : array or path, optional
        Where K is written: an array (samples, others) - a numpy.memmap too, K need not fit in memory - or a path
        that ends in ``.npy``. That file appears when K is complete. With ``stream`` a Buffer.
    resume : bool
        With a path: keeps finished tiles in ``out + ".part"`` and ``out + ".tiles"``, and continues with those that a
        call which ended early, or was killed, has left.
    state_tile : int, optional
        States that are built at a time.
    stream : Stream, optional
        ``x``, ``y`` and ``out`` are Buffers; records the work and returns ``out``.
    backend : Backend or Devices, optional
    progress : bool or callable, optional
        Called with (done, total, per second, seconds left), counted in pairs.

    Returns
    -------
    numpy.ndarray, (samples, others)
        ``out``; a numpy.memmap for a path; or a new array.

    Raises
    ------
    EncodeError
        Rows that are not finite, in ``.rows``; nothing has run.
    TypeError, InvalidArgument
        Types, shapes, order or options; nothing has run.
    OutOfMemory
        It does not fit, with the figures.

    Examples
    --------
    >>> x = np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2)
    >>> k = weftgpu.kernel_matrix(x)
    >>> k.shape, bool((k == k.T).all())
    ((3, 3), True)
    """
    refuse_circuit("kernel_matrix", x, map=map != "ryrz", weights=weights is not None, reupload=reupload,
                   scale=scale != 1)
    if stream is not None:
        if out is None:
            raise InvalidArgument("kernel_matrix: with a stream, out must be a Buffer", "invalid_argument")
        no_effect("kernel_matrix", resume=resume, state_tile=state_tile is not None, dtype=dtype is not None,
                  backend=backend is not None, progress=bool(progress))
        call_core("kernel_matrix", _core._kernel_matrix_stream, stream, x, y, map, weights, reupload, scale, out, normalize, jitter)
        return out
    if isinstance(out, (str, os.PathLike)):
        return (_into_store if resume else _into_file)(
            out, x, y, dtype, map=map, weights=weights, reupload=reupload, scale=scale, normalize=normalize,
            jitter=jitter, state_tile=state_tile, backend=backend, progress=progress,
        )
    if resume:
        raise InvalidArgument("kernel_matrix: resume: needs a path as out", "invalid_argument")
    return _compute(
        x, y, map=map, weights=weights, reupload=reupload, scale=scale, dtype=dtype, normalize=normalize, jitter=jitter,
        state_tile=state_tile, out=out, own_out=False, backend=backend, progress=progress,
    )


def _compute(
    x: Any, y: Any, *, map: str, weights: Any, reupload: bool, scale: float, dtype: DTypeLike | None, normalize: bool,
    jitter: float, state_tile: int | None, out: Any, own_out: bool, backend: Backend | Devices | None, progress: Progress,
    store: str | None = None,
) -> Any:
    """``own_out``: nobody else knows ``out``, so that a signal need not wait until it is left alone. ``store``: the file
    of a store, instead of ``out``."""
    if dtype is None:
        # By its name, because other libraries have types of their own: torch.float32.
        dtype = str(getattr(out, "dtype", "float32")).rpartition(".")[2]
    tile = -1 if state_tile is None else state_tile
    return with_progress(
        progress,
        "pairs",
        lambda callback: call_core(
            "kernel_matrix", _core._kernel_matrix, backend, x, y, map, weights, reupload, scale, dtype, normalize, jitter,
            tile, out, own_out, store, callback,
        ),
    )


_parts = itertools.count()


def _npy_name(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not name.endswith(".npy"):
        raise InvalidArgument(f"kernel_matrix: out: a path must end in .npy (got {name!r})", "invalid_argument")
    if os.path.isdir(name):
        raise InvalidArgument(f"kernel_matrix: out: is a folder (got {name!r}, need a file)", "invalid_argument")
    return name


def _into_store(path: str | os.PathLike[str], x: Any, y: Any, dtype: DTypeLike | None, **options: Any) -> Any:
    """Computes into a store of ``path``."""
    import numpy as np

    name = _npy_name(path)
    kind = np.dtype("float32" if dtype is None else dtype)
    _compute(x, y, dtype=kind, out=None, own_out=False, store=name, **options)
    return np.load(name, mmap_mode="r+")


def _into_file(path: str | os.PathLike[str], x: Any, y: Any, dtype: DTypeLike | None, **options: Any) -> Any:
    """Computes into a file beside ``path``, which takes the place of ``path`` when it is complete."""
    import numpy as np

    name = _npy_name(path)
    x = call_core("kernel_matrix", _core._view, "kernel_matrix", "x", x, True)
    y = None if y is None else call_core("kernel_matrix", _core._view, "kernel_matrix", "y", y, True)
    rows = len(x)
    columns = rows if y is None else len(y)
    name = os.path.realpath(name)  # a link stays, and the file that it names is written
    part = f"{name}.{os.getpid()}.{next(_parts)}.part"
    kind = np.dtype("float32" if dtype is None else dtype)
    try:
        try:
            k = np.lib.format.open_memmap(part, mode="w+", dtype=kind, shape=(rows, columns))
            with open(part, "rb+") as file:  # a disk that fills up later would end the process
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
        except OSError as error:
            need = f"{rows * columns * kind.itemsize} bytes for K"
            raise OSError(error.errno, f"kernel_matrix: out: {os.strerror(error.errno or 0)} ({need})", name) from None
        _compute(x, y, dtype=kind, out=k, own_out=True, **options)
        k.flush()
        os.replace(part, name)
        k = np.load(name, mmap_mode="r+")  # which knows its name
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return k


def estimate_kernel_matrix(
    samples: int,
    qubits: int,
    others: int = 0,
    *,
    map: str = "ryrz",
    weights: Any = None,
    reupload: bool = False,
    scale: float = 1.0,
    dtype: DTypeLike = "float32",
    normalize: bool = False,
    backend: Backend | Devices | None = None,
) -> dict[str, Any]:
    """How a kernel matrix would be made and what memory it takes, before anything is allocated.

    Parameters
    ----------
    samples, qubits, others : int
        Rows and columns of x, and rows of y; 0: no y.
    map, weights, reupload, scale, dtype, normalize, backend
        As :func:`kernel_matrix`.

    Returns
    -------
    dict
        ``method``, ``pairs``, ``error`` (a bound for each value), ``matrix_bytes``, ``streamed_bytes``,
        ``streamed_fits`` and more; ``reasons`` has a line for each decision.

    Examples
    --------
    >>> weftgpu.estimate_kernel_matrix(1000, 8)["method"]
    'product'
    """
    return call_core(
        "estimate_kernel_matrix", _core._estimate_kernel_matrix, backend, samples, others, qubits, map, weights, reupload, scale, dtype, normalize
    )
