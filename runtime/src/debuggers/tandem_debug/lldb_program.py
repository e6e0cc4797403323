# lldb_program.py: what the walk asks of a debugger, answered by lldb.
# SPDX-License-Identifier: MIT
import re
import time

import lldb

from . import frames
from .place import Kind, Types, Unreadable

STACK_BYTES = 64 * 1024
ROOT = "tandem::v0::detail::for_debuggers"


def plain(native):
    return native.GetCanonicalType().GetUnqualifiedType()


class Program(Types):
    """The program of a target of lldb, while it stands still."""

    def __init__(self, target):
        super().__init__()
        self.target = target
        self.process = target.GetProcess()
        self._symbols = {}
        self._frame_types = {}
        self._rows = {}

    # Memory and types.

    def read(self, address, size):
        failure = lldb.SBError()
        data = self.process.ReadMemory(address, size, failure)
        if data is None or len(data) != size:
            # A core has no constants: they are in the program.
            data = self.target.ReadMemory(self._at(address), size, lldb.SBError())
        if data is None or len(data) != size:
            raise Unreadable(f"cannot read {address:#x}: {failure.GetCString()}")
        return data

    def native_size(self, native):
        return native.GetByteSize()

    def native_name(self, native):
        return native.GetName() or ""

    def native_members(self, native):
        out = []
        for i in range(native.GetNumberOfDirectBaseClasses()):
            base = native.GetDirectBaseClassAtIndex(i)
            out.append((base.GetType().GetName(), base.GetOffsetInBytes(), plain(base.GetType()), True))
        for i in range(native.GetNumberOfFields()):
            field = native.GetFieldAtIndex(i)
            out.append((field.GetName() or "", field.GetOffsetInBytes(), plain(field.GetType()), False))
        return out

    def native_is_pointer(self, native):
        return native.IsPointerType()

    def native_target(self, native):
        return plain(native.GetPointeeType() if native.IsPointerType() else native.GetArrayElementType())

    def root(self):
        """(type, address) of what everything is found from. Raises Unreadable."""
        value = self.target.FindFirstGlobalVariable(ROOT)
        address = value.GetLoadAddress() if value.IsValid() else lldb.LLDB_INVALID_ADDRESS
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise Unreadable("the program has no tandem, or its library has no debug information at all: not even "
                             f"{ROOT} (was it stripped? see the README of tandem's debugger scripts)")
        return Kind(self, plain(value.GetType())), address

    def kind_named(self, name):
        """A type that the program describes; None if it does not."""
        for found in self.target.FindTypes(name):
            if found.IsTypeComplete() and found.GetByteSize() > 0:
                return Kind(self, plain(found))
        return None

    def native_enumerator(self, native, value):
        """The name of a value of an enumeration; None if it has none."""
        for member in native.GetEnumMembers():
            if member.GetValueAsUnsigned() == value:
                return member.GetName()
        return None

    # Code.

    def _at(self, address):
        return lldb.SBAddress(address, self.target)

    def symbol(self, address):
        """(name, offset) of the function or the object there; ("", 0) if none is known."""
        if address not in self._symbols:
            at = self._at(address)
            found = at.GetSymbol()
            out = ("", 0)
            if found.IsValid():
                begin = found.GetStartAddress().GetLoadAddress(self.target)
                out = (found.GetName() or "", address - begin)
            self._symbols[address] = out
        return self._symbols[address]

    def _path(self, spec):
        return spec.fullpath or spec.basename or ""

    def row(self, address):
        """(file, line, begin of the row) of the line table; None if there is none."""
        entry = self._at(address).GetLineEntry()
        if not entry.IsValid() or entry.GetLine() == 0:
            return None
        return self._path(entry.GetFileSpec()), entry.GetLine(), entry.GetStartAddress().GetLoadAddress(self.target)

    def outer_row(self, address):
        """(file, line, function inlined here or "") in the function itself; None if that is not known."""
        if address not in self._rows:
            row = self.row(address)
            out = (*row[:2], "") if row is not None else None
            block = self._at(address).GetBlock()
            block = block if not block.IsValid() or block.IsInlined() else block.GetContainingInlinedBlock()
            while block.IsValid():
                out = (self._path(block.GetInlinedCallSiteFile()), block.GetInlinedCallSiteLine(), block.GetInlinedName() or "")
                block = block.GetParent().GetContainingInlinedBlock() if block.GetParent().IsValid() else block.GetParent()
            self._rows[address] = out
        return self._rows[address]

    def instructions(self, address):
        """(address, text in the syntax of AT&T) of a function."""
        symbol = self._at(address).GetSymbol()
        if not symbol.IsValid():
            return []
        code = symbol.GetInstructions(self.target, "att")
        out = []
        for i in range(code.GetSize()):
            each = code.GetInstructionAtIndex(i)
            text = f"{each.GetMnemonic(self.target)} {each.GetOperands(self.target)}"
            out.append((each.GetAddress().GetLoadAddress(self.target), re.sub(r"\s+", " ", text).strip()))
        return out

    def frame_type(self, resume):
        """The type of the frames of the coroutine that this function resumes; None if nothing describes it."""
        if resume not in self._frame_types:
            found = None
            function = self._at(resume).GetFunction()
            variables = function.GetBlock().GetVariables(self.target, True, True, False) if function.IsValid() else ()
            for each in variables:
                if each.GetName() == "frame_ptr":  # g++
                    found = Kind(self, plain(plain(each.GetType()).GetPointeeType()))
                elif each.GetName() == "__coro_frame":  # clang
                    found = Kind(self, plain(each.GetType()))
            self._frame_types[resume] = found
        return self._frame_types[resume]

    def format(self, kind, address):
        value = self.target.CreateValueFromAddress("it", self._at(address), kind.native)
        shown = value.GetSummary() or value.GetValue()
        if shown is None:
            stream = lldb.SBStream()
            value.GetDescription(stream)
            shown = stream.GetData().split("=", 1)[-1]
        return re.sub(r"\s+", " ", shown).strip()

    # Threads.

    def now_ns(self):
        """The steady clock of the process; None where it is not this machine's, or has stopped for good."""
        is_core = self.process.GetPluginName().endswith("-core")
        is_here = self.target.GetPlatform().GetName() == "host"
        return time.monotonic_ns() if is_here and not is_core else None

    def threads(self):
        """(number, its own name for the user, its thread pointer) of each thread."""
        out = []
        for thread in self.process:
            frame = thread.GetFrameAtIndex(0)
            pointer = frame.FindRegister("fs_base") if frame.IsValid() else None
            number = thread.GetIndexID()
            out.append((number, f"thread {number}", pointer.GetValueAsUnsigned() if pointer is not None else 0))
        return out

    def coroutines_on_stack(self, number):
        """(address of its frame, (file, line) or None) of each coroutine that this thread runs, the innermost first."""
        out = []
        thread = self.process.GetThreadByIndexID(number)
        for frame in thread:
            if len(out) > 1000:
                break
            found = None if frame.IsInlined() else self.coroutine_of(frame)
            if found is not None:
                line = frame.GetLineEntry()  # of the call, where that was inlined
                out.append((found, (self._path(line.GetFileSpec()), line.GetLine()) if line.GetLine() != 0 else None))
        return out

    def words_on_stack(self, number):
        """The words of the stack of a thread, from its top."""
        yield from self._words_from(self.process.GetThreadByIndexID(number).GetFrameAtIndex(0).GetSP(), STACK_BYTES)

    def coroutine_of(self, frame):
        """The coroutine frame that a frame of a stack belongs to; None: it is no coroutine's, or that cannot be found."""
        pc = frame.GetPC() - (1 if frame.GetFrameID() > 0 else 0)
        name, offset = self.symbol(pc)
        if not frames.is_coroutine_symbol(name):
            return None
        begin = pc - offset
        for variable in ("frame_ptr", "__coro_frame"):
            value = frame.FindVariable(variable)
            if not value.IsValid():
                continue
            address = value.GetValueAsUnsigned() if variable == "frame_ptr" else value.GetLoadAddress()
            try:
                if self.word(address) == begin:
                    return address
            except Unreadable:
                continue
        return frames.search(self, begin, self._words_of(frame))

    def _words_of(self, frame):
        """What the registers and the stack of this frame hold."""
        for register in ("rbx", "rbp", "r12", "r13", "r14", "r15", "rdi"):
            value = frame.FindRegister(register)
            if value.IsValid():
                yield value.GetValueAsUnsigned()
        low = frame.GetSP()
        older = frame.GetThread().GetFrameAtIndex(frame.GetFrameID() + 1)
        high = older.GetSP() if older.IsValid() else low + 512
        yield from self._words_from(low, min(max(high - low, 0), 8192))
