#!/usr/bin/env bash
# nightly.sh [PRESET...] [--filter REGEX]: the stress tests, each for TANDEM_STRESS_SECONDS, in several builds.
# SPDX-License-Identifier: MIT
#
# Then, with the preset release, the loads of tests/bench/loads.py by the real clock: some 30 minutes, two CPUs, and
# nothing else on the machine (--filter pool_loads: these alone); and pool_monitor as it is when nothing is said
# (--filter pool_monitor), and an idle server's iowait (--filter iowait). With the preset asan the fuzzers of tests/fuzz, in a build
# of their own (build/fuzz), for as long as a stress test (--filter tls_fuzz). With nothing said, what CI leaves out comes first:
# all tests, whole (tests/run.sh --whole), in gcc-debug (without optimisation, symmetric transfer and precompiled headers),
# release, posix, asan, tsan, gcc-asan and mingw; and the public headers, each alone, with both compilers, for Windows, too; and
# the check for forms that g++ 12 miscompiles, of every file that CI looks at, whether it has changed or not.
#
# Called by `tests/run.sh nightly`. Each test of each executable labelled "stress" is a process of its own,
# so that one that hangs or breaks does not take the others' time. A failing one is shown with its seed
# and with the command that repeats it.
set -uo pipefail
cd "$(dirname "$0")/../.."
export TANDEM_STRESS_SECONDS=${TANDEM_STRESS_SECONDS:-60}

presets=()
filter=.
while [ $# -gt 0 ]; do
  case $1 in
    --filter) filter=${2:?--filter needs a regular expression}; shift 2 ;;
    -*) echo "unknown option: $1" >&2; exit 2 ;;
    *) presets+=("$1"); shift ;;
  esac
done
everything=
if [ ${#presets[@]} = 0 ]; then
  presets=(release asan tsan mingw)
  [ "$filter" != . ] || everything=1
fi

start=$SECONDS
passed=0
failures=()
say() { printf '[nightly %5ds] %s\n' $((SECONDS - start)) "$*"; }

# Of a build that lacks what a test needs (TLS on Windows) the test is left out.
mapfile -t executables < <(tr '\n' ' ' <tests/stress/CMakeLists.txt | grep -oE 'tandem_add_(io_)?test\([a-z_0-9]+ [^()]*LABEL stress[^()]*\)' |
  sed -E 's/^[^(]*\(([a-z_0-9]+) .*/\1/')

# The seed, and what to type, for a test that did not pass.
explain() {  # EXECUTABLE TEST LOG WHY
  local seed
  seed=$(grep -ao 'TANDEM_STRESS_SEED=[0-9]*' "$3" | tail -1)
  echo "--- $4: $2 of $1"
  tail -n 40 "$3"
  echo "--- to repeat it: ${seed:+$seed }TANDEM_STRESS_SECONDS=$TANDEM_STRESS_SECONDS $1 --gtest_filter=$2"
}

# in_preset PRESET COMMAND...: what is built for Windows runs under wine.
in_preset() {
  if [ "$1" = mingw ]; then
    TANDEM_WINE_SECONDS=$((TANDEM_STRESS_SECONDS + 890)) tests/support/wine.sh "$PWD/build/mingw/wine" "${@:2}"
  else
    "${@:2}"
  fi
}
export -f in_preset

run_test() {  # PRESET EXECUTABLE TEST
  local log=build/$1/nightly.log status=0
  # The watchdog ends a test that hangs; this limit is for one that hangs together with its watchdog.
  timeout -k 10 $((TANDEM_STRESS_SECONDS + 900)) bash -c 'in_preset "$@"' - "$1" "$2" --gtest_filter="$3" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    say "$1 $(basename "$2" .exe) $3: passed"
  else
    failures+=("$1 $(basename "$2" .exe) $3")
    say "$1 $(basename "$2" .exe) $3: FAILED (status $status)"
    explain "$2" "$3" "$log" "failed"
  fi
}

# What the adaptive pool has to do on a real clock and real CPUs; a line for each of it.
run_loads() {
  local log=build/release/nightly.log line status=0
  say "release: loads by the real clock"
  if ! { cmake --preset release && cmake --build --preset release --target pool_loads; } >build/release/step.log 2>&1; then
    tail -n 40 build/release/step.log
    failures+=("release pool_loads: build")
    return
  fi
  timeout -k 10 7200 python3 -B tests/bench/loads.py --check >"$log" 2>&1 </dev/null || status=$?
  while read -r line; do
    case $line in
      "reached "*) passed=$((passed + 1)) ;;
      "MISSED "*) failures+=("release pool_loads ${line#MISSED }") ;;
    esac
  done <"$log"
  say "release pool_loads: status $status"
  if [ "$status" != 0 ]; then
    cat "$log"
    grep -q "MISSED" "$log" || failures+=("release pool_loads: status $status")
  fi
}

# check_release NAME TARGET SECONDS COMMAND...: builds TARGET in release and runs a check of it, which says what it saw.
check_release() {
  local name=$1 target=$2 seconds=$3 log=build/release/nightly.log status=0
  shift 3
  say "release: $name"
  if ! { cmake --preset release && cmake --build --preset release --target "$target"; } >build/release/step.log 2>&1; then
    tail -n 40 build/release/step.log
    failures+=("release $name: build")
    return
  fi
  timeout -k 10 "$seconds" "$@" >"$log" 2>&1 </dev/null || status=$?
  cat "$log"
  if [ "$status" = 0 ]; then passed=$((passed + 1)); else failures+=("release $name"); fi
}

