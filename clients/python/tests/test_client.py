"""The client against a running gateway, as a merchant's program uses it.

GATEWAY_BASE_URL is the gateway, GATEWAY_TEST_KEY the key of a funded account in test mode, and
GATEWAY_LIVE_KEY one in live mode. The signatures of TEST_SIGNATURES are the specification's.
"""

from __future__ import annotations

import json
import os
import threading
import time
import unittest
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from payments_gateway import (
    ApiError,
    ConnectionError,
    GatewayClient,
    InsufficientBalanceError,
    InvalidApiKeyError,
    InvalidStateError,
    NotFoundError,
    PayoutRequest,
    UnexpectedResponseError,
    ValidationFailedError,
    webhooks,
)

BASE_URL = os.environ["GATEWAY_BASE_URL"]
TEST_KEY = os.environ["GATEWAY_TEST_KEY"]
LIVE_KEY = os.environ["GATEWAY_LIVE_KEY"]
ORIGIN = BASE_URL.removesuffix("/api/v1")


def payout(**overrides: Any) -> PayoutRequest:
    request: PayoutRequest = {
        "amount": "10.5",
        "currency": "USDT",
        "network": "tron",
        "reference": uuid.uuid4().hex,
        "destination": {"type": "crypto_address", "value": os.environ["GATEWAY_ADDRESS"]},
    }
    return {**request, **overrides}  # type: ignore[typeddict-item]


class Proxy:
    """Between the client and the gateway: treats each request as the next fault says."""

    def __init__(self, *faults: str) -> None:
        self.faults = list(faults)
        self.keys: list[str | None] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                proxy.keys.append(self.headers["Idempotency-Key"])
                fault = proxy.faults.pop(0) if proxy.faults else ""
                if fault == "refuse":
                    return self.connection.close()
                if fault == "slow":
                    time.sleep(2)
                    return self.connection.close()
                if fault == "busy":
                    return self.reply(503, b"busy", {"Retry-After": "1"})
                if fault == "not ours":
                    return self.reply(404, b"<h1>no such site</h1>")
                if fault == "redirect":
                    return self.reply(302, b"", {"Location": BASE_URL + "/balance"})
                status, text = self.forward(body)
                if fault == "lose the answer":
                    return self.connection.close()
                self.reply(status, text)

            do_GET = do_POST = answer

            def forward(self, body: bytes) -> tuple[int, bytes]:
                names = ("Authorization", "Content-Type", "Idempotency-Key")
                headers = {name: self.headers[name] for name in names if self.headers[name]}
                url = ORIGIN + self.path
                data = body if self.command == "POST" and body else None
                try:
                    with urlopen(Request(url, data, headers, method=self.command)) as answer:
                        return answer.status, answer.read()
                except HTTPError as error:
                    with error:
                        return error.code, error.read()

            def reply(self, status: int, text: bytes, headers: dict[str, str] = {}) -> None:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/api/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Operations(unittest.TestCase):
    client = GatewayClient(base_url=BASE_URL, key=TEST_KEY)

    def test_payouts_are_created_listed_and_cancelled(self) -> None:
        made = [self.client.payouts.create(payout(amount="1.10000001")) for _ in range(3)]
        self.assertEqual(made[0]["amount"], "1.10000001")
        self.assertEqual(made[0]["status"], "requested")
        references = {one["reference"] for one in made}
        listed = [one["id"] for one in self.client.payouts.list(limit=1) if one["reference"] in references]
        self.assertEqual(listed, [one["id"] for one in reversed(made)])
        first = self.client.payouts.list(limit=2).page()
        assert first.next_cursor is not None
        second = self.client.payouts.list(limit=2, cursor=first.next_cursor).page()
        self.assertTrue(second.data)
        self.assertEqual(self.client.payouts.get(made[0]["id"])["id"], made[0]["id"])
        last = self.client.payouts.create(payout())
        self.assertEqual(self.client.payouts.cancel(last["id"])["status"], "cancelled")

    def test_payments_balance_and_catalogue(self) -> None:
        payment = self.client.payments.create(
            {"amount": "5", "currency": "USDT", "reference": uuid.uuid4().hex}
        )
        self.assertTrue(payment["checkout_url"].startswith("http"))
        self.assertEqual(self.client.payments.get(payment["id"])["id"], payment["id"])
        self.assertEqual(self.client.payments.verify(payment["id"])["id"], payment["id"])
        balance = self.client.balance.get()["balances"][0]
        self.assertEqual(str(Decimal(balance["available"]).quantize(Decimal("1e-8"))), balance["available"])
        self.assertTrue(next(iter(self.client.transactions.list()))["id"])
        self.assertIn("percentage", self.client.fees.list()[0])
        quote = self.client.fees.quote(
            direction="payout", provider="onchain_provider", currency="USDT", amount="100"
        )
        self.assertIn("service_fee", quote)
        self.assertTrue(self.client.currencies.list()["providers"])

    def test_a_batch_is_checked_created_and_proven(self) -> None:
        rows = [payout(amount="1"), payout(amount="0")]
        check = self.client.payout_batches.check({"reference": uuid.uuid4().hex, "payouts": rows})
        self.assertEqual([row["row"] for row in check["refused_rows"]], [2])
        batch = self.client.payout_batches.create(
            {"reference": uuid.uuid4().hex, "payouts": [payout(amount="1")]}
        )
        proof = self.client.payout_batches.proof(batch["id"])
        self.assertEqual(proof["totals"][0]["manifest"], batch["totals"][0]["total_debit"])
        with self.assertRaisesRegex(TypeError, r"check\(\)"):
            self.client.payout_batches.create(
                {"reference": "x", "payouts": [payout()], "dry_run": True}
            )

    def test_follow_yields_every_event_once_and_resumes(self) -> None:
        made = self.client.payouts.create(payout())
        events = []
        for event in self.client.events.follow(object_id=made["id"]):
            events.append(event)
            if event["type"] == "payout.completed":
                break
        self.assertEqual([one["sequence"] for one in events], [1, 2, 3, 4])
        rest = self.client.events.follow(after=events[1]["id"], object_id=made["id"])
        self.assertEqual([next(rest)["id"], next(rest)["id"]], [one["id"] for one in events[2:]])
        latest = self.client.events.feed(after="latest", object_id=made["id"])
        self.assertEqual(self.client.events.feed(cursor=latest.cursor, object_id=made["id"]).events, [])


