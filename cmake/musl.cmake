# SPDX-License-Identifier: MIT
# Toolchain: Linux with musl on x86-64 (Debian's musl-tools), statically; tests run as they are.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
