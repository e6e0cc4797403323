#!/usr/bin/env bash
# run.sh [CASE-REGEX]: installs tandem into fresh prefixes and uses it as others would.
# SPDX-License-Identifier: MIT
#
# Takes the static libraries of a release build (build/release, or the folder in TANDEM_PACKAGE_STATIC; built here if that
# is not configured), builds shared ones quickly, installs them alone and side by side, and builds and runs
# tests/package/consumer against each: find_package, pkg-config with a plain compiler, add_subdirectory, the preset
# `install` on a machine without the packages of tests and examples, one compiler's library used by the other one.
#
# Only where optimisation is the subject is anything optimised. Two lanes of cases run beside each other.
set -uo pipefail
cd "$(dirname "$0")/../.."
only=${1:-.}
root=$PWD
work=$root/build/package
consumer=$root/tests/package/consumer
start=$SECONDS
cxx=${CXX:-g++}
lane=main

tests/support/install_packages.sh build components debuggers || exit 1
launcher=$(command -v ccache || true)
# Builds have objects in common. The cache knows files by their paths from the folder of a build, so all of these lie equally
# deep: libraries/KIND, use/NAME.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
mkdir -p "$work"
rm -rf "$work"/prefix "$work"/use "$work"/libraries/preset
rm -f "$work/tests.counts"
: >"$work/results"

