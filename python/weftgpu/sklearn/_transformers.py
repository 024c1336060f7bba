# SPDX-License-Identifier: Apache-2.0
"""Estimators that turn rows into rows of a kernel matrix, or into features."""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weftgpu.sklearn._kernel import QuantumKernel
from weftgpu.sklearn._with_kernel import WithKernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class QuantumKernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithKernel):
    """Rows to their kernel with the rows of ``fit``: what estimators with ``kernel="precomputed"`` take.

    In a pipeline the rows are split before they get here, so cross-validation is right without more.

    Parameters
    ----------
    kernel : QuantumKernel, optional
        Or any kernel of ``sklearn.gaussian_process.kernels``. By default ``QuantumKernel()``.

    Attributes
    ----------
    X_fit_ : numpy.ndarray, (samples, qubits)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.decomposition import KernelPCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from weftgpu.sklearn import QuantumKernelTransformer
    >>> pca = make_pipeline(QuantumKernelTransformer(), KernelPCA(2, kernel="precomputed"))
    >>> pca.fit_transform(np.random.default_rng(1).uniform(0, 1, (10, 4))).shape
    (10, 2)
    """

    def __init__(self, kernel: QuantumKernel | None = None) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> QuantumKernelTransformer:
        """Keeps the rows of ``X``, (samples, qubits). ``y`` is not used."""
        self.X_fit_ = self._rows(X, reset=True)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """The kernel of each row of ``X`` with each row of ``fit``: (rows of X, samples)."""
        check_is_fitted(self)
        return self._k(self._rows(X, reset=False), self.X_fit_)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """As ``fit(X).transform(X)``, and symmetric to the bit, in half the work."""
        return self.fit(X, y)._k(self.X_fit_)

    @property
    def _n_features_out(self) -> int:
        return len(self.X_fit_)


class QuantumNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithKernel):
    """Rows to features whose inner products approximate the kernel, from a sample of the rows of ``fit``.

    With it, linear models learn from as many rows as they please: the kernel is computed with ``n_components`` rows
    only.

    Parameters
    ----------
    kernel : QuantumKernel, optional
        By default ``QuantumKernel()``.
    n_components : int
        Rows that are sampled, at most those of ``fit``.
    random_state : int, numpy.random.RandomState or None
        Chooses the sample.

    Attributes
    ----------
    components_ : numpy.ndarray, (n_components, qubits)
        The sample.
    component_indices_ : numpy.ndarray, (n_components,)
        Where it lies in ``X``.
    normalization_ : numpy.ndarray, (n_components, n_components)
        The inverse square root of the kernel matrix of the sample, without directions that are rounding errors.

    Examples
    --------
    >>> from weftgpu.sklearn import QuantumNystroem
    >>> x = np.random.default_rng(1).uniform(0, 1, (50, 3))
    >>> features = QuantumNystroem(n_components=50, random_state=0).fit_transform(x)
    >>> bool(np.allclose(features @ features.T, weftgpu.kernel_matrix(x), atol=1e-5))
    True
    """

    def __init__(
        self, kernel: QuantumKernel | None = None, n_components: int = 100, random_state: Any = None
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> QuantumNystroem:
        """Samples rows of ``X``, (samples, qubits). ``y`` is not used."""
        if self.n_components < 1:
            raise ValueError(f"QuantumNystroem: n_components: got {self.n_components}, need at least 1")
        X = self._rows(X, reset=True)
        chosen = check_random_state(self.random_state).permutation(len(X))[: self.n_components]
        self.component_indices_ = chosen
        self.components_ = np.ascontiguousarray(X[chosen])
        k = self._k(self.components_)
        values, vectors = np.linalg.eigh(k.astype(np.float64))
        kept = values > values[-1] * len(k) * np.finfo(k.dtype).eps
        root = vectors[:, kept] / np.sqrt(values[kept])
        self.normalization_ = (root @ vectors[:, kept].T).astype(k.dtype)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Features of each row of ``X``: (rows of X, n_components)."""
        check_is_fitted(self)
        features: NDArray[Any] = self._k(self._rows(X, reset=False), self.components_) @ self.normalization_
        return features

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
