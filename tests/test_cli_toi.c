/* SPDX-License-Identifier: MIT */
/* carom toi, as a user runs it. One thread. */
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

static void boxes_meet_on_their_way(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.ply"), 0);
    /* surfaces 2 apart meet when the centres are: at 0.3 of the way from 5 to -5 */
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 "
                           "--tolerance 1e-9 --json"),
                     0);
    assert_said("\"hit\": true, \"time\": 0.29999999");
    assert_said("\"face_a\": ");
    assert_said("\"steps\": ");
    assert_said("\"query_s\": ");
    assert_int_equal(carom("toi box.ply box.ply --hulls --pose 5,0,0,1,0,0,0 --to -5,0,0,1,0,0,0 "
                           "--tolerance 1e-9 --check --json"),
                     CLI_YES);
    assert_said("\"hit\": true, \"time\": 0.29999999");
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0 --to 5,9,0,1,0,1,0 --check"),
                     0);
    assert_said("they do not meet");
    assert_int_equal(carom("toi box.ply box.ply --pose 5,0,0,1,0,0,0"), 0);
    assert_said("they meet at time 0.");
}

static void a_mesh_deforms(void **state) {
    (void)state;
    char path[400];
    snprintf(path, sizeof(path), "%s/from.off", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 1\n0 1 1\n3 0 1 2\n3 3 4 5\n", f);
    fclose(f);
    snprintf(path, sizeof(path), "%s/to.off", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 -3\n1 0 -3\n0 1 -3\n3 0 1 2\n3 3 4 5\n", f);
    fclose(f);
    assert_int_equal(carom("toi from.off --end to.off --json --check"), CLI_YES);
    assert_said("\"hit\": true, \"impacts\": ");
    assert_said("\"lower\": 0.25, \"upper\": 0.25");
    assert_int_equal(carom("toi from.off --end to.off -o -"), 0);
    assert_said("vertex-face,0,1,0.25,0.25\n");
    assert_said("edge-edge,0,1,0.25,0.25\n");
    assert_int_equal(carom("toi from.off --end from.off --check"), 0);
    assert_said("no impacts");
}

static void misuse_is_explained(void **state) {
    (void)state;
    assert_int_equal(carom("toi box.ply"), CLI_USAGE);
    assert_said("--end");
    assert_int_equal(carom("toi box.ply box.ply --to 1,2"), CLI_USAGE);
    assert_said("--to has 2 numbers");
    assert_int_equal(carom("toi box.ply box.ply --end box.ply"), CLI_USAGE);
    assert_int_equal(carom("toi box.ply box.ply --tolerance -1"), CLI_USAGE);
    assert_said("tolerance");
    assert_int_equal(carom("toi box.ply box.ply --to 2,0,0,0,0,1,0,0,0,0,1,0"), CLI_INPUT);
    assert_said("rotation");
    assert_int_equal(carom("toi from.off --end box.ply"), CLI_INPUT);
    assert_said("vertices");
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/carom_toi_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_meet_on_their_way),
        cmocka_unit_test(a_mesh_deforms),
        cmocka_unit_test(misuse_is_explained),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
