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

try:
    from weftgpu.sklearn._components import QuantumKernelPCA
    from weftgpu.sklearn._kernel import QuantumKernel
    from weftgpu.sklearn._ridge import QuantumKernelRidge
    from weftgpu.sklearn._transformers import QuantumKernelTransformer, QuantumNystroem
except ImportError as error:
    text = f"weftgpu.sklearn needs scikit-learn 1.6 or newer (pip install -U scikit-learn): {error}"
    raise ImportError(text) from error

__all__ = ["QuantumKernel", "QuantumKernelPCA", "QuantumKernelRidge", "QuantumKernelTransformer", "QuantumNystroem"]

# Pickles name the module of a class; where its source is may change.
for _class in (QuantumKernel, QuantumKernelPCA, QuantumKernelRidge, QuantumKernelTransformer, QuantumNystroem):
    _class.__module__ = __name__
