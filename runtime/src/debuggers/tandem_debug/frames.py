# frames.py: a coroutine's frame: which function it is, at which line it awaits, what its variables hold.
# SPDX-License-Identifier: MIT
"""A frame begins with the address of the function that resumes it, whose symbol names the coroutine. How the line of the
await is found: README.md beside this ("Lines")."""

import re

from . import words
from .place import Place, Unreadable

PROMISE_OFFSET = 16  # behind the two functions: no promise is aligned above 16 bytes

# What g++ and clang call the function that goes on with a coroutine.
GCC_ACTOR = re.compile(r"\s*(\[clone \.actor\]|\(\.actor[^)]*\)|\.actor$)")
CLANG_RESUME = re.compile(r"\s*(\[clone \.resume\]|\(\.resume[^)]*\)|\.resume$)")
CLONE = re.compile(r"\s*(\[clone [^\]]*\]|\(\.\w+\))")


def is_coroutine_symbol(name):
    return bool(GCC_ACTOR.search(name) or CLANG_RESUME.search(name))


def function_name(symbol):
    """Of a coroutine, from the symbol of the function that resumes it. g++'s has the frame as its one argument:
    "level2(level2(int)::_Z6level2i.Frame*) [clone .actor]" is "level2(int)"."""
    plain = CLONE.sub("", symbol).strip()
    end = re.search(r"::(\w|\.)+\.Frame\*\)", plain)
    if end is None:
        return plain
    depth = 0
    for i in range(end.start() - 1, -1, -1):  # back to the parenthesis that this argument stands in
        if plain[i] == ")":
            depth += 1
        elif plain[i] == "(":
            if depth == 0:
                return plain[i + 1:end.start()]
            depth -= 1
    return plain


def plain_function(name):
    """Without its result and its arguments: "task<int> a::b<int>(int) const" is "a::b<int>". A lambda's call operator is
    "(lambda in main)"."""
    name = name.replace("(anonymous namespace)::", "").replace("{anonymous}::", "")
    found = re.search(r"(.*?)(?:::)?(?:\{lambda|<lambda|\(anonymous class\)|'lambda)", name)
    if found is not None:
        outer = plain_function(found.group(1))
        return f"(lambda in {outer})" if outer else "(lambda)"
    depth = begin = 0
    for i, char in enumerate(name):
        if char in "<{[":
            depth += 1
        elif char in ">}]":
            depth -= 1
        elif char == " " and depth == 0:
            begin = i + 1
        elif char == "(" and depth == 0:
            return name[begin:i]
    return name[begin:]


class Frame:
    """One that is suspended, or of a call that is on a stack now."""

    def __init__(self, program, promise, now=None, runs=False):
        self.program = program
        self.now = now    # (file, line) of what is on a stack
        self.runs = runs  # on a stack, but nobody knows where
        self.promise = promise  # the Place of its promise_base
        self.address = promise.address - PROMISE_OFFSET
        self.resume = program.word(self.address)

    def symbol(self):
        return self.program.symbol(self.resume)[0] if self.resume != 0 else ""

    def name(self):
        if self.resume == 0:
            return "(a coroutine that has ended)"
        return plain_function(function_name(self.symbol())) or f"(no symbol at {self.resume:#x})"

    def where(self):
        """(file, line, what that line is: "at" the await, "near" it, where the function "begins"); None: unknown."""
        if self.now is not None:
            return *self.now, "at"
        if not self.runs and self.promise.has("awaits_at"):
            place = source_place(self.promise["awaits_at"])
            if place is not None:
                return place[0], place[1], "at"
        if self.resume == 0:
            return None
        try:
            found = await_line(self.program, self.resume, self.address) if not self.runs else None
        except Unreadable:
            found = None
        if found is not None:
            return found
        found = self.program.row(self.resume)
        return (found[0], found[1], "begins") if found is not None else None

    def type(self):
        return self.program.frame_type(self.resume) if self.resume != 0 else None

    def locals(self):
        """(name, value) of parameters and variables; None if the frame's type is not known."""
        kind = self.type()
        if kind is None:
            return None
        out = []
        for name, offset, member, _ in kind.members():
            shown = variable_name(name, member.name)
            if shown is not None:
                out.append((shown, self.program.format(member, self.address + offset)))
        return out


