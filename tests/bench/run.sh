#!/usr/bin/env bash
# run.sh SUITE [--compiler g++|clang++-19|both] [--rounds N] [--filter REGEX] [--plot]: builds, measures, prints a table.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'END'
usage: tests/bench/run.sh SUITE [--compiler g++|clang++-19|both] [--rounds N] [--filter REGEX] [--plot]

Builds the preset release (g++, the default), release-clang or both, runs every sample of the suite in a process of its own,
in a fresh random order each round, prints a table and writes build/release*/bench/SUITE.jsonl.
--filter takes the cases whose "case impl" matches; --plot writes SUITE.png beside it (gnuplot).
Suites: see the tandem_add_bench lines of tests/bench/CMakeLists.txt.
END
}

suite= compiler=g++ plot=
args=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --compiler) compiler=${2:?--compiler needs a name}; shift 2 ;;
    --rounds | --filter) args+=("$1" "${2:?$1 needs a value}"); shift 2 ;;
    --plot) plot=1; shift ;;
    -*) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
    *) suite=$1; shift ;;
  esac
done
[ -n "$suite" ] || { usage >&2; exit 2; }
case $compiler in
  g++) presets=(release) ;;
  clang++-19) presets=(release-clang) ;;
  both) presets=(release release-clang) ;;
  *) echo "unknown compiler: $compiler (g++, clang++-19, both)" >&2; exit 2 ;;
esac

groups=(build tests examples)
[ "$compiler" = g++ ] || groups+=(clang)
[ -z "$plot" ] || groups+=(plot)
tests/support/install_packages.sh "${groups[@]}"
for preset in "${presets[@]}"; do
  cmake --preset "$preset" -DTANDEM_BUILD_BENCH=ON >/dev/null
  cmake --build --preset "$preset" --target "bench_$suite"
done
[ -z "$plot" ] || args+=(--plot)
exec python3 tests/bench/harness.py "$suite" "${args[@]}" -- "${presets[@]}"
