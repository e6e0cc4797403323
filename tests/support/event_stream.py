# event_stream.py: reads an answer of server-sent events, chunk by chunk, and minds every byte of it.
# SPDX-License-Identifier: MIT
"""Shared by the service tests."""
import json


class EventStream:
    """What follows the request on `client`, a Client of service_process.py. Iterating yields (event, data)
    until the answer's end; `complete` then says whether the service has ended it, or it broke off."""

    def __init__(self, client):
        self.client, self.text, self.complete = client, "", None
        lines = client.until(b"\r\n\r\n").decode().split("\r\n")
        assert lines[0] == "HTTP/1.1 200 OK", lines[0]
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        assert self.headers["content-type"] == "text/event-stream", self.headers
        assert "content-length" not in self.headers, self.headers
        self.is_chunked = self.headers.get("transfer-encoding") == "chunked"
        assert self.is_chunked or self.headers["connection"] == "close", self.headers

    def piece(self):
        """The next bytes of the body; none at its end."""
        client = self.client
        if not self.is_chunked:
            if not client.received and not client.read_more():
                self.complete = True  # which cannot be told from a broken one
                return b""
            data, client.received = client.received, b""
            return data
        try:
            length = int(client.until(b"\r\n"), 16)
            while len(client.received) < length + 2:
                if not client.read_more():
                    raise EOFError
        except EOFError:
            self.complete = False
            return b""
        data, end, client.received = client.received[:length], client.received[length:length + 2], client.received[length + 2:]
        assert end == b"\r\n", (data, end)
        self.complete = length == 0 or None
        return data

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            while "\n\n" not in self.text:
                data = self.piece()
                if not data:
                    assert self.text == "" or not self.complete, f"the answer ends with {self.text!r}"
                    raise StopIteration
                self.text += data.decode()
            event, self.text = self.text.split("\n\n", 1)
            if event.startswith("retry: "):
                assert event[7:].isdigit(), event
                continue
            name, data = event.split("\n")
            assert name.startswith("event: ") and data.startswith("data: "), event
            return name[7:], json.loads(data[6:])
