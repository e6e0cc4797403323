#!/usr/bin/env bash
# run.sh: installs what is missing, builds a preset, runs its tests.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tests/run.sh [PRESET] [--filter REGEX] [--jobs N] [--whole]
       tests/run.sh nightly [PRESET...] [--filter REGEX]

PRESET is one of release, release-clang, dev (default), gcc-debug, asan, tsan, gcc-asan, shared, posix, mingw.
With no PRESET and no filter nightly begins with all tests in gcc-debug, release, posix, asan, tsan, gcc-asan and mingw, whole.
--filter runs the tests whose ctest name (executable.suite.test) matches REGEX.
mingw builds for Windows and runs under wine: there a ctest is an executable with all of its laws, which are counted; the laws
that wine breaks (tests/support/wine_skips.txt) are printed.
--whole takes nothing away: all tests also in posix, tsan and gcc-asan, which have a share of them (tests/shares.cmake), with all
their sanitizers and the optimisation of the preset, and those of the benchmarks; proofs of models are made anew.
nightly runs each stress test for TANDEM_STRESS_SECONDS (default 60) in each PRESET (default: release asan
tsan mingw), in release the loads of tests/bench/loads.py, and in asan the fuzzers of tests/fuzz (build/fuzz); --filter chooses executables
there. A failing test is shown with its seed and how to repeat it.

The build lies in build/PRESET. TANDEM_TEST_REQUIRE_ALL=1 makes a missing tool or server a failure instead of a skip.
END
}

# The nightly run has a script of its own.
if [ "${1:-}" = nightly ]; then
  shift
  for word in "$@"; do
    case $word in -h | --help) usage; exit 0 ;; esac
  done
  tests/support/install_packages.sh build tests interop clang windows
  exec tests/support/nightly.sh "$@"
fi

preset=dev
whole=()
filter=()
jobs=$(($(nproc) + 1))  # many tests wait: for peers, for timers, for a browser
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --filter) filter=(-R "${2:?--filter needs a regular expression}"); shift 2 ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
    --whole)
      whole=(-DTANDEM_WHOLE_TESTS=ON -DTANDEM_TESTS=all -DTANDEM_BUILD_EXAMPLES=ON)
      export TANDEM_PROOFS=none
      shift ;;
    -*) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
    *) preset=$1; shift ;;
  esac
done

groups=(build components servers tests interop examples browser debuggers)
case $preset in
  release | dev | gcc-debug | gcc-asan | shared | posix) ;;
  release-clang | asan | tsan) groups+=(clang) ;;
  mingw) groups=(build windows examples) ;;
  *) echo "unknown preset: $preset" >&2; usage >&2; exit 2 ;;
esac

start=$SECONDS
build=build/$preset
say() { printf '[%s %4ds] %s\n' "$preset" $((SECONDS - start)) "$*"; }
# With CI set a command's output is shown only when it fails.
quietly() {
  if [ -n "${CI:-}" ]; then
    "$@" >"$build/step.log" 2>&1 || { cat "$build/step.log"; return 1; }
  else
    "$@"
  fi
}

mkdir -p "$build"
rm -rf "$build/tests.xml" "$build/tests.counts" "$build/laws"/*.xml "$build/wine/server.log"
say "packages"
tests/support/install_packages.sh "${groups[@]}"
say "configure"
cmake --preset "$preset" "${whole[@]}" >"$build/step.log" 2>&1 || { cat "$build/step.log"; exit 1; }
grep -h ' is left out: ' "$build/step.log" || true
say "build"
quietly cmake --build --preset "$preset"

ctest=(ctest --preset "$preset" --no-tests=error --output-junit tests.xml -j "$jobs")
say "tests"
status=0
if [ -n "${CI:-}" ]; then
  "${ctest[@]}" "${filter[@]}" >"$build/step.log" 2>&1 || status=$?
  # What passed in silence is left out; of what failed, everything is shown.
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed +[0-9.]+ sec$)' "$build/step.log" || true
else
  "${ctest[@]}" "${filter[@]}" || status=$?
fi

if [ "$preset" = mingw ]; then
  [ ! -s "$build/wine/server.log" ] || sed 's/^/wineserver: /' "$build/wine/server.log"
  read -r passed failed skipped < <(python3 -B tests/support/count_laws.py "$build") || true
  if [ "$status" != 0 ] && [ "${failed:-0}" = 0 ]; then failed=1; fi
  echo "$passed $failed $skipped" >"$build/tests.counts"
  say "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
  exit
fi

# The counts, from the head of the JUnit report: skipped tests are not passed ones.
attribute() { sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$build/tests.head" | head -1; }
if [ -f "$build/tests.xml" ]; then
  tr '\n' ' ' <"$build/tests.xml" | grep -o '<testsuite [^>]*>' | head -1 >"$build/tests.head"
  failed=$(attribute failures)
  skipped=$(($(attribute skipped) + $(attribute disabled)))
  passed=$(($(attribute tests) - failed - skipped))
else
  passed=0 failed=1 skipped=0
fi
if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
echo "$passed $failed $skipped" >"$build/tests.counts"
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
