/* SPDX-License-Identifier: MIT */
/* What the files of a test program share of our part of cmocka. */
#include "cmocka.h"

jmp_buf own_cmocka_end;
const char *own_cmocka_filter;
