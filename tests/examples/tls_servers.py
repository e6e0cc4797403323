# tls_servers.py NAME PROGRAM: talks TLS to a server of the examples from outside.
# SPDX-License-Identifier: MIT
"""NAME: tls_echo or port_forwarder.tls. Exits with 0 if everything was as it has to be, with 77 if openssl is missing."""
import os
import queue
import socket
import ssl
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from example_servers import Target, equal, five_clients_send_all_and_hear_all  # noqa: E402
from made_certificate import MadeCertificate  # noqa: E402
from service_process import PATIENCE, Client, Service  # noqa: E402

TEXT = b"".join(b"line %d\n" % i for i in range(100_000))


def run(program, *arguments, **more):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False, **more)


def ask(client, text, expected):
    """Piece by piece: two threads may not use a socket of Python's ssl at a time."""
    for begin in range(0, len(text), 16384):
        piece = expected[begin:begin + 16384]
        client.send(text[begin:begin + 16384])
        while len(client.received) < len(piece):
            assert client.read_more()
        assert client.received == piece, f"another text came back: {client.received[:300]!r}"
        client.received = b""


# tls_echo


def shows_both_sides(program):
    shown = run(program)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "hello again" in shown.stdout and "not resumed" in shown.stdout and ", resumed" in shown.stdout, shown.stdout


def makes_a_certificate_and_says_where_it_lies(program):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.pem")
        with Service(program, "serve", "--save", made) as server:
            asked = run(program, "ask", "localhost", str(server.port), "--trust", made, "two", "words")
            assert (asked.returncode, asked.stdout.split("\n")[0]) == (0, "two words"), asked.stdout + asked.stderr
            mistrusting = run(program, "ask", "localhost", str(server.port), "two words")
            assert mistrusting.returncode == 1 and "self-signed" in mistrusting.stderr, mistrusting.stderr
            says = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", made, "-verify_return_error", "-quiet", "-no_ign_eof"]
            with subprocess.Popen(says, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as openssl:
                openssl.stdin.write(b"from openssl\n")
                openssl.stdin.flush()
                equal(openssl.stdout.readline(), b"from openssl\n", "what came back")
                openssl.stdin.close()
                assert openssl.wait(PATIENCE) == 0
            server.stop()
            assert made in server.last_words, server.last_words


def takes_a_certificate(program):
    with MadeCertificate() as made, Service(program, "serve", "--cert", made.file, "--key", made.key, context=made.client()) as server:
        with server.connect() as client:
            ask(client, TEXT, TEXT)
            client.socket.unwrap().close()  # waits for the server's close_notify


# port_forwarder


class TlsTarget(Target):
    """As Target, over TLS if there is a context; it tells how connections ended."""

    def __init__(self, context=None, answers_at_the_end=False):
        self.context, self.answers_at_the_end = context, answers_at_the_end
        self.ends = queue.Queue()
        super().__init__()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=False)
            with connection:
                kept = b""
                while data := connection.recv(65536):
                    if self.answers_at_the_end:
                        kept += data
                    else:
                        connection.sendall(data.upper())
                connection.sendall(kept.upper())
                if self.context:
                    connection.unwrap()
            self.ends.put("end")
        except OSError as error:
            self.ends.put(type(error).__name__)


