# SPDX-License-Identifier: Apache-2.0
"""Quantum kernel matrices that are never stored."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._errors import InvalidArgument, call_core
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress, ProgressCallback

# Columns of V that a call takes.
_COLUMNS = 64


class KernelOperator:
    """K + lambda_ I, with a quantum kernel matrix K that is never stored: what :func:`kernel_operator` returns.

    Where SciPy is installed, it is a ``scipy.sparse.linalg.LinearOperator``, for all solvers of SciPy and with sums,
    products, ``.T`` and ``.H`` of operators. Without SciPy it has the methods below, and ``@`` with arrays.

    Arrays of numbers of any real type are cast to ``dtype``. An operator may be used from many threads. It holds some
    numbers for each row in device memory, until it is deleted.

    Attributes
    ----------
    shape : tuple of int
        (samples, samples), or (samples, others).
    dtype : numpy.dtype
        float32 or float64: of the arithmetic and of all results.
    lambda_ : float
        What is added to the diagonal of K.

    Examples
    --------
    >>> x = np.random.default_rng(1).uniform(0, 1, (50, 3))
    >>> k = weftgpu.kernel_operator(x, dtype="float64")
    >>> bool(np.allclose(k @ np.ones(50), weftgpu.kernel_matrix(x, dtype="float64").sum(1)))
    True
    """

    ndim = 2

    def __init__(self, core: _core._KernelOperator, *, x: NDArray[Any] | None, shape: tuple[int, int],
                 dtype: np.dtype[Any], map: str, scale: float, jitter: float, lambda_: float,
                 backend: Backend | Devices | None) -> None:
        self._core, self._map, self._scale, self._jitter, self._backend = core, map, scale, jitter, backend
        self._x = x  # for predictions; None: of x with y
        self.shape, self.dtype, self.lambda_ = shape, dtype, lambda_

    def matvec(self, v: Any) -> NDArray[Any]:
        """(K + lambda_ I) v.

        Parameters
        ----------
        v : array, (columns of K,) or (columns of K, 1)

        Returns
        -------
        numpy.ndarray, (rows of K,) or (rows of K, 1)
        """
        return self._vector("matvec", v, False)

    def rmatvec(self, v: Any) -> NDArray[Any]:
        """The product of the transpose with ``v``, (rows of K,) or (rows of K, 1)."""
        return self._vector("rmatvec", v, True)

    def matmat(self, v: Any) -> NDArray[Any]:
        """(K + lambda_ I) V, with each value of K made once for up to 16 columns.

        Parameters
        ----------
        v : array, (columns of K, n)
            Any number of columns.

        Returns
        -------
        numpy.ndarray, (rows of K, n)

        Examples
        --------
        >>> weftgpu.kernel_operator(np.zeros((5, 2))).matmat(np.eye(5)).shape
        (5, 5)
        """
        return self._matrix("matmat", v, False)

    def rmatmat(self, v: Any) -> NDArray[Any]:
        """The product of the transpose with ``v``, (rows of K, n)."""
        return self._matrix("rmatmat", v, True)

    # Operators of SciPy that are made from this one call these.
    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matmat, rmatmat

    def __matmul__(self, v: Any) -> Any:
        """:meth:`matvec` or :meth:`matmat`."""
        return self.matvec(v) if len(getattr(v, "shape", (0,))) == 1 else self.matmat(v)

    def __repr__(self) -> str:
        return f"<weftgpu.KernelOperator of {self.shape[0]} x {self.shape[1]}, {self.dtype}, lambda_={self.lambda_:g}>"

    def diagonal(self) -> NDArray[Any]:
        """The diagonal of K + lambda_ I, (samples,). Only without ``y``.

        Examples
        --------
        >>> weftgpu.kernel_operator(np.zeros((3, 2)), lambda_=0.5).diagonal()
        array([1.5, 1.5, 1.5], dtype=float32)
        """
        values: NDArray[Any] = call_core("KernelOperator.diagonal", _core._kernel_diagonal, self._core)
        values += self.dtype.type(self.lambda_)
        return values

    def rows(self, indices: Any) -> NDArray[Any]:
        """Rows of K + lambda_ I.

        Parameters
        ----------
        indices : sequence of int
            In any order, also repeated.

        Returns
        -------
        numpy.ndarray, (len(indices), columns of K)

        Examples
        --------
        >>> weftgpu.kernel_operator(np.zeros((3, 2))).rows([2, 0]).shape
        (2, 3)
        """
        import numpy as np

        chosen = np.asarray(indices)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise TypeError(f"KernelOperator.rows: indices: no numbers of rows (got {chosen.dtype} of shape "
                            f"{chosen.shape}, need integers of shape (n,))")
        bad = chosen[(chosen < 0) | (chosen >= self.shape[0])]
        if bad.size:
            raise InvalidArgument(f"KernelOperator.rows: indices: no such row (got {bad[0]}, need 0 to "
                                  f"{self.shape[0] - 1})", "invalid_argument")
        values: NDArray[Any] = call_core("KernelOperator.rows", _core._kernel_rows, self._core, chosen.tolist())
        if self.lambda_:
            values[np.arange(len(chosen)), chosen.astype(np.intp)] += self.dtype.type(self.lambda_)
        return values

    def solve(self, y: Any, lambda_: float | None = None, *, rank: int = 200, tol: float = 1e-4,
              max_iterations: int = 200, seed: int = 1,
              progress: Progress = None) -> tuple[NDArray[Any], _core.KernelSolveReport]:
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
            Wrong shapes, values that are not finite, an operator of ``x`` with ``y``.

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
        return with_progress(progress, "iterations", lambda callback: call_core(
            "KernelOperator.solve", _core._kernel_solve, self._core, right, penalty, rank, tol, max_iterations, seed,
            callback,
        ))

    def eigen(self, k: int, *, tol: float = 1e-4, max_products: int = 100, seed: int = 1,
              progress: Progress = None) -> tuple[NDArray[Any], NDArray[Any], _core.KernelEigenReport]:
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
            The rows need not fit the device together.
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
        if self._x is None or self._jitter:
            what = "of x with y" if self._x is None else "with jitter"
            raise InvalidArgument(f"KernelOperator.predict: an operator {what} makes no predictions (need one of x "
                                  f"alone, without jitter)", "invalid_argument")
        numbers = self._numbers("predict", "alpha", alpha, self.shape[0])
        return predict(x_new, self._x, numbers, map=self._map, scale=self._scale, backend=self._backend,
                       progress=progress)

    def estimate(self, columns: int = 1) -> dict[str, Any]:
        """How a product with ``columns`` (1 to 64) columns is made and what it takes.

        Returns
        -------
        dict
            ``method``, ``symmetric``, ``pairs``, ``error`` (errors are at most this times the sum of abs(v)),
            ``scratch_bytes``, ``fits`` and more; ``reasons`` has a line for each decision.

        Examples
        --------
        >>> weftgpu.kernel_operator(np.zeros((30, 12))).estimate()["method"]
        'product'
        """
        return call_core("KernelOperator.estimate", _core._estimate_kernel_operator, self._core, columns)

    def _numbers(self, method: str, name: str, values: Any, rows: int, axes: tuple[int, ...] = (1, 2)) -> NDArray[Any]:
        """Real numbers, (rows,) or (rows, n), of the operator's type and in C order."""
        import numpy as np

        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"KernelOperator.{method}: {name}: wrong dtype (got {array.dtype}, need {self.dtype})")
        if array.ndim not in axes or array.shape[0] != rows:
            raise InvalidArgument(f"KernelOperator.{method}: {name}: wrong shape (got {array.shape}, need "
                                  f"{' or '.join(f'({rows},)' if n == 1 else f'({rows}, n)' for n in axes)})",
                                  "invalid_argument")
        return np.ascontiguousarray(array, dtype=self.dtype)

    def _vector(self, method: str, v: Any, transpose: bool) -> NDArray[Any]:
        vector = self._numbers(method, "v", v, self.shape[0 if transpose else 1])
        if vector.ndim == 2 and vector.shape[1] != 1:
            raise InvalidArgument(f"KernelOperator.{method}: v: wrong shape (got {vector.shape}, need "
                                  f"({len(vector)},) or ({len(vector)}, 1))", "invalid_argument")
        product: NDArray[Any] = call_core(
            f"KernelOperator.{method}", _core._kernel_apply, self._core, vector, transpose
        )
        return product

    def _matrix(self, method: str, v: Any, transpose: bool) -> NDArray[Any]:
        matrix = self._numbers(method, "v", v, self.shape[0 if transpose else 1], (2,))
        return _by_columns(matrix, self.shape[1 if transpose else 0], lambda some: call_core(
            f"KernelOperator.{method}", _core._kernel_apply, self._core, some, transpose
        ))


