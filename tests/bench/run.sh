#!/usr/bin/env bash
# run.sh SUITE [options]: builds a suite and its peers, measures, prints a table. See usage.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'END'
usage: tests/bench/run.sh SUITE [--compiler g++|clang++-19|both] [--rounds N] [--filter REGEX] [--threads 1,2]
                                [--cpus 0,1] [--all] [--no-peers] [--plot]
       tests/bench/run.sh scaling [--counts] [--rounds N] [--filter REGEX] [--cpus 0,1] [--no-peers] [--plot]

Builds the preset release (g++, the default), release-clang or both, and the suite's peers; runs every sample in a process
of its own, pinned, in a fresh random order each round (default: 9 rounds, suite tls: 7); prints a table and what was reached; writes
build/release*/bench/SUITE.jsonl.
--filter takes the cases whose "case impl" matches; --all takes those too that are left out by default; --threads lists the
thread counts; --cpus says which CPUs are used, in order; --plot draws SUITE.svg and SUITE_CASE.svg beside the figures of the
(first) preset with gnuplot. SUITE: fork_join, sync, pool, search, algorithms, asio, curl, insight, io, udp, postgres, process, redis, sqlite or tls. Suite scaling: the same figures on 1, 2, 4, ... CPUs, or, with
--counts, what a request of a server costs in wakes, switches, system calls, posts and failed CAS as the threads grow.
END
}

suite= compiler=g++ plot= peers=1
args=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --compiler) compiler=${2:?--compiler needs a name}; shift 2 ;;
    --rounds | --filter | --threads | --cpus) args+=("$1" "${2:?$1 needs a value}"); shift 2 ;;
    --all | --counts) args+=("$1"); shift ;;
    --no-peers) peers=; shift ;;
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
case $suite in
  fork_join) peer_group=peers ;;
  sync) peer_group=sync_peers ;;
  pool) peer_group=pool_peers ;;
  io | udp | process | scaling) peer_group=io_peers ;;
  tls) peer_group=tls_peers ;;
  postgres) peer_group=postgres_peers ;;
  redis) peer_group=redis_peers ;;
  curl) peer_group=curl_peers ;;
  *) peers= ;;
esac

groups=(build tests examples)
[ "$compiler" = g++ ] || groups+=(clang)
[ -z "$plot" ] || groups+=(plot)
tests/support/install_packages.sh "${groups[@]}"
# Without a peer the others are measured all the same; the table names what is missing.
[ -z "$peers" ] || tests/support/install_packages.sh "$peer_group" || true

# What is not built below is not measured either.
[ ! -d build/peers ] ||
  find build/peers -maxdepth 1 -type f \( -name 'bench_*' -o -name 'io_*' -o -name 'tls_*' -o -name 'redis_*' -o -name 'curl_*' -o -name 'udp_*' -o -name 'postgres_*' \) -delete
for preset in "${presets[@]}"; do rm -f build/"$preset"/bench/bench_"$suite"_* build/"$preset"/bench/{io,tls,redis,curl,udp,postgres}_*; done
targets=("bench_$suite")
[ -z "$peers" ] || [ "$suite" = scaling ] || targets+=("bench_${suite}_peers")
for preset in "${presets[@]}"; do
  cmake --preset "$preset" -DTANDEM_BUILD_BENCH=ON >/dev/null
  cmake --build --preset "$preset" --target "${targets[@]}"
done
if [[ " ${args[*]} " == *" --counts "* ]]; then
  # g++ alone can make its atomics calls, which that server counts.
  cmake --preset release -B build/counts -DCMAKE_CXX_FLAGS=-fno-inline-atomics -DTANDEM_COUNT_FAILED_CAS=ON \
    -DTANDEM_BUILD_TESTS=OFF -DTANDEM_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build build/counts --target scaling_server
fi
if [ -n "$peers" ]; then
  for peer in tests/bench/peers/*/build.sh; do "$peer" build/peers "${suite/scaling/io}"; done
fi
[ -z "$plot" ] || args+=(--plot)
[ "$suite" != scaling ] || exec python3 -B tests/bench/scaling.py "${args[@]}" -- "${presets[0]}"
[ -n "$peers" ] || args+=(--no-peers)
exec python3 -B tests/bench/harness.py "$suite" "${args[@]}" -- "${presets[@]}"
