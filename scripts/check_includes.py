#!/usr/bin/env python3
"""Checks who may include whom (docs/architecture.md, "the house"). Prints file:line: reason; exits 1 if there is any.

  sdk/include/gantry/abi.h   headers of C only
  sdk/ plugins/ examples/    the standard library and <gantry/...>; plugins and examples also their own folder,
                             and a plugin the libraries of LIBRARIES
  host/ir/                   the standard library and itself
  host/<folder>/             the folders of USES; host/*.cpp and host/*.hpp: all but cli
  headers                    no third-party library, so that its types stay inside .cpp files
Nothing but host/cli/ includes host/cli/. Tests and benchmarks may include what they test.
"""

import os
import pathlib
import re
import subprocess
import sys

C_HEADERS = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype".split()
)
CPP_HEADERS = {"c" + name for name in C_HEADERS} | set(
    "algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable "
    "coroutine deque exception execution expected filesystem format forward_list fstream functional future "
    "initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource "
    "mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set "
    "shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view strstream "
    "syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray "
    "variant vector version".split()
)
POSIX = re.compile(r"(sys|linux)/\w+\.h|(dlfcn|elf|fcntl|link|poll|pthread|unistd)\.h")
GENERATED = re.compile(r"\w+_(generated|bfbs)\.h")  # made in the build, of one folder of host/formats/

# What each folder of the host may include besides itself and the standard library.
USES = {
    "ir": set(),
    "report": {"ir"},
    "config": {"ir", "report"},
    "formats": {"ir", "report"},
    "passes": {"ir", "report", "layout"},
    "layout": {"ir", "report"},
    "plugins": {"ir", "report", "passes"},
    "verify": {"ir", "report"},
}
# A reader brings the meaning of its dialect's operators, so it implements this interface.
# Formats of the platform itself, which no library could be exchanged for.
SYSTEM = {("plugins", "elf.h"), ("plugins", "link.h")}
INTERFACES = {"formats": {"host/passes/semantics.hpp", "host/passes/states.hpp"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}


def is_c(name):
    return name.endswith(".h") and name[:-2] in C_HEADERS


def is_std(name):
    return is_c(name) or name in CPP_HEADERS


def check_abi(name):
    return None if is_c(name) else "abi.h includes headers of the C library only"


# Libraries that a plugin stands on. JSON is a value type that its files hand to one another.
LIBRARIES = {"keras": re.compile(r"hdf5(_hl)?\.h|zlib\.h|nlohmann/json\.hpp|(fcntl|poll|unistd|sys/resource|sys/wait)\.h"), "quant": re.compile(r"nlohmann/json\.hpp")}


def check_outside(path, quoted, name):
    """sdk/, plugins/ and examples/: what a plugin author has."""
    if is_std(name) or name.startswith("gantry/"):
        return None
    if path.parts[0] == "sdk":
        return "the SDK includes the standard library and itself only"
    libraries = LIBRARIES.get(path.parts[1]) if path.parts[0] == "plugins" else None
    if libraries and libraries.fullmatch(name):
        return None
    target = pathlib.PurePath(os.path.normpath(path.parent / name))
    if quoted and not name.startswith("host/") and target.parts[:2] == path.parts[:2]:
        return None
    return f"{path.parts[0]}/ includes the standard library, the SDK and its own folder only"


def check_host(path, quoted, name):
    folder = path.parts[1] if len(path.parts) > 2 else None
    if is_std(name) or (folder, name) in SYSTEM:
        return None
    if name.startswith("host/"):
        parts = pathlib.PurePosixPath(name).parts
        used = parts[1] if len(parts) > 2 else None
        if used == "cli" and folder != "cli":
            return "nothing includes host/cli/"
        if name == "host/version.hpp" or used == folder or folder in (None, "cli"):
            return None
        if used in USES[folder] or name in INTERFACES.get(folder, ()):
            return None
        return f"host/{folder}/ may include {', '.join(sorted(USES[folder])) or 'itself'} only, not {used or 'host/'}"
    if name.startswith("gantry/"):
        return None if folder == "plugins" else "only host/plugins/ knows the SDK"
    if folder == "ir":
        return "host/ir/ includes the standard library only"
    if path.suffix != ".cpp":
        return "third-party and system headers are included in .cpp files only"
    if GENERATED.fullmatch(name):
        owner = "host/formats/onnx" if name.startswith("onnx_") else "host/formats/tflite"
        return None if path.is_relative_to(owner) else f"only {owner}/ includes it"
    if quoted and not POSIX.fullmatch(name):
        return 'files of the tree are included by their path from the root: "host/..."'
    return None


def check(path, quoted, name):
    if path.as_posix() == "sdk/include/gantry/abi.h":
        return check_abi(name)
    if path.parts[0] in ("sdk", "plugins", "examples"):
        return check_outside(path, quoted, name)
    if path.parts[0] == "host":
        return check_host(path, quoted, name)
    return "nothing includes host/cli/" if name.startswith("host/cli/") else None


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout
    problems = files = 0
    for path in sorted(pathlib.Path(p) for p in listing.split("\0") if p):
        if path.suffix not in SUFFIXES or not (root / path).is_file():
            continue
        files += 1
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            reason = check(path, found[1] == '"', found[2]) if found else None
            if reason:
                problems += 1
                print(f"{path}:{number}: {found[2]}: {reason}")
    print(f"check_includes: {files} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
