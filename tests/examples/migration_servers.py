# migration_servers.py NAME BEFORE AFTER: asks both servers of a migration the same, and compares what they answer, byte for byte.
# SPDX-License-Identifier: MIT
"""NAME: epoll_server or asio_server. A law talks to a server that it starts, and returns what each of its clients heard. Exits with 0
if every law holds for both servers, and both have said the same."""
import os
import re
import resource
import select
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from service_process import PATIENCE, Client, Service  # noqa: E402

HOUR = "3600"


def equal(got, expected, what):
    if got != expected:
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        raise AssertionError(f"{what}: differs at {at} of {len(got)} and {len(expected)}: {got[max(0, at - 40):at + 80]!r} "
                             f"instead of {expected[max(0, at - 40):at + 80]!r}")


def patient(program, *options):
    """A server whose limits are not reached within a law, but for those that the law sets."""
    given = dict(zip(options[::2], options[1::2]))
    limits = {"--idle": HOUR, "--wait": HOUR, "--grace": HOUR, **given}
    return Service(program, *(word for pair in limits.items() for word in pair))


def line(client):
    return client.until(b"\n") + b"\n"


def lines(client, count):
    return b"".join(line(client) for _ in range(count))


def ask(client, text):
    client.send(text.encode() + b"\n")
    return line(client).decode().rstrip("\n")


def rest(client):
    """All that comes until the server ends the connection in good order."""
    while True:
        data = client.socket.recv(65536)
        if not data:
            heard, client.received = client.received, b""
            return heard
        client.received += data


def one_by_one(program, script, expected):
    """Each question waits for its answer; what comes behind the last one is the end's."""
    with patient(program) as server, server.connect() as client:
        heard = b""
        for question, _ in script:
            client.send(question.encode("latin1") + b"\n")
            heard += line(client)
        equal(heard, expected, "one by one")
        client.socket.shutdown(socket.SHUT_WR)
        equal(rest(client), b"", "the end")
        return heard


def dripped(program, asked, expected, breaks_off=b""):
    """Byte by byte, and then the end of what is said, in the middle of a line perhaps."""
    with patient(program) as server, server.connect() as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in asked:
            client.send(bytes([byte]))
        if breaks_off:
            client.send(breaks_off)
            client.socket.shutdown(socket.SHUT_WR)
        heard = rest(client)
        equal(heard, expected, "byte by byte")
        return heard


def after_silence(server, *said_and_answered):
    """What clients hear that say so much and then nothing, until the server ends their connections."""
    heard = []
    for said, answer in said_and_answered:
        with server.connect() as client:
            client.send(said)
            heard.append(rest(client))
            equal(heard[-1], answer, f"after {said!r}")
    return heard


def sends_until_cut_off(client, text):
    try:
        while True:
            client.send(text)
    except (BrokenPipeError, ConnectionResetError):
        pass


def ends_by_signal(server, *clients_and_last_words):
    """SIGTERM: each client hears the words and the end, nobody new is let in, and the server leaves in good order."""
    server.send_signal(signal.SIGTERM)
    heard = []
    for client, expected in clients_and_last_words:
        heard.append(rest(client))
        equal(heard[-1], expected, "after the signal")
    until_refused(server)
    equal(server.process.wait(PATIENCE), 0, "exit code")
    return heard


def until_refused(service):
    """The server has seen the signal: it does not listen any more."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            service.connect().socket.close()
        except (ConnectionRefusedError, ConnectionResetError):
            return
        assert time.monotonic() < end, "it still listens"


def small_client(service):
    """One for which the kernel keeps little."""
    client = Client.__new__(Client)
    client.socket = socket.socket()
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    client.socket.settimeout(PATIENCE)
    client.socket.connect(("127.0.0.1", service.port))
    client.received = b""
    return client


def until_stuck(slow, text, other, question):
    """Sends, and reads nothing, until the server has answered so many questions of the other client without a byte of this one leaving
    that it could have emptied the kernel's buffers meanwhile, had it read on."""
    slow.socket.setblocking(False)
    left, turns = b"", 0
    while turns < 5000:
        left = left or text * 100
        try:
            left = left[slow.socket.send(left):]
            turns = 0
        except BlockingIOError:
            ask(other, question)
            turns += 1
    slow.socket.settimeout(PATIENCE)


# epoll_server: SET key value, GET key, DEL key, COUNT, WAIT key


def until_waiting(client, count):
    end = time.monotonic() + PATIENCE
    while not ask(client, "COUNT").endswith(f", {count} waiting"):
        assert time.monotonic() < end, f"{count} clients never waited"


