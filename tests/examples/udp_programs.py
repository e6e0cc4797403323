# udp_programs.py NAME PROGRAM: uses an example over UDP from outside.
# SPDX-License-Identifier: MIT
"""NAME: name_server or file_transfer. Exits with 0 if everything was as it has to be."""
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import emulated  # noqa: E402
from example_servers import equal  # noqa: E402
from lossy_proxy import LossyProxy  # noqa: E402
from service_process import PATIENCE, Service  # noqa: E402

HOSTS = """# some names
192.0.2.1    one.example One.Alias
192.0.2.2    two.example   # and one more
2001:db8::2  two.example
""" + "".join(f"192.0.3.{i} many.example\n" for i in range(60))


def run(program, *arguments):
    return subprocess.run([*emulated.command(program), *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env=emulated.live_environment())


# name_server


def question(name, number=7, kind=1, of_class=1, flags=0x0100, count=1):
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
    return struct.pack(">6H", number, flags, count, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, of_class)


def asked(server, message):
    """Again each second: a datagram may find no room, where a server is behind."""
    end = time.monotonic() + PATIENCE
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.connect(("127.0.0.1", server.port))
        while True:
            client.send(message)
            try:
                answer = client.recv(65536)
                break
            except TimeoutError:
                assert time.monotonic() < end, f"no answer to {message!r}"
    number, flags, _, answers, _, _ = struct.unpack(">6H", answer[:12])
    return number, flags & 0xf, answers, bool(flags & 0x0200), answer


class NameServer(Service):
    def __init__(self, program):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".hosts")  # noqa: SIM115: it ends with the server
        self.file.write(HOSTS)
        self.file.flush()
        super().__init__(program, "serve", "--hosts", self.file.name)


def shows_both_sides(program):
    shown = run(program)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    equal(shown.stdout, "printer.example has 192.0.2.7\nscanner.example is not known\n", "what it shows")


def answers_what_it_knows(program):
    with NameServer(program) as server:
        equal(asked(server, question("one.example"))[:4], (7, 0, 1, False), "one address")
        assert asked(server, question("ONE.example"))[4].endswith(bytes([192, 0, 2, 1]))
        equal(asked(server, question("two.example", kind=28))[2], 1, "addresses of IPv6")
        equal(asked(server, question("one.example", kind=28))[1:3], (0, 0), "a name without an address of IPv6")
        equal(asked(server, question("three.example"))[1], 3, "a name that nobody has")
        equal(asked(server, question("one.example", kind=16))[1:3], (0, 0), "another type")


def what_does_not_fit_is_cut(program):
    with NameServer(program) as server:
        _, code, answers, is_cut, message = asked(server, question("many.example"))
        assert code == 0 and is_cut and 0 < answers < 60 and len(message) <= 512, (code, answers, is_cut, len(message))


def says_what_it_does_not_do(program):
    with NameServer(program) as server:
        equal(asked(server, question("one.example", of_class=3))[1], 5, "another class")
        equal(asked(server, question("one.example", flags=0x0800))[1], 4, "another operation")
        equal(asked(server, question("one.example", count=2))[1], 1, "two questions")
        equal(asked(server, question("one.example")[:-3])[1], 1, "half a question")


def outlives_rubbish(program):
    chance = random.Random(1)
    with NameServer(program) as server:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect(("127.0.0.1", server.port))
            whole = question("one.example")
            for _ in range(2000):
                kind = chance.randrange(3)
                data = bytearray(whole if kind else chance.randbytes(chance.randrange(600)))
                if kind == 1:
                    data[chance.randrange(len(data))] = chance.randrange(256)
                if kind == 2:
                    data = data[:chance.randrange(len(data))]
                client.send(data)
            client.send(question("one.example", flags=0x8000))  # an answer: nobody answers that
        equal(asked(server, question("one.example"))[:3], (7, 0, 1), "after rubbish")


def its_client_asks_again(program):
    with NameServer(program) as server, LossyProxy(server.port, 1, lost_first=1) as proxy:
        heard = run(program, "ask", "127.0.0.1", str(proxy.port), "two.example")
        assert heard.returncode == 0, heard.stdout + heard.stderr
        equal(heard.stdout, "two.example has 192.0.2.2\ntwo.example has 2001:db8::2\n", "what it hears")
        assert proxy.lost >= 1
        unknown = run(program, "ask", "127.0.0.1", str(server.port), "three.example")
        equal((unknown.returncode, unknown.stdout), (1, "three.example is not known\n"), "of a name that nobody has")


def says_which_line_is_wrong(program):
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
        file.write("127.0.0.1 fine\nnonsense wrong\n")
        file.flush()
        refused = run(program, "serve", "--hosts", file.name)
        assert refused.returncode == 1 and "line 2: 'nonsense' is no address" in refused.stderr, refused.stderr


# file_transfer


class Receiver(Service):
    def __init__(self, program, path):
        super().__init__(program, "--linger", "0.5", "receive", path)


