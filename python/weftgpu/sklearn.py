# SPDX-License-Identifier: Apache-2.0
"""Quantum kernels for scikit-learn: ``from weftgpu.sklearn import QuantumKernel``.

==========================  ======================================================================
QuantumKernel               ``SVC(kernel=QuantumKernel())``, Gaussian processes
QuantumKernelTransformer    rows to rows of a kernel matrix, ahead of ``kernel="precomputed"``
QuantumNystroem             rows to features whose inner products approximate the kernel
QuantumKernelRidge          kernel ridge regression, also of more rows than a matrix can be stored of
QuantumKernelPCA            principal components, likewise
==========================  ======================================================================

All of them can be cloned, pickled and searched over (``kernel__scale``). They use the default devices of the process
that runs them, so workers of a search with ``n_jobs`` open the devices that ``WEFT_DEVICE`` names.

scikit-learn's own ``KernelRidge``, ``KernelPCA`` and ``Nystroem`` call a callable once for each pair of rows. Use the
classes here instead, or a pipeline with QuantumKernelTransformer.
"""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from weftgpu._kernel_matrix import kernel_matrix
from weftgpu._kernel_models import predict
from weftgpu._kernel_operator import kernel_operator

try:
    from scipy.sparse.linalg import LinearOperator, eigsh
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        MultiOutputMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, NormalizedKernelMixin
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.utils import check_random_state
    from sklearn.utils.extmath import svd_flip
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    text = f"weftgpu.sklearn needs scikit-learn 1.6 or newer (pip install -U scikit-learn): {error}"
    raise ImportError(text) from error

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = ["QuantumKernel", "QuantumKernelPCA", "QuantumKernelRidge", "QuantumKernelTransformer", "QuantumNystroem"]

# Of the logarithm of the scale, for central differences: the errors of rounding and of the step are both below 1e-7.
_STEP = 1e-5


class QuantumKernel(NormalizedKernelMixin, Kernel):
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
        rows = _features(x)
        others = None if y is None or y is x else _features(y)
        if others is not None and others.dtype != rows.dtype:
            rows, others = rows.astype(np.float64), others.astype(np.float64)
        k: NDArray[Any] = kernel_matrix(
            rows, others, map=self.map, weights=None if self.weights is None else _features(self.weights),
            reupload=self.reupload, scale=float(scale), dtype=dtype,
        )
        return k


def _features(x: Any) -> NDArray[Any]:
    """``x`` in C order, as float64 unless it is float32."""
    array = np.asarray(x)
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)


class _WithKernel(BaseEstimator):
    """What the estimators of this module have in common: a kernel, and the rows that it is called with."""

    kernel: QuantumKernel | None

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C")

    def _k(self, X: Any, Y: Any = None) -> NDArray[Any]:
        k: NDArray[Any] = (QuantumKernel() if self.kernel is None else self.kernel)(X, Y)
        return k

    def _operator_options(self) -> dict[str, Any]:
        """The kernel, as kernel_operator() takes it."""
        kernel = QuantumKernel() if self.kernel is None else self.kernel
        name = type(self).__name__
        if not isinstance(kernel, QuantumKernel):
            raise ValueError(f"{name}: kernel: only a QuantumKernel need not be stored (got {kernel!r})")
        weights = None if kernel.weights is None else _features(kernel.weights)
        return {"map": kernel.map, "weights": weights, "reupload": kernel.reupload, "scale": float(kernel.scale),
                "dtype": np.dtype(kernel.dtype)}

    def _predict(self, X: Any, X_fit: NDArray[Any], alpha: NDArray[Any]) -> NDArray[Any]:
        """The kernel of the rows of X with those of the fit, times alpha, never stored."""
        options = self._operator_options()
        rows = self._rows(X, reset=False).astype(X_fit.dtype, copy=False)
        return predict(rows, X_fit, np.ascontiguousarray(alpha, dtype=options.pop("dtype")), **options)


class QuantumKernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _WithKernel):
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


class QuantumNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _WithKernel):
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


class QuantumKernelRidge(MultiOutputMixin, RegressorMixin, _WithKernel):
    """Kernel ridge regression with a quantum kernel.

    Parameters
    ----------
    kernel : QuantumKernel, optional
        By default ``QuantumKernel()``.
    alpha : float
        The penalty; at least 0.
    solver : {"dense", "operator"}
        "dense" stores the kernel matrix and solves exactly. "operator" never stores it
        (:func:`weftgpu.kernel_operator`): conjugate gradients, for a million rows. It needs a QuantumKernel, ``alpha``
        above 0, and takes no weights of samples.
    tol : float
        Of the relative residual, for "operator".
    max_iter : int
        For "operator". A fit that has not converged then warns.
    rank : int
        Of the preconditioner, for "operator": 4 bytes x samples x rank of host memory.

    Attributes
    ----------
    dual_coef_ : numpy.ndarray, (samples,) or (samples, targets)
        Predictions are the kernel with the rows of ``fit``, times this.
    X_fit_ : numpy.ndarray, (samples, qubits)
    n_iter_ : int
        Of the conjugate gradients; 1 for "dense".

    Examples
    --------
    >>> from weftgpu.sklearn import QuantumKernel, QuantumKernelRidge
    >>> x = np.linspace(0, 3, 20)[:, np.newaxis]
    >>> model = QuantumKernelRidge(QuantumKernel(map="ry"), alpha=1e-3).fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.01)
    True
    """

    def __init__(
        self, kernel: QuantumKernel | None = None, alpha: float = 1.0, solver: str = "dense", tol: float = 1e-5,
        max_iter: int = 200, rank: int = 200,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.rank = rank

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QuantumKernelRidge:
        """Fits ``y``, (samples,) or (samples, targets), with weights of the samples if given."""
        if self.solver not in ("dense", "operator"):
            raise ValueError(f"QuantumKernelRidge: solver: got {self.solver!r}, need 'dense' or 'operator'")
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], order="C", multi_output=True, y_numeric=True
        )
        if self.solver == "operator":
            self.dual_coef_, self.n_iter_ = self._solve(X, y, sample_weight)
        else:
            ridge = KernelRidge(alpha=self.alpha, kernel="precomputed").fit(self._k(X), y, sample_weight)
            self.dual_coef_, self.n_iter_ = ridge.dual_coef_, 1
        self.X_fit_ = X
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Targets of each row of ``X``: (rows of X,) or (rows of X, targets)."""
        check_is_fitted(self)
        if self.solver == "operator":
            return self._predict(X, self.X_fit_, self.dual_coef_)
        targets: NDArray[Any] = self._k(self._rows(X, reset=False), self.X_fit_) @ self.dual_coef_
        return targets

    def _solve(self, X: NDArray[Any], y: NDArray[Any], sample_weight: Any) -> tuple[NDArray[Any], int]:
        if sample_weight is not None:
            raise ValueError("QuantumKernelRidge: sample_weight: not with solver='operator' (need solver='dense')")
        dual, report = kernel_operator(X, **self._operator_options()).solve(
            y, self.alpha, tol=self.tol, max_iterations=self.max_iter, rank=self.rank
        )
        if not report.converged:
            warnings.warn(
                f"QuantumKernelRidge: not converged: the relative residual is {report.residual:.1e} after "
                f"{report.iterations} iterations (need {self.tol:.1e}); raise rank or max_iter, or use a kernel with "
                f"dtype='float64'", ConvergenceWarning, stacklevel=3,
            )
        return dual, report.iterations


class QuantumKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _WithKernel):
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
