# SPDX-License-Identifier: Apache-2.0
"""What a backend does during a window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from weftgpu import _core
from weftgpu._arguments import path_of

if TYPE_CHECKING:
    from types import TracebackType

    from weftgpu._backend import Backend


class profile:
    """Collects what a backend does, on any thread, inside a ``with`` block.

    Parameters
    ----------
    backend : Backend, optional

    Examples
    --------
    >>> F = weftgpu.Field("babybear")
    >>> with weftgpu.profile() as p:
    ...     _ = F.square(F.random(1000, seed=1))
    >>> p.report().busy_s > 0
    True
    """

    def __init__(self, backend: Backend | None = None) -> None:
        self._backend = backend
        self._core: _core._Profile | None = None
        self._report: _core.ProfileReport | None = None

    def __enter__(self) -> profile:
        self._core = _core._Profile(self._backend)
        self._report = None
        return self

    def report(self) -> _core.ProfileReport:
        """Figures of the block, or of its beginning until now."""
        if self._core is not None:
            return self._core.report()
        if self._report is None:
            raise ValueError("profile.report: call it in or after the with block")
        return self._report

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the events so far for chrome://tracing and ui.perfetto.dev; call it in the ``with`` block."""
        if self._core is None:
            raise ValueError("profile.write_trace: call it in the with block, or use weftgpu.trace")
        self._core.write_trace(path_of("profile.write_trace", "path", path))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._core is not None:
            self._report = self._core.report()
            self._core = None


class trace(profile):
    """A profile that writes its trace to a file when the ``with`` block ends.

    Parameters
    ----------
    path : path
        The file; it appears whole or not at all.
    backend : Backend, optional

    Examples
    --------
    >>> with weftgpu.trace("work.json"):  # doctest: +SKIP
    ...     weftgpu.kernel_matrix(x)
    """

    def __init__(self, path: str | os.PathLike[str], backend: Backend | None = None) -> None:
        super().__init__(backend)
        self._path = path

    def __enter__(self) -> trace:
        super().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._core is not None and kind is None:
            self.write_trace(self._path)
        super().__exit__(kind, error, where)
