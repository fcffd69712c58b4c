"""Verifies a webhook at the receiver: that the gateway sent it, that it is recent, and which event it is."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any, Literal, Mapping, Sequence, TypedDict

WebhookErrorCode = Literal[
    "missing_header",
    "malformed_signature",
    "no_matching_signature",
    "timestamp_too_old",
    "timestamp_too_new",
    "malformed_body",
    "event_id_mismatch",
]

TOLERANCE_SECONDS = 300
SIGNATURE = "X-Gateway-Signature"
EVENT_ID = "X-Gateway-Event-Id"


class WebhookEvent(TypedDict):
    """The event from the signed body."""

    id: str
    """``evt_…``, the same in every attempt: skip events that you have already processed."""
    type: str
    mode: Literal["test", "live"]
    created_at: str
    sequence: int
    """Increases with each change of an object: ignore an older event that arrives late."""
    data: dict[str, Any]
    """The object as the API returns it."""


class WebhookVerificationError(Exception):
    """The webhook is not authentic or not recent: answer with status 400. ``code`` is the reason."""

    def __init__(self, code: WebhookErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def verify(
    raw_body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """Returns the event if the webhook is authentic and recent.

    :param raw_body: the body as received, before any JSON parser
    :param headers: the request's headers; names may be in any case
    :param secret: the endpoint's secret as shown, including ``whsec_``; several while you roll it
    :param now: seconds since 1970, for tests; the current time by default
    :raises WebhookVerificationError: the webhook is refused; respond with 400
    :raises TypeError: for invalid arguments, which would accept or refuse every webhook
    """
    body = _body_of(raw_body)
    secrets = _secrets_of(secret)
    # A comparison with NaN is false, so a webhook of any age would be accepted.
    if isinstance(tolerance_seconds, bool) or not tolerance_seconds >= 0:
        raise TypeError("tolerance_seconds must be a number, 0 or greater.")
    timestamp, signatures = _read_signature(_require_header(headers, SIGNATURE))
    event_id = _require_header(headers, EVENT_ID)
    expected = [_signature(each, timestamp, body) for each in secrets]
    # All pairs are compared, so that the duration does not reveal which one matches.
    matches = [hmac.compare_digest(one, other) for one in signatures for other in expected]
    if not any(matches):
        raise WebhookVerificationError(
            "no_matching_signature",
            "No signature matches: the secret is not the endpoint's, or the body is not the raw body.",
        )
    _check_time(int(timestamp), time.time() if now is None else now, tolerance_seconds)
    return _read_event(body, event_id)


def sign(secret: str, timestamp: int, raw_body: bytes | str) -> str:
    """The value of X-Gateway-Signature, for tests of a receiver."""
    return f"t={timestamp},v1={_signature(secret, str(timestamp), _body_of(raw_body))}"


def _signature(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def _body_of(raw_body: bytes | str) -> bytes:
    if isinstance(raw_body, str):
        return raw_body.encode()
    if isinstance(raw_body, (bytes, bytearray, memoryview)):
        return bytes(raw_body)
    raise TypeError("raw_body must be the body as received (bytes or text), not parsed JSON.")


def _secrets_of(secret: str | Sequence[str]) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret or [])
    # With an empty key anybody could sign, so an unset variable must not be accepted.
    if secrets and all(isinstance(each, str) and each != "" for each in secrets):
        return secrets
    raise TypeError("secret must be one or more endpoint secrets; it is missing or empty.")


def _require_header(headers: Mapping[str, str], name: str) -> str:
    found = [value for key, value in headers.items() if key.lower() == name.lower() and value]
    if found:
        return ",".join(found)
    raise WebhookVerificationError("missing_header", f"The header {name} is missing.")


def _read_signature(header: str) -> tuple[str, list[str]]:
    """Parts other than ``t`` and ``v1`` are reserved for future schemes and ignored."""
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value for name, _, value in parts if name == "v1"]
    is_well_formed = (
        all(separator for _, separator, _ in parts)
        and len(times) == 1
        and re.fullmatch(r"[0-9]{1,12}", times[0])
        and signatures
        and all(re.fullmatch(r"[0-9a-f]{64}", each) for each in signatures)
    )
    if is_well_formed:
        return times[0], signatures
    raise WebhookVerificationError(
        "malformed_signature",
        f"{SIGNATURE} must look like t=1700000000,v1=<64 hexadecimal digits>.",
    )


def _check_time(timestamp: int, now: float, tolerance: float) -> None:
    age = int(now) - timestamp
    if age > tolerance:
        raise WebhookVerificationError(
            "timestamp_too_old",
            f"The webhook was signed {age} seconds ago; the maximum is {tolerance}.",
        )
    if age < -tolerance:
        raise WebhookVerificationError(
            "timestamp_too_new",
            f"The webhook was signed {-age} seconds in the future; check the clock of this machine.",
        )


def _read_event(body: bytes, event_id: str) -> WebhookEvent:
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not all(isinstance(event.get(k), str) for k in ("id", "type")):
        raise WebhookVerificationError("malformed_body", "The body is not a webhook event.")
    # Receivers skip processed ids: a replay under a new id would be processed twice.
    if event["id"] != event_id:
        raise WebhookVerificationError(
            "event_id_mismatch", f"{EVENT_ID} differs from the event id in the signed body."
        )
    return event  # type: ignore[return-value]