SCRIPT = [("GET a", "NONE"), ("SET a 1", "OK"), ("GET a", "VALUE 1"), ("SET a two words ", "OK"), ("GET a", "VALUE two words "),
          ("WAIT a", "VALUE two words "), ("COUNT", "1 keys, 0 waiting"), ("DEL a", "OK"), ("DEL a", "NONE"), ("COUNT", "0 keys, 0 waiting"),
          ("", "ERROR bad request"), ("GET", "ERROR bad request"), ("GET ", "ERROR bad request"), ("GET a b", "ERROR bad request"),
          ("SET a", "ERROR bad request"), ("SET a ", "ERROR bad request"), ("COUNT a", "ERROR bad request"), ("get a", "ERROR bad request"),
          ("WAIT", "ERROR bad request"), ("DEL a b", "ERROR bad request"), ("SET b " + "v" * 1018, "OK"), ("GET b", "VALUE " + "v" * 1018),
          ("SET \xff \x00\x01", "OK"), ("GET \xff", "VALUE \x00\x01"), ("COUNT", "2 keys, 0 waiting")]
ASKED = "".join(question + "\n" for question, _ in SCRIPT).encode("latin1")
ANSWERED = "".join(answer + "\n" for _, answer in SCRIPT).encode("latin1")


def one_question_after_the_other(program):
    return one_by_one(program, SCRIPT, ANSWERED)


def all_questions_at_once(program):
    with patient(program) as server, server.connect() as client:
        client.send(ASKED)
        client.socket.shutdown(socket.SHUT_WR)  # what came before is answered all the same
        heard = rest(client)
        equal(heard, ANSWERED, "pipelined")
        return heard


def byte_by_byte(program):
    return dripped(program, ASKED, ANSWERED, b"GET b")  # a line that breaks off is none


def a_line_may_not_be_longer(program):
    longest = b"SET k " + b"v" * 1018 + b"\n"
    expected = b"OK\nERROR line too long\n"
    heard = []
    with patient(program) as server:
        for too_long in (b"x" * 1025, b"x" * 1025 + b"\nGET k\n", b"x" * 100_000):
            with server.connect() as client:
                client.send(longest)
                client.send(too_long)
                heard.append(rest(client))
                equal(heard[-1], expected, f"{len(too_long)} bytes")
    return heard


def a_wait_ends_when_its_key_is_set(program):
    with patient(program) as server, server.connect() as setter:
        waiting = [server.connect() for _ in range(10)]
        for client in waiting:
            client.send(b"GET key\nWAIT key\nGET key\nCOUNT\nWAIT key\nGET key\n")
        until_waiting(setter, 10)
        setter.send(b"SET other 0\nSET key 1\nSET key 2\nDEL key\nDEL other\n")
        heard = [lines(setter, 5)]
        until_waiting(setter, 10)  # for the second time: the key was gone when they went on
        setter.send(b"SET key 3\n")
        heard.append(line(setter))
        for client in waiting:
            client.socket.shutdown(socket.SHUT_WR)
            text = rest(client)
            counts = re.findall(rb"\d+ keys, \d+ waiting\n", text)  # how many of the others went on before
            equal(len(counts), 1, "counts")
            heard.append(text.replace(counts[0], b"COUNT\n"))
            equal(heard[-1], b"NONE\nVALUE 1\nNONE\nCOUNT\nVALUE 3\nVALUE 3\n", "who waited")
            client.socket.close()
        return heard


def a_wait_has_a_limit(program):
    with patient(program, "--wait", "0.03") as server, server.connect() as client:
        client.send(b"WAIT a\nSET a 1\nWAIT a\nWAIT b\nCOUNT\n")
        heard = lines(client, 5)
        equal(heard, b"TIMEOUT\nOK\nVALUE 1\nTIMEOUT\n1 keys, 0 waiting\n", "limits")
        return heard


def half_a_connection_is_answered(program):
    """It can hear, and waits, though it says nothing more."""
    with patient(program) as server, server.connect() as client, server.connect() as setter:
        client.send(b"WAIT a\nCOUNT\n")
        client.socket.shutdown(socket.SHUT_WR)
        until_waiting(setter, 1)
        setter.send(b"SET a 1\n")
        heard = [line(setter), rest(client)]
        equal(heard[1], b"VALUE 1\n1 keys, 0 waiting\n", "half closed")
        return heard


