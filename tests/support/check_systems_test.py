# check_systems_test.py: check_tree.sh systems finds what is of one system, or of some compilers, and nothing else.
# SPDX-License-Identifier: MIT
import sys

from small_tree import run_over

FILES = {
    "runtime/src/task/a.cpp": """#include <semaphore>
#include <unistd.h>
#if defined(_WIN32)
int __attribute__((noinline)) f();
// __builtin_expect, asm and _MSC_VER are words of a comment
[[gnu::noinline]] int g();
[[nodiscard, clang::lifetimebound]] int h();
__int128 wide = 0;
int x = __builtin_expect(1, 1);
int y = ({ 1; });
int z = f(({ 1; }));
void stop() { asm volatile("hlt"); }
void halt() { __asm__("hlt"); }
void fine() { g({1}); h({}); auto l = [] { return 1; }; (void)l; int asm_count = 0; }
""",
    "runtime/include/tandem/config.hpp": "#if defined(_WIN32)\nint __attribute__((noinline)) f();\n",
    "runtime/include/tandem/export.hpp": "#if defined(_WIN32)\n",
    "runtime/include/tandem/detail/platform/here.hpp": '#if defined(__linux__)\nvoid f() { asm("nop"); }\n',
    "runtime/src/platform/linux/a.cpp": "#include <unistd.h>\nint x = __builtin_expect(1, 1);\n",
    "io/src/uring/ring.cpp": "#include <unistd.h>\n#ifdef __linux__\n",
    "io/include/tandem/io/b.hpp": "int descriptor = -1;\n",
    "examples/one.cpp": "#include <unistd.h>\n#if !defined(__APPLE__)\nint x = __builtin_expect(1, 1);\n",
    "tests/io/two.cpp": "#ifdef __MINGW32__\n",
    "tests/support/windows/system.cpp": "#include <windows.h>\n#ifdef _WIN64\n",
}
SYSTEM = "a folder of platform rooms knows which system it is"
COMPILER = "an extension of some compilers: config.hpp has macros"
TASK = "runtime/src/task/a.cpp"
WANTED = {
    f"{TASK}:2:#include <unistd.h>",
    f"{TASK}:3:#if defined(_WIN32): {SYSTEM}",
    f"io/src/uring/ring.cpp:2:#ifdef __linux__: {SYSTEM}",
    f"examples/one.cpp:2:#if !defined(__APPLE__): {SYSTEM}",
    f"tests/io/two.cpp:1:#ifdef __MINGW32__: {SYSTEM}",
    f"{TASK}:4:int __attribute__((noinline)) f();: {COMPILER}",
    f"{TASK}:6:[[gnu::noinline]] int g();: {COMPILER}",
    f"{TASK}:7:[[nodiscard, clang::lifetimebound]] int h();: {COMPILER}",
    f"{TASK}:8:__int128 wide = 0;: {COMPILER}",
    f"{TASK}:9:int x = __builtin_expect(1, 1);: {COMPILER}",
    f"{TASK}:10:int y = ({{ 1; }});: {COMPILER}",
    f"{TASK}:11:int z = f(({{ 1; }}));: {COMPILER}",
    f'{TASK}:12:void stop() {{ asm volatile("hlt"); }}: {COMPILER}',
    f'{TASK}:13:void halt() {{ __asm__("hlt"); }}: {COMPILER}',
    "io/include/tandem/io/b.hpp:1:int descriptor = -1;: a native_descriptor, or no_descriptor",
}


def main() -> int:
    ran = run_over(FILES, "check_tree.sh", "systems")
    found = ran.stdout.splitlines()
    if ran.returncode == 1 and set(found) == WANTED and len(found) == len(WANTED):
        return 0
    print(f"exit status {ran.returncode}; missing: {WANTED - set(found)}; too many: {set(found) - WANTED}\n{ran.stderr}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
