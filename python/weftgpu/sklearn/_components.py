# SPDX-License-Identifier: Apache-2.0
"""Principal components."""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted, validate_data

from weftgpu._kernel_operator import kernel_operator
from weftgpu.sklearn._kernel import QuantumKernel
from weftgpu.sklearn._with_kernel import WithKernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class QuantumKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithKernel):
    """Principal components of a quantum kernel, as ``KernelPCA``, without storing the kernel matrix.

    Parameters
    ----------
    kernel : QuantumKernel, optional
        By default ``QuantumKernel()``.
    n_components : int
        At most the number of samples.
    tol : float
        Of the eigenvalues, relative; 0: the precision of the arithmetic.

    Attributes
    ----------
    eigenvalues_ : numpy.ndarray, (n_components,)
        Of the centred kernel matrix, descending.
    eigenvectors_ : numpy.ndarray, (samples, n_components)
    X_fit_ : numpy.ndarray, (samples, qubits)

    Examples
    --------
    >>> from weftgpu.sklearn import QuantumKernelPCA
    >>> x = np.random.default_rng(1).uniform(0, 1, (30, 4))
    >>> QuantumKernelPCA(n_components=3).fit_transform(x).shape
    (30, 3)
    """

    def __init__(self, kernel: QuantumKernel | None = None, n_components: int = 2, tol: float = 0.0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> QuantumKernelPCA:
        """Finds the components of the rows of ``X``, (samples, qubits). ``y`` is not used."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        if not 1 <= self.n_components <= len(X):
            raise ValueError(f"QuantumKernelPCA: n_components: got {self.n_components}, need 1 to {len(X)}, the number "
                             f"of samples")
        k = kernel_operator(X, **self._operator_options())
        values, vectors = _largest_of_centred(k, self.n_components, self.tol)
        values[values < len(X) * np.finfo(k.dtype).eps * max(values[0], 1.0)] = 0  # rounding errors
        self.eigenvalues_ = values
        self.eigenvectors_, _ = svd_flip(u=vectors, v=None)
        self.X_fit_ = X
        roots = np.sqrt(values)
        self._weights = np.divide(self.eigenvectors_, roots, out=np.zeros_like(vectors), where=roots > 0)
        self._mean = k.matvec(np.full(len(X), 1 / len(X))) @ self._weights
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """As ``fit(X).transform(X)``, without another product."""
        self.fit(X, y)
        components: NDArray[Any] = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        return components

    def transform(self, X: Any) -> NDArray[Any]:
        """Components of each row of ``X``: (rows of X, n_components)."""
        check_is_fitted(self)
        # The weights are centred, so that of the centred kernel only the mean over the rows of the fit is left.
        components: NDArray[Any] = self._predict(X, self.X_fit_, self._weights) - self._mean
        return components

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)


# Fewer rows are multiplied out: an exact solver is faster then, and finds all eigenvalues.
_FEW_ROWS = 500


def _largest_of_centred(k: Any, count: int, tol: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues of H K H with H = 1 - ones / rows, descending, and their vectors."""
    rows = k.shape[0]

    def product(v: NDArray[Any]) -> NDArray[Any]:
        image: NDArray[Any] = k.matmat((v - v.mean(0)).reshape(rows, -1))
        image -= image.mean(0)
        return image

    if rows <= _FEW_ROWS or count > rows // 4:
        values, vectors = np.linalg.eigh(product(np.eye(rows, dtype=k.dtype)))
        values, vectors = values[-count:], vectors[:, -count:]
    else:
        centred = LinearOperator((rows, rows), matvec=product, matmat=product, dtype=k.dtype)
        start = np.random.default_rng(0).standard_normal(rows).astype(k.dtype)
        values, vectors = eigsh(centred, count, v0=start, tol=tol)
    return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])
