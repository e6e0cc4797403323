# gdb_program.py: what the walk asks of a debugger, answered by gdb.
# SPDX-License-Identifier: MIT
import re
import time

import gdb

from . import frames
from .place import Kind, Types, Unreadable

STACK_BYTES = 64 * 1024
ROOT = "tandem::v0::detail::for_debuggers"


def plain(native):
    return native.strip_typedefs().unqualified()


class Program(Types):
    """The program that gdb has selected, while it stands still."""

    def __init__(self):
        super().__init__()
        self._symbols = {}
        self._frame_types = {}
        self._rows = {}

    # Memory and types.

    def read(self, address, size):
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except gdb.error as failure:
            raise Unreadable(f"cannot read {address:#x}: {failure}") from None

    def native_size(self, native):
        return native.sizeof

    def native_name(self, native):
        return native.name or str(native)

    def native_members(self, native):
        if native.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            return []
        return [(field.name or "", field.bitpos // 8, plain(field.type), field.is_base_class)
                for field in native.fields() if hasattr(field, "bitpos")]  # static ones have none

    def native_is_pointer(self, native):
        return native.code == gdb.TYPE_CODE_PTR

    def native_target(self, native):
        return plain(native.target())

    def root(self):
        """(type, address) of what everything is found from. Raises Unreadable."""
        symbol = gdb.lookup_global_symbol(ROOT) or gdb.lookup_static_symbol(ROOT)
        if symbol is None:
            raise Unreadable("the program has no tandem, or its library has no debug information at all: not even "
                             f"{ROOT} (was it stripped? see the README of tandem's debugger scripts)")
        try:
            value = symbol.value()
            return Kind(self, plain(symbol.type)), int(value.address)
        except gdb.error as failure:
            raise Unreadable(f"cannot read {ROOT}: {failure}") from None

    def kind_named(self, name):
        """A type that the program describes; None if it does not."""
        try:
            return Kind(self, plain(gdb.lookup_type(name)))
        except gdb.error:
            return None

    def native_enumerator(self, native, value):
        """The name of a value of an enumeration; None if it has none."""
        for field in native.fields() if native.code == gdb.TYPE_CODE_ENUM else ():
            if field.enumval == value:
                return field.name.split("::")[-1]
        return None

    # Code.

    def symbol(self, address):
        """(name, offset) of the function or the object there; ("", 0) if none is known."""
        if address not in self._symbols:
            text = gdb.execute(f"info symbol {address:#x}", to_string=True)
            found = re.match(r"(.*?)(?: \+ (\d+))? in section \S+", text)
            self._symbols[address] = (found.group(1), int(found.group(2) or 0)) if found else ("", 0)
        return self._symbols[address]

    def _blocks(self, address):
        """From the innermost one to the function's own. None at all where gdb has mixed up two functions, which happens where
        one was inlined into another in part."""
        out = []
        try:
            block = gdb.block_for_pc(address)
        except RuntimeError:
            block = None
        while block is not None and not (block.is_static or block.is_global):
            out.append(block)
            block = block.superblock
        return out

    def _has(self, blocks, address):
        return bool(blocks) and blocks[-1].start <= address < blocks[-1].end

    def row(self, address):
        """(file, line, begin of the row) of the line table; None if there is none."""
        found = gdb.find_pc_line(address)
        if found.symtab is None or found.line == 0:
            return None
        return found.symtab.filename, found.line, found.pc

    def outer_row(self, address):
        """(file, line, function inlined here or "") in the function itself; None if that is not known."""
        if address not in self._rows:
            row = self.row(address)
            out = (*row[:2], "") if row is not None else None
            blocks = self._blocks(address)
            for block in blocks[:-1] if self._has(blocks, address) else ():
                # Of an inlined function gdb keeps, as the line of its symbol, that of the call.
                if block.function is not None and block.function.symtab is not None:
                    out = (block.function.symtab.filename, block.function.line, block.function.name)
            self._rows[address] = out
        return self._rows[address]

    def instructions(self, address):
        """(address, text in the syntax of AT&T) of a function."""
        blocks = self._blocks(address)
        end = blocks[-1].end if self._has(blocks, address) else self._end_of_symbol(address)
        flavor = gdb.parameter("disassembly-flavor")
        gdb.execute("set disassembly-flavor att", to_string=True)
        try:
            code = gdb.selected_inferior().architecture().disassemble(address, end - 1)
            return [(each["addr"], re.sub(r"\s+", " ", each["asm"]).strip()) for each in code]
        except gdb.error:
            return []
        finally:
            gdb.execute(f"set disassembly-flavor {flavor}", to_string=True)

    def _end_of_symbol(self, address):
        name = self.symbol(address)[0]
        inside, step = 0, 64
        while step >= 1:
            if inside + step < 2**20 and self.symbol(address + inside + step)[0] == name:
                inside += step
                step *= 2
            else:
                step //= 2
        return address + inside + 1

    def frame_type(self, resume):
        """The type of the frames of the coroutine that this function resumes; None if nothing describes it."""
        if resume not in self._frame_types:
            found = None
            for block in self._blocks(resume):
                for symbol in block:
                    if symbol.name == "frame_ptr":  # g++
                        found = Kind(self, plain(plain(symbol.type).target()))
                    elif symbol.name == "__coro_frame":  # clang
                        found = Kind(self, plain(symbol.type))
            self._frame_types[resume] = found
        return self._frame_types[resume]

    def format(self, kind, address):
        try:
            value = gdb.Value(address).cast(kind.native.pointer()).dereference()
            return value.format_string(max_elements=16, pretty_structs=False).replace("\n", " ")
        except gdb.error as failure:
            return f"<{failure}>"

    # Threads.

    def now_ns(self):
        """The steady clock of the process; None where it is not this machine's, or has stopped for good."""
        target = gdb.selected_inferior().connection
        return time.monotonic_ns() if target is not None and target.type == "native" else None

    def threads(self):
        """(number, its own name for the user, its thread pointer) of each thread."""
        out = []
        selected = gdb.selected_thread()
        try:
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda each: each.num):
                thread.switch()
                try:
                    pointer = int(gdb.parse_and_eval("$fs_base"))
                except (gdb.error, ValueError):
                    pointer = 0
                out.append((thread.num, f"thread {thread.num}", pointer))
        finally:
            if selected is not None:
                selected.switch()
        return out

    def coroutines_on_stack(self, number):
        """(address of its frame, (file, line) or None) of each coroutine that this thread runs, the innermost first."""
        selected = gdb.selected_thread()
        frame_before = gdb.selected_frame() if selected is not None else None
        out = []
        try:
            for thread in gdb.selected_inferior().threads():
                if thread.num == number:
                    thread.switch()
                    frame = gdb.newest_frame()
                    while frame is not None and len(out) < 1000:
                        found = self.coroutine_of(frame)
                        if found is not None:
                            line = frame.find_sal()  # of the call, where that was inlined
                            out.append((found, (line.symtab.filename, line.line) if line.symtab is not None else None))
                        frame = frame.older()
        except gdb.error:
            pass  # a stack that ends somewhere
        finally:
            if selected is not None:
                selected.switch()
                frame_before.select()
        return out

    def words_on_stack(self, number):
        """The words of the stack of a thread, from its top."""
        selected = gdb.selected_thread()
        try:
            for thread in gdb.selected_inferior().threads():
                if thread.num == number:
                    thread.switch()
                    yield from self._words_from(int(gdb.parse_and_eval("(unsigned long)$sp")), STACK_BYTES)
        finally:
            if selected is not None:
                selected.switch()

    def coroutine_of(self, frame):
        """The coroutine frame that a frame of a stack belongs to; None: it is no coroutine's, or that cannot be found."""
        if frame.type() == gdb.INLINE_FRAME:
            return None
        pc = frame.pc() - (1 if frame.level() > 0 else 0)
        name, offset = self.symbol(pc)
        if not frames.is_coroutine_symbol(name):
            return None
        begin = pc - offset
        for variable in ("frame_ptr", "__coro_frame"):
            try:
                value = frame.read_var(variable)
                address = int(value) if variable == "frame_ptr" else int(value.address)
                if self.word(address) == begin:
                    return address
            except (gdb.error, ValueError, Unreadable):
                continue
        return frames.search(self, begin, self._words_of(frame))

    def _words_of(self, frame):
        """What the registers and the stack of this frame hold."""
        for register in ("rbx", "rbp", "r12", "r13", "r14", "r15", "rdi"):
            try:
                yield int(frame.read_register(register))
            except (gdb.error, ValueError):
                continue
        try:
            low = int(frame.read_register("rsp"))
            older = frame.older()
            high = int(older.read_register("rsp")) if older is not None else low + 512
        except (gdb.error, ValueError):
            return
        yield from self._words_from(low, min(max(high - low, 0), 8192))