def silence_ends_a_connection(program):
    with patient(program, "--idle", "0.05") as server:
        heard = after_silence(server, (b"", b""), (b"GET a\n", b"NONE\n"), (b"GET a\nGET", b"NONE\n"))
        with server.connect() as client:  # bytes without a line are silence, too
            try:
                for byte in b"x" * 1000:
                    client.send(bytes([byte]))
                    select.select([client.socket], [], [], 0.01)
                raise AssertionError("a client that drips is never idle")
            except (BrokenPipeError, ConnectionResetError):
                pass
        return heard


def a_slow_reader_holds_up_nobody(program):
    value = b"v" * 1000
    count = 4_000
    with patient(program) as server, server.connect() as other, small_client(server) as slow:
        equal(ask(other, "SET k " + value.decode()), "OK", "set")
        sending = threading.Thread(target=slow.send, args=(b"GET k\n" * count,), daemon=True)
        sending.start()
        for _ in range(100):
            equal(ask(other, "GET k"), "VALUE " + value.decode(), "the other one")
        expected = (b"VALUE " + value + b"\n") * count
        while len(slow.received) < len(expected):
            data = slow.socket.recv(5000)
            assert data, "the connection ended"
            slow.received += data
        sending.join()
        equal(slow.received, expected, "the slow one")
        return slow.received


def who_never_reads_is_sent_away(program):
    """It is not read from either while its answers wait, so it cannot even send for ever."""
    with patient(program, "--idle", "0.1") as server, small_client(server) as slow:
        slow.send(b"SET k " + b"v" * 1000 + b"\n")
        sends_until_cut_off(slow, b"GET k\n" * 10_000)
        with server.connect() as other:
            equal(ask(other, "COUNT"), "1 keys, 0 waiting", "afterwards")
    return b""


def a_signal_ends_what_waits(program):
    """SIGTERM: nobody new, silent clients leave, waits end, requests that have come are answered."""
    with patient(program) as server, server.connect() as silent, server.connect() as half, server.connect() as waiting:
        equal(ask(silent, "SET a 1"), "OK", "silent")
        half.send(b"GET a\nGE")
        heard = [line(half)]
        waiting.send(b"WAIT b\nGET a\nWAIT b\nCOUNT\nWAIT a\nGE")
        until_waiting(silent, 1)
        return heard + ends_by_signal(server, (silent, b""), (half, b""),
                                      (waiting, b"CLOSING\nVALUE 1\nCLOSING\n1 keys, 0 waiting\nVALUE 1\n"))


def answers_under_way_arrive_after_a_signal(program):
    """All that had been asked for when it came. The questions come in one piece, and both servers read them by one call: what a
    server leaves unread when it closes would be a reset, which overtakes the answers."""
    count = 340
    answer = b"VALUE " + b"v" * 1000 + b"\n"
    with patient(program) as server, server.connect() as other, small_client(server) as slow:
        equal(ask(other, "SET k " + "v" * 1000), "OK", "set")
        slow.send(b"GET k\n" * count)
        heard = slow.socket.recv(1000)
        server.send_signal(signal.SIGTERM)
        equal(rest(other), b"", "the silent one")
        until_refused(server)
        while data := slow.socket.recv(65536):
            heard += data
        equal(heard, answer * count, "the slow one")
        equal(server.process.wait(PATIENCE), 0, "exit code")
    return heard


def a_grace_period_ends(program):
    with patient(program, "--grace", "0.05") as server, server.connect() as other, small_client(server) as slow:
        equal(ask(other, "SET k " + "v" * 1000), "OK", "set")
        until_stuck(slow, b"GET k\n", other, "COUNT")
        server.stop()  # though that client reads nothing
    return b""


def without_descriptors_it_goes_on(program, question=b"GET a\n", answer=b"NONE\n"):
    """Who finds none left waits in the kernel's queue, until another one has left."""
    few = 40

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

    with Service(program, "--idle", HOUR, before_exec=limit) as server:
        clients = {}
        for _ in range(3 * few):
            client = server.connect()
            client.send(question)
            clients[client.socket] = client
        while clients:
            ready, _, _ = select.select(list(clients), [], [], PATIENCE)
            assert ready, f"{len(clients)} are never answered"
            for each in ready:
                equal(line(clients[each]), answer, "an answer")
                clients.pop(each).socket.close()
    return b""


# asio_server: NICK name, SAY text, WHO, QUIT; a last word before the server closes


def joined(server, *names):
    """Members that have heard all that is said while they come."""
    members = []
    for name in names:
        member = server.connect()
        equal(ask(member, f"NICK {name}"), f"HELLO {name}", "a new member")
        for other in members:
            equal(line(other), f"+ {name}\n".encode(), "the others")
        members.append(member)
    return members


def left(members):
    for each in members:
        each.socket.close()