class HalfEndingClient:
    """TLS by ssl's memory buffers: its sockets cannot end the direction that they write alone."""

    def __init__(self, port, context):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.coming, self.going = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.coming, self.going, server_hostname="localhost")
        self.when_it_came(self.tls.do_handshake)

    def when_it_came(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.flush()
                if data := self.socket.recv(65536):
                    self.coming.write(data)
                else:
                    self.coming.write_eof()
            finally:
                self.flush()

    def flush(self):
        self.socket.sendall(self.going.read())

    def send(self, text):
        self.tls.write(text)
        self.flush()

    def end(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:  # for theirs, which is not waited for
            self.flush()

    def rest(self):
        """What still comes, to their close_notify."""
        text = b""
        while True:
            try:
                text += self.when_it_came(lambda: self.tls.read(65536))
            except ssl.SSLZeroReturnError:
                self.socket.close()
                return text


def ends_tls_for_its_clients(program):
    target = TlsTarget()
    with MadeCertificate() as made, Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-cert", made.file, "--tls-key", made.key,
                                            context=made.client()) as server:
        with server.connect() as client:
            ask(client, TEXT, TEXT.upper())
            client.socket.unwrap().close()  # its close_notify is a FIN there, whose FIN is a close_notify here
        equal(target.ends.get(timeout=PATIENCE), "end", "what the target hears")
        server.stop()
        equal(server.last_words.strip(), f"0 open, 1 ended, 0 unreachable, {len(TEXT)} bytes up, {len(TEXT)} down", "its counts")


def begins_tls_with_its_target(program):
    with MadeCertificate() as made:
        target = TlsTarget(made.server())
        with Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-to", "localhost", "--tls-trust", made.file) as server:
            with server.connect() as client:
                client.send(b"some words")
                client.socket.shutdown(socket.SHUT_WR)  # a FIN is a close_notify there
                while client.read_more():
                    pass
                equal(client.received, b"SOME WORDS", "after our end")
            equal(target.ends.get(timeout=PATIENCE), "end", "what the target hears")
            server.stop()
            equal(server.last_words.strip(), "0 open, 1 ended, 0 unreachable, 10 bytes up, 10 down", "its counts")


def speaks_tls_on_both_sides(program):
    with MadeCertificate() as made:
        target = TlsTarget(made.server())
        with Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-to", "localhost", "--tls-trust", made.file,
                     "--tls-cert", made.file, "--tls-key", made.key, context=made.client()) as server:
            for _ in range(3):
                with server.connect() as client:
                    ask(client, TEXT, TEXT.upper())
                    client.socket.unwrap().close()


def two_in_a_row_are_a_tunnel(program):
    """Both directions at once, and ends pass through as FIN, close_notify and FIN."""
    target = Target()
    with MadeCertificate() as made, \
            Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-cert", made.file, "--tls-key", made.key) as far, \
            Service(program, "--to", f"127.0.0.1:{far.port}", "--tls-to", "localhost", "--tls-trust", made.file) as near:
        five_clients_send_all_and_hear_all(near, TEXT)
        near.stop()
        far.stop()
        counts = f"0 open, 5 ended, 0 unreachable, {5 * len(TEXT)} bytes up, {5 * len(TEXT)} down"
        equal((near.last_words.strip(), far.last_words.strip()), (counts, counts), "their counts")


def half_an_end_is_passed_on(program):
    """The target answers when it has heard the client's end, and not before."""
    target = TlsTarget(answers_at_the_end=True)
    with MadeCertificate() as made, Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-cert", made.file, "--tls-key", made.key) as server:
        client = HalfEndingClient(server.port, made.client())
        client.send(b"some words")
        client.end()
        equal(client.rest(), b"SOME WORDS", "after our end")


def a_target_with_another_name_is_not_reached(program):
    with MadeCertificate() as made:
        target = TlsTarget(made.server())
        with Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-to", "example.org", "--tls-trust", made.file) as server:
            try:
                with Client(server.port) as client:
                    client.send(b"some words")
                    assert client.at_end()
            except OSError:
                pass  # a reset that came earlier
            server.stop()
            assert "1 unreachable" in server.last_words and "not reached: " in server.errors(), server.last_words + server.errors()


def a_truncation_ends_as_a_reset(program):
    target = TlsTarget()
    with MadeCertificate() as made, Service(program, "--to", f"127.0.0.1:{target.port}", "--tls-cert", made.file, "--tls-key", made.key,
                                            context=made.client()) as server:
        with server.connect() as client:
            ask(client, b"words", b"WORDS")
            socket.socket.shutdown(client.socket, socket.SHUT_WR)  # a FIN without close_notify
            equal(target.ends.get(timeout=PATIENCE), "ConnectionResetError", "what the target hears")
            try:
                while client.read_more():
                    pass
                raise AssertionError("an end that looks complete")
            except ssl.SSLEOFError:
                pass
        server.stop()


LAWS = {
    "tls_echo": [shows_both_sides, makes_a_certificate_and_says_where_it_lies, takes_a_certificate],
    "port_forwarder.tls": [ends_tls_for_its_clients, begins_tls_with_its_target, speaks_tls_on_both_sides, two_in_a_row_are_a_tunnel,
                           half_an_end_is_passed_on, a_target_with_another_name_is_not_reached, a_truncation_ends_as_a_reset],
}

if __name__ == "__main__":
    name, program = sys.argv[1:3]
    for law in LAWS[name]:
        law(program)
        print(law.__name__, flush=True)
