/* SPDX-License-Identifier: MIT */
/* Runs the tool through a pipe. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/cli_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char said[SAID_SIZE];
char folder[256];

bool cli_run_begin(const char *name) {
    snprintf(folder, sizeof(folder), "/tmp/carom_%s_XXXXXX", name);
    return mkdtemp(folder) != NULL;
}

int cli_run_end(int failed) {
    char command[300];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command) == 0 ? failed : 1;
}

int carom(const char *arguments) {
    char line[2048];
    int length = snprintf(line, sizeof(line), "\"$carom\" %s 2>&1 </dev/null", arguments);
    assert_true(length > 0 && (size_t)length < sizeof(line));
    return shell(line);
}

int shell(const char *line) {
    char command[4096];
    int length = snprintf(command, sizeof(command), "cd '%s' && carom='%s/carom' && %s", folder,
                          CAROM_BINARY_DIR, line);
    assert_true(length > 0 && (size_t)length < sizeof(command));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, SAID_SIZE - 1, pipe)] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void assert_said(const char *words) {
    if (strstr(said, words) == NULL) fail_msg("no \"%s\" in:\n%s", words, said);
}

void assert_not_said(const char *words) {
    if (strstr(said, words) != NULL) fail_msg("\"%s\" in:\n%s", words, said);
}

void write_file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

void read_file(const char *name, char *text, size_t size) {
    char path[512];
    snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/",
             name);
    FILE *in = fopen(path, "r");
    if (in == NULL) fail_msg("%s is not there", name);
    text[fread(text, 1, size - 1, in)] = '\0';
    fclose(in);
}
