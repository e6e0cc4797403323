#!/usr/bin/env python3
# check_words_test.py: check_words.py finds what is wrong in a small tree, each mistake on its line, and nothing else.
# SPDX-License-Identifier: MIT
import pathlib
import subprocess
import sys
import tempfile

PAGES = {
    "README.md": """# One
[there](code.cpp), [heading](other.md#a-heading-of-two-words), [outside](https://example.org/nowhere)
[gone](gone.md)
[no such heading](other.md#another)
```cpp code.cpp
int a();
// ...
  int c();
```
```cpp code.cpp
int c();
// ...
int a();
```
```cpp
int d();
```
```cpp gone.cpp
```
""" + "word " * 1000,
    "other.md": """# A heading of `two` words
```cpp
in a page where blocks need no file
```
    [in code](nothing is looked at)
""",
    "io/README.md": "- **ring/sleep** it sleeps. **ring/wake** it wakes. Then ring/sleep, ring/fly, and A1.\nAs it was in step 7, one step at a time.\n"
                    "| room | what | protocols |\n|---|---|---|\n| [engine](src/engine/README.md) | that | `spin`, `lane` |\n"
                    "| [pool](src/pool/README.md) | this | `nobody` |\n",
    "io/src/engine/README.md": "- **spin/turn** it turns. **idle/rest** it rests.\n",
    "io/src/pool/README.md": "# pool\n",
    "io/src/engine/spin.cpp": "// spin/turn, idle/rest\n",
    "io/src/ring.cpp": """// Protocol lane:
//   push  first. ring/sleep
//         and more
//   pop   lane/push, lane/jump
//   ring  is no file: ring/ring.hpp
// Protocol pool: elsewhere.
int a;  // T1 is a tree, B2 none
const char* text = "// C3 is no comment";
// Protocol lane:
//   pop  again
""",
    "code.cpp": "namespace n {\n  int a();\n  int b();\n  int c();\n}\n",
}
WANTED = {
    "quotes": ["README.md:10: code.cpp does not have this: int a();", "README.md:15: this block names no file: ```cpp FILE",
               "README.md:18: there is no file gone.cpp"],
    "links": ["README.md:3: links to gone.md, which is not there", "README.md:4: links to other.md#another: no such heading"],
    "length": None,
    "index": ["io/README.md:5: the protocols of io/src/engine/README.md are not in order",
              "io/README.md:6: nobody is no protocol of io/src/pool/README.md",
              "io/README.md:1: protocol idle is not in the row of io/src/engine/README.md",
              "io/README.md:1: protocol ring is not in the row of io/README.md"],
    "cites": ["io/src/ring.cpp:10: lane/pop is defined in io/src/ring.cpp, too",
              "io/src/ring.cpp:4: cites lane/jump, which no protocol defines",
              "io/src/ring.cpp:6: names protocol pool, of which no step is defined", "io/src/ring.cpp:7: cites B2: a step has a protocol and a name",
              "io/README.md:1: cites ring/fly, which no protocol defines", "io/README.md:1: cites A1: a step has a protocol and a name",
              "io/README.md:2: cites step 7: a step has a protocol and a name",
              "io/README.md:1: no code cites ring/wake", "io/src/ring.cpp:10: no code cites lane/pop", "io/src/ring.cpp:5: no code cites lane/ring"],
}


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PAGES.items():
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for law, wanted in WANTED.items():
            checker = pathlib.Path(__file__).with_name("check_words.py")
            ran = subprocess.run([sys.executable, "-B", str(checker), law, folder], capture_output=True, text=True)
            *said, count = ran.stdout.splitlines()
            right = len(said) == 1 and "words" in said[0] if wanted is None else said == wanted
            if not right or ran.returncode != 1:
                wrong += 1
                print(f"{law}: exit {ran.returncode}, said\n{ran.stdout}{ran.stderr}")
            print(f"{law}: {count}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
