# SPDX-License-Identifier: Apache-2.0
"""Hierarchical nested-lattice quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weftgpu import _core
from weftgpu._arguments import call_core, extents_of
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress


class LatticeTrial(NamedTuple):
    """What one beta does to a sample: the error for each value, and shares of the vectors."""

    beta: float
    mean_squared_error: float
    retried: float
    unresolved: float


class LatticeSearch(NamedTuple):
    """The trial of least error, and all trials by ascending beta."""

    best: LatticeTrial
    trials: list[LatticeTrial]


def _lattice_of(settings: dict[str, Any]) -> Lattice:
    return Lattice(**settings)


class Lattice(_core._Lattice):
    """A lattice code: what encoder and decoder must agree on. docs/lattice.md has the rules.

    Parameters
    ----------
    lattice : {"z2", "d4", "e8"}
        Vectors of 2, 4 or 8 values.
    q : int
        Base of the digits, 3 to 16.
    levels : int
        Digits of a value, 1 to 4.
    beta : float
        Step size, 2**-40 to 2**40; :meth:`search_beta` finds the one that suits data.
    alpha : float
        Vectors that overload are multiplied by powers of 2**-alpha; above 0, at most 4.
    max_retries : int
        How often; at most 64 / alpha and at most 100.
    packed : bool
        Digits of as many bits as q - 1 needs, instead of a byte.
    dither_seed : int, optional
        Subtractive dither.
    dither_first : int
        Number of the first vector of a call.

    Examples
    --------
    >>> code = weftgpu.Lattice("e8", q=16, levels=2, beta=0.02)
    >>> x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16)
    >>> codes, status = code.encode(x)
    >>> codes.shape, bool(abs(code.decode(codes, status) - x).max() < 0.04)
    ((4, 2, 2, 8), True)
    """

    def __init__(
        self,
        lattice: str,
        q: int = 4,
        levels: int = 2,
        beta: float = 1.0,
        *,
        alpha: float = 1.0,
        max_retries: int = 0,
        packed: bool = False,
        dither_seed: int | None = None,
        dither_first: int = 0,
    ) -> None:
        call_core(
            "Lattice", _core._Lattice.__init__, self, lattice, q, levels, beta, alpha, max_retries, packed, dither_seed,
            dither_first,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            "lattice": self.lattice,
            "q": self.q,
            "levels": self.levels,
            "beta": self.beta,
            "alpha": self.alpha,
            "max_retries": self.max_retries,
            "packed": self.packed,
            "dither_seed": self.dither_seed,
            "dither_first": self.dither_first,
        }

    def __repr__(self) -> str:
        return "weftgpu.Lattice({})".format(", ".join(f"{k}={v!r}" for k, v in self._settings().items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lattice) and other._settings() == self._settings()

    def __hash__(self) -> int:
        return hash(tuple(self._settings().values()))

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        return _lattice_of, (self._settings(),)

    def replace(self, **settings: Any) -> Lattice:
        """The same code with other settings, as in ``code.replace(beta=0.1)``."""
        return Lattice(**{**self._settings(), **settings})

    def encode(self, x: Any, out: Any = None, status: Any = None, *, checked: bool = False,
               backend: Backend | Devices | None = None, progress: Progress = None) -> tuple[Any, Any]:
        """Codes of the rows of ``x``; the last axis is cut into vectors, the last of them padded with zeros.

        Parameters
        ----------
        x : array, (..., width), float32
        out : array of uint8, optional
            (..., tiles, levels, d) digits with tiles = ceil(width / d); packed codes have one axis of bytes.
        status : array, (..., tiles), uint8, optional
            Retries of each vector; 0x80 is added if it still overloads, 0xff stands for values that are not finite.
        checked : bool
            Refuses values that are not finite before anything runs.
        backend : Backend or Devices, optional
        progress : bool or callable, optional
            Called with (done, total, per second, seconds left), counted in vectors.

        Returns
        -------
        codes, status : numpy.ndarray
            Decoding needs ``status`` if ``max_retries`` is not 0.

        Raises
        ------
        EncodeError
            Rows that are not finite, in ``.rows``; without ``checked`` all other vectors are coded.
        """
        return with_progress(
            progress, "vectors", lambda callback: call_core("Lattice.encode", _core._Lattice._encode, self, backend, x, out, status, checked, callback)
        )

    def decode(self, codes: Any, status: Any = None, *, shape: tuple[int, ...] | None = None, depth: int = 0,
               out: Any = None, checked: bool = False, backend: Backend | Devices | None = None,
               progress: Progress = None) -> Any:
        """The values that codes stand for.

        Parameters
        ----------
        codes, status : arrays of uint8
            As :meth:`encode` made them. Without ``status``, no vector was retried.
        shape : tuple of int, optional
            Of the values, (..., width); by default that of ``out``, or (..., tiles * d). Packed codes need one.
        depth : int
            Levels to decode, coarse ones first; 0: all.
        out : array of float32, optional
        checked : bool
            Refuses digits and statuses that no encoder writes before anything runs; unchecked they give NaN.
        backend : Backend or Devices, optional
        progress : bool or callable, optional

        Returns
        -------
        numpy.ndarray of float32
        """
        extents = None if shape is None else extents_of("Lattice.decode", shape)
        return with_progress(
            progress,
            "vectors",
            lambda callback: call_core(
                "Lattice.decode", _core._Lattice._decode, self, backend, codes, status, extents, depth, out, checked, callback
            ),
        )

    def quantize(self, x: Any, out: Any = None, status: Any = None, *, checked: bool = False,
                 backend: Backend | Devices | None = None, progress: Progress = None) -> Any:
        """encode and decode in one pass, bit for bit, without the codes. ``out`` may be ``x``.

        Parameters
        ----------
        x : array, (..., width), float32
        out : array of the same shape, optional
        status : array, (..., tiles), uint8, optional
        checked, backend, progress
            As :meth:`encode`.

        Returns
        -------
        numpy.ndarray of float32
            ``out``, or a new array.
        """
        return with_progress(
            progress, "vectors", lambda callback: call_core("Lattice.quantize", _core._Lattice._quantize, self, backend, x, out, status, checked, callback)
        )

    def inner(self, x: Any, y: Any, shape: tuple[int, ...], out: Any = None, *, checked: bool = False,
              backend: Backend | Devices | None = None) -> Any:
        """Inner products of rows without decoding them, for z2 and d4 with q of at most 8.

        Parameters
        ----------
        x, y : arrays of uint8
            Codes of rows without retries and dither; ``y`` has as many rows, or one.
        shape : tuple of int
            (..., width) of the values of ``x``.
        out : array, shape[:-1], float32, optional
        checked : bool
            Refuses digits that are not below q.
        backend : Backend or Devices, optional

        Returns
        -------
        numpy.ndarray of float32, shape[:-1]
        """
        extents = extents_of("Lattice.inner", shape)
        return call_core("Lattice.inner", _core._Lattice._inner, self, backend, x, y, extents, out, checked)

    def search_beta(self, sample: Any, *, low: float = 0.0, high: float = 0.0, steps: int = 40,
                    backend: Backend | Devices | None = None, progress: Progress = None) -> LatticeSearch:
        """The step size of least error on a sample.

        Parameters
        ----------
        sample : array, (..., width), float32
        low, high : float
            The range of beta; 0: from the largest value of the sample.
        steps : int
            Betas tried over the range, 2 to 1000.
        backend : Backend or Devices, optional
        progress : bool or callable, optional

        Returns
        -------
        LatticeSearch

        Examples
        --------
        >>> code = weftgpu.Lattice("d4", q=4, levels=2)
        >>> x = np.random.default_rng(1).standard_normal((256, 4)).astype(np.float32)
        >>> tuned = code.replace(beta=code.search_beta(x).best.beta)
        """
        best, trials = with_progress(
            progress, "betas", lambda callback: call_core(
                "Lattice.search_beta", _core._Lattice._search_beta, self, backend, sample, low, high, steps, callback
            )
        )
        return LatticeSearch(LatticeTrial(*best), [LatticeTrial(*trial) for trial in trials])
