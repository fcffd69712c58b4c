"""The Python client of the payments gateway. It has no dependencies.

Amounts are strings in requests and responses. Use :class:`decimal.Decimal` to calculate with them; a
float loses digits.
"""

from __future__ import annotations

from . import webhooks as webhooks
from ._events import EventPage as EventPage, Events
from ._generated import *  # noqa: F403
from ._generated import InvalidStateError, Operations, Payout, PayoutOperations
from ._transport import ListOf as ListOf, Page as Page, Transport
from .errors import ApiError as ApiError, ConnectionError as ConnectionError
from .errors import GatewayError as GatewayError
from .errors import UnexpectedResponseError as UnexpectedResponseError

MAX_RETRIES = 4
TIMEOUT_SECONDS = 30.0


class Payouts(PayoutOperations):
    def cancel(self, id: str) -> Payout:
        """Cancels a payout before it is approved.

        It succeeds if an earlier attempt of this call has cancelled the payout.

        :raises InvalidStateError: the payout is approved
        """
        failures: list[GatewayError] = []
        try:
            answer = self._send("POST", self._at("/payouts/{id}/cancel", id), on_retry=failures.append)
        except InvalidStateError as error:
            if failures and error.details["status"] == "cancelled":
                return self.get(id)
            raise
        return answer["data"]


class GatewayClient(Operations):
    """Calls the API of one gateway with one API key. Threads can share a client."""

    def __init__(
        self,
        *,
        base_url: str,
        key: str,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        """
        :param base_url: the address of the API, which ends in /api/v1
        :param key: the API key, ``sk_test_…`` or ``sk_live_…``; keep it on your server
        :param timeout: the time limit of one attempt in seconds
        :param max_retries: attempts after the first one
        :raises TypeError: an argument is invalid
        """
        send = Transport(base_url, key, timeout, max_retries).send
        super().__init__(send)
        self.events = Events(send)
        self.payouts = Payouts(send)
