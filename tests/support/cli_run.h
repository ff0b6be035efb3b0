/* SPDX-License-Identifier: MIT */
/* cli_run.h: the tool as a user runs it, in a folder of its own. */
#ifndef CAROM_TESTS_CLI_RUN_H
#define CAROM_TESTS_CLI_RUN_H

#include "tests/support/test.h"

#define SAID_SIZE ((size_t)1 << 23)

extern char said[];   /* by the last command, stderr too; SAID_SIZE */
extern char folder[]; /* where it ran */

/* Makes the folder; false when it cannot. cli_run_end removes it and returns what main should. */
bool cli_run_begin(const char *name);
int cli_run_end(int failed);

/* Runs `carom ...` in the folder and returns its exit code. */
int carom(const char *arguments);

/* Runs a line of shell in the folder, with "$carom" for the tool, and returns its exit code. */
int shell(const char *line);

void assert_said(const char *words);
void assert_not_said(const char *words);

/* A file of the folder, whole; what is read may also have an absolute name. */
void write_file(const char *name, const char *text);
void read_file(const char *name, char *text, size_t size);

#endif
