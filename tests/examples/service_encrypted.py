#!/usr/bin/env python3
# service_encrypted.py: puzzle_service over HTTPS answers as over HTTP, and outlives those who do not speak TLS.
# SPDX-License-Identifier: MIT
"""service_encrypted.py PUZZLE_SERVICE [unittest arguments]. TANDEM_EXAMPLES_TLS=on: it was built with TLS."""
import json
import os
import signal
import ssl
import subprocess
import sys
import unittest

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
sys.path.insert(0, SUPPORT)
import emulated  # noqa: E402
from made_certificate import MadeCertificate  # noqa: E402
from service_process import PATIENCE, Client, Service, request  # noqa: E402

SERVICE = ""
ENDLESS = {"puzzle": "queens", "n": 22, "count": True}


def refusal(*options):
    ended = subprocess.run([*emulated.command(SERVICE), "--port", "0", *options], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return ended.returncode, ended.stderr


@unittest.skipIf(os.environ.get("TANDEM_EXAMPLES_TLS") == "on", "built with TLS")
class BuiltWithout(unittest.TestCase):
    def test_the_option_is_refused_with_the_reason(self):
        code, text = refusal("--tls", "made.pem", "key.pem")
        self.assertEqual(code, 1)
        self.assertIn("built without TLS", text)


@unittest.skipUnless(os.environ.get("TANDEM_EXAMPLES_TLS") == "on", "built without TLS")
class Encrypted(unittest.TestCase):
    def setUp(self):
        self.made = MadeCertificate()
        self.addCleanup(self.made.folder.cleanup)

    def start(self, *options):
        return Service(SERVICE, "--tls", self.made.file, self.made.key, *options, context=self.made.client())

    def test_requests_are_answered_in_order_on_one_connection(self):
        with self.start() as service, service.connect() as client:
            self.assertIn(client.socket.version(), ("TLSv1.2", "TLSv1.3"))
            client.send(request("GET", "/stats") + request("POST", "/solve", json.dumps({"puzzle": "queens", "n": 8})) + request("GET", "/none"))
            answers = [client.answer() for _ in range(3)]
            self.assertEqual([answer.status for answer in answers], [200, 200, 404])
            self.assertTrue(answers[1].json()["solved"])

    def test_large_answers_and_both_versions(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.start() as service:
                service.context.minimum_version = service.context.maximum_version = version
                page = service.request("GET", "/")
                self.assertEqual(page.status, 200)
                self.assertEqual(int(page.headers["content-length"]), len(page.body))

    def test_it_ends_with_close_notify(self):
        """SSLEOFError would be raised by an end without."""
        with self.start("--idle", "0.1") as service, service.connect() as idle:
            self.assertTrue(idle.at_end())
        with self.start() as service, service.connect() as client:
            client.send(request("GET", "/stats", headers=["Connection: close"]))
            self.assertEqual(client.answer().headers["connection"], "close")
            self.assertTrue(client.at_end())
        with self.start() as service, service.connect() as client:
            client.send(request("GET", "/stats"))
            client.answer()
            service.send_signal(signal.SIGTERM)
            self.assertTrue(client.at_end())
            self.assertEqual(service.wait_for_end(), 0, service.errors())

    def test_a_client_that_says_goodbye_is_answered_likewise(self):
        with self.start() as service, service.connect() as client:
            client.send(request("GET", "/stats"))
            client.answer()
            client.socket.unwrap().close()  # waits for the other close_notify

    def test_a_client_that_leaves_stops_its_search(self):
        for how in ("close_notify", "end without"):
            with self.start() as service:
                client = service.connect()
                client.send(request("POST", "/solve", json.dumps(ENDLESS)))
                service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
                if how == "close_notify":
                    client.socket.unwrap().close()
                client.socket.close()
                service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)

    def test_a_client_of_plain_http_gets_an_end_and_others_are_served(self):
        with self.start() as service, service.connect() as before:
            with Client(service.port) as plain:
                plain.send(request("GET", "/stats"))
                while plain.read_more():
                    pass
                self.assertNotIn(b"HTTP", plain.received)
            before.send(request("GET", "/stats"))
            self.assertEqual(before.answer().status, 200)
            self.assertEqual(service.request("GET", "/stats").status, 200)

    def test_a_client_that_does_not_trust_it_ends_only_itself(self):
        with self.start() as service:
            with self.assertRaises(ssl.SSLCertVerificationError):
                Client(service.port, ssl.create_default_context())
            self.assertEqual(service.request("GET", "/stats").status, 200)

    def test_a_connection_too_many_is_told_so(self):
        with self.start("--connections", "1") as service, service.connect() as client:
            client.send(request("GET", "/stats"))
            self.assertEqual(client.answer().status, 200)
            with service.connect() as late:
                self.assertEqual(late.answer().status, 503)
                self.assertTrue(late.at_end())

    def test_files_that_cannot_be_used_are_named(self):
        for files in ([self.made.file, self.made.folder.name + "/none.pem"], [self.made.key, self.made.key]):
            code, text = refusal("--tls", *files)
            self.assertEqual(code, 1)
            self.assertIn(files[1], text)
        with MadeCertificate() as other:
            code, text = refusal("--tls", self.made.file, other.key)
            self.assertEqual(code, 1)
            self.assertIn(other.key, text)


if __name__ == "__main__":
    SERVICE = sys.argv.pop(1)
    unittest.main(verbosity=2)
