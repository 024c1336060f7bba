# SPDX-License-Identifier: Apache-2.0
"""Work over the ranks of MPI: ``from weftgpu.mpi import Ranks``. Takes communicators of mpi4py.

======================  ==========================================================================
Ranks                   the processes that work together, their devices, and steps that all take
kernel_matrix           K of features or states into one .npy file; ranks take tiles
kernel_operator         products with a K that is never stored, for the solvers of SciPy
run_batch               jobs, which ranks take
======================  ==========================================================================

This package needs no library of MPI. mpi4py has the one that it was built for, or finds it when it is imported.

All functions are collective: every rank calls them in the same order with the same arguments, which are checked. If a
rank fails, all raise; the others say ``rank N: ...``. A rank that does not come within the time limit is named in a
:class:`~weftgpu.DeviceLost` on the others, which should call ``comm.Abort()``.
"""

# mypy: disable-error-code="import-untyped, import-not-found, misc, unused-ignore"

from __future__ import annotations

import errno
import fcntl
import functools
import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

import weftgpu
from weftgpu import _core
from weftgpu._arguments import call_core, path_of, path_or_none
from weftgpu._errors import EncodeError, Error, InvalidArgument
from weftgpu._mpi_ranks import Ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike, NDArray

    from weftgpu._core import KernelSolveReport

__all__ = ["Ranks", "RankOperator", "kernel_matrix", "kernel_operator", "run_batch"]

_TILE_BYTES = 64 << 20


def _sum_of(array: Any) -> str:
    if array is None:
        return "none"
    values = np.ascontiguousarray(array)
    return f"{values.dtype} {values.shape} {hashlib.blake2b(values.data, digest_size=8).hexdigest()}"


def _require_finite(function: str, name: str, values: Any) -> None:
    """Tiles would find it too, but in the middle of the work, and by the numbers of their own rows."""
    if values is None or np.isfinite(values).all():
        return
    faults = [(int(row), int(np.flatnonzero(~np.isfinite(values[row]))[0]), "not finite")
              for row in np.flatnonzero(~np.isfinite(values).all(tuple(range(1, np.ndim(values)))))]
    row, column, _ = faults[0]
    raise EncodeError(f"{function}: {name}: row {row} column {column} is not finite (got {values[row, column]})",
                      "invalid_argument", 0, faults)


