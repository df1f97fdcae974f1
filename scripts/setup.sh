#!/usr/bin/env bash
# Brings a Debian 12 machine to where the tree builds: Debian packages, and a prefix with everything else.
# Safe to run again: it does only what is missing, and needs no network when nothing is.
#
#   .deps/venv              Python packages, pinned by hash (requirements.txt)
#   .deps/onnx              the ONNX C++ library, static, built here once for each recipe
#   .deps/runtimes/*.so     ONNX Runtime and LiteRT, which `gantry verify` opens, and HiGHS for the layout engine
#   .deps/highs             the HiGHS solver: include/, lib/
#   .deps/node_tests        ONNX's own operator tests, as files
#
# GANTRY_DEPS=DIR (from the tree's root, or absolute) puts the prefix elsewhere; CMake reads the same variable.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scripts=$root/scripts
cd "$root"
mkdir -p "${GANTRY_DEPS:=.deps}"
deps=$(cd "$GANTRY_DEPS" && pwd)

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

packages=(
  g++ cmake ninja-build ccache python3 python3-venv git binutils
  protobuf-compiler libprotobuf-dev libprotozero-dev zlib1g-dev
  flatbuffers-compiler libflatbuffers-dev
  libboost-dev libboost-filesystem-dev libboost-graph-dev
  libtomlplusplus-dev libspdlog-dev libcli11-dev nlohmann-json3-dev libhdf5-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev
)

install_packages() {
  command -v dpkg-query >/dev/null || die "this script knows Debian only; install the counterparts of: ${packages[*]}"
  local package missing=()
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "run as root, or install: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}

# The machine's own Python first: one that a version manager provides may come and go. The wheels are CPython 3.11's.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 /usr/bin/python3.11 python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  die "no Python 3.11 with venv found"
}

make_venv() {
  local venv=$deps/venv stamp
  stamp=$(sha256sum <"$scripts/requirements.txt")
  [[ -f $venv/stamp && $(<"$venv/stamp") == "$stamp" ]] && return
  say "installing Python packages into ${venv#"$root"/}"
  rm -rf "$venv"
  "$(find_python)" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check \
    --only-binary=:all: --require-hashes -r "$scripts/requirements.txt"
  echo "$stamp" >"$venv/stamp"
}

# build_onnx DESTINATION. The unity build takes a third less time; "protobuf shared" only makes ONNX's package
# look protobuf up the way Debian has it (Gantry links protobuf statically all the same).
build_onnx() {
  local work
  work=$(mktemp -d "$deps/onnx-build.XXXXXX")
  "$deps/venv/bin/python" -m pip download --quiet --no-input --disable-pip-version-check --no-deps --no-binary onnx \
    --require-hashes -r "$scripts/requirements-onnx-source.txt" -d "$work"
  mkdir "$work/source"
  tar -xzf "$work"/onnx-*.tar.gz -C "$work/source" --strip-components=1
  sed -i '1,5s/VERSION 3\.26/VERSION 3.25/' "$work/source/CMakeLists.txt"

  local options=(
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DONNX_USE_UNITY_BUILD=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON
    -DPython3_EXECUTABLE="$deps/venv/bin/python" -DCMAKE_INSTALL_PREFIX="$work/prefix" -DCMAKE_INSTALL_LIBDIR=lib
  )
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S "$work/source" -B "$work/build" -G Ninja "${options[@]}" >"$work/log" 2>&1 &&
    cmake --build "$work/build" --parallel "$(nproc)" >>"$work/log" 2>&1 &&
    cmake --install "$work/build" >>"$work/log" 2>&1 ||
    { tail -n 30 "$work/log" >&2; die "the ONNX library did not build; the whole log is $work/log"; }
  rm -rf "$1"
  mv "$work/prefix" "$1"
  rm -rf "$work"
}

# The prefix is named after all that shaped it; it gets its name only when it is complete.
make_onnx() {
  local version recipe name
  version=$(sed -n 's/^onnx==\([0-9.]*\).*/\1/p' "$scripts/requirements-onnx-source.txt")
  recipe=$({ declare -f build_onnx; cat "$scripts/requirements-onnx-source.txt"; c++ -dumpfullversion -dumpmachine; dpkg-query -W libprotobuf-dev; } | sha256sum | cut -c1-12)
  name=onnx-$version-$recipe
  if [[ ! -d $deps/$name ]]; then
    say "building ONNX $version (two to four minutes on two cores)"
    rm -rf "$deps"/onnx-build.*
    build_onnx "$deps/$name"
  fi
  ln -sfn "$name" "$deps/onnx"
}

# ONNX's own operator tests, for tests/nodes/. Named after what shaped them, complete once they have their name.
make_node_tests() {
  local name work
  name=node_tests-$({ grep '^onnx==' "$scripts/requirements.txt"; cat "$scripts/write_node_tests.py"; } | sha256sum | cut -c1-12)
  if [[ ! -d $deps/$name ]]; then
    say "writing ONNX's operator tests"
    work=$(mktemp -d "$deps/node-tests.XXXXXX")
    "$deps/venv/bin/python" "$scripts/write_node_tests.py" "$work/tests" >"$work/log" 2>&1 ||
      { tail -n 30 "$work/log" >&2; die "ONNX's operator tests were not written"; }
    mv "$work/tests" "$deps/$name"
    rm -rf "$work"
  fi
  ln -sfn "$name" "$deps/node_tests"
}

link_wheels() {
  local site
  site=$("$deps/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$deps/runtimes"
  link_relative "$site"/onnxruntime/capi/libonnxruntime.so.* "$deps/runtimes/libonnxruntime.so"
  link_relative "$site"/ai_edge_litert/libLiteRt.so "$deps/runtimes/libLiteRt.so"
  link_relative "$site"/highsbox/highs_dist "$deps/highs"
  link_relative "$site"/highsbox/highs_dist/lib/libhighs.so "$deps/runtimes/libhighs.so"
}

link_relative() {
  [[ -e $1 ]] || die "expected $1 in the wheel"
  ln -sfnr "$1" "$2"
}

exec 9>"$deps/.lock"
flock -n 9 || { say "waiting for another set-up to finish"; flock 9; }
began=$SECONDS
install_packages
make_venv
make_onnx
make_node_tests
link_wheels
say "ready in $((SECONDS - began)) s"
