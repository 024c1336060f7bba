# SPDX-License-Identifier: Apache-2.0
"""Vectors over finite fields."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from weftgpu._arguments import call_core, int_of, no_effect, plain_error
from weftgpu import _core, _ntt
from weftgpu._errors import InvalidArgument
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress
    from weftgpu._stream import Stream

_apply = _core._Field._apply


class Field(_core._Field):
    """A finite field, and the operations on vectors of its elements.

    An element is an array of ``limbs`` unsigned integers, least significant first: a vector of n elements has the
    shape (n, limbs) and the dtype uint64. Fields of one limb (goldilocks; babybear, koalabear and mersenne31, which
    are uint32) have no axis for it: any shape is a vector.

    Parameters
    ----------
    name : str
        One of :func:`field_names`: ``bls12-381-fp``, ``bls12-381-fr``, ``bn254-fr``, ``goldilocks``, ``babybear``, ...

    Notes
    -----
    Every operation takes:

    out : array of the shape of the result, optional
        Where the result is written, and what is returned. It may be ``a`` or ``b`` itself, except for reductions.
    checked : bool
        Refuses values that are not below the modulus before anything runs. Unchecked, such values give a wrong
        number in their element alone; in reductions and transforms, whose results depend on all values, wrong numbers
        that may not be below the modulus.
    montgomery : bool
        Operands and result are in Montgomery form.
    stream : Stream, optional
        The arrays are Buffers, ``out`` is needed, and the work is recorded.
    backend : Backend or Devices, optional
    progress : bool or callable, optional
        Called with (done, total, per second, seconds left), counted in elements.

    and raises TypeError or InvalidArgument for types, shapes, order and overlap; nothing has run then.

    Examples
    --------
    >>> F = weftgpu.Field("bls12-381-fr")
    >>> a, b = F.array([1, 2, 3]), F.array([-1, 5, 7])
    >>> F.to_ints(F.mul(a, b)) == [F.modulus - 1, 10, 21]
    True
    """

    def __init__(self, name: str) -> None:
        call_core("Field", _core._Field.__init__, self, name)

    def __repr__(self) -> str:
        return f"weftgpu.Field({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[type[Field], tuple[str]]:
        return Field, (self.name,)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a limb."""
        dtype: np.dtype[Any] = self._dtype  # type: ignore[assignment]
        return dtype

    # ------------------------------------------------------------------ elements

    def array(self, ints: int | Iterable[int]) -> NDArray[Any]:
        """The elements of integers of any size and sign, reduced modulo p.

        Parameters
        ----------
        ints : int or iterable of int

        Returns
        -------
        numpy.ndarray, (n, limbs), or (limbs,) for an int
            Without the last axis for fields of one limb.

        Examples
        --------
        >>> weftgpu.Field("babybear").array([1, -1])
        array([         1, 2013265920], dtype=uint32)
        """
        import numpy as np

        p, size = self.modulus, self.element_bytes
        one = not hasattr(ints, "__iter__") or getattr(ints, "ndim", 1) == 0
        values: list[Any] = [ints] if one else list(ints)  # type: ignore[arg-type]
        try:
            raw = b"".join([(operator.index(value) % p).to_bytes(size, "little") for value in values])
        except TypeError:
            for i, value in enumerate(values):
                int_of("Field.array", "ints" if one else f"ints[{i}]", value)
            raise
        array = np.frombuffer(bytearray(raw), dtype=self.dtype)
        if self.limbs != 1:
            array = array.reshape(-1, self.limbs)
        return array[0, ...] if one else array

    def to_ints(self, a: Any) -> Any:
        """Elements as Python integers.

        Parameters
        ----------
        a : array, (..., limbs)

        Returns
        -------
        int or nested lists of int
            One integer for one element, a list for a vector.

        Examples
        --------
        >>> F = weftgpu.Field("bn254-fr")
        >>> F.to_ints(F.array([5, 6]))
        [5, 6]
        """
        import numpy as np

        array = np.ascontiguousarray(a)
        if array.dtype != self.dtype:
            raise TypeError(
                f"Field.to_ints: a: wrong dtype (got {array.dtype}, need {self.dtype}); write a.astype({self.dtype})"
            )
        if self.limbs == 1:
            return np.asarray(a).tolist()
        if array.ndim == 0 or array.shape[-1] != self.limbs:
            raise InvalidArgument(
                f"Field.to_ints: a: wrong shape (got {array.shape}, need (..., {self.limbs}))", "invalid_argument"
            )
        raw, size = array.tobytes(), self.element_bytes
        flat = [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]
        for extent in reversed(array.shape[:-1]):
            flat = [flat[i : i + extent] for i in range(0, len(flat), extent)] if extent else []  # type: ignore[misc]
        return flat[0] if flat else []

    def random(self, n: int, seed: int | None = None) -> NDArray[Any]:
        """n elements, uniform in [0, p).

        Parameters
        ----------
        n : int
        seed : int, optional
            Equal seeds give equal elements.

        Returns
        -------
        numpy.ndarray, (n, limbs), or (n,) for fields of one limb

        Examples
        --------
        >>> weftgpu.Field("goldilocks").random(1000, seed=1).shape
        (1000,)
        """
        import numpy as np

        n = int_of("Field.random", "n", n)
        if n < 0:
            raise InvalidArgument(f"Field.random: n is negative (got {n})", "invalid_argument")
        rng = np.random.default_rng(seed)
        limb_bits = 8 * self.element_bytes // self.limbs
        modulus = [(self.modulus >> (limb_bits * i)) & ((1 << limb_bits) - 1) for i in range(self.limbs)]
        top = (1 << (self.bits - limb_bits * (self.limbs - 1))) - 1
        kept: list[NDArray[Any]] = []
        missing = n
        while missing > 0:
            tried = rng.integers(0, 1 << limb_bits, (2 * missing + 16, self.limbs), dtype=self.dtype)
            tried[:, -1] &= self.dtype.type(top)
            below = np.zeros(len(tried), dtype=bool)
            for i, limb in enumerate(modulus):  # least significant first: a later limb overrules
                below = np.where(tried[:, i] == limb, below, tried[:, i] < limb)
            kept.append(tried[below][:missing])
            missing -= len(kept[-1])
        array = np.concatenate(kept) if kept else np.empty((0, self.limbs), dtype=self.dtype)
        return array[:, 0].copy() if self.limbs == 1 else array

    # ---------------------------------------------------------------- operations

    def add(self, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a + b, element by element.

        Examples
        --------
        >>> F = weftgpu.Field("mersenne31")
        >>> F.add(F.array([1, -1]), F.array([2, 1]))
        array([3, 0], dtype=uint32)
        """
        return self._run("add", a, b, None, out, checked, montgomery, stream, backend, progress)

    def sub(self, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a - b, element by element."""
        return self._run("sub", a, b, None, out, checked, montgomery, stream, backend, progress)

    def neg(self, a: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """-a, element by element."""
        return self._run("neg", a, None, None, out, checked, montgomery, stream, backend, progress)

    def mul(self, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a * b, element by element."""
        return self._run("mul", a, b, None, out, checked, montgomery, stream, backend, progress)

    def square(self, a: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
               stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a * a, element by element."""
        return self._run("square", a, None, None, out, checked, montgomery, stream, backend, progress)

    def inv(self, a: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """1 / a, element by element; 0 for 0."""
        return self._run("inverse", a, None, None, out, checked, montgomery, stream, backend, progress)

    def axpy(self, scalar: Any, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
             stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """scalar * a + b. ``scalar`` is an int, or one element in the form of ``a`` and ``b``.

        Examples
        --------
        >>> F = weftgpu.Field("goldilocks")
        >>> F.to_ints(F.axpy(3, F.array([1, 2]), F.array([10, 20])))
        [13, 26]
        """
        if isinstance(scalar, int):
            scalar = self.array(scalar * (1 << (8 * self.element_bytes)) if montgomery else scalar)
        return self._run("axpy", a, b, scalar, out, checked, montgomery, stream, backend, progress)

    def sum(self, a: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
            stream: Stream | None = None, backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """The sum of all elements: one element, of shape (limbs,), or () for fields of one limb."""
        return self._run("sum", a, None, None, out, checked, montgomery, stream, backend, progress)

    def inner_product(self, a: Any, b: Any, out: Any = None, *, checked: bool = False, montgomery: bool = False,
                      stream: Stream | None = None, backend: Backend | Devices | None = None,
                      progress: Progress = None) -> Any:
        """The sum of a * b over all elements: one element.

        Examples
        --------
        >>> F = weftgpu.Field("stark252")
        >>> F.to_ints(F.inner_product(F.array([1, 2, 3]), F.array([4, 5, 6])))
        32
        """
        return self._run("inner-product", a, b, None, out, checked, montgomery, stream, backend, progress)

    def to_montgomery(self, a: Any, out: Any = None, *, checked: bool = False, stream: Stream | None = None,
                      backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a * R with R = 2**(8 * element_bytes): Montgomery form."""
        return self._run("to-montgomery", a, None, None, out, checked, False, stream, backend, progress)

    def from_montgomery(self, a: Any, out: Any = None, *, checked: bool = False, stream: Stream | None = None,
                        backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """a / R: back from Montgomery form."""
        return self._run("from-montgomery", a, None, None, out, checked, False, stream, backend, progress)

    # ---------------------------------------------------------------- polynomials

    two_adicity = _ntt.two_adicity
    ntt_root = _ntt.ntt_root
    ntt = _ntt.ntt
    intt = _ntt.intt
    lde = _ntt.lde
    poly_mul = _ntt.poly_mul

    def _run(self, name: str, a: Any, b: Any, scalar: Any, out: Any, checked: bool, montgomery: bool,
             stream: Stream | None, backend: Backend | Devices | None, progress: Progress) -> Any:
        if stream is not None:
            if out is None:
                raise InvalidArgument(f"Field.{name}: with a stream, out must be a Buffer", "invalid_argument")
            no_effect(f"Field.{name}", checked=checked, backend=backend is not None, progress=bool(progress))
            call_core("Field." + name, _core._Field._record, self, name, stream, a, b, scalar, out, montgomery)
            return out
        if progress:
            return self._run_with_progress(progress, name, backend, a, b, scalar, out, checked, montgomery)
        # As call_core does it, without the time of another call.
        try:
            return _apply(self, name, backend, a, b, scalar, out, checked, montgomery, None)
        except TypeError as error:
            arguments = (self, name, backend, a, b, scalar, out, checked, montgomery, None)
            raise plain_error("Field." + name, _apply, arguments, {}, error) from None

    # Apart, because a function whose arguments a lambda keeps allocates for each of them.
    def _run_with_progress(self, progress: Progress, name: str, *arguments: Any) -> Any:
        return with_progress(
            progress,
            "elements",
            lambda callback: call_core("Field." + name, _apply, self, name, *arguments, callback),
        )

