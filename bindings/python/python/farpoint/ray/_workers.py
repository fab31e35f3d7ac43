"""Actors of a run: calls with a time limit, and restarts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ._actor import Layout, TileActor, TileParts, TileSettings

__all__ = ["Actors"]

#: Polling interval for the restart of an actor, in seconds.
_LOOK = 0.1
#: Number of tries of a call before the run fails.
TRIES = 20


class Actors:
    """One actor per tile. Ray never retries calls: the conductor decides which are repeated."""

    def __init__(self, ray: Any, settings: Sequence[TileSettings], num_cpus: float) -> None:
        self._ray = ray
        self._limit = settings[0].limit
        self._num_cpus = num_cpus
        kind = ray.remote(max_restarts=-1, max_task_retries=0, num_cpus=num_cpus)(TileActor)
        self.names = [f"farpoint-{own.token.decode()[:8]}-tile-{own.tile}" for own in settings]
        self.actors = [
            kind.options(name=name).remote(own) for name, own in zip(self.names, settings, strict=True)
        ]
        self._told: Sequence[TileParts | Layout] = []

    def close(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)

    def prepare(self, told: Sequence[TileParts | Layout]) -> None:
        """Sends all actors the data of their tiles, and from now on restarted actors, too."""
        self._told = told
        self.ask([(tile, "prepare", (own,)) for tile, own in enumerate(told)])

    def transport(self, calls: list[tuple[int, bytes]]) -> list[bytes | str]:
        """Makes calls of the conductor, once; a text gives the reason why one was lost."""
        results = self._call([(tile, "answer", (request,)) for tile, request in calls])
        new = [tile for (tile, _), (answer, lost) in zip(calls, results, strict=True) if answer is None]
        # This call may be lost, too: then they are prepared the next time.
        self._call([(tile, "prepare", (self._told[tile],)) for tile in new])
        return [
            answer or lost or f"{self.names[tile]} was restarted"
            for (tile, _), (answer, lost) in zip(calls, results, strict=True)
        ]

    def ask(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Calls methods of tiles, retried until answered."""
        answers: list[Any] = [None] * len(calls)
        left = list(range(len(calls)))
        last = None
        for _ in range(TRIES):
            again = []
            for k, (answer, lost) in zip(left, self._call([calls[k] for k in left]), strict=True):
                if lost is None:
                    answers[k] = answer
                else:
                    last = lost
                    again.append(k)
            left = again
            if not left:
                return answers
        raise RuntimeError(f"{last}; that was {TRIES} times in a row")

    def wait(self, objects: Sequence[Any], several: int) -> None:
        """Waits until ``several`` of these Ray objects are ready; raises if none is within the time limit."""
        left = list(objects)
        while several > 0:
            made, left = self._ray.wait(left, num_returns=several, timeout=self._limit, fetch_local=False)
            several -= len(made)
            if not made:
                raise TimeoutError(
                    f"{len(left)} of {len(objects)} parts of the cloud were given up after {self._limit:g} s, "
                    "the time limit: the tasks that make them have not ended"
                )

    def get(self, objects: Sequence[Any]) -> list[Any]:
        """Returns the values of these Ray objects; raises if none arrives within the time limit."""
        self.wait(objects, len(objects))
        found: list[Any] = self._ray.get(list(objects), timeout=self._limit)
        return found

    def _call(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> list[tuple[Any, str | None]]:
        """Makes calls in parallel and returns for each the answer, or the reason why it is missing. Restarts dead
        actors."""
        if not calls:
            return []
        until = time.monotonic() + self._limit
        references = [
            getattr(self.actors[tile], method).remote(*arguments) for tile, method, arguments in calls
        ]
        self._ray.wait(references, num_returns=len(references), timeout=self._limit)
        results: list[tuple[Any, str | None]] = []
        for (tile, _, _), reference in zip(calls, references, strict=True):
            results.append(self._result(tile, reference, until))
        return results

    def _result(self, tile: int, reference: Any, until: float) -> tuple[Any, str | None]:
        errors = self._ray.exceptions
        name = self.names[tile]
        try:
            return self._ray.get(reference, timeout=max(until - time.monotonic(), _LOOK)), None
        except errors.GetTimeoutError:
            raise self._late(tile, "it was asked and has not answered") from None
        except errors.RayTaskError as error:
            raise RuntimeError(f"{name} has failed: {error}") from error
        except errors.RayError as error:
            self._wait_for(tile, error)
            return None, f"{name} has ended before it answered ({type(error).__name__})"

    def _wait_for(self, tile: int, last: Exception) -> None:
        """Waits until Ray has restarted an actor."""
        until = time.monotonic() + self._limit
        errors = self._ray.exceptions
        while (left := until - time.monotonic()) > 0:
            try:
                self._ray.get(self.actors[tile].ready.remote(), timeout=left)
                return
            except errors.GetTimeoutError:
                break
            except errors.RayError as error:
                last = error
                time.sleep(_LOOK)
        raise self._late(tile, f"it has ended and has not come back ({last})")

    def _late(self, tile: int, why: str) -> TimeoutError:
        there = self._ray.cluster_resources().get("CPU", 0)
        return TimeoutError(
            f"{self.names[tile]} was given up after {self._limit:g} s, the time limit: {why} "
            f"({len(self.actors)} tiles of {self._num_cpus:g} CPUs, the cluster has {there:g})"
        )
