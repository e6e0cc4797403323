#!/usr/bin/env bash
# check_tree.sh LAW: checks a law that every file of the tree has to follow.
# SPDX-License-Identifier: MIT
#
# Laws: listed, includes, umbrellas, layers, systems, heads. Prints each offender; exits 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/../.."

found=0
offend() { echo "$*"; found=1; }
files() { find "$@" -type f \( -name '*.hpp' -o -name '*.cpp' \) | sort; }

case ${1:-} in
  # A source that nobody compiles, or a header that is not installed, is in no list of a CMakeLists.txt.
  listed)
    for part in runtime io; do
      while read -r file; do
        grep -qE "(^|[[:space:]])${file#"$part"/}([[:space:])]|\$)" $part/CMakeLists.txt || offend "$file is not in $part/CMakeLists.txt"
      done < <(find $part/src -name '*.cpp' | sort; find $part/include -name '*.hpp' | sort)
    done
    while read -r file; do
      # In the list of its folder or of one above, as a path or by its name without .cpp.
      folder=$(dirname "$file")
      listed=
      while [ "$folder" != . ]; do
        if [ -f "$folder/CMakeLists.txt" ] && grep -qwF -e "${file#"$folder"/}" -e "$(basename "$file" .cpp)" "$folder/CMakeLists.txt"; then
          listed=1
        fi
        folder=$(dirname "$folder")
      done
      [ -n "$listed" ] || offend "$file is in no CMakeLists.txt"
    done < <(find tests examples -name '*.cpp' -not -path 'tests/package/*' | sort)
    ;;
  # Public headers include the standard library and tandem, no system, liburing or Asio header.
  includes)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime/include runtime/abi io/include | grep -v '/asio\.hpp$' | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include' \
      | grep -vE '#[[:space:]]*include[[:space:]]*<([a-z_0-9]+|tandem/[a-z_0-9/]+\.hpp)>' || true)
    ;;
  # tandem.hpp and io.hpp include every public header of their part, but those that need another library's.
  umbrellas)
    while read -r part umbrella; do
      while read -r file; do
        name=${file#"$part"/include/}
        case $name in
          */detail/* | */asio.hpp | */boost_asio.hpp | "$umbrella") continue ;;
        esac
        grep -qxF "#include <$name>" "$part/include/$umbrella" 2>/dev/null || offend "$name is not in <$umbrella>"
      done < <(files "$part/include")
    done <<<'runtime tandem/tandem.hpp
io tandem/io/io.hpp'
    ;;
  # Dependencies flow one way: examples -> io -> runtime.
  layers)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime | xargs -r grep -nE '#[[:space:]]*include.*tandem/io/' || true)
    ;;
  # The operating system is called in platform rooms and in backends only. (export.hpp: how a library shows its symbols.)
  systems)
    while read -r hit; do
      offend "$hit"
    done < <(files runtime io | grep -vE '/src/(platform|uring|asio)/' | grep -v '/export\.hpp$' | xargs -r grep -nE \
      -e '#[[:space:]]*include <(sys|linux|net|netinet|arpa|asm)/' \
      -e '#[[:space:]]*include <(unistd|fcntl|poll|netdb|signal|csignal|pthread|sched|semaphore|dlfcn|spawn|termios|syslog|malloc|liburing|windows|winsock2?|ws2tcpip)(\.h)?>' \
      -e '__linux__|__unix__|__APPLE__|_WIN32|_WIN64' | grep -vE ':#include <semaphore>$' || true)
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
  *) echo "usage: check_tree.sh listed|includes|umbrellas|layers|systems|heads" >&2; exit 2 ;;
esac
exit $found
