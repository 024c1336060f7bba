# SPDX-License-Identifier: Apache-2.0
"""Models over quantum kernels that are never stored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, path_or_none
from weftgpu._errors import InvalidArgument
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from weftgpu._backend import Backend
    from weftgpu._core import KernelEigenReport, KernelSolveReport, _KernelOperator
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress, ProgressCallback

# Columns of V that a call takes.
_COLUMNS = 64


class KernelModels:
    """What a KernelOperator solves and predicts."""

    _core: _KernelOperator
    _x: NDArray[Any] | None
    _circuit: dict[str, Any]
    _normalize: bool
    _jitter: float
    _backend: Backend | Devices | None
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    lambda_: float

    def solve(self, y: Any, lambda_: float | None = None, *, rank: int = 200, tol: float = 1e-4,
              max_iterations: int = 200, seed: int = 1, checkpoint: str | os.PathLike[str] | None = None,
              checkpoint_every: int = 10, resume: bool = False,
              progress: Progress = None) -> tuple[NDArray[Any], KernelSolveReport]:
        """alpha with (K + lambda_ I) alpha = y: ridge regression, or the mean of a Gaussian process.

        By conjugate gradients with a preconditioner of low rank; all columns share the products with K.

        Parameters
        ----------
        y : array, (samples,) or (samples, n)
            At most 64 columns.
        lambda_ : float, optional
            Above 0; by default that of the operator. It takes its place, and is not added to it.
        rank : int
            Of the preconditioner, which takes 4 bytes x samples x rank of host memory; 0: none.
        tol : float
            Of ``norm(y - (K + lambda_ I) alpha) / norm(y)`` in every column. float32 cannot reach less than about
            6e-8 norm(K) norm(alpha) / norm(y).
        max_iterations : int
        seed : int
            Of the choice of rows for the preconditioner.
        checkpoint : path, optional
            A file that takes the state of the solve after every ``checkpoint_every`` iterations. It stays when the
            solve has ended.
        checkpoint_every : int
        resume : bool
            Continues from ``checkpoint`` if that file is there, to the same bits as without interruption.
        progress : bool or callable, optional
            Called with (done, total, per second, seconds left), counted in iterations.

        Returns
        -------
        alpha : numpy.ndarray of the shape of ``y``
        report : KernelSolveReport
            ``converged``, ``iterations``, ``residuals``, seconds. A solution that did not converge is returned, too.

        Raises
        ------
        InvalidArgument
            Wrong shapes, values that are not finite, an operator of ``x`` with ``y``; a checkpoint of another operator,
            ``y`` or option, which the text names.

        Examples
        --------
        >>> x = np.random.default_rng(1).uniform(0, 1, (100, 2))
        >>> k = weftgpu.kernel_operator(x, dtype="float64")
        >>> alpha, report = k.solve(np.sin(x.sum(1)), 1e-3, tol=1e-8)
        >>> report.converged, bool(np.allclose(k @ alpha + 1e-3 * alpha, np.sin(x.sum(1)), atol=1e-6))
        (True, True)
        """
        right = self._numbers("solve", "y", y, self.shape[0])
        penalty = self.lambda_ if lambda_ is None else lambda_
        file = path_or_none("KernelOperator.solve", "checkpoint", checkpoint) or ""
        return with_progress(progress, "iterations", lambda callback: call_core(
            "KernelOperator.solve", _core._kernel_solve, self._core, right, penalty, rank, tol, max_iterations, seed,
            file, checkpoint_every, resume, callback,
        ))

    def eigen(self, k: int, *, tol: float = 1e-4, max_products: int = 100, seed: int = 1,
              progress: Progress = None) -> tuple[NDArray[Any], NDArray[Any], KernelEigenReport]:
        """The ``k`` largest eigenvalues of K + lambda_ I, descending, and their vectors.

        Parameters
        ----------
        k : int
            1 to 48.
        tol : float
            Of ``norm(K v - value v)`` in units of the largest eigenvalue of K.
        max_products : int
            Products of K with a block of vectors.
        seed : int
            Of the first block.
        progress : bool or callable, optional
            Counted in products.

        Returns
        -------
        values : numpy.ndarray, (k,)
        vectors : numpy.ndarray, (samples, k)
            Columns of norm 1.
        report : KernelEigenReport
            ``converged``, ``products``, ``residuals``, seconds.

        Examples
        --------
        >>> values, vectors, report = weftgpu.kernel_operator(np.zeros((8, 2))).eigen(1)
        >>> round(float(values[0]), 3), vectors.shape
        (8.0, (8, 1))
        """
        values, vectors, report = with_progress(progress, "products", lambda callback: call_core(
            "KernelOperator.eigen", _core._kernel_eigen, self._core, k, tol, max_products, seed, callback
        ))
        values += self.dtype.type(self.lambda_)
        return values, vectors, report

    def predict(self, x_new: Any, alpha: Any, *, progress: Progress = None) -> NDArray[Any]:
        """K(x_new, x) alpha: what a model with these coefficients says about new rows. Only without ``y``.

        Parameters
        ----------
        x_new : array of the type of ``x``, (rows, qubits)
            A narrower type is widened. The rows need not fit the device together.
        alpha : array, (samples,) or (samples, n)
        progress : bool or callable, optional
            Counted in pairs.

        Returns
        -------
        numpy.ndarray, (rows,) or (rows, n)

        Raises
        ------
        InvalidArgument
            Wrong shapes; an operator of ``x`` with ``y``, or with ``jitter``, which belongs to the rows of ``x`` alone.

        Examples
        --------
        >>> x = np.linspace(0, 3, 40)[:, np.newaxis]
        >>> k = weftgpu.kernel_operator(x, map="ry", dtype="float64")
        >>> alpha, _ = k.solve(np.sin(x[:, 0]), 1e-3, tol=1e-8)
        >>> bool(abs(k.predict(np.array([[1.5]]), alpha)[0] - np.sin(1.5)) < 0.01)
        True
        """
        divides = self._normalize and self._x is not None and self._x.dtype.kind == "c"
        if self._x is None or self._jitter or divides:
            what = "of x with y" if self._x is None else "with jitter" if self._jitter else "of states with normalize"
            raise InvalidArgument(f"KernelOperator.predict: an operator {what} makes no predictions (need one of x "
                                  f"alone, without jitter, and of states without normalize)", "invalid_argument")
        numbers = self._numbers("predict", "alpha", alpha, self.shape[0])
        return predict(x_new, self._x, numbers, **self._circuit, backend=self._backend, progress=progress)

    def _numbers(self, method: str, name: str, values: Any, rows: int, axes: tuple[int, ...] = (1, 2)) -> NDArray[Any]:
        """Real numbers, (rows,) or (rows, n), of the operator's type and in C order."""
        import numpy as np

        refuse_masked(f"KernelOperator.{method}", name, values)
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"KernelOperator.{method}: {name}: wrong dtype (got {array.dtype}, need {self.dtype})")
        if array.ndim not in axes or array.shape[0] != rows:
            raise InvalidArgument(f"KernelOperator.{method}: {name}: wrong shape (got {array.shape}, need "
                                  f"{' or '.join(f'({rows},)' if n == 1 else f'({rows}, n)' for n in axes)})",
                                  "invalid_argument")
        return np.ascontiguousarray(array, dtype=self.dtype)


