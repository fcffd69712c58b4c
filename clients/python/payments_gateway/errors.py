"""The errors that the client raises: one class for each error code of the API, and two for requests
without an answer of the gateway."""

from __future__ import annotations

import json
from typing import Any


class GatewayError(Exception):
    """Every error of the client, except a TypeError for invalid arguments."""

    #: The pause that the gateway asked for, in seconds.
    retry_after: int | None = None


class ConnectionError(GatewayError):
    """The gateway could not be reached, or did not answer in time.

    The request may have been processed: repeat it with the same idempotency key.
    """


class UnexpectedResponseError(GatewayError):
    """An answer that is not the gateway's, such as the error page of a proxy."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(
            f"The answer with status {status} is not the gateway's: {body[:200]}"
        )
        self.status = status
        self.body = body


class ApiError(GatewayError):
    """The gateway refused the request. ``code`` is for programs, the message says what to do."""

    code: str
    details: Any

    def __init__(
        self, status: int, code: str, message: str, details: Any, request_id: str
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        #: ``req_…``: give it to the operator when you report a problem.
        self.request_id = request_id


def error_of(status: int, text: str) -> GatewayError:
    """The error of an answer that was not 2xx. A code of a newer gateway becomes a plain ApiError."""
    try:
        error = json.loads(text)["error"]
        code, message, request_id = error["code"], error["message"], error["request_id"]
    except (ValueError, KeyError, TypeError):
        return UnexpectedResponseError(status, text)
    from ._generated import ERRORS

    known = ERRORS.get(code, ApiError)
    return known(status, code, message, error.get("details"), request_id)