def _by_columns(matrix: NDArray[Any], rows: int, call: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """``call`` with as many columns at a time as one call takes."""
    import numpy as np

    if matrix.ndim == 1 or 0 < matrix.shape[1] <= _COLUMNS:
        return call(matrix)
    out = np.empty((rows, matrix.shape[1]), matrix.dtype)
    for first in range(0, matrix.shape[1], _COLUMNS):
        out[:, first : first + _COLUMNS] = call(np.ascontiguousarray(matrix[:, first : first + _COLUMNS]))
    return out


@functools.cache
def _operator_class() -> type[KernelOperator]:
    """KernelOperator, as a LinearOperator where SciPy is installed."""
    try:
        from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return KernelOperator

    def init(self: Any, core: _core._KernelOperator, **options: Any) -> None:
        KernelOperator.__init__(self, core, **options)
        LinearOperator.__init__(self, self.dtype, self.shape)

    members = {"__init__": init, "__matmul__": LinearOperator.__matmul__, "__doc__": KernelOperator.__doc__,
               "__module__": "weftgpu", "__qualname__": "KernelOperator"}
    made: type[KernelOperator] = type("KernelOperator", (KernelOperator, LinearOperator), members)
    return made


def kernel_operator(
    x: Any,
    y: Any = None,
    *,
    map: str = "ryrz",
    scale: float = 1.0,
    dtype: DTypeLike = "float32",
    normalize: bool = False,
    jitter: float = 0.0,
    lambda_: float = 0.0,
    backend: Backend | Devices | None = None,
) -> KernelOperator:
    """K + lambda_ I for the kernel of :func:`kernel_matrix`, without storing K: for millions of rows.

    K is that of a circuit without re-upload. Each product makes the values of K that it needs, or goes by way of the
    features of K where these are few. docs/kernel_operator.md has the mathematics and the bound of errors.

    Parameters
    ----------
    x : array, (samples, qubits), float32 or float64
        Features in radians. The operator keeps a copy.
    y : array of the same type, (others, qubits), optional
        Without it K is that of ``x`` with itself.
    map : {"ryrz", "ry"}
        How a row is embedded: RY(scale x) on each qubit, then RZ(scale x) or nothing.
    scale : float
        Multiplies the features.
    dtype : float32 or float64
        Of the arithmetic and of all results.
    normalize : bool
        Divides K by 1 + jitter, and sets its diagonal to 1.
    jitter : float
        At least 0; ``normalize`` alone uses it, and only without ``y``.
    lambda_ : float
        Added to the diagonal; only without ``y``.
    backend : Backend or Devices, optional
        With a Devices, each device makes a part of the rows of a product; predictions are made by the first.

    Returns
    -------
    KernelOperator
        A ``scipy.sparse.linalg.LinearOperator`` if SciPy is installed.

    Raises
    ------
    EncodeError
        Rows that are not finite, in ``.rows``.
    TypeError, InvalidArgument
        Types, shapes, order or options.
    OutOfMemory
        It does not fit, with the figures.
    Unavailable
        float64 on a device without it.

    Examples
    --------
    >>> x = np.random.default_rng(1).uniform(0, 1, (200, 4)).astype(np.float32)
    >>> k = weftgpu.kernel_operator(x, lambda_=0.1)
    >>> k
    <weftgpu.KernelOperator of 200 x 200, float32, lambda_=0.1>
    >>> alpha, report = k.solve(x[:, 0])
    >>> report.converged
    True
    """
    import numpy as np

    # By its name, because other libraries have types of their own: torch.float32.
    kind = dtype if isinstance(dtype, (str, type, np.dtype)) else str(dtype).rpartition(".")[2]
    core = call_core(
        "kernel_operator", _core._kernel_operator, backend, x, y, map, scale, kind, normalize, jitter, lambda_
    )
    features = _view(x)
    others = features if y is None else _view(y)
    return _operator_class()(
        core, x=np.array(features) if y is None else None, shape=(len(features), len(others)), dtype=np.dtype(kind),
        map=map, scale=scale, jitter=jitter, lambda_=lambda_, backend=backend,
    )


def _view(x: Any) -> Any:
    """An array that the bindings accept, as one of NumPy."""
    import numpy as np

    return np.from_dlpack(x) if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray) else np.asarray(x)


def predict(x_new: Any, x: Any, alpha: NDArray[Any], *, map: str, scale: float,
            backend: Backend | Devices | None = None, progress: Progress = None) -> NDArray[Any]:
    """K(x_new, x) alpha."""
    def run(callback: ProgressCallback | None) -> NDArray[Any]:
        return _by_columns(alpha, len(x_new), lambda some: call_core(
            "KernelOperator.predict", _core._kernel_predict, backend, x_new, x, some, map, scale, callback
        ))

    return with_progress(progress, "pairs", run)