# Both loads of the example with their defaults, and when they end.
run_monitor() {
  check_release pool_monitor pool_monitor 600 \
    python3 -B tests/support/check_pool_monitor.py build/release/examples/pool_monitor/pool_monitor defaults
}

# What an idle server looks like in /proc/stat.
run_iowait() {
  check_release iowait echo_server 120 python3 -B tests/support/check_iowait.py build/release/examples/echo_server
}

# A fuzzer begins with its corpus in the tree and with what it has found before. An input that breaks a law is shown as text.
run_fuzzer() {  # NAME CORPUS
  local name=$1 corpus=$2 log=build/fuzz/nightly.log status=0 found
  say "fuzz: $name"
  mkdir -p "build/fuzz/found/$corpus"
  if ! { cmake --preset fuzz && cmake --build --preset fuzz --target "$name"; } >build/fuzz/step.log 2>&1; then
    tail -n 40 build/fuzz/step.log
    failures+=("fuzz $name: build")
    return
  fi
  rm -f build/fuzz/broken-*
  timeout -k 10 $((TANDEM_STRESS_SECONDS + 900)) "build/fuzz/tests/fuzz/$name" -max_total_time="$TANDEM_STRESS_SECONDS" -timeout=60 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix=build/fuzz/broken- "build/fuzz/found/$corpus" "tests/fuzz/corpus/$corpus" \
    >"$log" 2>&1 </dev/null || status=$?
  grep '^stat::' "$log" | head -2
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    say "fuzz $name: passed"
    return
  fi
  failures+=("fuzz $name")
  tail -n 60 "$log"
  for found in build/fuzz/broken-*; do
    [ ! -f "$found" ] || echo "--- to repeat it: base64 -d <<<$(base64 -w0 "$found") >input && build/fuzz/tests/fuzz/$name input"
  done
}

if [ -n "$everything" ]; then
  for preset in gcc-debug release posix asan tsan gcc-asan mingw; do
    say "$preset: all tests, whole"
    if env -u TANDEM_STRESS_SECONDS tests/run.sh "$preset" --whole; then passed=$((passed + 1)); else failures+=("$preset: see above"); fi
  done
  say "public headers"
  if tests/support/check_headers.sh release release-clang mingw-clang; then passed=$((passed + 1)); else failures+=("headers: see above"); fi
  say "forms that g++ 12 miscompiles"
  if tests/support/gcc12_check -p build/release '/(runtime|io)/src/' '/examples/'; then passed=$((passed + 1)); else failures+=("gcc12_check: see above"); fi
fi

for preset in "${presets[@]}"; do
  mkdir -p "build/$preset"
  if [ "$preset" = release ] && { [ "$filter" = . ] || [[ pool_loads =~ $filter ]]; }; then
    run_loads
  fi
  if [ "$preset" = release ] && { [ "$filter" = . ] || [[ pool_monitor =~ $filter ]]; }; then
    run_monitor
  fi
  if [ "$preset" = release ] && { [ "$filter" = . ] || [[ iowait =~ $filter ]]; }; then
    run_iowait
  fi
  if [ "$preset" = asan ] && { [ "$filter" = . ] || [[ tls_fuzz =~ $filter ]]; }; then
    run_fuzzer tls_fuzz tls
  fi
  case $filter in pool_loads | pool_monitor | iowait | tls_fuzz) continue ;; esac
  wanted=()
  for name in "${executables[@]}"; do
    if [ "$filter" = . ] || [[ $name =~ $filter ]]; then wanted+=("$name"); fi
  done
  if [ ${#wanted[@]} = 0 ]; then
    failures+=("$preset: no stress executable matches '$filter'")
    continue
  fi
  built() {  # configures; of the wanted ones those that this build knows
    cmake --preset "$preset" || return
    local name known=()
    for name in "${wanted[@]}"; do
      if ninja -C "build/$preset" -t query "$name" >/dev/null 2>&1; then known+=("$name"); else say "$preset: there is no $name"; fi
    done
    wanted=("${known[@]}")
    cmake --build --preset "$preset" --target "${wanted[@]}"
  }
  say "$preset: build ${wanted[*]}"
  if ! built >"build/$preset/step.log" 2>&1; then
    tail -n 40 "build/$preset/step.log"
    failures+=("$preset: build")
    continue
  fi
  for name in "${wanted[@]}"; do
    executable=build/$preset/tests/stress/$name
    [ "$preset" != mingw ] || executable+=.exe
    suite=
    while read -r line; do
      line=${line%%#*}
      line=${line%"${line##*[![:space:]]}"}
      case $line in
        *.) suite=$line ;;
        ?*) run_test "$preset" "$executable" "$suite$line" ;;
      esac
    done < <(in_preset "$preset" "$executable" --gtest_list_tests | tr -d '\r')
  done
done

for each in "${failures[@]}"; do echo "failed: $each"; done
say "$TANDEM_STRESS_SECONDS s each, in ${presets[*]}"
echo "$passed passed, ${#failures[@]} failed"
[ ${#failures[@]} = 0 ] && [ "$passed" -gt 0 ]
