# SPDX-License-Identifier: Apache-2.0
"""How far a call is: a callable of the caller, or a bar of tqdm."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, Union

if TYPE_CHECKING:
    from collections.abc import Callable

    ProgressCallback = Callable[[int, int, float, float], object]
    Progress = Union[bool, ProgressCallback, None]

Result = TypeVar("Result")


def with_progress(
    progress: Progress, unit: str, call: Callable[[ProgressCallback | None], Result]
) -> Result:
    """Runs ``call(callback)``. ``progress`` is a callable (done, total, per second, seconds left), or True for a bar
    if tqdm is installed."""
    if not progress:
        return call(None)
    if progress is not True:
        if not callable(progress):
            raise TypeError(f"progress: wrong type (got {type(progress).__name__}, need True or a callable)")
        return call(progress)
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return call(None)
    with tqdm(unit=unit, unit_scale=True) as bar:

        def show(done: int, total: int, rate: float, left: float) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return call(show)
