"""Events as a feed: from a point on, oldest first, and without an end."""

from __future__ import annotations

import time
from typing import Callable, Iterator, NamedTuple

from ._generated import Event, EventOperations
from ._transport import is_retryable
from .errors import GatewayError

WAIT_SECONDS = 25
WAIT_TIMEOUT = WAIT_SECONDS + 30
# The pause after an empty page that came at once, and between attempts to reach the gateway.
PAUSE = 1.0


class EventPage(NamedTuple):
    """One page of the feed."""

    events: list[Event]
    #: Save it after you have processed the events, and continue with it.
    cursor: str


class Events(EventOperations):
    """Events: the list, newest first, and the feed."""

    def feed(
        self,
        *,
        after: str | None = None,
        cursor: str | None = None,
        type: str | None = None,
        object_id: str | None = None,
        wait: int | None = None,
        limit: int | None = None,
        on_error: Callable[[GatewayError], None] | None = None,
    ) -> EventPage:
        """One page of the feed, oldest first: after the event ``after``, or from the oldest event on."""
        start = "oldest" if after is None and cursor is None else after
        query = {"after": start, "cursor": cursor, "type": type, "object_id": object_id}
        answer = self._send(
            "GET",
            "/events",
            query={**query, "wait": wait, "limit": limit},
            timeout=None if wait is None else WAIT_TIMEOUT,
            is_list=True,
            on_retry=on_error,
        )
        return EventPage(answer["data"], answer["meta"]["next_cursor"])

    def follow(
        self,
        *,
        after: str | None = None,
        cursor: str | None = None,
        type: str | None = None,
        object_id: str | None = None,
        on_error: Callable[[GatewayError], None] | None = None,
    ) -> Iterator[Event]:
        """Yields every event from a point on, as they happen.

        Save the id of each event that you have processed, and pass it as ``after`` the next time.

        :param on_error: called for each attempt that failed; the iteration goes on
        :raises CursorExpiredError: the next events were deleted
        """
        while True:
            asked_at = time.monotonic()
            try:
                page = self.feed(
                    after=after,
                    cursor=cursor,
                    type=type,
                    object_id=object_id,
                    wait=WAIT_SECONDS,
                    limit=100,
                    on_error=on_error,
                )
            except GatewayError as error:
                if not is_retryable(error):
                    raise
                if on_error is not None:
                    on_error(error)
                time.sleep(PAUSE)
                continue
            yield from page.events
            after, cursor = None, page.cursor
            if not page.events and time.monotonic() - asked_at < PAUSE:
                time.sleep(PAUSE)
