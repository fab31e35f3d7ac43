"""Actors of a run: calls with a time limit, and restarts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ._actor import Layout, TileActor, TileParts, TileSettings

__all__ = ["Actors"]

#: Polling interval for the restart of an actor, in seconds.
_POLL_INTERVAL = 0.1
#: Number of tries of a call before the run fails.
TRIES = 20


class Actors:
    """One actor per tile. Ray never retries calls: the conductor decides which are repeated."""

    def __init__(self, ray: Any, settings: Sequence[TileSettings], num_cpus: float) -> None:
        self._ray = ray
        self._limit = settings[0].limit
        self._num_cpus = num_cpus
        kind = ray.remote(max_restarts=-1, max_task_retries=0, num_cpus=num_cpus)(TileActor)
        self.names = [f"farpoint-{tile_settings.token.decode()[:8]}-tile-{tile_settings.tile}" for tile_settings in settings]
        self.actors = [
            kind.options(name=name).remote(tile_settings) for name, tile_settings in zip(self.names, settings, strict=True)
        ]
        self._tile_data: Sequence[TileParts | Layout] = []

    def close(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)

    def prepare(self, data: Sequence[TileParts | Layout]) -> None:
        """Sends all actors the data of their tiles, and from now on restarted actors, too."""
        self._tile_data = data
        self.ask([(tile, "prepare", (tile_data,)) for tile, tile_data in enumerate(data)])

    def transport(self, calls: list[tuple[int, bytes]]) -> list[bytes | str]:
        """Makes calls of the conductor, once; a text gives the reason why one was lost."""
        results = self._call([(tile, "answer", (request,)) for tile, request in calls])
        new = [tile for (tile, _), (answer, lost) in zip(calls, results, strict=True) if answer is None]
        # This call may be lost, too: then they are prepared the next time.
        self._call([(tile, "prepare", (self._tile_data[tile],)) for tile in new])
        return [
            answer or lost or f"{self.names[tile]} was restarted"
            for (tile, _), (answer, lost) in zip(calls, results, strict=True)
        ]

    def ask(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Calls methods of tiles, retried until answered."""
        answers: list[Any] = [None] * len(calls)
        pending = list(range(len(calls)))
        last_error = None
        for _ in range(TRIES):
            retries = []
            for k, (answer, lost) in zip(pending, self._call([calls[k] for k in pending]), strict=True):
                if lost is None:
                    answers[k] = answer
                else:
                    last_error = lost
                    retries.append(k)
            pending = retries
            if not pending:
                return answers
        raise RuntimeError(f"{last_error} ({TRIES} times in a row)")

    def wait(self, objects: Sequence[Any], count: int) -> None:
        """Waits until ``count`` of these Ray objects are ready; raises if none is within the time limit."""
        pending = list(objects)
        while count > 0:
            ready, pending = self._ray.wait(pending, num_returns=count, timeout=self._limit, fetch_local=False)
            count -= len(ready)
            if not ready:
                raise TimeoutError(
                    f"{len(pending)} of {len(objects)} parts of the cloud were not ready after {self._limit:g} s, "
                    "the time limit"
                )

    def get(self, objects: Sequence[Any]) -> list[Any]:
        """Returns the values of these Ray objects; raises if none arrives within the time limit."""
        self.wait(objects, len(objects))
        values: list[Any] = self._ray.get(list(objects), timeout=self._limit)
        return values

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
            return self._ray.get(reference, timeout=max(until - time.monotonic(), _POLL_INTERVAL)), None
        except errors.GetTimeoutError:
            raise self._timeout_error(tile, "no answer") from None
        except errors.RayTaskError as error:
            raise RuntimeError(f"{name} has failed: {error}") from error
        except errors.RayError as error:
            self._wait_for(tile, error)
            return None, f"{name} ended before answering ({type(error).__name__})"

    def _wait_for(self, tile: int, last_error: Exception) -> None:
        """Waits until Ray has restarted an actor."""
        until = time.monotonic() + self._limit
        errors = self._ray.exceptions
        while (remaining := until - time.monotonic()) > 0:
            try:
                self._ray.get(self.actors[tile].ready.remote(), timeout=remaining)
                return
            except errors.GetTimeoutError:
                break
            except errors.RayError as error:
                last_error = error
                time.sleep(_POLL_INTERVAL)
        raise self._timeout_error(tile, f"it was not restarted ({last_error})")

    def _timeout_error(self, tile: int, reason: str) -> TimeoutError:
        cpus = self._ray.cluster_resources().get("CPU", 0)
        return TimeoutError(
            f"{self.names[tile]} was given up after {self._limit:g} s, the time limit: {reason} "
            f"({len(self.actors)} tiles of {self._num_cpus:g} CPUs, the cluster has {cpus:g})"
        )