def _blocks(samples: int, others: int, itemsize: int, ranks: int) -> int:
    """Rows of a tile: few enough that each rank has several tiles."""
    rows = int((_TILE_BYTES // itemsize) ** 0.5)
    while rows > 256 and -(-samples // rows) * -(-others // rows) < 8 * ranks:
        rows //= 2
    return rows


def kernel_matrix(ranks: Ranks, x: Any, y: Any = None, *, out: str | os.PathLike[str], dtype: DTypeLike = "float32",
                  backend: weftgpu.Backend | weftgpu.Devices | None = None, **options: Any) -> int:
    """K of :func:`weftgpu.kernel_matrix` into one .npy file that all ranks can reach.

    A shared counter hands out tiles, and the rank that makes one writes it through MPI-IO. K gets its name when it is
    whole; until then it is in ``out + ".mpi.part"``. Values are within the bound of :func:`weftgpu.kernel_matrix`; a K of
    ``x`` with itself is symmetric to the bit.

    Parameters
    ----------
    ranks : Ranks
    x, y : array
        The same on every rank.
    out : path
    dtype : float32 or float64
    backend : Backend or Devices, optional
        By default ``ranks.backend()``.
    **options
        ``map``, ``weights``, ``reupload``, ``scale`` and ``normalize`` of :func:`weftgpu.kernel_matrix`.

    Returns
    -------
    int
        Values of K that this rank has made.
    """
    known = {"map", "weights", "reupload", "scale", "normalize"}
    kind = np.dtype(dtype)
    path = os.path.abspath(path_of("mpi.kernel_matrix", "out", out))

    def check() -> Any:
        unknown = sorted(set(options) - known)
        if unknown:
            raise TypeError(f"mpi.kernel_matrix: {unknown[0]}: no such option (need one of {', '.join(sorted(known))})")
        if kind not in (np.dtype("float32"), np.dtype("float64")):
            raise InvalidArgument(f"mpi.kernel_matrix: dtype: wrong type (got {kind}, need float32 or float64)",
                                  "invalid_argument")
        for name, values in (("x", x), ("y", y)):
            _require_finite("mpi.kernel_matrix", name, values)
        made = ranks.backend() if backend is None else backend
        # Refuses arrays and options that do not fit before a file is made.
        weftgpu.kernel_matrix(x[:1], None if y is None else y[:1], dtype=kind, backend=made, **options)
        return made

    own = ranks.together(check)
    ranks.require_same("mpi.kernel_matrix", X=_sum_of(x), Y=_sum_of(y), out=path, dtype=str(kind),
                       **{name: _sum_of(value) if name == "weights" else value for name, value in options.items()})
    samples, others = len(x), len(x if y is None else y)
    rows = _blocks(samples, others, kind.itemsize, ranks.size)
    tiles = [(i, j) for i in range(0, samples, rows) for j in range(0, others, rows) if y is not None or i >= j]
    file = _SharedFile(ranks, path, (samples, others), kind)
    made = 0

    def make(first: int, last: int) -> None:
        nonlocal made
        for i, j in tiles[first:last]:
            left = x[i : i + rows]
            right = None if y is None and i == j else (x if y is None else y)[j : j + rows]
            tile = weftgpu.kernel_matrix(left, right, dtype=kind, backend=own, **options)
            made += file.write(i, j, tile)
            if y is None and i != j:
                made += file.write(j, i, np.ascontiguousarray(tile.T))

    try:
        ranks.each_share(len(tiles), 1, make)
        file.finish()
    finally:
        file.close()
    return made


class _SharedFile:
    """A .npy file that all ranks write into, and that has its name when it is whole."""

    def __init__(self, ranks: Ranks, path: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self._ranks, self._path, self._part, self._columns = ranks, path, path + ".mpi.part", shape[1]
        self._file: Any = None
        self._lock = -1  # of the first rank, while it makes K
        self._itemsize, self._finished = dtype.itemsize, False

        def make() -> int:
            if ranks.rank != 0:
                return 0
            self._lock = _locked(self._part)
            values = np.lib.format.open_memmap(self._part, "w+", dtype, shape)
            # Reserves the space, so that a full disk is found now.
            with open(self._part, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, values.offset + values.nbytes)
            return int(values.offset)

        try:
            offset = ranks.together(lambda: _as_io(self._path, make))
            self._offset = ranks.from_first(offset)
            self._file = ranks.together(lambda: _as_io(
                self._path, lambda: MPI.File.Open(MPI.COMM_SELF, self._part, MPI.MODE_WRONLY)))
        except BaseException:
            self.close()
            raise

    def write(self, row: int, column: int, values: NDArray[Any]) -> int:
        for i, line in enumerate(values):
            at = self._offset + ((row + i) * self._columns + column) * self._itemsize
            _as_io(self._path, lambda at=at, line=line: self._file.Write_at(at, [line, MPI.BYTE]))
        return values.size

    def finish(self) -> None:
        def sync() -> None:
            self._file.Sync()
            self._file.Close()
            self._file = None

        self._ranks.together(lambda: _as_io(self._path, sync))
        self._ranks.together(lambda: _as_io(
            self._path, lambda: os.replace(self._part, self._path) if self._ranks.rank == 0 else None))
        self._finished = True

    def close(self) -> None:
        if self._file is not None:
            self._file.Close()
            self._file = None
        if self._lock >= 0:
            if not self._finished and os.path.exists(self._part):
                os.unlink(self._part)
            os.close(self._lock)
            self._lock = -1


def _locked(path: str) -> int:
    """Opens or makes a file that no other run writes. What a run that was killed has left is taken over."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another run may have given the file its name between the two calls.
            if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except BlockingIOError:
            os.close(file)
            raise Error(f"mpi.kernel_matrix: {path}: another run over ranks makes this K (need one at a time)",
                        "io", errno.EWOULDBLOCK) from None
        os.close(file)


def _as_io(path: str, step: Callable[[], Any]) -> Any:
    try:
        return step()
    except (OSError, MPI.Exception) as error:
        raise Error(f"mpi.kernel_matrix: {path}: cannot be written: {error}", "io",
                    getattr(error, "errno", 0) or 0) from error


class RankOperator:
    """K + lambda_ I over ranks: what :func:`kernel_operator` returns. Its methods are collective.

    :meth:`solve` has a preconditioner. Where SciPy is installed it is a LinearOperator: ``scipy.sparse.linalg.cg(k, y)`` on
    every rank solves with it too, because products have the same bits on all ranks.
    """

    ndim = 2

    def __init__(self, ranks: Ranks, own: Any, shape: tuple[int, int], dtype: np.dtype[Any], lambda_: float,
                 whole: Callable[[], Any] | None) -> None:
        self._ranks, self._own, self._square = ranks, own, whole is not None
        self._make_whole = whole
        self._whole: Any = None  # of all samples, for solves
        self.shape, self.dtype, self.lambda_ = shape, dtype, lambda_
        self._rows = _rows_of(shape[0], ranks.size)
        self._first = sum(self._rows[: ranks.rank])
        self._mine = slice(self._first, self._first + self._rows[ranks.rank])

    def matvec(self, v: Any) -> NDArray[Any]:
        """(K + lambda_ I) v; ``v`` and the result are whole, and the same on every rank."""
        return self.matmat(_column(v)).reshape((self.shape[0], *np.shape(v)[1:]))

    def rmatvec(self, v: Any) -> NDArray[Any]:
        """The product of the transpose with ``v``."""
        return self.rmatmat(_column(v)).reshape((self.shape[1], *np.shape(v)[1:]))

    def matmat(self, v: Any) -> NDArray[Any]:
        """(K + lambda_ I) V."""
        given = self._given(v, self.shape[1])
        out: NDArray[Any] = np.empty((self.shape[0], given.shape[1]), self.dtype)

        def make() -> None:
            if self._own is not None:
                out[self._mine] = self._own.matmat(given)
                if self.lambda_:
                    out[self._mine] += self.dtype.type(self.lambda_) * given[self._mine]

        self._ranks.together(make)
        self._ranks.gather(out, self._rows)
        return out

    def rmatmat(self, v: Any) -> NDArray[Any]:
        """The product of the transpose with ``v``."""
        if self._square:
            return self.matmat(v)
        given = self._given(v, self.shape[0])
        sums: NDArray[Any] = np.zeros((self.shape[1], given.shape[1]), np.float64)

        def make() -> None:
            if self._own is not None:
                sums[:] = self._own.rmatmat(np.ascontiguousarray(given[self._mine]))

        self._ranks.together(make)
        self._ranks.sum(sums)
        return sums.astype(self.dtype)

    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matmat, rmatmat

    def solve(self, y: Any, lambda_: float | None = None, *, rank: int = 200, tol: float = 1e-4, max_iterations: int = 200,
              seed: int = 1, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int = 10,
              resume: bool = False) -> tuple[NDArray[Any], KernelSolveReport]:
        """:meth:`weftgpu.KernelOperator.solve` over ranks: alpha with (K + lambda_ I) alpha = y.

        The ranks share the preconditioner's memory and work, the products and the vectors by rows. Each holds all samples
        on its device from the first solve on.

        Parameters
        ----------
        y : array, (samples,) or (samples, n)
            The same on every rank, at most 64 columns.
        lambda_, rank, tol, max_iterations, seed, checkpoint_every, resume
            Those of :meth:`weftgpu.KernelOperator.solve`.
        checkpoint : path, optional
            The first rank alone reads and writes it. It may be continued over another number of ranks.

        Returns
        -------
        alpha : numpy.ndarray of the shape of ``y``
            The same on every rank.
        report : KernelSolveReport
        """
        penalty = self.lambda_ if lambda_ is None else lambda_
        file = self._ranks.together(lambda: path_or_none("RankOperator.solve", "checkpoint", checkpoint) or "")
        given = self._given(_column(y), self.shape[0]).reshape(np.shape(y))
        self._ranks.require_same("RankOperator.solve", lambda_=penalty, rank=rank, tol=tol, max_iterations=max_iterations,
                                 seed=seed, checkpoint=file, checkpoint_every=checkpoint_every, resume=resume)

        def make() -> None:
            if self._make_whole is None:
                raise InvalidArgument("RankOperator.solve: K of x with y cannot be solved with (need an operator of x "
                                      "alone)", "invalid_argument")
            if self._whole is None:
                self._whole = self._make_whole()

        self._ranks.together(make)
        return call_core("RankOperator.solve", _core._kernel_solve_over_ranks, self._whole._core, self._ranks, given,
                         penalty, rank, tol, max_iterations, seed, file, checkpoint_every, resume)

    def __matmul__(self, v: Any) -> Any:
        return self.matvec(v) if len(np.shape(v)) == 1 else self.matmat(v)

    def _given(self, v: Any, rows: int) -> NDArray[Any]:
        def check() -> NDArray[Any]:
            if np.ndim(v) != 2 or len(v) != rows:
                raise InvalidArgument(f"RankOperator: v: wrong shape (got {np.shape(v)}, need ({rows}, n))",
                                      "invalid_argument")
            if not np.can_cast(np.asarray(v).dtype, self.dtype, "same_kind"):
                raise TypeError(f"RankOperator: v: wrong dtype (got {np.asarray(v).dtype}, need {self.dtype})")
            return np.ascontiguousarray(v, dtype=self.dtype)

        given: NDArray[Any] = self._ranks.together(check)
        self._ranks.require_same("RankOperator", v=_sum_of(given))
        return given


def _column(v: Any) -> Any:
    """A vector as a matrix of one column; what is none stays, and is refused."""
    return np.reshape(v, (-1, 1)) if np.ndim(v) == 1 else v


def _rows_of(rows: int, ranks: int) -> list[int]:
    return [rows * (rank + 1) // ranks - rows * rank // ranks for rank in range(ranks)]


@functools.cache
def _operator_class() -> type[RankOperator]:
    try:
        from scipy.sparse.linalg import LinearOperator
    except ImportError:
        return RankOperator

    def init(self: Any, *arguments: Any) -> None:
        RankOperator.__init__(self, *arguments)
        LinearOperator.__init__(self, self.dtype, self.shape)

    return type("RankOperator", (RankOperator, LinearOperator),
                {"__init__": init, "__matmul__": LinearOperator.__matmul__, "__doc__": RankOperator.__doc__})


def kernel_operator(ranks: Ranks, x: Any, y: Any = None, *, map: str = "ryrz", weights: Any = None,
                    reupload: bool = False, scale: float = 1.0, dtype: DTypeLike = "float32", lambda_: float = 0.0,
                    backend: weftgpu.Backend | weftgpu.Devices | None = None) -> RankOperator:
    """:func:`weftgpu.kernel_operator` whose rows are split over ranks. Each rank holds its rows of ``x``, and all columns.

    Parameters
    ----------
    ranks : Ranks
    x, y : array
        The same on every rank.
    map, weights, reupload, scale, dtype, lambda_
        Those of :func:`weftgpu.kernel_operator`. There is no ``normalize``: a rank has rows of K, not its diagonal.
    backend : Backend or Devices, optional
        By default ``ranks.backend()``.

    Returns
    -------
    RankOperator
    """
    ranks.require_same("mpi.kernel_operator", X=_sum_of(x), Y=_sum_of(y), map=map, weights=_sum_of(weights),
                       reupload=reupload, scale=scale, dtype=str(np.dtype(dtype)), lambda_=lambda_)
    samples, others = len(x), len(x if y is None else y)
    rows = _rows_of(samples, ranks.size)
    first = sum(rows[: ranks.rank])
    circuit: dict[str, Any] = {"map": map, "weights": weights, "reupload": reupload, "scale": scale, "dtype": dtype}
    device: Any = None

    def make() -> Any:
        nonlocal device
        if lambda_ and y is not None:
            raise InvalidArgument("mpi.kernel_operator: lambda_: K of x with y has no diagonal (need 0)",
                                  "invalid_argument")
        for name, values in (("x", x), ("y", y)):
            _require_finite("mpi.kernel_operator", name, values)
        device = ranks.backend() if backend is None else backend
        return None if rows[ranks.rank] == 0 else weftgpu.kernel_operator(
            x[first : first + rows[ranks.rank]], x if y is None else y, backend=device, **circuit)

    own = ranks.together(make)
    whole = None if y is not None else lambda: weftgpu.kernel_operator(x, backend=device, **circuit)
    return _operator_class()(ranks, own, (samples, others), np.dtype(dtype), lambda_, whole)


def run_batch(ranks: Ranks, program: weftgpu.Program, jobs: Sequence[weftgpu.Job], **options: Any) -> list[int]:
    """:func:`weftgpu.run_batch` of jobs that every rank lists alike. A shared counter hands them out.

    Parameters
    ----------
    ranks : Ranks
    program : Program
        On this rank's device.
    jobs : sequence of Job
        As many on every rank. The rank that takes a job reads its inputs and writes its outputs.
    **options
        Those of :func:`weftgpu.run_batch`.

    Returns
    -------
    list of int
        Indices of the jobs that this rank has done, rising.
    """
    ranks.require_same("mpi.run_batch", jobs=len(jobs))
    done: list[int] = []

    def run(first: int, last: int) -> None:
        weftgpu.run_batch(program, jobs[first:last], **options)
        done.extend(range(first, last))

    ranks.each_share(len(jobs), max(1, min(64, len(jobs) // (8 * ranks.size))), run)
    return done
