#!/usr/bin/env bash
# check_tree.sh LAW: checks a law that every file of the tree has to follow.
# SPDX-License-Identifier: MIT
#
# Laws: listed, includes, umbrellas, layers, rooms, once, systems, calls, heads. Prints each offender; exits 1 if there is one.
set -euo pipefail
cd "${2:-$(dirname "$0")/../..}"  # systems may look at another tree

found=0
offend() { echo "$*"; found=1; }
# All but what is for one system, or for one compiler.
systems_files() { files runtime io examples tests 2>/dev/null | grep -vE '/platform/|/(config|export)\.hpp$|^tests/support/(linux|windows)/|^tests/bench/' || true; }
files() { find "$@" -type f \( -name '*.hpp' -o -name '*.cpp' \) | sort; }

case ${1:-} in
  # A source that nobody compiles, or a header that is not installed, is in no list of a CMakeLists.txt.
  listed)
    # One pass: for each folder the words of its list, then each file is looked up.
    declare -A names=()
    while IFS=: read -r list word; do
      names["${list%/*}/ $word"]=1
    done < <(find runtime io tests examples \( -name CMakeLists.txt -o -name '*_tests.cmake' \) -print0 | xargs -0 grep -oHE '[A-Za-z0-9_./-]+')
    while read -r file; do
      part=${file%%/*}
      name=
      # A source of a system's folder may be listed by its name alone: its folder stands in a variable then.
      [[ $file != */src/platform/*/* ]] || { name=${file##*/}; name=${name%.cpp}; }
      # An optional component has a list of its own, in its room.
      room=${file#*/include/tandem/io/}
      own=${names["${file%/*}/ ${file##*/}"]:-${names["$part/src/${room%%[./]*}/ ${file#*/include/}"]:-}}
      [ -n "${names["$part/ ${file#*/}"]:-${names["$part/ $name"]:-$own}}" ] || offend "$file is not in $part/CMakeLists.txt"
    done < <(for part in runtime io; do find $part/src -name '*.cpp'; find $part/include -name '*.hpp'; done | sort)
    while read -r file; do
      # In the list of its folder or of one above, as a path, by its name without .cpp, or after a variable that is a folder.
      folder=${file%/*} name=${file##*/} listed=
      while [ -z "$listed" ]; do
        listed=${names["$folder/ ${file#"$folder"/}"]:-${names["$folder/ ${name%.cpp}"]:-${names["$folder/ /$name"]:-}}}
        [ "$folder" != "${folder%/*}" ] || break
        folder=${folder%/*}
      done
      [ -n "$listed" ] || offend "$file is in no CMakeLists.txt"
    done < <(find tests examples -name '*.cpp' -not -path 'tests/package/*' | sort)
    ;;
  # Public headers include the standard library and tandem, no system, liburing or Asio header.
  includes)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime/include runtime/abi io/include | grep -vE '/(boost_)?asio\.hpp$' | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include' \
      | grep -vE '#[[:space:]]*include[[:space:]]*<([a-z_0-9]+|tandem/[a-z_0-9/]+\.hpp)>' || true)
    ;;
  # tandem.hpp, io.hpp and those of the optional components include every public header of their component, but those that need another library's.
  umbrellas)
    while read -r folder umbrella but; do
      root=${folder%%/*}/include
      [ -d "$folder" ] || continue
      while read -r file; do
        name=${file#"$root"/}
        case $name in
          */detail/* | */asio.hpp | */boost_asio.hpp | tandem/asio/* | "$umbrella") continue ;;
        esac
        [[ -z $but || $name != $but ]] || continue
        grep -qxF "#include <$name>" "$root/$umbrella" 2>/dev/null || offend "$name is not in <$umbrella>"
      done < <(files "$folder")
    done <<<'runtime/include tandem/tandem.hpp
io/include tandem/io/io.hpp tandem/io/@(tls|curl|postgres|redis|sqlite)?(.hpp|/*)
io/include/tandem/io/tls tandem/io/tls.hpp
io/include/tandem/io/curl tandem/io/curl.hpp
io/include/tandem/io/postgres tandem/io/postgres.hpp
io/include/tandem/io/redis tandem/io/redis.hpp
io/include/tandem/io/sqlite tandem/io/sqlite.hpp'
    ;;
  # Dependencies flow one way: examples -> io -> runtime.
  layers)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime | xargs -r grep -nE '#[[:space:]]*include.*tandem/io/' || true)
    ;;
  # Within a part they flow one way, too: a room includes headers of lower rooms only (rooms.txt).
  rooms) python3 -B tests/support/check_rooms.py || found=1 ;;
  # One class of a name in a namespace, or the linker takes functions of the one for the other.
  once) python3 -B tests/support/check_once.py || found=1 ;;
  # The operating system is called in platform rooms and in backends only. (export.hpp: how a library shows its symbols.)
  # Which system it is, and what only some compilers understand, stands in platform rooms and in config.hpp: MSVC has a chance.
  # Of what it calls a socket only the rooms of these systems know that it is an int, and what is none: native_descriptor.hpp.
  systems)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime io | grep -vE '/(src/(platform|uring|asio|iocp)|include/tandem/detail/platform)/' | grep -v '/export\.hpp$' | xargs -r grep -nE \
      -e '#[[:space:]]*include <(sys|linux|net|netinet|arpa|asm)/' \
      -e '#[[:space:]]*include <(unistd|fcntl|poll|netdb|signal|csignal|pthread|sched|semaphore|dlfcn|spawn|termios|syslog|malloc|liburing|windows|winsock2?|ws2tcpip)(\.h)?>' \
      | grep -vE ':#include <semaphore>$' || true)
    while read -r hit; do
      offend "$hit: a folder of platform rooms knows which system it is"
    done < <(systems_files | xargs -r grep -nE '\b(__linux__|__unix__|__APPLE__|__(Free|Net|Open)BSD__|_WIN32|_WIN64|__MINGW(32|64)__|__CYGWIN__)\b' || true)
    while read -r hit; do
      offend "$hit: an extension of some compilers: config.hpp has macros"
    done < <(systems_files | xargs -r sed -snE \
      -e 's,//.*,,; /#[[:space:]]*include/d' -e '/__(attribute|extension|PRETTY_FUNCTION)__|\b(__)?asm(__)?\b|__int128|__builtin_|__(typeof|restrict)|\[\[[^]]*\b(gnu|clang)::|(=|\(|,|&&|\|\||\?|:|\breturn)[[:space:]]*\(\{/{F;=;p}' \
      | paste -d: - - - || true)
    while read -r hit; do
      offend "$hit: windows.h may have a macro of that name: (std::min)(a, b)"
    done < <(files runtime/include io/include 2>/dev/null | xargs -r sed -snE -e 's,//.*,,; /\b(min|max) *\(/{F;=;p}' | paste -d: - - - || true)
    while read -r hit; do
      offend "$hit: a native_descriptor, or no_descriptor"
    done < <(files io | grep -vE '/src/(platform/[a-z]+|iocp)/|/detail/platform/descriptor_type\.hpp$' | xargs -r grep -nE \
      -e '\bint[ &*]+([a-z_]*descriptor|[a-z_]*fd)_?\b' -e '\b(native_descriptor .*|[a-z_]*descriptor_?)(\(| = |, |\{)-1\b' || true)
    while read -r hit; do
      offend "$hit: may sleep for ever where there is no futex (tests/support/waits.hpp says why, and has others)"
    done < <(files runtime io examples tests 2>/dev/null | grep -vE '^tests/(bench/|support/waits\.hpp$)' \
      | xargs -r grep -nE '\bstd::(binary_semaphore|counting_semaphore|latch|barrier)\b' || true)
    ;;
  # What the backends call for each operation, and for each action on a file, stands in a page: a line for each row.
  calls)
    page=io/src/operation/README.md tables=io/include/tandem/io/detail looked_at=0
    while read -r side name; do
      case $side in
        '<') offend "$page: 'What each backend calls' has no line for $name at its place" ;;
        '>') offend "$page: 'What each backend calls' has a line for $name, of which the tables have no row there" ;;
        '=') looked_at=$((looked_at + 1)) ;;
      esac
    done < <(diff --unchanged-line-format='= %L' --old-line-format='< %L' --new-line-format='> %L' \
      <(sed -nE 's/.*(operation|file)_row\{\.(kind|action) = (operation_kind|file_action)::(\w+),.*/\4/p' \
        $tables/operation_kind.hpp $tables/file_action.hpp) \
      <(sed -n '/^## What each backend calls/,/^## How/p' $page | sed -nE 's/^\| `(\w+)` \|.*/\1/p'))
    [ "$looked_at" -gt 1 ] || offend "$page: no row of the tables was found"
    ;;
  # The first line names the file and says what it is; the second one is the licence.
  heads)
    while read -r file; do
      name=${file##*/} first='' second=''
      { IFS= read -r first; IFS= read -r second; } <"$file" || true
      [[ $first == "// $name: "?* ]] || offend "$file: the first line is not '// $name: what it is'"
      [ "$second" = '// SPDX-License-Identifier: MIT' ] || offend "$file: the second line is not the SPDX line"
    done < <(files runtime io examples tests)
    while read -r file; do
      offend "$file: no #pragma once"
    done < <(files runtime io examples tests | grep '\.hpp$' | xargs -r grep -LxF '#pragma once' || true)
    ;;
  *) echo "usage: check_tree.sh listed|includes|umbrellas|layers|rooms|once|systems|calls|heads" >&2; exit 2 ;;
esac
exit $found
