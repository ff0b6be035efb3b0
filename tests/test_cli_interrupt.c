/* SPDX-License-Identifier: MIT */
/* Ctrl-C: whatever the tool is doing, it stops, says "interrupted", exits as shells expect and
 * leaves no part of a file behind. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

#define MOST_WORDS 16
#define KILLED_BY  1000 /* and the number of the signal, where there is no exit code */
#define HANGS      20.0 /* seconds; far more than it takes on a busy machine or under a sanitizer */

/* Starts the tool with the words of `line`; its input is a pipe that nobody writes to, its standard
 * output a file, or a pipe that nobody reads. */
static pid_t start(const char *line, bool stuck_output) {
    static char words[512], tool[] = CAROM_BINARY_DIR "/carom";
    char *argv[MOST_WORDS + 2] = {tool};
    int silent[2], full[2];
    size_t count = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word != NULL && count <= MOST_WORDS;
         word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
    assert_int_equal(pipe(silent), 0);
    assert_int_equal(pipe(full), 0);
    assert_true(fcntl(silent[1], F_SETFD, FD_CLOEXEC) == 0 && fcntl(full[0], F_SETFD, 0) == 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int out = stuck_output ? full[1] : open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out < 0 || err < 0 || dup2(silent[0], 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
            _exit(99);
        execv(argv[0], argv);
        _exit(98);
    }
    /* The ends that keep the pipes open stay with us, so that nothing ends by itself. */
    close(silent[0]);
    close(full[1]);
    return child;
}

/* Its exit code, and how long it took in *seconds. */
static int wait_for(pid_t child, double *seconds) {
    double began = carom_time_seconds();
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (carom_time_seconds() - began > HANGS) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &status, 0);
            return -1;
        }
        usleep(1000);
    }
    *seconds = carom_time_seconds() - began;
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED_BY + WTERMSIG(status);
}

static void check(const char *line, int signal_number, unsigned after_ms, bool stuck_output) {
    double seconds = 0.0, ms = (double)after_ms;
    int code = 0;
    /* On a busy machine the signal may come before the tool has begun to listen, on a fast one
     * after it has ended: once more, later or earlier, by steps that find the time between. */
    for (int attempt = 0; attempt < 24 && ms < 10000.0; ++attempt) {
        pid_t child = start(line, stuck_output);
        usleep((useconds_t)(1000.0 * ms));
        assert_int_equal(kill(child, signal_number), 0);
        code = wait_for(child, &seconds);
        if (code != KILLED_BY + signal_number && code != 0) break;
        if (code == 0) (void)shell("rm -rf made* tour");
        ms *= code == 0 ? 0.6 : 1.9;
    }
    read_file("err", said, SAID_SIZE);
    if (code != 128 + signal_number) fail_msg("%s: code %d: %s", line, code, said);
    assert_string_equal(said, "carom: interrupted\n");
    if (!stuck_output && strstr(line, "--json") != NULL) {
        read_file("out", said, SAID_SIZE);
        const char *object = strstr(said, "{\"schema\": \"carom/1\", \"command\": \"");
        if (object != said) fail_msg("%s: %s", line, said);
        assert_said("\"error\": \"interrupted\", \"status\": \"cancelled\"}\n");
        assert_null(strstr(said + 10, "schema"));
    }
    if (shell("ls -R | grep -E 'part|made'") != 1) fail_msg("%s leaves %s", line, said);
    if (getenv("CAROM_LONG") != NULL) printf("%.3f s: %s\n", seconds, line);
}

static void work_of_every_command_is_interrupted(void **state) {
    (void)state;
    static const char *const lines[] = {
        "info -",                                   /* waits for its input */
        "pairs small.ply --repeat 1e6 --json",      /* a call after another */
        "kfree small.ply --repeat 1e6 -o made.csv", /* with a draft open */
        "query small.ply small.ply --repeat 1e6 --json",
        "make shards --parts 1e6 -o made.ply",    /* one long call */
        "convert big.ply made.off.gz",            /* reads, then writes */
        "convert big.ply made.stl --json -q",     /* rounds, then writes */
        "demo -o tour --json",                    /* a page */
        "bench base --json",                      /* no callback at all */
        "gas -n 20000 --time 1e9 --json --quiet", /* events */
    };
    for (size_t i = 0; i < COUNT_OF(lines); ++i) check(lines[i], SIGINT, 60, false);
    check("bench base", SIGTERM, 60, false);
    check("info -", SIGHUP, 60, false);
}

/* Writing is cancelled at any moment. */
static void drafts_are_removed_whenever_it_comes(void **state) {
    (void)state;
    for (unsigned ms = 5; ms < 200; ms += getenv("CAROM_LONG") != NULL ? 5 : 40)
        check("convert big.ply made.off.gz", SIGINT, ms, false);
}

static void pipes_do_not_hold_it(void **state) {
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    check("make torus --format off -o fifo", SIGINT, 60, false); /* nobody reads */
    check("info fifo", SIGINT, 60, false);                       /* nobody writes */
    check("convert big.ply - --format obj", SIGINT, 300, true);  /* a full pipe */
    check("pairs cloth.ply -o -", SIGINT, 300, true);
    assert_int_equal(unlink("fifo"), 0);
}

static void a_second_signal_ends_it_at_once(void **state) {
    (void)state;
    double seconds;
    int code = KILLED_BY + SIGINT;
    /* On a busy machine the tool may not listen yet: once more, later. */
    for (useconds_t us = 60000; code == KILLED_BY + SIGINT && us < 10000000; us *= 2) {
        pid_t child = start("bench base", false);
        usleep(us);
        assert_int_equal(kill(child, SIGINT), 0);
        usleep(2000);
        (void)kill(child, SIGINT);
        code = wait_for(child, &seconds);
    }
    assert_int_equal(code, 130);
}

int main(void) {
    if (!cli_run_begin("cli_interrupt") || chdir(folder) != 0) return 1;
    if (carom("make torus --detail 12 -o small.ply") != 0 ||
        carom("make grid --detail 700 -o big.ply") != 0 ||
        carom("make cloth --detail 150 -o cloth.ply") != 0)
        return cli_run_end(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_every_command_is_interrupted),
        cmocka_unit_test(drafts_are_removed_whenever_it_comes),
        cmocka_unit_test(pipes_do_not_hold_it),
        cmocka_unit_test(a_second_signal_ends_it_at_once),
    };
    return cli_run_end(cmocka_run_group_tests_name("cli_interrupt", tests, NULL, NULL));
}