def transfer(program, size, **losses):
    """@returns what the sender says, and the proxy"""
    data = random.Random(size).randbytes(size)
    with tempfile.TemporaryDirectory() as folder:
        source, copy = os.path.join(folder, "source"), os.path.join(folder, "copy")
        with open(source, "wb") as file:
            file.write(data)
        receiver = Receiver(program, copy)
        with LossyProxy(receiver.port, size, **losses) as proxy:
            sent = run(program, "send", "127.0.0.1", str(proxy.port), source)
            assert sent.returncode == 0, sent.stdout + sent.stderr
            assert receiver.wait_for_end() == 0, receiver.errors()
        with open(copy, "rb") as file:
            assert file.read() == data, f"another file came of {size} bytes"
        return sent.stdout, proxy


def small_files_come_whole(program):
    for size in (0, 1, 1179, 1180, 1181, 59_000, 60_001):
        said, _ = transfer(program, size)
        assert said.startswith(f"{size} bytes in {max(1, -(-size // 1180))} segments, "), said


def large_ones_come_whole_through_losses(program):
    said, proxy = transfer(program, 3_000_000, lost=0.05, doubled=0.02, held_back=0.05)
    assert min(proxy.lost, proxy.doubled, proxy.held_back) > 10 and " 0 sent again" not in said, (said, vars(proxy))


def the_first_and_the_last_words_may_be_lost(program):
    transfer(program, 5_000, lost_first=4)
    transfer(program, 50_000, lost=0.2)


def a_sender_without_a_receiver_gives_up(program):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, tempfile.NamedTemporaryFile() as file:
        silent.bind(("127.0.0.1", 0))
        sent = run(program, "send", "127.0.0.1", str(silent.getsockname()[1]), file.name)
        assert sent.returncode == 1 and "does not answer: 0 of 1 segments" in sent.stderr, sent.stderr


HEADER = struct.Struct(">HBBIIQ")
MAGIC, DATA, ACKNOWLEDGEMENT, PAYLOAD = 0x7446, 1, 2, 1180


def an_offer_of_too_much_is_not_taken(program):
    with tempfile.TemporaryDirectory() as folder:
        copy, source = os.path.join(folder, "copy"), os.path.join(folder, "source")
        receiver = Service(program, "--linger", "0.5", "--most-bytes", "5000", "receive", copy)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as liar:
            for claimed in (5001, 0xfffffff0 * PAYLOAD, (1 << 64) - 1):
                liar.sendto(HEADER.pack(MAGIC, DATA, 0, 1, 7, claimed), ("127.0.0.1", receiver.port))
        with open(source, "wb") as file:
            file.write(b"x" * 5000)
        sent = run(program, "send", "127.0.0.1", str(receiver.port), source)
        assert sent.returncode == 0, sent.stdout + sent.stderr
        equal(receiver.wait_for_end(), 0, receiver.errors() + "its exit code")
        equal(os.path.getsize(copy), 5000, "the size of what it has kept")
        equal(receiver.errors(), "refused a file of 5001 bytes: more than --most-bytes, 5000\n", "what it says, once")


def a_file_with_more_segments_than_numbers_is_refused(program):
    with tempfile.NamedTemporaryFile() as file, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        os.truncate(file.name, 0xfffffff0 * PAYLOAD + 1)  # it is all hole
        refused = run(program, "--give-up", "0.5", "send", "127.0.0.1", str(silent.getsockname()[1]), file.name)
        assert refused.returncode == 1 and "the most that can be sent are" in refused.stderr, refused.stderr


def an_acknowledgement_of_what_was_never_sent_is_not_believed(program):
    count = 100  # more than the first window
    with tempfile.NamedTemporaryFile() as file, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        file.write(bytes(count * PAYLOAD))
        file.flush()
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(PATIENCE)
        sender = subprocess.Popen([*emulated.command(program), "send", "127.0.0.1", str(receiver.getsockname()[1]), file.name],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=emulated.live_environment())
        come = set()
        while len(come) < count:
            data, by = receiver.recvfrom(65536)
            _, _, _, number_of_transfer, number, size = HEADER.unpack(data[:HEADER.size])
            if not come:
                receiver.sendto(HEADER.pack(MAGIC, ACKNOWLEDGEMENT, 0, number_of_transfer, count - 1, size) + bytes(128), by)
            come.add(number)
            missing = min(set(range(count)) - come, default=count)
            receiver.sendto(HEADER.pack(MAGIC, ACKNOWLEDGEMENT, 0, number_of_transfer, missing, size) + bytes(128), by)
        said, errors = sender.communicate(timeout=PATIENCE)
        assert sender.returncode == 0 and said.startswith(f"{count * PAYLOAD} bytes in {count} segments"), said + errors


LAWS = {
    "name_server": (shows_both_sides, answers_what_it_knows, what_does_not_fit_is_cut, says_what_it_does_not_do, outlives_rubbish,
                    its_client_asks_again, says_which_line_is_wrong),
    "file_transfer": (small_files_come_whole, large_ones_come_whole_through_losses, the_first_and_the_last_words_may_be_lost,
                      a_sender_without_a_receiver_gives_up, an_offer_of_too_much_is_not_taken,
                      a_file_with_more_segments_than_numbers_is_refused, an_acknowledgement_of_what_was_never_sent_is_not_believed),
}

if __name__ == "__main__":
    name, program = sys.argv[1:]
    for law in LAWS[name]:
        law(program)
        print(law.__name__, flush=True)
