#!/usr/bin/env bash
# check_models.sh [--trail N] [MODEL...]: proves the Promela models, and that spin rejects their bad variants.
# SPDX-License-Identifier: MIT
#
# MODEL is a file of this folder without .pml; without one, all that list variants ("// BROKEN=n: ...") in their
# head. The good variant has to be searched completely, without an error and without a step that is never reached
# (what is never reached proves nothing); each bad one has to end in an error. "// ALSO FLAGS: ..." is one more good
# variant, for spin -a FLAGS. Prints a line for each.
# --trail N MODEL shows how variant N of MODEL goes wrong, step by step (0: the good one).
#
# What was proved is kept, as the lines that were printed, in a file named by the hash of all that the proof depends on: the model, what
# it includes, this script, the versions of spin and of the C compiler. The folder is TANDEM_PROOFS, by default tandem/proofs in the
# user's cache folder; TANDEM_PROOFS=none proves everything anew.
#
# Without spin or a C compiler: exit status 77, a skip; with TANDEM_TEST_REQUIRE_ALL=1 a failure.
set -uo pipefail
folder=$(cd "$(dirname "$0")" && pwd)

trail=
if [ "${1:-}" = --trail ]; then
  trail=${2:?--trail needs the number of a variant}
  shift 2
  [ $# = 1 ] || { echo "--trail needs one model" >&2; exit 2; }
fi
cc=$(command -v "${CC:-cc}" || command -v gcc || true)
if ! command -v spin >/dev/null || [ -z "$cc" ]; then
  echo "skipped: spin or a C compiler is missing (Debian: spin, gcc)"
  [ "${TANDEM_TEST_REQUIRE_ALL:-}" = 1 ] && exit 1
  exit 77
fi

models=("$@")
if [ ${#models[@]} = 0 ]; then
  mapfile -t models < <(cd "$folder" && grep -l '^// BROKEN=1: ' ./*.pml | sed 's#^\./##; s#\.pml$##' | sort)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
proofs=${TANDEM_PROOFS:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tandem/proofs}

# The name of a model's proof: every file of the folder that it could include belongs to it.
proof_of() {
  { cat "$folder/$1.pml" "$folder/store_buffer.pml" "$folder/check_models.sh"; spin -V; "$cc" --version | head -n 1; } | sha256sum | cut -c 1-32
}
# recall MODEL: prints the proof that is kept, if there is one.
recall() {
  [ "$proofs" != none ] && [ -s "$proofs/$1" ] || return 1
  cat "$proofs/$1" && echo "        (proved before, of the same text: TANDEM_PROOFS=none proves it anew)"
}
# keep NAME FILE: written beside and renamed, so that nobody reads half of it. Without room it is proved again next time.
keep() {
  [ "$proofs" = none ] && return
  { mkdir -p "$proofs" && cp "$2" "$proofs/$1.$$" && mv "$proofs/$1.$$" "$proofs/$1"; } 2>/dev/null || true
}

# search MODEL VARIANT FLAG...: leaves pan's report in $work/report. The good variant is searched for long, so it
# is worth optimising; an error is usually found at once, in less time than the compiler takes to optimise.
search() {
  local model=$folder/$1.pml variant=$2
  shift 2
  cd "$work" || return 1
  rm -f -- pan* ./*.trail
  spin -a "-DBROKEN=$variant" "$@" "$model" >spin.report 2>&1 || { mv spin.report report; return 1; }
  if [ "$variant" != 0 ]; then
    run_pan 2 -O0
    [ $? = 124 ] || return
  fi
  run_pan 0 -O2
}

# run_pan SECONDS OPTIMISATION: 124 if it takes longer; 0 is no limit.
run_pan() {
  cp spin.report report
  "$cc" "$2" -w -DSAFETY -DNOFAIR -DMEMLIM=2000 -o pan pan.c >>report 2>&1 && timeout "$1" ./pan -m200000 >>report 2>&1
}
said() { grep -q -- "$1" "$work/report"; }
states() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/report"; }
verdict() {  # ok|FAILED NAME WORDS
  printf '%-7s %-16s %s\n' "$1" "$2" "$3" | tee -a "$work/proof"
  [ "$1" = ok ] && return
  failed=1
  grep -vE '^Depth=|^ *$' "$work/report" | tail -n 60
}

# prove NAME MODEL FLAG...: the good variant. Steps that flags leave out need not be reached.
prove() {
  local name=$1 model=$2 unreached=
  shift 2
  search "$model" 0 "$@"
  [ $# -gt 0 ] || unreached=$(sed -n 's/^.*\/\([a-z_]*\.pml:[0-9]*\), state [0-9]*, \(.*\)$/\1 \2/p' "$work/report" \
    | grep -v -e '"-end-"$' -e '^store_buffer' || true)
  if ! said 'errors: 0$'; then
    verdict FAILED "$name" "an error in the good variant${*:+ with $*} (see --trail 0 $model)"
  elif said 'not completed\|depth too small\|out of memory\|memory limit'; then
    verdict FAILED "$name" "the search was not exhaustive${*:+ with $*}"
  elif [ -n "$unreached" ]; then
    verdict FAILED "$name" "steps that are never reached: $unreached"
  else
    verdict ok "$name" "proved${*:+ with $*}: $(states) states"
  fi
}

for model in "${models[@]}"; do
  if [ ! -f "$folder/$model.pml" ]; then
    echo "no such model: $model" >&2
    exit 2
  fi
  if [ -n "$trail" ]; then
    search "$model" "$trail"
    ls "$work"/*.trail >/dev/null 2>&1 || { grep -v '^Depth=' "$work/report"; echo "no trail: spin found no error"; exit 1; }
    cd "$work" && spin "-DBROKEN=$trail" -k "$model.pml.trail" -t -p -g -l "$folder/$model.pml"
    exit 0
  fi

  name=$(proof_of "$model")
  recall "$name" && continue
  : >"$work/proof"
  failed_before=$failed
  failed=0
  prove "$model" "$model"
  while IFS=: read -r also why; do
    # shellcheck disable=SC2086
    prove "$model" "$model" ${also#// ALSO }
  done < <(grep '^// ALSO -.*: ' "$folder/$model.pml")

  while IFS=: read -r broken why; do
    number=${broken#// BROKEN=}
    search "$model" "$number"
    error=$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth [0-9]*)$/\1/p' "$work/report" | head -n 1)
    if said 'errors: 1$' && [ -n "$error" ]; then
      verdict ok "$model/$number" "rejected:$why"
    else
      verdict FAILED "$model/$number" "not rejected:$why"
    fi
  done < <(grep '^// BROKEN=[0-9]*: ' "$folder/$model.pml")
  if [ "$failed" = 0 ]; then keep "$name" "$work/proof"; fi
  [ "$failed_before" = 0 ] || failed=1
done
exit $failed
