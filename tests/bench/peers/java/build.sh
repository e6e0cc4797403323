#!/usr/bin/env bash
# build.sh FOLDER SUITE: compiles FOLDER/bench_fork_join_java, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = fork_join ] || exit 0
out=$(mkdir -p "$1" && cd "$1" && pwd)
name=bench_fork_join_java
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v javac >/dev/null || give_up "no javac (Debian: openjdk-17-jdk-headless)"
if ! javac -d "$out/java-classes" "$(dirname "$0")"/*.java >"$out/$name.log" 2>&1; then
  give_up "javac: $(head -1 "$out/$name.log")"
fi
# ParallelGC, which is the default of neither one nor two CPUs, so that both rows have the same; deep trees need stack.
cat >"$out/$name" <<END
#!/bin/sh
exec java -XX:+UseParallelGC -Xss256m -cp "$out/java-classes" ForkJoin "\$@"
END
chmod +x "$out/$name"