TALK = [("SAY x", "ERROR NICK first"), ("WHO", "ERROR NICK first"), ("", "ERROR NICK first"), ("NICK", "ERROR bad name"),
        ("NICK a b", "ERROR bad name"), ("NICK " + "x" * 17, "ERROR bad name"), ("NICK a-b", "ERROR bad name"), ("NICK ann", "HELLO ann"),
        ("NICK ann", "ERROR bad command"), ("WHO", "HERE ann"), ("SAY one", "ann: one"), ("SAY  two ", "ann:  two "), ("SAY", "ERROR bad command"),
        ("SAY ", "ERROR bad command"), ("WHO x", "ERROR bad command"), ("", "ERROR bad command"), ("say x", "ERROR bad command"),
        ("SAY " + "v" * 508, "ann: " + "v" * 508), ("SAY \x00\xff", "ann: \x00\xff"), ("QUIT", "BYE")]
SAID = "".join(question + "\n" for question, _ in TALK).encode("latin1")
HEARD = "".join(answer + "\n" for _, answer in TALK).encode("latin1")


def one_line_after_the_other(program):
    return one_by_one(program, TALK, HEARD)


def all_lines_at_once(program):
    """More than the queue holds: what a member asks for itself waits for room, and does not get it dropped."""
    many = 300
    with patient(program, "--queue", "2") as server, server.connect() as client:
        client.send(SAID[:-5] + b"WHO\n" * many + b"QUIT\nWHO\nWHO\n")
        heard = rest(client)
        equal(heard, HEARD[:-4] + b"HERE ann\n" * many + b"BYE\n", "pipelined")
        return heard


def chat_byte_by_byte(program):
    return dripped(program, SAID, HEARD)


def all_hear_what_one_says(program):
    with patient(program) as server:
        members = joined(server, "ann", "bob", "cleo")
        ann, bob, cleo = members
        equal(ask(bob, "WHO"), "HERE ann bob cleo", "who")
        ann.send(b"SAY 1\nSAY 2\n")
        heard = [lines(each, 2) for each in members]
        bob.send(b"SAY 3\n")
        heard += [line(each) for each in members]
        with server.connect() as other:
            equal(ask(other, "NICK bob"), "ERROR that name is taken", "a name that is taken")
            bob.send(b"QUIT\n")
            equal(rest(bob), b"BYE\n", "who leaves")
            heard += [line(each) for each in (ann, cleo)]
            equal(ask(other, "NICK bob"), "HELLO bob", "a name that is free again")
            heard += [lines(other, 3), line(ann), line(cleo)]
        heard += [line(ann), line(cleo)]  # the other one closed its socket
        equal(heard, [b"ann: 1\nann: 2\n"] * 3 + [b"bob: 3\n"] * 3 + [b"- bob\n"] * 2 + [b"ann: 1\nann: 2\nbob: 3\n"] +
              [b"+ bob\n"] * 2 + [b"- bob\n"] * 2, "what was said")
        left(members)
        return heard


def twenty_lines_of_history(program):
    with patient(program) as server:
        members = joined(server, "ann")
        for i in range(50):
            equal(ask(members[0], f"SAY {i}"), f"ann: {i}", "itself")
        with server.connect() as late:
            late.send(b"NICK late\nWHO\n")
            heard = lines(late, 22)
        equal(heard, b"HELLO late\n" + b"".join(b"ann: %d\n" % i for i in range(30, 50)) + b"HERE ann late\n", "history")
        left(members)
        return heard


def half_a_conversation_is_finished(program):
    """Its last line breaks off, so it is none; all that was asked for is answered before the connection ends."""
    with patient(program) as server:
        members = joined(server, "ann", "bob")
        ann, bob = members
        ann.send(b"SAY x\nWHO\nSAY y")
        ann.socket.shutdown(socket.SHUT_WR)
        heard = [rest(ann), lines(bob, 2)]
        equal(heard, [b"ann: x\nHERE ann bob\n", b"ann: x\n- ann\n"], "half closed")
        left(members)
        return heard


def nobody_says_too_much(program):
    heard = []
    with patient(program) as server:
        members = joined(server, "ann")
        for too_long in (b"SAY " + b"x" * 509, b"SAY " + b"x" * 509 + b"\nWHO\n", b"x" * 100_000):
            with server.connect() as client:
                equal(ask(client, "NICK bob"), "HELLO bob", "a new member")
                client.send(too_long)
                heard += [rest(client), lines(members[0], 2)]
                equal(heard[-2:], [b"ERROR line too long\n", b"+ bob\n- bob\n"], "too long")
        left(members)
    return heard


