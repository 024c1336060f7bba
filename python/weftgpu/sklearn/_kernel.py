# SPDX-License-Identifier: Apache-2.0
"""The kernel, as scikit-learn calls it."""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, NormalizedKernelMixin

from weftgpu._kernel_matrix import kernel_matrix

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    class KernelAlgebra:
        """Kernel and NormalizedKernelMixin, which have no types: as a subclass of them, ``2 * kernel`` would be an int."""

        theta: NDArray[Any]

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __pow__(self, exponent: float) -> Any: ...
        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def clone_with_theta(self, theta: Any) -> Any: ...
        def diag(self, X: Any) -> NDArray[Any]: ...
        def is_stationary(self) -> bool: ...
        @property
        def n_dims(self) -> int: ...
        @property
        def hyperparameters(self) -> list[Any]: ...
        @property
        def bounds(self) -> NDArray[Any]: ...
        @property
        def requires_vector_input(self) -> bool: ...

else:

    class KernelAlgebra(NormalizedKernelMixin, Kernel):
        pass

# Of the logarithm of the scale, for central differences: the errors of rounding and of the step are both below 1e-7.
_STEP = 1e-5


class QuantumKernel(KernelAlgebra):
    """k(x, y) = abs(<psi(y)|psi(x)>)**2, the kernel of :func:`weftgpu.kernel_matrix`, as scikit-learn calls it.

    It is a callable for ``SVC`` and the other support vector machines, and a kernel of
    ``sklearn.gaussian_process.kernels``, which can be combined with others: ``ConstantKernel() * QuantumKernel() +
    WhiteKernel()``. A fit of a Gaussian process chooses ``scale`` within ``scale_bounds``.

    Parameters
    ----------
    map : {"ryrz", "ry"}
        How a row is embedded: RY(scale x) on each qubit, then RZ(scale x) or nothing.
    weights : array, (layers, qubits), optional
        Trained angles of the layers: RX on each qubit, then a ring of CNOTs.
    reupload : bool
        Embeds the row before each layer. Without it the layers cancel, and the kernel depends on the map alone.
    scale : float
        Multiplies the features; above 0.
    scale_bounds : tuple of two floats, or "fixed"
        The range in which the fit of a Gaussian process searches for ``scale``.
    dtype : {"float64", "float32"}
        Of the kernel matrix and of its arithmetic. Gaussian processes need float64. Support vector machines do not,
        and some devices are many times faster with float32, or have no float64.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from weftgpu.sklearn import QuantumKernel
    >>> x = np.array([[0.1, 0.2], [0.2, 0.1], [2.1, 2.9], [2.2, 3.0]])
    >>> SVC(kernel=QuantumKernel(scale=0.5)).fit(x, [0, 0, 1, 1]).predict([[0.0, 0.3], [2.5, 2.5]])
    array([0, 1])
    """

    def __init__(
        self,
        map: str = "ryrz",
        weights: Any = None,
        reupload: bool = False,
        scale: float = 1.0,
        scale_bounds: tuple[float, float] | str = (1e-2, 1e2),
        dtype: DTypeLike = "float64",
    ) -> None:
        self.map = map
        self.weights = weights
        self.reupload = reupload
        self.scale = scale
        self.scale_bounds = scale_bounds
        self.dtype = dtype

    @property
    def hyperparameter_scale(self) -> Any:
        """The scale, as Gaussian processes see it."""
        return Hyperparameter("scale", "numeric", self.scale_bounds)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """The kernel matrix of ``X`` with ``Y``, or with itself.

        Parameters
        ----------
        X : array, (samples, qubits)
            Features in radians.
        Y : array, (others, qubits), optional
        eval_gradient : bool
            Also returns the derivative by log(scale), by central differences in float64. Only without ``Y``.

        Returns
        -------
        K : numpy.ndarray, (samples, samples) or (samples, others)
        gradient : numpy.ndarray, (samples, samples, 1)
            With ``eval_gradient``; (samples, samples, 0) if the scale is fixed.

        Raises
        ------
        EncodeError
            Rows that are not finite, in ``.rows``. It is a ValueError.
        InvalidArgument
            Shapes or parameters. It is a ValueError.
        """
        if not eval_gradient:
            return self._matrix(X, Y, self.scale, self.dtype)
        if Y is not None:
            raise ValueError("QuantumKernel: eval_gradient needs Y to be None (got Y)")
        k = self._matrix(X, None, self.scale, self.dtype)
        if self.hyperparameter_scale.fixed:
            return k, np.empty((*k.shape, 0))
        above = self._matrix(X, None, self.scale * np.exp(_STEP), "float64")
        above -= self._matrix(X, None, self.scale * np.exp(-_STEP), "float64")
        return k, (above / (2 * _STEP))[:, :, np.newaxis]

    def is_stationary(self) -> bool:
        """Whether k(x, y) depends on x - y alone."""
        return self.map == "ry" and not self.reupload

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", weights of {np.shape(self.weights)}, reupload={self.reupload}"
        return f"QuantumKernel(map={self.map!r}, scale={self.scale:.3g}{weights})"

    def _matrix(self, x: Any, y: Any, scale: float, dtype: DTypeLike) -> NDArray[Any]:
        rows = in_order(x)
        others = None if y is None or y is x else in_order(y)
        if others is not None and others.dtype != rows.dtype:
            rows, others = rows.astype(np.float64), others.astype(np.float64)
        k: NDArray[Any] = kernel_matrix(
            rows, others, map=self.map, weights=None if self.weights is None else in_order(self.weights),
            reupload=self.reupload, scale=float(scale), dtype=dtype,
        )
        return k


def in_order(x: Any) -> NDArray[Any]:
    """``x`` in C order, as float64 unless it is float32."""
    array = np.asarray(x)
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)
