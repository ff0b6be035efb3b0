#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What systems do differently is in the platform files alone: src/base/platform* and cli/platform*. Elsewhere in src,
# cli, scenes and bench no macro of a system or processor is asked for, and none of their headers is included. (Vectors
# are for src/base/simd.h; check_sources.sh sees to that. CUDA and the public header's export macro are not systems.)
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(scripts/sources.sh '\.c' '\.h' | grep -E '^(src|cli|scenes|bench)/' |
    grep -vE '^(src/base|cli)/platform(_[a-z]+)?\.[ch]$|^src/base/simd\.h$|^bench/peers/')
[ "$(wc -l <<<"$files")" -gt 200 ] || { echo "sources not found"; exit 1; }
macros='_WIN32|_WIN64|__MINGW[A-Z0-9_]*|_MSC_VER|__linux__|__unix__|__APPLE__|__MACH__|__(Free|Net|Open)BSD__|__DragonFly__|__wasi__|__wasm[a-z0-9_]*|__EMSCRIPTEN__|__ANDROID__|__GLIBC__|__x86_64__|__i386__|__aarch64__|__arm__|__s390x__|__BYTE_ORDER__'
bad=$(grep -nE "\b($macros)\b" $files || true)
[ -z "$bad" ] || { echo "macros of systems are for the platform files (src/base/platform.h, cli/platform.h):"; echo "$bad"; exit 1; }
headers='unistd|fcntl|fnmatch|glob|regex|ftw|libgen|langinfo|wordexp|search|netdb|pwd|grp|poll|pthread|dlfcn|sched|strings|dirent|spawn|termios|sys/[a-z_]+|mach[-/a-z_o]*|windows|io|direct|process|shellapi|malloc|endian|byteswap'
bad=$(grep -nE "# *include *<($headers)\.h>" $files || true)
[ -z "$bad" ] || { echo "headers of systems are for the platform files; call carom_os_* or platform_*:"; echo "$bad"; exit 1; }
bad=$(grep -nE '# *define _(GNU_SOURCE|POSIX_C_SOURCE|XOPEN_SOURCE|DARWIN_C_SOURCE|DEFAULT_SOURCE|BSD_SOURCE)' $files || true)
[ -z "$bad" ] || { echo "only the platform files ask for more than C11:"; echo "$bad"; exit 1; }
