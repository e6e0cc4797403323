#!/usr/bin/env bash
# check_headers.sh PRESET...: each public header compiles alone, in each of these builds.
# SPDX-License-Identifier: MIT
#
# The presets mingw and mingw-clang say so of Windows, by g++ and by clang.
# Leaves "passed failed skipped" in build/headers.counts. The objects go through the compilers' cache, which -fsyntax-only would
# not: compiling them costs as much as looking at them (0.5 to 0.7 s each, nearly all of it for reading the headers).
set -uo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || { echo "usage: check_headers.sh PRESET..." >&2; exit 2; }

good=0 bad=0
mkdir -p build
for preset in "$@"; do
  cmake --preset "$preset" >build/headers.log 2>&1 || { cat build/headers.log; exit 1; }
  count=$(cat "build/$preset/public_header_count")
  wrong=0
  if ! cmake --build --preset "$preset" --target check_headers -- -k 0 >build/headers.log 2>&1; then
    cat build/headers.log
    # One object for each header that did not compile; what failed without one is a failure, too.
    wrong=$(grep -c '^FAILED: ' build/headers.log)
    [ "$wrong" != 0 ] || wrong=1
  fi
  good=$((good + count - wrong))
  bad=$((bad + wrong))
  echo "$preset: $((count - wrong)) of $count public headers compile alone"
done
echo "$good $bad 0" >build/headers.counts
[ "$bad" = 0 ]