def at(program, address, now=None):
    """The Frame there; None if it is not one of tandem's: each promise of these begins as a job that resumes it."""
    kind = program.root()[0].find("of_promise")[1].target()
    promise = Place(program, kind, address + PROMISE_OFFSET)
    try:
        if words.last_names(program.symbol(promise["run"].number())[0], 2) != "promise_base::resume_job":
            return None
        return Frame(program, promise, now)
    except Unreadable:
        return None


def source_place(place):
    """(file, line, function) of a std::source_location of libstdc++, by either compiler; None if it is empty."""
    record = place.number()
    if record == 0:
        return None
    types = place.types
    line = int.from_bytes(types.read(record + 16, 4), "little")
    return types.text(types.word(record)), line, types.text(types.word(record + 8))


def variable_name(member, type_name):
    """Of a member of a frame's type: the variable's name, None for what the compiler has put there."""
    if re.match(r"_Coro_|D[._]\d|Aw\d+_|(Is|Fs|Yd)_\d|_D\d+|__|(Pointer|Unknown)Type_\d", member) or "coro_frame_ty" in type_name:
        return None
    return re.sub(r"_\d+_\d+$", "", member)  # g++ adds the depth and the number of the block


# The line of an await. Before a coroutine suspends it stores the number of the await into its frame: the instruction that stores
# the number which the frame holds now belongs to the await. AT&T syntax, x86-64.
STORE_NUMBER = re.compile(r"mov[bw]\s+\$(0x[0-9a-f]+|\d+),\s*(0x[0-9a-f]+|\d+)\(%(\w+)\)")
STORE_REGISTER = re.compile(r"mov[bw]?\s+%(\w+),\s*(0x[0-9a-f]+|\d+)\(%(\w+)\)")
LOAD_NUMBER = re.compile(r"movl?\s+\$(0x[0-9a-f]+|\d+),\s*%(\w+)")
CLEAR = re.compile(r"xorl?\s+%(\w+),\s*%(\w+)")
READ_BYTE = re.compile(r"(?:cmpb\s+\$\w+,\s*|movzbl\s+|movb\s+|testb\s+\$\w+,\s*|mov\s+(?=\S+,\s*%[abcd]l))(0x[0-9a-f]+)\(%(\w+)\)")
SMALL = {f"{r}{end}": r for r in "abcd" for end in ("l", "x")} | {f"{r}{end}": r for r in ("si", "di") for end in ("", "l")}
SMALL |= {f"r{n}{end}": f"r{n}" for n in range(8, 16) for end in ("b", "w", "d")}
SMALL |= {f"e{r}x": r for r in "abcd"} | {"esi": "si", "edi": "di"}
NARROW = re.compile(r"[abcd][lx]|[sd]il?|r\d+[bw]")

def await_line(program, resume, frame):
    """(file, line, "at" or "near"); None: not known."""
    if resume not in program.awaits:
        program.awaits[resume] = _awaits(program, resume)
    offset, size, lines = program.awaits[resume]
    if offset is None:
        return None
    return lines.get(int.from_bytes(program.read(frame + offset, size), "little"))


def _awaits(program, resume):
    """Where in a frame the number lies, its size, and the lines by number."""
    kind = program.frame_type(resume)
    is_gcc = bool(GCC_ACTOR.search(program.symbol(resume)[0]))
    offset = size = None
    for name in ("_Coro_resume_index", "__coro_index"):
        found = kind.find(name) if kind is not None else None
        if found is not None:
            offset, size = found[0], found[1].size
    if offset is None and is_gcc:
        return None, None, {}
    code = program.instructions(resume)
    if offset is None:
        offset, size = _guess_index(code), 1
        if offset is None:
            return None, None, {}
    return offset, size, _find_stores(program, code, offset, is_gcc)


