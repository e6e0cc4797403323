#!/usr/bin/env bash
# cargo_peer.sh SOURCE CRATE NAME FOLDER: builds FOLDER/NAME of SOURCE with Debian's CRATE, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
from=$1 crate=$2 name=$3
out=$(mkdir -p "$4" && cd "$4" && pwd)
crates=${TANDEM_CARGO_REGISTRY:-/usr/share/cargo/registry}
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v cargo >/dev/null || give_up "no cargo (Debian: cargo)"
found=$(find "$crates" -maxdepth 1 -name "$crate-[0-9]*" 2>/dev/null | sort | tail -1 || true)
[ -n "$found" ] || give_up "no $crate in $crates (Debian: librust-$crate-dev)"

# A copy: cargo writes its lock file beside the manifest.
source=$out/$name-source
mkdir -p "$source/.cargo"
cp -r "$from"/{Cargo.toml,build.rs,src} "$source"
cat >"$source/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$crates"
END
cd "$source"
export "BENCH_${crate^^}_VERSION=$crate ${found##*/"$crate"-}" CARGO_TARGET_DIR=$out/$name-target
if ! RUSTFLAGS="-C target-cpu=native" cargo build --quiet --release --offline >"$out/$name.log" 2>&1; then
  give_up "$crate does not build: $(grep -m1 -E '^(error|warning: .*required)' "$out/$name.log" || tail -1 "$out/$name.log")"
fi
cp "$CARGO_TARGET_DIR/release/$name" "$out/$name"
