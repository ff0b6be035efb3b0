/* SPDX-License-Identifier: MIT */
/* glob.h: patterns for names, as shells have them, on every system. */
#ifndef CAROM_CLI_GLOB_H
#define CAROM_CLI_GLOB_H

#include <stdbool.h>

/* Whether the pattern matches the whole text: * takes any characters, / among them, ? takes one,
 * [a-z] one of a set and [!a-z] one of all others; [:alpha:] and the like stand in sets for letters
 * of ASCII. After \ a character is itself, as is a [ whose ] is missing. */
bool glob_matches(const char *glob, const char *text);

#endif
