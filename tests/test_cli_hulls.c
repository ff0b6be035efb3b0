/* SPDX-License-Identifier: MIT */
/* carom hulls, as a user runs it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "tests/support/test.h"

static char folder[256];
static char said[65536]; /* by the last command, stderr too */

/* Runs `carom ...` in a folder of its own and returns its exit code. */
static int carom(const char *arguments) {
    char command[2048];
    snprintf(command, sizeof(command), "cd '%s' && '%s/carom' %s 2>&1", folder, CAROM_BINARY_DIR,
             arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(said, 1, sizeof(said) - 1, pipe);
    said[size] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_said(const char *words) {
    if (strstr(said, words) == NULL) fail_msg("no \"%s\" in:\n%s", words, said);
}

static void boxes_are_related(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.ply"), 0);
    assert_int_equal(carom("hulls box.ply box.ply --json --pose 5,0,0,1,0,0,0"), 0);
    assert_said("\"relation\": \"apart\", \"colliding\": false, \"distance\": 3, \"depth\": 0");
    assert_said("\"normal\": [1, 0, 0");
    assert_said("\"witness_a\": [1, ");
    assert_said("\"witness_b\": [4, ");
    assert_said("\"iterations\": ");
    assert_said("\"error\": ");
    assert_said("\"query_s\": ");
    assert_int_equal(carom("hulls box.ply box.ply --json --pose 1.5,0.5,0.25,1,0,0,0"), 0);
    assert_said("\"relation\": \"overlapping\", \"colliding\": true, \"distance\": 0, "
                "\"depth\": 0.5");
    assert_int_equal(carom("hulls box.ply box.ply --margin 1 --json --pose 5,0,0,1,0,0,0"), 0);
    assert_said("\"distance\": 1, ");
    assert_int_equal(carom("hulls box.ply box.ply --check --pose 2,0,0,1,0,0,0"), CLI_YES);
    assert_said("touching");
    assert_int_equal(carom("hulls box.ply box.ply --check --pose 3,0,0,1,0,0,0"), 0);
    assert_said("distance  1,");
}

static void hulls_are_written(void **state) {
    (void)state;
    assert_int_equal(carom("make torus -o torus.ply"), 0);
    assert_int_equal(carom("hulls torus.ply -o hull.ply"), 0);
    assert_said("solid");
    assert_int_equal(carom("info hull.ply"), 0);
    assert_said("closed");
    assert_int_equal(carom("hulls torus.ply hull.ply --json"), 0);
    assert_said("\"relation\": \"overlapping\"");
}

static void mistakes_are_explained(void **state) {
    (void)state;
    assert_int_equal(carom("hulls"), CLI_USAGE);
    assert_int_equal(carom("hulls none.ply"), CLI_INPUT);
    assert_said("none.ply");
    assert_int_equal(carom("hulls box.ply box.ply --margin -1"), CLI_USAGE);
    assert_said("--margin");
    assert_int_equal(carom("hulls box.ply -o hull.xyz"), CLI_INPUT);
}

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/carom_hulls_XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_related),
        cmocka_unit_test(hulls_are_written),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
