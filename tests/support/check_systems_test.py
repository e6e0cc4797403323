# check_systems_test.py: check_tree.sh systems finds what is of one system, or of some compilers, and nothing else.
# SPDX-License-Identifier: MIT
"""Each word of its rules stands alone in a line here: a rule that loses one finds a line less."""
import sys

from small_tree import run_over

SYSTEM = "a folder of platform rooms knows which system it is"
COMPILER = "an extension of some compilers: config.hpp has macros"
DESCRIPTOR = "a native_descriptor, or no_descriptor"
MACRO_CALL = "windows.h may have a macro of that name: (std::min)(a, b)"
SLEEPS = "may sleep for ever where there is no futex (tests/support/waits.hpp says why, and has others)"

HEADERS = [f"#include <{name}>" for name in [
    "sys/socket.h", "linux/futex.h", "net/if.h", "netinet/in.h", "arpa/inet.h", "asm/unistd.h", "unistd.h", "fcntl.h", "poll.h", "netdb.h",
    "signal.h", "csignal", "pthread.h", "sched.h", "semaphore.h", "dlfcn.h", "spawn.h", "termios.h", "syslog.h", "malloc.h", "liburing.h",
    "windows.h", "winsock.h", "winsock2.h", "ws2tcpip.h"]]
MACROS = [f"#ifdef {name}" for name in [
    "__linux__", "__unix__", "__APPLE__", "__FreeBSD__", "__NetBSD__", "__OpenBSD__", "_WIN32", "_WIN64", "__MINGW32__", "__MINGW64__",
    "__CYGWIN__"]]
EXTENSIONS = [
    "int __attribute__((noinline)) f();",
    "__extension__ int g();",
    "auto name = __PRETTY_FUNCTION__;",
    "[[gnu::noinline]] int g();",
    "[[nodiscard, clang::lifetimebound]] int h();",
    "__int128 wide = 0;",
    "int x = __builtin_expect(1, 1);",
    "__typeof__(x) y;",
    "int* __restrict p;",
    'void stop() { asm volatile("hlt"); }',
    'void halt() { __asm__("hlt"); }',
    "int y = ({ 1; });",
    "int z = f(({ 1; }));",
    "int w = f(1, ({ 1; }));",
    "bool v = a && ({ true; });",
    "bool u = a || ({ true; });",
    "int t = a ? ({ 1; }) : 0;",
    "int s = a ? 0 : ({ 1; });",
    "int r() { return ({ 1; }); }",
]
FINE = """#include <semaphore>
#include <vector>
// __builtin_expect, asm, ({ 1; }) and _MSC_VER are words of a comment
int none = (std::numeric_limits<int>::min)() + (std::max)(1, 2) + max_of(1) + std::max<int>(1, 2);  // max()
void fine() { g({1}); h({}); auto l = [] { return 1; }; (void)l; int asm_count = 0; }
"""
DESCRIPTORS = ["int descriptor = 0;", "void f(int fd);", "void f(int* peer_fd);", "native_descriptor here = -1;", "wait_descriptor_(-1)"]
MACRO_CALLS = ["auto a = std::min(1, 2);", "auto b = std::max({1, 2});", "auto c = std::numeric_limits<int>::max();", "auto d = min (1, 2);"]
WAITS = ["std::binary_semaphore a(0);", "std::counting_semaphore<2> b(0);", "std::latch c(1);", "std::barrier d(2);"]

# What has a room, or may know: nothing is found there.
ROOMS = {
    "runtime/include/tandem/config.hpp": [*MACROS, *EXTENSIONS],
    "runtime/include/tandem/export.hpp": [*HEADERS, *MACROS, *EXTENSIONS],
    "runtime/include/tandem/detail/platform/here.hpp": [*HEADERS, *MACROS, *EXTENSIONS],
    "runtime/src/platform/linux/a.cpp": [*HEADERS, *MACROS, *EXTENSIONS],
    "io/src/platform/windows/a.cpp": [*HEADERS, *MACROS, *EXTENSIONS, *DESCRIPTORS],
    "io/src/uring/ring.cpp": HEADERS,
    "io/src/asio/loop.cpp": HEADERS,
    "io/src/iocp/port.cpp": [*HEADERS, *DESCRIPTORS],
    "examples/headers.cpp": HEADERS,
    "tests/io/headers.cpp": HEADERS,
    "tests/support/waits.hpp": WAITS,
    "tests/bench/waits.cpp": WAITS,
    "tests/support/linux/system.cpp": [*HEADERS, *MACROS, *EXTENSIONS],
    "tests/support/windows/system.cpp": [*HEADERS, *MACROS, *EXTENSIONS],
    "runtime/src/task/fine.cpp": [*FINE.splitlines(), *MACRO_CALLS],
    "io/include/tandem/io/fine.hpp": FINE.splitlines(),
}
# Where each word is an offence, with what is said of it.
OFFENCES = [
    (HEADERS, "", ["runtime/src/task/headers.cpp", "runtime/include/tandem/headers.hpp", "io/src/net/headers.cpp", "io/include/tandem/io/headers.hpp"]),
    (MACROS, SYSTEM, ["runtime/src/task/macros.cpp", "runtime/include/tandem/macros.hpp", "io/src/uring/macros.cpp", "io/src/net/macros.cpp",
                      "io/include/tandem/io/macros.hpp", "examples/macros.cpp", "tests/io/macros.cpp", "tests/support/macros.hpp"]),
    (EXTENSIONS, COMPILER, ["runtime/src/task/words.cpp", "runtime/include/tandem/words.hpp", "io/src/iocp/words.cpp", "io/src/net/words.cpp",
                            "io/include/tandem/io/words.hpp", "examples/words.cpp", "tests/io/words.cpp", "tests/support/words.hpp"]),
    (WAITS, SLEEPS, ["runtime/src/task/waits.cpp", "io/include/tandem/io/waits.hpp", "examples/waits.cpp", "tests/runtime/waits.cpp"]),
    (MACRO_CALLS, MACRO_CALL, ["runtime/include/tandem/macro_calls.hpp", "io/include/tandem/io/macro_calls.hpp"]),
    (DESCRIPTORS, DESCRIPTOR, ["io/src/net/descriptors.cpp", "io/include/tandem/io/descriptors.hpp"]),
]


def main() -> int:
    files, wanted = dict(ROOMS), []
    for lines, what, places in OFFENCES:
        for place in places:
            files[place] = lines
            wanted += [f"{place}:{number}:{line}" + (f": {what}" if what else "") for number, line in enumerate(lines, 1)]
    ran = run_over({place: "\n".join(lines) + "\n" for place, lines in files.items()}, "check_tree.sh", "systems")
    found = ran.stdout.splitlines()
    if ran.returncode == 1 and sorted(found) == sorted(wanted):
        return 0
    print(f"exit status {ran.returncode}; missing: {sorted(set(wanted) - set(found))}; too many: {sorted(set(found) - set(wanted))}\n{ran.stderr}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