def silence_ends_a_conversation(program):
    with patient(program, "--idle", "0.05") as server:
        return after_silence(server, (b"", b""), (b"NICK a\n", b"HELLO a\n"), (b"NICK a\nSAY", b"HELLO a\n"))


def a_slow_member_is_dropped(program):
    """Its queue is full: it is sent away, in the middle of a line perhaps, and the others learn of it and miss nothing."""
    text = "x" * 500
    with patient(program, "--queue", "10") as server, small_client(server) as slow:
        members = joined(server, "ann", "bob")
        ann, bob = members
        equal(ask(slow, "NICK slow"), "HELLO slow", "the slow one")
        heard = [line(ann), line(bob)]
        said = 0
        while True:  # one at a time: the queues of those who read are never full
            ann.send(f"SAY {text}\n".encode())
            said += 1
            told = []
            while f"ann: {text}\n".encode() not in told:
                told.append(line(ann))
            told_bob = [line(bob) for _ in told]
            equal(sorted(told), sorted(told_bob), "both")
            if b"- slow\n" in told:
                break
            equal(ask(ann, "WHO"), "HERE ann bob slow", "who")
        equal(ask(bob, "WHO"), "HERE ann bob", "who")
        try:
            while data := slow.socket.recv(65536):
                slow.received += data
        except ConnectionResetError:
            pass
        all_of_it = f"ann: {text}\n".encode() * said
        assert len(slow.received) < len(all_of_it) and all_of_it.startswith(slow.received), "the slow one has heard something else"
        left(members)
        return heard


def a_signal_ends_the_chat(program):
    """SIGTERM: nobody new, and a last word for everybody, after what they had been sent."""
    with patient(program) as server:
        members = joined(server, "ann", "bob")
        ann, bob = members
        with server.connect() as nameless:
            equal(ask(nameless, "WHO"), "ERROR NICK first", "without a name")
            ann.send(b"SAY x\nSAY")
            heard = [line(ann)]  # bob's has been sent, too
            equal(heard, [b"ann: x\n"], "what she said")
            heard += ends_by_signal(server, (ann, b"BYE\n"), (bob, b"ann: x\nBYE\n"), (nameless, b"BYE\n"))
        left(members)
        return heard


def a_grace_period_ends_the_chat(program):
    """Somebody does not take what he has been sent."""
    with patient(program, "--grace", "0.05") as server, server.connect() as nameless, small_client(server) as slow:
        equal(ask(slow, "NICK slow"), "HELLO slow", "the slow one")
        until_stuck(slow, b"SAY " + b"x" * 500 + b"\n", nameless, "WHO")
        server.stop()
    return b""


def who_never_listens_is_sent_away(program):
    with patient(program, "--idle", "0.1") as server, small_client(server) as slow:
        slow.send(b"NICK slow\n")
        sends_until_cut_off(slow, (b"SAY " + b"x" * 500 + b"\n") * 100)
        with server.connect() as other:
            other.send(b"NICK other\nWHO\n")
            equal(lines(other, 22).split(b"\n")[-2], b"HERE other", "afterwards, and after twenty lines of history")
    return b""


def a_chat_without_descriptors_goes_on(program):
    return without_descriptors_it_goes_on(program, b"WHO\n", b"ERROR NICK first\n")


LAWS = {
    "epoll_server": [one_question_after_the_other, all_questions_at_once, byte_by_byte, a_line_may_not_be_longer, a_wait_ends_when_its_key_is_set,
                     a_wait_has_a_limit, half_a_connection_is_answered, silence_ends_a_connection, a_slow_reader_holds_up_nobody,
                     who_never_reads_is_sent_away, a_signal_ends_what_waits, answers_under_way_arrive_after_a_signal, a_grace_period_ends,
                     without_descriptors_it_goes_on],
    "asio_server": [one_line_after_the_other, all_lines_at_once, chat_byte_by_byte, all_hear_what_one_says, twenty_lines_of_history,
                    half_a_conversation_is_finished, nobody_says_too_much, silence_ends_a_conversation, a_slow_member_is_dropped,
                    who_never_listens_is_sent_away, a_signal_ends_the_chat, a_grace_period_ends_the_chat, a_chat_without_descriptors_goes_on],
}

if __name__ == "__main__":
    name, before, after = sys.argv[1:4]
    only = sys.argv[4:]
    for law in LAWS[name]:
        if only and law.__name__ not in only:
            continue
        began = time.monotonic()
        said = [law(program) for program in (before, after)]
        assert said[0] == said[1], f"{law.__name__}: before and after have said different things: {said}"
        print(f"{law.__name__} ({time.monotonic() - began:.2f} s)", flush=True)
