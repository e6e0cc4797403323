#!/usr/bin/env python3
# gcc12_check_test.py LAW: a law of gcc12_check: bad, good, usage, kept.
# SPDX-License-Identifier: MIT
#
# bad: each line marked `// finds: FORM` is found, with that form, and no other line; good: nothing is found;
# usage: --help tells the forms, long work tells how far it is, and what cannot be checked ends with 2.
# kept: what had nothing to be found is not looked at again as long as its text, headers and arguments included, is the same.
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, 'gcc12_check')


def check(folder, *arguments):
    done = subprocess.run([sys.executable, CHECK, '-p', folder, *arguments], capture_output=True, text=True)
    print(done.stdout + done.stderr, end='')
    return done


def database(folder, *sources, options=''):
    with open(os.path.join(folder, 'compile_commands.json'), 'w', encoding='utf-8') as out:
        # As a build with g++ leaves it, with options that clang does not know.
        json.dump([{'directory': HERE, 'file': source, 'command':
                    f'/usr/bin/ccache /usr/bin/g++ -std=c++20 -fno-tree-slp-vectorize -Wno-such-thing {options} -O2 -o a.o -c {source}'}
                   for source in sources], out)


def finds(folder, source):
    """Exit status, and {(line, form)} of what was found in the file."""
    database(folder, source)
    done = check(folder)
    return done.returncode, {(int(line), form) for line, form in re.findall(rf'{source}:(\d+): (\w+): ', done.stdout)}


def bad(folder):
    with open(os.path.join(HERE, 'gcc12_bad.cpp'), encoding='utf-8') as text:
        marked = {(number, match[1]) for number, line in enumerate(text, 1) if (match := re.search(r'// finds: (\w+)', line))}
    assert len(marked) > 20, marked
    status, found = finds(folder, 'gcc12_bad.cpp')
    assert not marked - found, f'not found: {sorted(marked - found)}'
    assert not found - marked, f'found, and fine: {sorted(found - marked)}'
    assert status == 1, status


def good(folder):
    status, found = finds(folder, 'gcc12_good.cpp')
    assert not found and status == 0, (status, found)


def usage(folder):
    help_text = check(folder, '--help')
    assert help_text.returncode == 0
    for form in ('aggregate', 'lambda', 'conditional', 'list', 'condition', 'alignment'):
        assert form in help_text.stdout, form
    assert check(folder).returncode == 2, 'no compile_commands.json'
    database(folder, 'gcc12_good.cpp')
    assert check(folder, 'no_such_file').returncode == 2, 'no file'
    assert check(folder, '--clang-query', 'no-such-program').returncode == 2, 'no clang-query'
    small = [os.path.join(folder, f'small_{number}.cpp') for number in range(11)]
    for path in small:
        with open(path, 'w', encoding='utf-8') as out:
            out.write('int no_coroutine;  // co_await\n')
    database(folder, *small)
    many = check(folder)
    assert many.returncode == 0 and re.fullmatch(r'10 of 11 files, \d+ s\n', many.stderr), many
    assert not check(folder, '--quiet').stderr
    broken = os.path.join(folder, 'broken.cpp')
    with open(broken, 'w', encoding='utf-8') as out:
        out.write('int f() { co_await nothing; }\n')
    database(folder, broken)
    assert check(folder).returncode == 2, 'what does not compile'


def kept(folder):
    noted = os.path.join(folder, 'kept')
    header = os.path.join(folder, 'included.hpp')
    sources = [os.path.join(folder, name) for name in ('uses.cpp', 'other.cpp')]
    wrong = os.path.join(HERE, 'gcc12_bad.cpp')

    def write(path, text):
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)

    def known(*more):
        database(folder, *sources, wrong)
        done = check(folder, '--kept', noted, *more)
        assert done.returncode == 1 and 'gcc12_bad.cpp:' in done.stdout, 'what is wrong is told each time'
        return int(re.search(r'^3 files, (\d+) as they were before', done.stdout, re.M)[1])

    write(header, 'int one;\n')
    write(sources[0], '#include "included.hpp"  // co_await\n')
    write(sources[1], 'int two;  // co_await\n')
    assert known() == 0
    assert known() == 2
    write(header, 'int three;\n')
    assert known() == 1, 'a header belongs to the text'
    old = os.path.join(noted, '0' * 32)
    write(old, '')
    os.utime(old, (0, 0))
    assert known() == 2
    assert not os.path.exists(old), 'what nobody has asked for in two months is gone'
    assert check(folder, '--kept', os.path.join(header, 'folder')).returncode == 2, 'no folder there'
    inside = os.path.join(folder, 'inside')
    os.mkdir(inside)
    write(os.path.join(inside, 'wrong.hpp'), f'#include "{HERE}/gcc12_forms.hpp"\nnamespace forms {{\n'
          'inline task<int> of(std::string s) { co_return co_await use(person{s, 1}); }\n}\n')
    write(sources[0], '#include <wrong.hpp>  // co_await\n')
    for option, status in (('-isystem', 0), ('-I', 1), ('-isystem', 0)):
        database(folder, sources[0], options=f'{option} {inside}')
        assert check(folder, '--kept', noted).returncode == status, 'whether a header is of the system belongs to it, too'


def unity(folder):
    """A source that includes others, as CMake's unity builds have it, is looked at for what they say."""
    both = os.path.join(folder, 'unity_0_cxx.cxx')
    with open(both, 'w', encoding='utf-8') as out:
        out.write(f'/* generated */\n\n#include "{HERE}/gcc12_bad.cpp"\n\n#include "beside.cpp"\n')
    with open(os.path.join(folder, 'beside.cpp'), 'w', encoding='utf-8') as out:
        out.write('int nothing;\n')
    database(folder, both)
    for chosen in ([], ['/unity_0'], ['gcc12_bad']):
        done = check(folder, *chosen)
        assert done.returncode == 1 and 'gcc12_bad.cpp:' in done.stdout, (chosen, done)
    assert check(folder, 'another_file').returncode == 2, 'none of them'


def main():
    tool = SourceFileLoader('gcc12_check', CHECK).load_module()
    try:
        tool.clang_tool('clang-query', None)
    except tool.SystemExit2 as why:
        print(why)
        return 1 if os.environ.get('TANDEM_TEST_REQUIRE_ALL') == '1' else 77
    with tempfile.TemporaryDirectory() as folder:
        {'bad': bad, 'good': good, 'usage': usage, 'kept': kept, 'unity': unity}[sys.argv[1]](folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