def _guess_index(code):
    """clang with optimisation describes no frame: the first byte of the frame that the function reads is the number by which
    it finds where to go on."""
    for _, text in code[:80]:
        found = READ_BYTE.match(text)
        if found is not None and found.group(2) not in ("rbp", "rsp", "rip"):
            return int(found.group(1), 0)
    return None


def _find_stores(program, code, offset, is_gcc):
    stores = _stores_of(code, offset)
    if is_gcc:
        return _lines_of_gcc(program, code, stores, offset)
    lines = {}
    for i, number in stores:
        row = program.outer_row(code[i][0])
        if row is not None and row[1] != 0:
            lines.setdefault(number, (*row[:2], "at"))
    return lines


def _stores_of(code, offset):
    """(index into the code, number) of each store of a number into the frame."""
    held = {}  # what registers hold
    out = []
    for i, (_, text) in enumerate(code):
        found = STORE_NUMBER.match(text)
        if found is not None and int(found.group(2), 0) == offset and found.group(3) not in ("rbp", "rsp"):
            out.append((i, int(found.group(1), 0)))
        found = STORE_REGISTER.match(text)
        if found is not None and int(found.group(2), 0) == offset and NARROW.fullmatch(found.group(1)):
            number = held.get(SMALL[found.group(1)])
            if number is not None:
                out.append((i, number))
        found = LOAD_NUMBER.match(text)
        if found is not None and found.group(2) in SMALL:
            held[SMALL[found.group(2)]] = int(found.group(1), 0)
        found = CLEAR.match(text)
        if found is not None and found.group(1) == found.group(2) and found.group(1) in SMALL:
            held[SMALL[found.group(1)]] = 0
    return out


NOT_BEGUN = 2  # of g++: it waits to be started. clang has 0 for that, which no function that resumes stores
CALL = 16  # instructions, to the call of await_suspend
NEAR = 256


def _lines_of_gcc(program, code, stores, offset):
    """g++ gives a store the line of the await, or that of the end of the function: then what stands around it says more, first of
    all the call of await_suspend."""
    begin = program.row(code[0][0]) if code else None
    if begin is None:
        return {}
    rows = [program.outer_row(address) for address, _ in code]
    # What finds where to go on, by the number in the frame, has the line of the end.
    read = re.compile(rf"mov(zwl|w)? {offset:#x}\(%\w+\), ?%|cmpw \S+, ?{offset:#x}\(")
    ends = [row for row, (_, text) in zip(rows, code) if row is not None and row[0] == begin[0] and read.match(text)]
    end = ends[0][1] if ends else begin[1]
    lines = {}
    for i, number in stores:
        if number not in lines and number != NOT_BEGUN:
            lines[number] = _call_line(program, code, rows, i) or _near_line(rows, i, begin, end)
    return {number: line for number, line in lines.items() if line is not None}


def _call_line(program, code, rows, i):
    for j in range(i + 1, min(i + 1 + CALL, len(code))):
        target = re.match(r"call\S* \*?(0x[0-9a-f]+)", code[j][1])
        name = program.symbol(int(target.group(1), 0))[0] if target is not None else ""
        if rows[j] is not None and ("await_suspend" in name or "await_suspend" in rows[j][2]):
            return *rows[j][:2], "at"
    return None


def _near_line(rows, i, begin, end):
    for distance in range(NEAR):
        for j in (i - distance, i + distance):
            if 0 <= j < len(rows) and rows[j] is not None and rows[j][0] == begin[0] and begin[1] < rows[j][1] < end:
                return *rows[j][:2], "at" if distance == 0 else "near"
    return (*begin[:2], "at") if begin[1] == end else None  # a function of one line, else not known


def search(program, resume, words):
    """Which of these words is the address of a frame that this function resumes. None: none is."""
    seen = set()
    for word in words:
        if word % 8 != 0 or word < 4096 or word in seen:
            continue
        seen.add(word)
        try:
            if program.word(word) == resume:
                return word
        except Unreadable:
            continue
    return None