class Faults(unittest.TestCase):
    def test_a_payout_whose_answers_are_lost_is_created_once_with_one_key(self) -> None:
        request = payout()
        with Proxy("refuse", "lose the answer", "busy") as proxy:
            client = GatewayClient(base_url=proxy.base_url, key=TEST_KEY)
            made = client.payouts.create(request)
        self.assertEqual(len(proxy.keys), 4)
        self.assertEqual(len(set(proxy.keys)), 1)
        found = GatewayClient(base_url=BASE_URL, key=TEST_KEY).payouts.list(reference=request["reference"])
        self.assertEqual([one["id"] for one in found], [made["id"]])

    def test_a_key_of_the_caller_repeats_a_call(self) -> None:
        client = GatewayClient(base_url=BASE_URL, key=TEST_KEY)
        request, key = payout(), uuid.uuid4().hex
        first = client.payouts.create(request, idempotency_key=key)
        self.assertEqual(client.payouts.create(request, idempotency_key=key)["id"], first["id"])

    def test_a_cancel_whose_answer_was_lost_succeeds(self) -> None:
        direct = GatewayClient(base_url=BASE_URL, key=LIVE_KEY)
        made = direct.payouts.create(payout())
        with Proxy("lose the answer") as proxy:
            client = GatewayClient(base_url=proxy.base_url, key=LIVE_KEY)
            self.assertEqual(client.payouts.cancel(made["id"])["status"], "cancelled")
        with self.assertRaises(InvalidStateError) as refused:
            direct.payouts.cancel(made["id"])
        self.assertEqual(refused.exception.details["status"], "cancelled")

    def test_refusals_are_not_repeated_and_have_classes_of_their_own(self) -> None:
        with Proxy() as proxy:
            client = GatewayClient(base_url=proxy.base_url, key=TEST_KEY)
            with self.assertRaises(InsufficientBalanceError) as poor:
                client.payouts.create(payout(amount="2000"))
            self.assertEqual(poor.exception.status, 422)
            self.assertEqual(poor.exception.details["currency"], "USDT")
            self.assertTrue(poor.exception.request_id.startswith("req_"))
            with self.assertRaises(ValidationFailedError) as invalid:
                client.payouts.create(payout(amount="x"))
            self.assertEqual(invalid.exception.details["fields"][0]["field"], "amount")
            with self.assertRaises(NotFoundError):
                client.payments.get("pay_unknown")
            self.assertEqual(len(proxy.keys), 3)
        stranger = GatewayClient(base_url=BASE_URL, key="sk_test_" + "x" * 38)
        with self.assertRaises(InvalidApiKeyError):
            stranger.balance.get()

    def test_what_is_not_the_gateways_answer(self) -> None:
        for fault, error in [
            ("not ours", UnexpectedResponseError),
            ("redirect", UnexpectedResponseError),
            ("refuse", ConnectionError),
            ("slow", ConnectionError),
        ]:
            with self.subTest(fault), Proxy(fault) as proxy:
                client = GatewayClient(
                    base_url=proxy.base_url, key=TEST_KEY, max_retries=0, timeout=1
                )
                self.assertRaises(error, client.balance.get)

    def test_arguments_are_checked(self) -> None:
        with self.assertRaisesRegex(TypeError, "base_url must be the URL of the API"):
            GatewayClient(base_url="https://pay.example.com", key=TEST_KEY)
        with self.assertRaisesRegex(TypeError, "key must be an API key"):
            GatewayClient(base_url=BASE_URL, key="x")
        with self.assertRaisesRegex(TypeError, "id must be the ID"):
            GatewayClient(base_url=BASE_URL, key=TEST_KEY).payouts.get("")
        # A code of a newer gateway is an ApiError.
        self.assertTrue(issubclass(NotFoundError, ApiError))


