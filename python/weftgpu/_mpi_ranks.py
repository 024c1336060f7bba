# SPDX-License-Identifier: Apache-2.0
"""What ranks do together: they meet within a time limit, agree on errors, and take numbers from a shared counter."""

# mypy: disable-error-code="call-overload, import-untyped, import-not-found, misc, unused-ignore"

from __future__ import annotations

import math
import os
import pickle
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

import weftgpu
from weftgpu._errors import DeviceLost, Error, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# Words on the first rank: the counter, whether to stop, and the last meeting of each rank.
_COUNTER, _STOP, _MEETINGS = 0, 1, 2
# Seconds that the first rank has to say who is missing. It answers while it waits as well.
_ANSWER = 5.0


class Ranks:
    """Processes that work together.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        By default all processes of mpirun.
    timeout : float
        Seconds after which a rank that does not come to a common step counts as dead. More than a tile, a product or
        some jobs take.

    Attributes
    ----------
    rank, size : int
    lost : bool
        A rank is missing: end with ``comm.Abort()``.
    """

    def __init__(self, comm: Any = None, *, timeout: float = 600.0) -> None:
        if not timeout > 0:
            raise InvalidArgument(f"Ranks: timeout is out of range (got {timeout}, need more than 0)", "invalid_argument")
        self.comm = (MPI.COMM_WORLD if comm is None else comm).Dup()
        self.rank: int = self.comm.Get_rank()
        self.size: int = self.comm.Get_size()
        self.timeout, self.lost, self._meetings = timeout, False, 0
        self._under_way: list[NDArray[Any]] = []
        node = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._rank_on_node = node.Get_rank()
        node.Free()
        words = _MEETINGS + self.size if self.rank == 0 else 0
        self._window = MPI.Win.Allocate(words * 8, 8, MPI.INFO_NULL, self.comm)
        self._window.Lock_all(MPI.MODE_NOCHECK)
        if self.rank == 0:
            np.frombuffer(self._window.tomemory(), np.uint64)[:] = 0
        self._window.Sync()
        self.comm.Barrier()

    def close(self) -> None:
        """Frees what MPI holds. Collective; not after a rank was lost."""
        self._meet()  # what follows waits for all ranks
        self._window.Unlock_all()
        self._window.Free()
        self.comm.Free()

    def backend(self, **options: Any) -> weftgpu.Backend:
        """A Backend of this rank's own: ranks of a machine take in turns the devices that ``WEFT_DEVICE`` names,
        separated by commas, or the GPUs, or the software device. ``options`` are those of Backend."""
        named = os.environ.get("WEFT_DEVICE", "")
        if named in ("", "all"):
            devices = [str(d.index) for d in weftgpu.devices() if d.type != "cpu"] or ["cpu"]
        else:
            devices = named.split(",")
        return weftgpu.Backend(devices[self._rank_on_node % len(devices)], **options)

    def together(self, step: Callable[[], Any]) -> Any:
        """Calls ``step`` on every rank and returns what it does, or raises on all ranks if one of them fails."""
        error: BaseException | None = None
        result = None
        try:
            result = step()
        except BaseException as caught:  # the others must learn of it
            error = caught
        self._agree(error)
        return result

    def require_same(self, call: str, **facts: Any) -> None:
        """Raises on all ranks if one of them has other facts than the first one."""
        first = self.from_first(facts)

        def check() -> None:
            for name, value in facts.items():
                # NaN, which no call takes, is not equal to itself.
                if first[name] != value and not (first[name] != first[name] and value != value):
                    raise InvalidArgument(f"{call}: the ranks must agree, but differ in {name} (rank 0 has "
                                          f"{first[name]}, this rank has {value})", "invalid_argument")

        self.together(check)

    def from_first(self, value: Any) -> Any:
        """What the first rank has, on all."""
        return self._from(0, value)

    def each_share(self, count: int, step: int, work: Callable[[int, int], Any]) -> None:
        """Calls ``work(first, last)`` with ranges of [0, count), up to ``step`` long, which a shared counter hands out."""
        self._meet()
        if self.rank == 0:
            self._exchange(_COUNTER, 0, MPI.REPLACE)
            self._exchange(_STOP, 0, MPI.REPLACE)
        self._meet()

        def run() -> None:
            try:
                while not self._exchange(_STOP, 0, MPI.NO_OP):
                    first = self._exchange(_COUNTER, step, MPI.SUM)
                    if first >= count:
                        return
                    work(first, min(count, first + step))
            except BaseException:
                self._exchange(_STOP, 1, MPI.REPLACE)  # the others take no more
                raise

        self.together(run)

    def gather(self, values: NDArray[Any], lengths: Sequence[int]) -> None:
        """Completes an array in place, of which rank r has filled in ``lengths[r]`` rows after those of earlier ranks."""
        row = MPI.BYTE.Create_contiguous(values.strides[0]).Commit()
        places = [sum(lengths[:rank]) for rank in range(self.size)]
        try:
            self._all(lambda: self.comm.Iallgatherv(MPI.IN_PLACE, [values, list(lengths), places, row]))
        finally:
            row.Free()

    def sum(self, values: NDArray[Any]) -> None:
        """Adds up arrays of all ranks in place; all get the same bits."""
        if self.rank == 0:
            self._all(lambda: self.comm.Ireduce(MPI.IN_PLACE, values, MPI.SUM, 0))
        else:
            self._all(lambda: self.comm.Ireduce(values, None, MPI.SUM, 0))
        self._all(lambda: self.comm.Ibcast(values, 0))

    def _gather_bytes(self, values: NDArray[Any], lengths: Sequence[int]) -> None:
        unit = math.gcd(*lengths)  # MPI counts up to 2^31
        if unit:
            self.gather(values.reshape(-1, unit), [length // unit for length in lengths])

    def _exchange(self, word: int, value: int, operation: Any, limit: float | None = None) -> int:
        given, before = self._kept(np.array([value], np.uint64)), self._kept(np.zeros(1, np.uint64))
        request = self._window.Rget_accumulate([given, MPI.UINT64_T], [before, MPI.UINT64_T], 0, (word, 1, MPI.UINT64_T),
                                               operation)
        if not self._is_done(request, self.timeout if limit is None else limit):
            self._lose("0")
        return int(before[0])

    def _kept(self, values: NDArray[Any]) -> NDArray[Any]:
        """Memory that MPI may write to after a rank was lost, too: a rank that was only late may yet come."""
        self._under_way = [*self._under_way[-3:], values]
        return values

    def _all(self, begin: Callable[[], Any]) -> None:
        """Begins a call of MPI that all ranks make, and waits until it is done."""
        if self.lost:
            raise DeviceLost("Ranks: a rank was lost before (call comm.Abort())", "device_lost")
        self._meetings += 1
        self._exchange(_MEETINGS + self.rank, self._meetings, MPI.REPLACE)
        if self._is_done(begin(), self.timeout):
            return
        answer = min(_ANSWER, self.timeout)
        missing = [str(rank) for rank in range(self.size)
                   if self._exchange(_MEETINGS + rank, 0, MPI.NO_OP, answer) < self._meetings]
        # A rank may have come, and died before the call of MPI was done.
        self._lose(", ".join(missing) or f"other than {self.rank}")

    @staticmethod
    def _is_done(request: Any, limit: float) -> bool:
        begin = time.monotonic()
        while not request.Test():
            waited = time.monotonic() - begin
            if waited > limit:
                return False
            if waited > 1e-3:  # a rank that waits for long must not take a core from the others
                time.sleep(2e-4)
        return True

    def _lose(self, missing: str) -> None:
        self.lost = True
        raise DeviceLost(f"Ranks: rank {missing} of {self.size} has not come within {self.timeout:g} s "
                         f"(call comm.Abort(); see timeout)", "device_lost")

    def _meet(self) -> None:
        self._all(self.comm.Ibarrier)

    def _from(self, root: int, value: Any) -> Any:
        """What that rank has, on all."""
        text = pickle.dumps(value) if self.rank == root else b""
        length = self._kept(np.array([len(text)], np.uint64))
        self._all(lambda: self.comm.Ibcast(length, root))
        content = self._kept(np.frombuffer(text, np.uint8).copy() if text else np.empty(int(length[0]), np.uint8))
        self._all(lambda: self.comm.Ibcast(content, root))
        return pickle.loads(content.tobytes())

    def _agree(self, error: BaseException | None) -> None:
        if error is not None and self.lost:
            raise error
        own, first = self._kept(np.array([self.size if error is None else self.rank])), self._kept(np.zeros(1, np.int64))
        self._all(lambda: self.comm.Iallreduce(own, first, MPI.MIN))
        failed = int(first[0])
        if failed == self.size:
            return
        name, text, code = self._from(failed, (type(error).__name__, str(error), getattr(error, "code", "driver")))
        if error is not None:
            raise error
        kind = getattr(weftgpu, name, Error)
        raise (kind if isinstance(kind, type) and issubclass(kind, Error) else Error)(f"rank {failed}: {text}", code)
