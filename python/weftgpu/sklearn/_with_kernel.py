# SPDX-License-Identifier: Apache-2.0
"""What the estimators have in common."""

# scikit-learn has no type annotations, and need not be installed where this package is checked.
# mypy: disable-error-code="import-untyped, import-not-found, misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from weftgpu._kernel_models import predict
from weftgpu.sklearn._kernel import QuantumKernel, in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WithKernel(BaseEstimator):
    """A kernel, and the rows that it is called with."""

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
        weights = None if kernel.weights is None else in_order(kernel.weights)
        return {"map": kernel.map, "weights": weights, "reupload": kernel.reupload, "scale": float(kernel.scale),
                "dtype": np.dtype(kernel.dtype)}

    def _predict(self, X: Any, X_fit: NDArray[Any], alpha: NDArray[Any]) -> NDArray[Any]:
        """The kernel of the rows of X with those of the fit, times alpha, never stored."""
        options = self._operator_options()
        rows = self._rows(X, reset=False).astype(X_fit.dtype, copy=False)
        return predict(rows, X_fit, np.ascontiguousarray(alpha, dtype=options.pop("dtype")), **options)