class Webhooks(unittest.TestCase):
    def test_the_signatures_of_the_specification(self) -> None:
        with open(os.environ["TEST_SIGNATURES"]) as file:
            vectors = json.load(file)
        for vector in vectors:
            signed = webhooks.sign(vector["secret"], vector["timestamp"], vector["body"])
            self.assertEqual(signed, vector["header"])

    def test_verification(self) -> None:
        secret, now = "whsec_" + uuid.uuid4().hex, int(time.time())
        body = json.dumps({"id": "evt_1", "type": "payout.completed"})

        def code(header: str, *, event: str = "evt_1", text: str = body, at: float = now) -> str:
            headers = {"x-gateway-signature": header, "X-Gateway-Event-Id": event}
            try:
                webhooks.verify(text, {k: v for k, v in headers.items() if v}, secret, now=at)
            except webhooks.WebhookVerificationError as error:
                return error.code
            return "authentic"

        good = webhooks.sign(secret, now, body)
        self.assertEqual(code(good), "authentic")
        self.assertEqual(code(""), "missing_header")
        self.assertEqual(code("v1=1"), "malformed_signature")
        self.assertEqual(code(good, text=body + " "), "no_matching_signature")
        self.assertEqual(code(good, at=now + 301), "timestamp_too_old")
        self.assertEqual(code(good, at=now - 301), "timestamp_too_new")
        self.assertEqual(code(good, event="evt_2"), "event_id_mismatch")
        self.assertEqual(code(webhooks.sign(secret, now, "[]"), text="[]"), "malformed_body")
        with self.assertRaisesRegex(TypeError, "missing or empty"):
            webhooks.verify(body, {}, "")


if __name__ == "__main__":
    unittest.main()
