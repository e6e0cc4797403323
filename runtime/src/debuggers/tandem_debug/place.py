# place.py: an object in the memory of the debugged process, read by the names of its members.
# SPDX-License-Identifier: MIT
"""A Place is an address with a type of the debugger. What a debugger has to offer for it is a Types: see there."""


class Unreadable(Exception):
    """The process has no such memory, or no debug information says what lies there."""


class Types:
    """What both debuggers have to offer: memory, and what they know of types. A "native" type is whatever the debugger has."""

    def read(self, address, size):
        """Bytes. Raises Unreadable."""
        raise NotImplementedError

    def native_size(self, native):
        raise NotImplementedError

    def native_name(self, native):
        raise NotImplementedError

    def native_members(self, native):
        """Members and bases of a class: (name, offset, type, whether it is a base)."""
        raise NotImplementedError

    def native_is_pointer(self, native):
        raise NotImplementedError

    def native_target(self, native):
        """What a pointer points to, or of what an array consists."""
        raise NotImplementedError

    # The rest is made of these.
    def __init__(self):
        self._texts = {}
        self.awaits = {}  # frames.py: by function

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


class Kind:
    """A type. It asks the debugger each thing once, which is what debuggers are slow at."""

    def __init__(self, types, native):
        self.types = types
        self.native = native
        self.size = types.native_size(native)
        self.name = types.native_name(native)
        self._members = None
        self._found = {}
        self._target = None
        self._pointer = None

    def members(self):
        """(name, offset, Kind, whether it is a base)."""
        if self._members is None:
            self._members = [(name, offset, Kind(self.types, native), is_base)
                             for name, offset, native, is_base in self.types.native_members(self.native)]
        return self._members

    def find(self, name):
        """(offset, Kind) of a member, also of a base's and of an unnamed union's; None if there is none."""
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def _search(self, name):
        for member, offset, kind, is_base in self.members():
            if not is_base and member == name:
                return offset, kind
        for member, offset, inner, is_base in self.members():
            found = inner.find(name) if is_base or member == "" else None
            if found is not None:
                return offset + found[0], found[1]
        return None

    def base_offset(self, name):
        """Where the base whose name ends so lies; None if there is none."""
        for member, offset, kind, is_base in self.members():
            if not is_base:
                continue
            if member.split("::")[-1] == name:
                return offset
            inner = kind.base_offset(name)
            if inner is not None:
                return offset + inner
        return None

    def target(self):
        """What a pointer points to, or of what an array consists."""
        if self._target is None:
            self._target = Kind(self.types, self.types.native_target(self.native))
        return self._target

    def pointer(self):
        """Itself, or what a std::atomic holds: the first member of the first member."""
        if self._pointer is None:
            kind = self
            while not kind.types.native_is_pointer(kind.native):
                inner = [each for _, offset, each, _ in kind.members() if offset == 0 and each.size == 8]
                if not inner:
                    raise Unreadable(f"{self.name} is no pointer")
                kind = inner[0]
            self._pointer = kind
        return self._pointer


class Place:
    """An object of a type. Reading a member of a class reads the class once, whole."""

    def __init__(self, types, kind, address, data=None):
        self.types = types
        self.kind = kind
        self.address = address
        self._data = data

    def has(self, name):
        return self.kind.find(name) is not None

    def __getitem__(self, name):
        found = self.kind.find(name)
        if found is None:
            raise Unreadable(f"no member {name} in {self.kind.name}: another version of tandem?")
        offset, kind = found
        if self._data is None and self.kind.size <= 4096:
            self._data = self.types.read(self.address, self.kind.size)
        data = self._data[offset:offset + kind.size] if self._data is not None else None
        return Place(self.types, kind, self.address + offset, data)

    def number(self):
        """As an unsigned number of its size: of integers, pointers, atomics, and classes that hold one word."""
        size = min(self.kind.size, 8)
        data = self._data if self._data is not None else self.types.read(self.address, size)
        return int.from_bytes(data[:size], "little")

    def target(self):
        """What a pointer points to, or an atomic one; None for null."""
        address = self.number()
        return Place(self.types, self.kind.pointer().target(), address) if address != 0 else None

    def cast(self, kind):
        return Place(self.types, kind, self.address)

    def elements(self):
        """Of a std::array. How many there are its own size says: lldb does not know that of the member for aligned ones."""
        member = self["_M_elems"] if self.has("_M_elems") else self["__elems_"]
        kind = member.kind.target()
        for i in range(self.kind.size // kind.size):
            yield Place(self.types, kind, self.address + i * kind.size)
