# SPDX-License-Identifier: Apache-2.0
"""Quantum kernel matrices that are never stored."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, refuse_circuit
from weftgpu._errors import InvalidArgument
from weftgpu._kernel_models import KernelModels, by_columns, refuse_masked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices


class KernelOperator(KernelModels):
    """K + lambda_ I, with a quantum kernel matrix K that is never stored: what :func:`kernel_operator` returns.

    Where SciPy is installed, it is a ``scipy.sparse.linalg.LinearOperator``, for all solvers of SciPy and with sums,
    products, ``.T`` and ``.H`` of operators. Without SciPy it has the methods below, and ``@`` with arrays.

    Arrays of numbers of any real type are cast to ``dtype``. An operator may be used from many threads. It holds some
    numbers for each row, or its state, in device memory, until it is deleted.

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
                 dtype: np.dtype[Any], circuit: dict[str, Any], normalize: bool, jitter: float, lambda_: float,
                 backend: Backend | Devices | None) -> None:
        self._core, self._circuit, self._jitter, self._backend = core, circuit, jitter, backend
        self._normalize = normalize
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

    if TYPE_CHECKING:  # where SciPy is installed; its operators have no types
        T: Any
        H: Any

        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, factor: Any) -> Any: ...
        def __rmul__(self, factor: Any) -> Any: ...
        def __truediv__(self, divisor: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __pow__(self, exponent: int) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __call__(self, v: Any) -> Any: ...
        def dot(self, v: Any) -> Any: ...
        def adjoint(self) -> Any: ...
        def transpose(self) -> Any: ...

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
        return by_columns(matrix, self.shape[1 if transpose else 0], lambda some: call_core(
            f"KernelOperator.{method}", _core._kernel_apply, self._core, some, transpose
        ))


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

    def matmul(self: Any, v: Any) -> Any:
        refuse_masked("KernelOperator", "v", v)  # SciPy loses the mask
        return LinearOperator.__matmul__(self, v)

    members = {"__init__": init, "__matmul__": matmul, "__doc__": KernelOperator.__doc__,
               "__module__": "weftgpu", "__qualname__": "KernelOperator"}
    made: type[KernelOperator] = type("KernelOperator", (KernelOperator, LinearOperator), members)
    return made


def kernel_operator(
    x: Any,
    y: Any = None,
    *,
    map: str = "ryrz",
    weights: Any = None,
    reupload: bool = False,
    scale: float = 1.0,
    dtype: DTypeLike = "float32",
    normalize: bool = False,
    jitter: float = 0.0,
    lambda_: float = 0.0,
    backend: Backend | Devices | None = None,
) -> KernelOperator:
    """K + lambda_ I for the kernel of :func:`kernel_matrix`, without storing K: for millions of rows.

    Each product makes the values of K that it needs: in closed form, or, of states and of circuits with re-upload, by
    inner products of states, block by block. Where the features of K are few, it goes by way of these.
    docs/kernel_operator.md has the mathematics and the bound of errors.

    Parameters
    ----------
    x : array, (samples, qubits), float32 or float64
        Features in radians; or states, (samples, 2**qubits), complex64 or complex128. The operator keeps a copy.
    y : array of the same type, (others, ...), optional
        Without it K is that of ``x`` with itself. A narrower type is widened.
    map : {"ryrz", "ry"}
        How a row is embedded: RY(scale x) on each qubit, then RZ(scale x) or nothing.
    weights : array, (layers, qubits), float32 or float64, optional
        Trained angles of the layers, as in :func:`kernel_matrix`.
    reupload : bool
        Embeds the row before each layer. Without it the layers cancel, and K depends on the map alone.
    scale : float
        Multiplies the features.
    dtype : float32 or float64
        Of the arithmetic and of all results.
    normalize : bool
        As in :func:`kernel_matrix`. Where all states have norm 1, it divides K by 1 + jitter, and sets its diagonal to
        1.
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

    refuse_circuit("kernel_operator", x, map=map != "ryrz", weights=weights is not None, reupload=reupload,
                   scale=scale != 1)
    # By its name, because other libraries have types of their own: torch.float32.
    kind = dtype if isinstance(dtype, (str, type, np.dtype)) else str(dtype).rpartition(".")[2]
    rows = call_core("kernel_operator", _core._view, "kernel_operator", "x", x, True)
    others = None if y is None else call_core("kernel_operator", _core._view, "kernel_operator", "y", y, True)
    angles = None if weights is None else call_core("kernel_operator", _core._view, "kernel_operator", "weights", weights, False)
    core = call_core(
        "kernel_operator", _core._kernel_operator, backend, rows, others, map, angles, reupload, scale, kind, normalize,
        jitter, lambda_,
    )
    return _operator_class()(
        core, x=np.array(rows) if y is None else None, shape=(len(rows), len(rows if others is None else others)),
        dtype=np.dtype(kind),
        circuit={"map": map, "weights": None if angles is None else np.array(angles), "reupload": reupload, "scale": scale},
        normalize=normalize, jitter=jitter, lambda_=lambda_, backend=backend,
    )
