# SPDX-License-Identifier: Apache-2.0
"""Kernel ridge regression."""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.validation import check_is_fitted, validate_data

from weftgpu._kernel_operator import kernel_operator
from weftgpu.sklearn._kernel import QuantumKernel
from weftgpu.sklearn._with_kernel import WithKernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class QuantumKernelRidge(MultiOutputMixin, RegressorMixin, WithKernel):
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