say() { printf '[package %3ds] %s\n' $((SECONDS - start)) "$*"; }
# check NAME COMMAND...: one case; its output is shown only if it fails.
check() {
  local name=$1 log=$work/log.$lane
  shift
  [[ $name =~ $only ]] || return 0
  if "$@" >"$log" 2>&1; then
    echo passed >>"$work/results"
    say "ok      $name"
  else
    echo failed >>"$work/results"
    say "FAILED  $name"
    head -n 200 "$log"
  fi
}
# What cases need. If it fails, the cases that need it do, too.
need() {  # WHAT COMMAND...
  local what=$1 log=$work/log.$lane
  shift
  "$@" >"$log" 2>&1 && return
  echo failed >>"$work/results"
  say "FAILED  $what"
  cat "$log"
  return 1
}
skip() {  # NAME WHY: a failure where everything has to be there
  [[ $1 =~ $only ]] || return 0
  if [ "${TANDEM_TEST_REQUIRE_ALL:-}" = 1 ]; then
    echo failed >>"$work/results"
    say "FAILED  $1: $2"
  else
    echo skipped >>"$work/results"
    say "skipped $1: $2"
  fi
}
count() { grep -cx "$1" "$work/results"; }
finish() {
  local passed failed skipped
  passed=$(count passed) failed=$(count failed) skipped=$(count skipped)
  echo "$passed $failed $skipped" >"$work/tests.counts"
  times >"$work/times"  # not in a subshell, which has times of its own
  say "$passed passed, $failed failed, $skipped skipped; CPU time of all it started, user and system: $(tail -1 "$work/times")"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

prepare_kind() {  # KIND CMAKE-ARGUMENT...: configures a build of the two libraries
  local kind=$1 shared=OFF
  shift
  [ "$kind" = shared ] && shared=ON
  cmake -S . -B "$work/libraries/$kind" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" -DBUILD_SHARED_LIBS=$shared \
    -DTANDEM_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_LIBDIR=lib "$@"
}
build_kind() { prepare_kind "$@" && cmake --build "$work/libraries/$1"; }
# Unoptimised, and the standard library is parsed once: half of the time. -fPIC everywhere, also in CMake's own try of the
# compiler: clang takes no precompiled header that differs in that.
quick_flags() { echo "-DCMAKE_CXX_FLAGS=-std=c++20 -DNDEBUG -fPIC -pthread -include $work/quick/$1/standard.hpp"; }
quick=(-DCMAKE_BUILD_TYPE=None "$(quick_flags "$cxx")")
prepare_quick() {  # COMPILER: precompiles what the libraries' sources include most
  local folder=$work/quick/$1 suffix=gch
  [[ $1 == clang* ]] && suffix=pch
  mkdir -p "$folder"
  printf '#include <%s>\n' algorithm array atomic chrono coroutine exception functional memory mutex optional \
    stdexcept stop_token string system_error thread tuple utility variant vector >"$folder/standard.hpp"
  # Objects that use it come from the compilers' cache in any checkout.
  tests/support/precompile.sh "$1" -std=c++20 -DNDEBUG -fPIC -pthread -fvisibility=hidden -fvisibility-inlines-hidden -x c++-header \
    "$folder/standard.hpp" -o "$folder/standard.hpp.$suffix"
}
# The static libraries are those of a release build.
static=${TANDEM_PACKAGE_STATIC:-$root/build/release}
fits() { grep -qxE "$1" "$static/CMakeCache.txt"; }
fits_components() {
  local component
  for component in "${components[@]}"; do fits "TANDEM_IO_${component^^}:BOOL=ON" || return 1; done
}
build_static() {
  if [ -f "$static/build.ninja" ] && fits 'TANDEM_IO_ASIO:BOOL=ON' && fits 'TANDEM_BUILD_IO:BOOL=ON' && fits 'TANDEM_IO_TLS:BOOL=ON' && fits_components && fits 'TANDEM_SANITIZE:STRING=' &&
    fits 'CMAKE_INSTALL_LIBDIR:.*=lib' && fits "CMAKE_CXX_COMPILER:.*=(.*/)?${cxx//+/[+]}"; then
    cmake --build "$static" --target tandem_runtime tandem_io tandem_io_tls "${components[@]/#/tandem_io_}"
  else
    static=$work/libraries/static
    build_kind static
  fi
}
install_into() {  # PREFIX KIND COMPONENT...
  local prefix=$work/prefix/$1 from=$work/libraries/$2 component
  [ "$2" = static ] && from=$static
  shift 2
  for component in "$@"; do
    cmake --install "$from" --prefix "$prefix" --component "$component" || return 1
  done
}

configure() {  # NAME PREFIX CMAKE-ARGUMENT...
  local name=$1 prefix=$2
  shift 2
  cmake -S "$consumer" -B "$work/use/$name" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$cxx" \
    ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher} -DCMAKE_PREFIX_PATH="$work/prefix/$prefix" "$@"
}
runs() {  # PROGRAM...: each is there and runs
  local program
  for program in "$@"; do timeout 60 "$program" || return 1; done
}
use() {  # NAME PREFIX "PROGRAMS" CMAKE-ARGUMENT...: configures, builds, runs; no other program is built
  local name=$1 prefix=$2 programs=$3 program
  shift 3
  configure "$name" "$prefix" "$@" && cmake --build "$work/use/$name" || return 1
  for program in $programs; do runs "$work/use/$name/$program" || return 1; done
  [ "$(find "$work/use/$name" -maxdepth 1 -name 'use_*' | wc -l)" = "$(wc -w <<<"$programs")" ]
}
fails_with() {  # REGEX COMMAND...: it fails with a message that matches
  local regex=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "succeeded, but should have failed"
    return 1
  fi
  echo "$output"
  # CMake breaks long messages into lines.
  tr -s ' \n' ' ' <<<"$output" | grep -qE -- "$regex"
}
refused() {  # REGEX NAME PREFIX CMAKE-ARGUMENT...: find_package fails with a message that matches
  local regex=$1
  shift
  fails_with "$regex" configure "$@"
}
without_liburing() { PKG_CONFIG_LIBDIR=/nonexistent "$@"; }
# Only these modules are there.
with_modules() {  # "MODULE..." COMMAND...
  local folder=$work/modules/${1// /_} module file
  mkdir -p "$folder"
  for module in $1; do
    file=$(pkg-config --variable=pcfiledir "$module")/$module.pc && cp "$file" "$folder/" || return 1
  done
  shift
  PKG_CONFIG_LIBDIR=$folder "$@"
}
without_openssl=-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
plain() {  # NAME PREFIX PROGRAM MODULE [--static]: a bare compiler and pkg-config, which says all that is needed
  local name=$1 prefix=$work/prefix/$2 program=$3 module=$4 flags optimise=${OPTIMISE:--O0}
  shift 4
  mkdir -p "$work/use/$name"
  flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs "$@" "$module") || return 1
  # shellcheck disable=SC2086
  "$cxx" "$optimise" "$consumer/$program.cpp" -o "$work/use/$name/$program" $flags &&
    LD_LIBRARY_PATH=$prefix/lib runs "$work/use/$name/$program"
}
needs() {  # PROGRAM REGEX: a direct dependency on such a shared library
  readelf -d "$1" | grep -E 'NEEDED.*\[' | grep -qE "\[$2"
}
needs_not() { ! needs "$@"; }
pkg_config_version_is_the_headers_one() {
  local version
  version=$(sed -n 's/.*TANDEM_VERSION_STRING "\(.*\)"/\1/p' "$work/prefix/both/include/tandem/version.hpp")
  [ "$version" = "$(PKG_CONFIG_PATH=$work/prefix/both/lib/pkgconfig pkg-config --modversion tandem-io)" ]
}
moved_prefix() { cp -a "$work/prefix/both" "$work/prefix/moved" && mv "$work/prefix/both" "$work/prefix/both.away"; }
back() { mv "$work/prefix/both.away" "$work/prefix/both"; }
no_io_files() { [ -z "$(find "$work/prefix/runtime_only" -path '*io*' -type f | grep -E '/io/|tandem[-_]io')" ]; }
names_no_build_path() { ! grep -rlF "$root" "$work/prefix/both" --include='*.cmake' --include='*.pc' --include='*.hpp'; }
only_tandem_symbols() {  # SHARED LIBRARY: nothing of its own is exported outside the namespace
  [ -f "$1" ] &&
    ! nm -DC --defined-only "$1" | awk '{$1=""; print}' | grep -vE 'tandem|std::|__gnu_cxx|operator (new|delete)' | grep -E ' [TDBR] '
}
no_other_asio() {  # LIBRARY: the Asio that was compiled into it cannot meet the one of a program
  nm -C --defined-only "$1" 2>/dev/null | grep -F tandem_private_asio >/dev/null &&
    ! nm -C --defined-only "$1" 2>/dev/null | grep -v tandem | grep -E 'asio(::|_detail|_handler)'
}
builds_no_components() {
  with_modules liburing prepare_kind no_components &&
    ! grep -qE "tandem_io_($(IFS='|' && echo "${components[*]}"))" "$work/libraries/no_components/build.ninja"
}
builds_no_tls() {
  prepare_kind no_openssl $without_openssl && ! grep -q tandem_io_tls "$work/libraries/no_openssl/build.ninja"
}
first_chapter() {
  consumer=$root/examples/guide/first_task configure first_chapter runtime_only && cmake --build "$work/use/first_chapter" &&
    runs "$work/use/first_chapter/first_task"
}

# A program stops at its main(), where no runtime lives yet, and the scripts say so.
says_no_runtime() { local output; output=$("$@" 2>&1 </dev/null); echo "$output"; grep -qx "no runtime lives" <<<"$output"; }
in_gdb() {  # PROGRAM GDB-ARGUMENT...
  local program=$1
  shift
  LD_LIBRARY_PATH=$work/prefix/shared/lib says_no_runtime timeout 60 gdb -nx -q -batch -iex "set debuginfod enabled off" "$@" -ex "break main" -ex run -ex "tandem tasks" "$program"
}
in_lldb() {  # PROGRAM PREFIX
  LD_LIBRARY_PATH=$work/prefix/shared/lib says_no_runtime timeout 60 lldb-19 --no-lldbinit -b -o "command script import $work/prefix/$2/share/tandem/debuggers/tandem_lldb.py" \
    -o "breakpoint set -n main" -o run -o "tandem tasks" "$1"
}
debuggers_know() {  # KIND
  local program=$work/use/$1/use_runtime data=$work/prefix/$1/share
  if command -v gdb >/dev/null; then
    check "gdb, $1: it has the scripts out of the program or its library" in_gdb "$program" -iex "set auto-load safe-path /"
    check "gdb, $1: the installed scripts" in_gdb "$program" -iex "set auto-load python-scripts off" -ex "source $data/tandem/debuggers/tandem_gdb.py"
    [ "$1" = static ] || check "gdb, $1: the script that is installed for the library" in_gdb "$program" -iex "set auto-load scripts-directory $data/gdb/auto-load" \
      -iex "set auto-load safe-path $data/gdb/auto-load"
  else
    skip "gdb, $1" "gdb is not installed"
  fi
  if command -v lldb-19 >/dev/null; then
    check "lldb, $1: the installed scripts" in_lldb "$program" "$1"
  else
    skip "lldb, $1" "lldb-19 is not installed"
  fi
}

io='-DCONSUMER_COMPONENTS=runtime;io'
tls='-DCONSUMER_COMPONENTS=io_tls'
components=(curl postgres redis sqlite)
declare -A library_of=([curl]=libcurl [postgres]=libpq [redis]=libhiredis [sqlite]=libsqlite3)
all="use_runtime use_io use_tls ${components[*]/#/use_}"

# A library of one compiler, a user of the other one: the two ways of resuming have to mix, and tasks that the
# library returns have to come back in the same way.
by_default_in_register() {
  prepare_kind clang_default &&
    [ "$(grep -ohE 'runtime/abi/task_[a-z_]+' "$work/libraries/clang_default/build.ninja" | sort -u)" = runtime/abi/task_in_register ]
}
in_register() {  # PREFIX: as if another library's build_abi.hpp had been installed over the prefix's own
  mkdir -p "$work/prefix/in_register"
  cp -a "$work/prefix/$1/." "$work/prefix/in_register" &&
    cp runtime/abi/task_in_register/tandem/detail/build_abi.hpp "$work/prefix/in_register/include/tandem/detail/"
}

# With the static libraries; what is built beside them; the other compiler.
lane_of_static() {
  lane=static
  check "runtime alone: found, built, run" use runtime_alone runtime_only use_runtime -DCONSUMER_COMPONENTS=runtime
  check "runtime alone: found without naming components" use runtime_default runtime_only use_runtime
  check "runtime alone: nothing of io is installed" no_io_files
  check "runtime alone: io is refused" refused 'io is not installed as a static library' no_io runtime_only "$io"
  check "runtime alone: shared is refused" refused 'runtime is not installed as a shared library' no_shared runtime_only \
    -DCONSUMER_COMPONENTS=shared
  check "runtime alone: the only kind is taken whatever BUILD_SHARED_LIBS says" use only_kind runtime_only use_runtime \
    -DBUILD_SHARED_LIBS=ON -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY

  check "static: runtime and io" use static static "use_runtime use_io" "$io" -DCMAKE_BUILD_TYPE=Release -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY
  check "static: the program needs no libtandem" needs_not "$work/use/static/use_io" libtandem
  debuggers_know static
  check "static: liburing comes with io" needs "$work/use/static/use_io" liburing
  check "static: without liburing io is refused" without_liburing refused 'needs liburing' no_liburing static "$io"
  check "static: without liburing runtime is found" without_liburing use runtime_no_liburing static use_runtime \
    -DCONSUMER_COMPONENTS=runtime

  check "static: io_tls is not installed, and refused" refused 'io_tls is not installed as a static library' no_tls static "$tls"
  check "TLS, static: found by its name alone, built, run" use tls_static tls "use_runtime use_io use_tls" "$tls" -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY
  check "TLS, static: OpenSSL comes with it" needs "$work/use/tls_static/use_tls" libssl
  check "TLS, static: who does not ask for it needs no OpenSSL" use tls_unused tls "use_runtime use_io" "$io" $without_openssl
  check "TLS, static: without OpenSSL it is refused" refused 'needs OpenSSL >= 3\.0 \(Debian: apt-get install libssl-dev\)' no_openssl tls \
    "$tls" $without_openssl
  check "TLS, pkg-config: static" plain plain_tls tls use_tls tandem-io_tls --static
  check "TLS: without OpenSSL it is not built" builds_no_tls
  check "TLS: without OpenSSL it cannot be asked for" fails_with 'TANDEM_IO_TLS needs OpenSSL >= 3\.0' prepare_kind tls_refused \
    -DTANDEM_IO_TLS=ON $without_openssl

  for component in "${components[@]}"; do
    local asked=-DCONSUMER_COMPONENTS=io_$component
    check "$component: not installed, it is refused" refused "io_$component is not installed as a static library" "no_$component" static "$asked"
    check "$component, static: found by its name alone, built, run" use "${component}_static" components "use_runtime use_io use_$component" "$asked"
    check "$component, static: its library comes with it" needs "$work/use/${component}_static/use_$component" "${library_of[$component]}"
    check "$component, static: without its library it is refused" with_modules liburing refused "static tandem::io_$component needs .* apt-get install" \
      "without_$component" components "$asked"
    check "$component, pkg-config: static" plain "plain_$component" components "use_$component" "tandem-io_$component" --static
  done
  check "components, static: without their libraries a program that names none is built as before" with_modules liburing use \
    components_unnamed components "use_runtime use_io" $without_openssl
  check "components: without their libraries they are not built" builds_no_components
  check "components: without its library one cannot be asked for" with_modules liburing fails_with 'TANDEM_IO_SQLITE needs SQLite >= 3.40' \
    prepare_kind sqlite_refused -DTANDEM_IO_SQLITE=ON

  check "static: the check for g++ 12 comes along" "$work/prefix/static/bin/tandem-gcc12-check" --help
  check "static: its Asio is its own" no_other_asio "$work/prefix/static/lib/libtandem_io.a"

  OPTIMISE=-O2 check "pkg-config: runtime alone" plain plain_runtime runtime_only use_runtime tandem-runtime
  OPTIMISE=-O2 check "pkg-config: static" plain plain_static static use_io tandem-io --static
  check "guide: the project of its first chapter" first_chapter

  check "add_subdirectory: static" use subdirectory none "$all" "-DCONSUMER_SOURCE_DIR=$root" "${quick[@]}" \
    -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY
  check "add_subdirectory: runtime alone" use subdirectory_runtime none use_runtime "-DCONSUMER_SOURCE_DIR=$root" "${quick[@]}" \
    -DTANDEM_BUILD_IO=OFF

  tests/package/without_packages.sh true >"$work/log.$lane" 2>&1
  if [ $? = 77 ]; then
    skip "preset install: $preset_law" "$(cat "$work/log.$lane")"
  else
    check "preset install: $preset_law" without_packages install_by_preset
    check "preset install: what it installs is found and runs" use preset preset "$all"
  fi

  command -v clang++-19 >/dev/null || return
  check "g++ cannot pass tasks in registers" fails_with 'TANDEM_TASK_IN_REGISTER needs clang' \
    prepare_kind refused -DTANDEM_TASK_IN_REGISTER=ON
  in_register static
  check "g++ on a library that passes tasks in registers: refused" fails_with 'build with -DTANDEM_TASK_IN_REGISTER=OFF' \
    plain gcc_in_register in_register use_runtime tandem-runtime --static
  cxx=clang++-19
  check "clang++-19 on the static library of g++" use clang_static static "$tasks" "$io" -DCONSUMER_TASKS=ON -DCMAKE_BUILD_TYPE=Release
  check "clang++-19 with headers of another library than that of g++: does not link" fails_with 'allocate_frame.*task_in_register' \
    plain clang_in_register in_register use_runtime tandem-runtime --static
  check "clang++-19 passes tasks in registers unless told otherwise" by_default_in_register
}

# With the shared libraries, and with both kinds in one prefix.
lane_of_shared() {
  lane=shared
  need "built: the shared libraries" build_shared && need "installed: the shared libraries" install_shared || return
  check "shared: runtime and io" use shared shared "use_runtime use_io" "$io" -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  check "shared: the program needs libtandem_io with its soversion" needs "$work/use/shared/use_io" 'libtandem_io\.so\.[0-9]'
  debuggers_know shared
  check "shared: the program does not need liburing itself" needs_not "$work/use/shared/use_io" liburing
  check "shared: without liburing io is found" without_liburing use shared_no_liburing shared "use_runtime use_io" "$io"
  for part in runtime io; do
    check "shared: libtandem_$part exports nothing but tandem" only_tandem_symbols "$work/prefix/shared/lib/libtandem_$part.so"
  done

  check "both: static by default" use both_default both "$all" -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY
  check "both: shared by BUILD_SHARED_LIBS" use both_bsl both "$all" -DBUILD_SHARED_LIBS=ON \
    -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  check "both: TANDEM_SHARED beats BUILD_SHARED_LIBS" use both_variable both "$all" -DBUILD_SHARED_LIBS=ON \
    -DTANDEM_SHARED=OFF -DCONSUMER_EXPECT_KIND=STATIC_LIBRARY
  check "both: a component beats TANDEM_SHARED" use both_component both "use_runtime use_io" -DTANDEM_SHARED=OFF \
    "-DCONSUMER_COMPONENTS=runtime;io;shared" -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  check "TLS, shared: without OpenSSL it is found" use tls_shared both "use_runtime use_io use_tls" "$tls;shared" $without_openssl -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  check "TLS, shared: the program does not need OpenSSL itself" needs_not "$work/use/tls_shared/use_tls" libssl
  check "TLS, shared: the library does" needs "$work/prefix/both/lib/libtandem_io_tls.so" libssl
  check "TLS, shared: libtandem_io_tls exports nothing but tandem" only_tandem_symbols "$work/prefix/both/lib/libtandem_io_tls.so"
  check "TLS, pkg-config: shared" plain plain_tls_shared both use_tls tandem-io_tls
  check "components, shared: all are found without their libraries, built, run" with_modules liburing use components_shared both "$all" \
    -DTANDEM_SHARED=ON -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  for component in "${components[@]}"; do
    check "$component, shared: the program does not need its library itself" needs_not "$work/use/components_shared/use_$component" \
      "${library_of[$component]}"
    check "$component, shared: libtandem_io_$component does" needs "$work/prefix/both/lib/libtandem_io_$component.so" "${library_of[$component]}"
    check "$component, shared: it exports nothing but tandem" only_tandem_symbols "$work/prefix/both/lib/libtandem_io_$component.so"
    check "$component, pkg-config: shared" plain "plain_${component}_shared" both "use_$component" "tandem-io_$component"
  done
  check "both: static and shared at once is refused" refused 'static and shared exclude each other' both_kinds both \
    "-DCONSUMER_COMPONENTS=static;shared"
  check "both: an unknown component is refused" refused "no component 'foo'" unknown both -DCONSUMER_COMPONENTS=foo
  check "both: another version is refused" refused 'compatible with requested version "99.0"' version both -DCONSUMER_VERSION=99.0
  check "both: no file names the build's folders" names_no_build_path
  moved_prefix
  check "both: the prefix may be moved" use moved moved "use_runtime use_io" "$io"
  check "both: shared ones too" use moved_shared moved "use_runtime use_io" "$io;shared" -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY
  check "both: and its pkg-config files too" plain moved_plain moved use_io tandem-io
  back

  check "pkg-config: shared" plain plain_shared shared use_io tandem-io
  check "pkg-config: its version is that of the headers" pkg_config_version_is_the_headers_one

  check "add_subdirectory: shared" use subdirectory_shared none "$all" "-DCONSUMER_SOURCE_DIR=$root" "${quick[@]}" \
    -DBUILD_SHARED_LIBS=ON -DCONSUMER_EXPECT_KIND=SHARED_LIBRARY

  command -v clang++-19 >/dev/null || return
  cxx=clang++-19
  check "clang++-19 on the shared library of g++" use clang_shared shared "$tasks" "$io" -DCONSUMER_TASKS=ON
  check "clang++-19 with TANDEM_TASK_IN_REGISTER=OFF: built" build_clang
  cxx=g++
  check "g++ on the static library of clang++-19" use gcc_clang clang "$tasks" "$io" -DCONSUMER_TASKS=ON
}

preset_law="the libraries alone, where no package of tests and examples is installed"
# The README's line, but for the folder of the build and the optimisation, which takes long.
install_by_preset() {
  local folder=$work/libraries/preset
  cmake --preset install -B "$folder" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_INSTALL_PREFIX="$work/prefix/preset" -DCMAKE_INSTALL_LIBDIR=lib "${quick[@]}" &&
    cmake --build "$folder" --target install &&
    [ "$(find "$folder" -name '*.o' -path '*/tests/*' -o -name '*.o' -path '*/examples/*' | wc -l)" = 0 ]
}
# A function of this script, there.
without_packages() { tests/package/without_packages.sh bash -c "$(declare -p work quick cxx); $(declare -f "$1"); $1"; }
tasks="use_runtime use_io use_tasks"
install_static() {
  install_into runtime_only static runtime && install_into static static runtime io && install_into both static runtime io io_tls "${components[@]/#/io_}" &&
    install_into tls static runtime io io_tls && install_into components static runtime io io_tls "${components[@]/#/io_}"
}
build_shared() { build_kind shared "${quick[@]}"; }
install_shared() { install_into shared shared runtime io && install_into both shared runtime io io_tls "${components[@]/#/io_}"; }
build_clang() {
  prepare_quick clang++-19 || return
  build_kind clang -DTANDEM_TASK_IN_REGISTER=OFF -DCMAKE_BUILD_TYPE=None "$(quick_flags clang++-19)" -DTANDEM_IO_ASIO=OFF \
    -DTANDEM_IO_TLS=OFF -DTANDEM_IO_CURL=OFF -DTANDEM_IO_POSTGRES=OFF -DTANDEM_IO_REDIS=OFF -DTANDEM_IO_SQLITE=OFF &&
    install_into clang clang runtime io
}

say "the static libraries"
need "built: the static libraries" build_static || finish
need "installed: the static libraries" install_static || finish
need "precompiled: the standard library" prepare_quick "$cxx" || finish
say "the shared libraries and the cases"
lane_of_static &
lane_of_shared &
wait
command -v clang++-19 >/dev/null || skip "clang++-19 and g++ together" "clang++-19 is not installed"
finish