def refuse_masked(call: str, name: str, values: Any) -> None:
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{call}: {name}: is a masked array, whose mask would be lost; write {name}.filled(value)")


def by_columns(matrix: NDArray[Any], rows: int, call: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """``call`` with as many columns at a time as one call takes."""
    import numpy as np

    if matrix.ndim == 1 or 0 < matrix.shape[1] <= _COLUMNS:
        return call(matrix)
    out = np.empty((rows, matrix.shape[1]), matrix.dtype)
    for first in range(0, matrix.shape[1], _COLUMNS):
        out[:, first : first + _COLUMNS] = call(np.ascontiguousarray(matrix[:, first : first + _COLUMNS]))
    return out


def predict(x_new: Any, x: Any, alpha: NDArray[Any], *, map: str, scale: float, weights: Any = None, reupload: bool = False,
            backend: Backend | Devices | None = None, progress: Progress = None) -> NDArray[Any]:
    """K(x_new, x) alpha."""
    new = call_core("KernelOperator.predict", _core._view, "KernelOperator.predict", "x_new", x_new, True)

    def run(callback: ProgressCallback | None) -> NDArray[Any]:
        return by_columns(alpha, len(new), lambda some: call_core(
            "KernelOperator.predict", _core._kernel_predict, backend, new, x, some, map, weights, reupload, scale, callback
        ))

    return with_progress(progress, "pairs", run)
