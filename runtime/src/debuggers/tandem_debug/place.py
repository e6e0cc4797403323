# place.py: an object in the memory of the debugged process, read by the names of its members.
# SPDX-License-Identifier: MIT
"""A Place is an address with a type of the debugger. What a debugger has to offer for it is a Types: see there."""


class Unreadable(Exception):
    """The process has no such memory, or no debug information says what lies there."""


class Types:
    """What both debuggers know of memory and types. A type is whatever the debugger calls one; it stays opaque here."""

    def read(self, address, size):
        """Bytes. Raises Unreadable."""
        raise NotImplementedError

    def size(self, kind):
        raise NotImplementedError

    def members(self, kind):
        """Members and bases of a class: (name, offset, type, whether it is a base), in the order of the class."""
        raise NotImplementedError

    def is_pointer(self, kind):
        raise NotImplementedError

    def pointee(self, kind):
        raise NotImplementedError

    def element(self, kind):
        """The type of an array's elements."""
        raise NotImplementedError

    def key(self, kind):
        """Something by which the members of a type may be remembered."""
        raise NotImplementedError

    # The rest is made of these.
    def __init__(self):
        self._found = {}
        self._texts = {}

    def find(self, kind, name):
        """(offset, type) of a member, also of a base's; None if there is none."""
        key = (self.key(kind), name)
        if key not in self._found:
            self._found[key] = self._search(kind, name)
        return self._found[key]

    def _search(self, kind, name):
        bases = []
        for member, offset, member_type, is_base in self.members(kind):
            if is_base:
                bases.append((offset, member_type))
            elif member == name:
                return offset, member_type
        for offset, base in bases:
            found = self.find(base, name)
            if found is not None:
                return offset + found[0], found[1]
        return None

    def word(self, address):
        return int.from_bytes(self.read(address, 8), "little")

    def _words_from(self, address, size):
        """As many as can be read."""
        for page in range(address, address + size, 1024):
            try:
                data = self.read(page, min(1024, address + size - page))
            except Unreadable:
                return
            for i in range(0, len(data) - 7, 8):
                yield int.from_bytes(data[i:i + 8], "little")

    def text(self, address, most=4096):
        """A string that ends with a zero; "" at null. Remembered: what is asked for are constants of the program."""
        if address == 0:
            return ""
        if address not in self._texts:
            out = b""
            while len(out) < most and b"\0" not in out:
                step = 64 - (address + len(out)) % 64  # never over the end of a page that is there
                out += self.read(address + len(out), step)
            self._texts[address] = out.split(b"\0")[0].decode("utf-8", "replace")
        return self._texts[address]


class Place:
    """An object of a type. Reading a member of a class reads the class once, whole."""

    def __init__(self, types, kind, address, data=None):
        self.types = types
        self.kind = kind
        self.address = address
        self._data = data

    def has(self, name):
        return self.types.find(self.kind, name) is not None

    def __getitem__(self, name):
        found = self.types.find(self.kind, name)
        if found is None:
            raise Unreadable(f"no member {name} in {self.types.key(self.kind)}")
        offset, kind = found
        data = None
        if self._data is None and self.types.size(self.kind) <= 4096:
            self._data = self.types.read(self.address, self.types.size(self.kind))
        if self._data is not None:
            data = self._data[offset:offset + self.types.size(kind)]
        return Place(self.types, kind, self.address + offset, data)

    def number(self):
        """As an unsigned number of its size: of integers, pointers, atomics, and classes that hold one word."""
        size = min(self.types.size(self.kind), 8)
        data = self._data if self._data is not None else self.types.read(self.address, size)
        return int.from_bytes(data[:size], "little")

    def target(self):
        """What a pointer points to, or an atomic one; None for null."""
        address = self.number()
        return Place(self.types, self.types.pointee(self._pointer()), address) if address != 0 else None

    def _pointer(self):
        kind = self.kind
        while not self.types.is_pointer(kind):  # std::atomic: the first member of the first member
            inner = [each for _, offset, each, _ in self.types.members(kind) if offset == 0 and self.types.size(each) == 8]
            if not inner:
                raise Unreadable(f"{self.types.key(self.kind)} is no pointer")
            kind = inner[0]
        return kind

    def cast(self, kind):
        return Place(self.types, kind, self.address)

    def elements(self):
        """Of a std::array. How many there are its own size says: lldb does not know that of the member for aligned ones."""
        member = self["_M_elems"] if self.has("_M_elems") else self["__elems_"]
        kind = self.types.element(member.kind)
        size = self.types.size(kind)
        for i in range(self.types.size(self.kind) // size):
            yield Place(self.types, kind, self.address + i * size)

    def base_offset(self, name):
        """Where the base whose name ends so lies in this class; None if it has none of that name."""
        return _base_offset(self.types, self.kind, name)


def _base_offset(types, kind, name):
    for member, offset, member_type, is_base in types.members(kind):
        if not is_base:
            continue
        if member.split("::")[-1] == name:
            return offset
        inner = _base_offset(types, member_type, name)
        if inner is not None:
            return offset + inner
    return None
