# SPDX-License-Identifier: Apache-2.0
"""Number-theoretic transforms: the methods of Field that have to do with polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, int_of, no_effect
from weftgpu._errors import InvalidArgument
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._field import Field
    from weftgpu._progress import Progress
    from weftgpu._stream import Stream


def ntt(self: Field, x: Any, out: Any = None, *, inverse: bool = False, coset: Any = None, root: Any = None,
        order: str = "nn", axis: int = -1, checked: bool = False, montgomery: bool = False,
        stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
    """The values of polynomials on n points: X[j] is the sum over i of x[i] * (coset * root**j)**i.

    Parameters
    ----------
    x : array, (..., n) elements
        Coefficients, with n a power of two of at most ``2**min(two_adicity, 30)``.
    out : array of the shape of x, optional
        It may be ``x`` itself.
    inverse : bool
        The opposite way: ``x`` holds values, and the result has the coefficients.
    coset : int or one element, optional
        Not 0; 1 without it.
    root : int or one element, optional
        Of order n; ``ntt_root(n)`` without it.
    order : {"nn", "nr", "rn"}
        Natural or bit-reversed order of ``x`` and of the result. "nr" and "rn" are the fastest.
    axis : int
        Of the axes that count elements, 0 or the last. Each vector along it is transformed.
    checked, montgomery, stream, backend, progress
        As for every operation of Field; progress counts transforms.

    Returns
    -------
    array of the shape of x

    Raises
    ------
    Unavailable
        The field has no transforms (bls12-381-fp, bn254-fp, mersenne31).
    InvalidArgument
        Wrong shapes, a coset of 0, a root of another order.

    Examples
    --------
    >>> F = weftgpu.Field("babybear")
    >>> x = F.array([1, 2, 0, 0])
    >>> F.ntt(x)                                  # 1 + 2 * y at the four roots of 1
    array([         3, 1443543106, 2013265920,  569722817], dtype=uint32)
    >>> F.to_ints(F.ntt(F.ntt(x, coset=31), inverse=True, coset=31))
    [1, 2, 0, 0]
    """
    return _transform(self, "ntt", x, out, inverse, 0, order, axis, coset, root, checked, montgomery, stream, backend,
                      progress)


def intt(self: Field, x: Any, out: Any = None, *, coset: Any = None, root: Any = None, order: str = "nn",
         axis: int = -1, checked: bool = False, montgomery: bool = False, stream: Stream | None = None,
         backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
    """The coefficients of the polynomials that have the values x: the inverse of :meth:`ntt`.

    Examples
    --------
    >>> F = weftgpu.Field("bn254-fr")
    >>> F.to_ints(F.intt(F.array([4, 4])))
    [4, 0]
    """
    return _transform(self, "intt", x, out, True, 0, order, axis, coset, root, checked, montgomery, stream, backend,
                      progress)


def lde(self: Field, x: Any, blowup: int, out: Any = None, *, coset: Any = None, root: Any = None, order: str = "nn",
        axis: int = -1, checked: bool = False, montgomery: bool = False, stream: Stream | None = None,
        backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
    """Low-degree extension: values of polynomials on n points become their values on ``blowup * n``.

    Parameters
    ----------
    x : array, (..., n) elements
        Values on the powers of ``root**blowup``, in natural order; in bit-reversed order with "rn".
    blowup : {2, 4, 8, 16}
    out : array, optional
        With ``blowup * n`` elements along the axis; it must not overlap ``x``.
    coset : int or one element, optional
        Result j is the value at ``coset * root**j``; 1 without it.
    root : int or one element, optional
        Of order ``blowup * n``; ``ntt_root(blowup * n)`` without it.
    order, axis, checked, montgomery, stream, backend, progress
        As in :meth:`ntt`.

    Examples
    --------
    >>> F = weftgpu.Field("goldilocks")
    >>> trace = F.random(3 * 1024, seed=1).reshape(1024, 3)     # three columns
    >>> F.lde(trace, 4, coset=7, axis=0).shape
    (4096, 3)
    """
    factor = int_of("Field.lde", "blowup", blowup)
    return _transform(self, "lde", x, out, False, factor, order, axis, coset, root, checked, montgomery, stream, backend,
                      progress)


def poly_mul(self: Field, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
             stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
    """The product of two polynomials, coefficients in natural order.

    Parameters
    ----------
    a, b : arrays of m and n elements
        At least one each.
    out : array of m + n - 1 elements, optional
        It must not overlap ``a`` or ``b``.
    checked, montgomery, stream, backend, progress
        As for every operation of Field. Of several devices, one does the work.

    Examples
    --------
    >>> F = weftgpu.Field("goldilocks")
    >>> F.to_ints(F.poly_mul(F.array([1, 1]), F.array([1, 2, 3])))
    [1, 3, 5, 3]
    """
    if stream is not None:
        _require_out("poly_mul", out)
        no_effect("Field.poly_mul", checked=checked, backend=backend is not None, progress=bool(progress))
        call_core("Field.poly_mul", _core._ntt_product_stream, self, stream, a, b, out, montgomery)
        return out

    def run(callback: Any) -> Any:
        return call_core("Field.poly_mul", _core._ntt_product, self, backend, a, b, out, checked, montgomery, callback)

    return with_progress(progress, "products", run) if progress else run(None)


def ntt_root(self: Field, n: int) -> int:
    """The root of unity of order n that transforms use unless a call sets another.

    It is a power of ``g**((p - 1) // 2**two_adicity)`` with the generator g of arkworks and Plonky3.

    Examples
    --------
    >>> F = weftgpu.Field("koalabear")
    >>> pow(F.ntt_root(8), 4, F.modulus) == F.modulus - 1
    True
    """
    n = int_of("Field.ntt_root", "n", n)
    if n < 1 or n & (n - 1):
        raise InvalidArgument(f"Field.ntt_root: n: no power of two (got {n})", "invalid_argument")
    return call_core("Field.ntt_root", _core._ntt_root, self, n.bit_length() - 1)


def _two_adicity(self: Field) -> int:
    """2 to this is the largest power of two that divides p - 1; 0 for fields without transforms."""
    return _core._two_adicity(self)


two_adicity = property(_two_adicity)


def _require_out(name: str, out: Any) -> None:
    if out is None:
        raise InvalidArgument(f"Field.{name}: with a stream, out must be a Buffer", "invalid_argument")


def _scalar(field: Field, value: Any, montgomery: bool) -> Any:
    """An int as one element in the form of the values."""
    if not isinstance(value, int):
        return value
    return field.array(value * (1 << (8 * field.element_bytes)) if montgomery else value)


def _transform(self: Field, name: str, x: Any, out: Any, inverse: bool, blowup: int, order: str, axis: int, coset: Any,
               root: Any, checked: bool, montgomery: bool, stream: Stream | None, backend: Backend | Devices | None,
               progress: Progress) -> Any:
    call = f"Field.{name}"
    if name == "lde" and blowup not in (2, 4, 8, 16):
        raise InvalidArgument(f"{call}: blowup: no such factor (got {blowup}, need 2, 4, 8 or 16)", "invalid_argument")
    g, w = _scalar(self, coset, montgomery), _scalar(self, root, montgomery)
    if stream is not None:
        _require_out(name, out)
        no_effect(call, checked=checked, backend=backend is not None, progress=bool(progress))
        call_core(call, _core._ntt_stream, self, name, stream, x, out, inverse, blowup, order, axis, g, w, montgomery)
        return out

    def run(callback: Any) -> Any:
        return call_core(call, _core._ntt, self, name, backend, x, out, inverse, blowup, order, axis, g, w, checked,
                         montgomery, callback)

    return with_progress(progress, "transforms", run) if progress else run(None)
