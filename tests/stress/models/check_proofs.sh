#!/usr/bin/env bash
# check_proofs.sh: a kept proof stands for the text that was proved, and for no other; what failed is not kept.
# SPDX-License-Identifier: MIT
#
# On a model of four lines, in a folder of its own. Exit status 77 (a skip) as check_models.sh has it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TANDEM_PROOFS=$work/proofs
mkdir "$work/models"
cp "$here/check_models.sh" "$here/store_buffer.pml" "$work/models"

model() {  # WHAT-THE-GOOD-VARIANT-ASSERTS: a model of one step; variant 1 always fails
  cat >"$work/models/tiny.pml" <<END
// BROKEN=1: the step is left out
byte steps;
active proctype actor() {
  if :: BROKEN == 0 -> steps++ :: else -> skip fi;
  assert($1)
}
END
}
# run STATUS WORDS|-: what check_models.sh has to answer; "-" where WORDS must not be said
run() {
  local wanted=$1 status=0 output
  shift
  output=$("$work/models/check_models.sh" tiny 2>&1) || status=$?
  [ "$status" = 77 ] && { echo "$output"; exit 77; }
  if [ "$status" != "$wanted" ]; then echo "exit status $status instead of $wanted: $output"; exit 1; fi
  if [ "$1" = - ]; then
    ! grep -q 'proved before' <<<"$output" || { echo "an old proof was taken: $output"; exit 1; }
  else
    grep -q -- "$1" <<<"$output" || { echo "'$1' is missing: $output"; exit 1; }
  fi
}

model 'steps == 1'
run 0 -
run 0 'proved before'
TANDEM_PROOFS=none run 0 -
model 'steps == 2'   # another text, and a wrong one
run 1 -
run 1 -
model 'steps == 1'
run 0 'proved before'
echo '// what is included belongs to the proof' >>"$work/models/store_buffer.pml"
run 0 -
echo "a proof is kept for its own text"
