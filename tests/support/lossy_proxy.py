# lossy_proxy.py: a network between two UDP programs that loses, doubles and reorders what passes.
# SPDX-License-Identifier: MIT
"""with LossyProxy(port, seed, lost=0.1) as proxy: a client of proxy.port speaks with the server at `port`, and back."""
import random
import selectors
import socket
import threading


class LossyProxy:
    """Of a hundred datagrams it loses, doubles, or holds back as many as it is told; `lost_first` loses the first ones of
    each direction, whatever the seed. The same seed does the same to the same datagrams in the same order."""

    def __init__(self, to_port, seed, lost=0.0, doubled=0.0, held_back=0.0, lost_first=0):
        self.shares, self.seed, self.lost_first = (lost, doubled, held_back), seed, lost_first
        self.to = ("127.0.0.1", to_port)
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for each in (self.front, self.back):
            each.bind(("127.0.0.1", 0))
            each.setblocking(False)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.port = self.front.getsockname()[1]
        self.passed, self.lost, self.doubled, self.held_back = 0, 0, 0, 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        self.front.close()
        self.back.close()

    def run(self):
        chance = {each: random.Random(f"{self.seed} {number}") for number, each in enumerate((self.front, self.back))}
        count = dict.fromkeys(chance, 0)
        held = dict.fromkeys(chance)
        client = None
        with selectors.DefaultSelector() as waiting:
            for each in chance:
                waiting.register(each, selectors.EVENT_READ)
            while not self.ends.is_set():
                for key, _ in waiting.select(0.02):
                    came_at = key.fileobj
                    try:
                        data, sender = came_at.recvfrom(65536)
                    except OSError:  # nobody listens there: as lost
                        continue
                    if came_at is self.front:
                        client = sender
                    leaves_by, receiver = (self.back, self.to) if came_at is self.front else (self.front, client)
                    count[came_at] += 1
                    for datagram in self.what_becomes_of(data, chance[came_at], held, came_at, count[came_at]):
                        try:
                            leaves_by.sendto(datagram, receiver)
                            self.passed += 1
                        except OSError:  # full, or nobody listens there
                            self.lost += 1

    def what_becomes_of(self, data, chance, held, direction, number):
        """What goes on now. One that is held back goes after the next one."""
        lost, doubled, held_back = self.shares
        before, held[direction] = held[direction], None
        drawn = chance.random()
        if number <= self.lost_first or drawn < lost:
            self.lost += 1
            own = []
        elif drawn < lost + doubled:
            self.doubled += 1
            own = [data, data]
        elif before is None and drawn < lost + doubled + held_back:
            self.held_back += 1
            held[direction] = data
            return []
        else:
            own = [data]
        return own if before is None else [*own, before]
