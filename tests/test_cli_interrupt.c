/* SPDX-License-Identifier: MIT */
/* Ctrl-C: whatever the tool is doing, it stops, says "interrupted", exits as shells expect and
 * leaves no part of a file behind; what a gas has computed is kept.
 *
 * Signals are injected (CAROM_INTERRUPT_AT=n: at the nth point where the tool looks for one), for
 * every n of short runs of every command that writes files. So nothing here depends on the speed of
 * the machine. The few tests with a signal from outside send it when the tool has opened a pipe of
 * ours and cannot go on by itself. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/campaign.h"
#include "tests/support/cli_run.h"

#define MOST_WORDS   24
#define MOST_OUTPUTS 4
#define NEVER        1000000000ull /* beyond the last look of any run here */

/* Every such point of a run with up to MOST_STOPS is tried. Of a longer one MOST_TRIES are: the
 * first half of this number, the last quarter, where files are written, and some between.
 * CAROM_LONG=1 tries all. */
#define MOST_STOPS (TEST_CASES(128))
#define MOST_TRIES (TEST_CASES(48))

/* ---- Running the tool ------------------------------------------------------------------------ */

/* Starts the tool with the words of `line`. `at` is the list of CAROM_INTERRUPT_AT, or NULL. Its
 * input is empty; `output` is its standard output, or -1 for the file "out". */
static pid_t start(const char *line, const char *at, int output) {
    static char words[512], tool[] = CAROM_BINARY_DIR "/carom";
    char *argv[MOST_WORDS + 2] = {tool};
    size_t count = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word != NULL && count <= MOST_WORDS;
         word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) return child;
    int in = open("/dev/null", O_RDONLY);
    int out = output >= 0 ? output : open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(99);
    if ((at != NULL ? setenv("CAROM_INTERRUPT_AT", at, 1) : unsetenv("CAROM_INTERRUPT_AT")) != 0)
        _exit(99);
    (void)signal(SIGHUP, SIG_DFL); /* the caller may ignore it */
    (void)execv(argv[0], argv);
    _exit(98);
}

/* Its exit code. */
static int wait_for(pid_t child) {
    int status;
    assert_true(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status)) fail_msg("ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Runs it with a signal at the nth look; `signals` of them, at this and the next ones. */
static int interrupt_at(const char *line, unsigned long long n, int signals) {
    char at[128];
    /* as timeout(1) does it: to the process, and to the group that it is in */
    snprintf(at, sizeof(at),
             signals == 1   ? "%llu"
             : signals == 2 ? "%llu,%llu"
                            : "%llu,%llu,%llu",
             n, signals == 2 ? n : n + 1, n + 2);
    return wait_for(start(line, at, -1));
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct content {
    char *bytes; /* NULL: there is no such file */
    size_t size;
} content;

static content read_whole(const char *name) {
    content c = {0};
    FILE *in = fopen(name, "rb");
    if (in == NULL) return c;
    struct stat info;
    assert_int_equal(fstat(fileno(in), &info), 0);
    c.size = (size_t)info.st_size;
    c.bytes = malloc(c.size + 1);
    assert_non_null(c.bytes);
    assert_true(fread(c.bytes, 1, c.size, in) == c.size);
    c.bytes[c.size] = '\0';
    fclose(in);
    return c;
}

static bool is_equal(const content *a, const content *b) {
    if (a->bytes == NULL || b->bytes == NULL) return a->bytes == b->bytes;
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static const char old_text[] = "of an earlier run\n";

static void write_old(const char *name) {
    FILE *out = fopen(name, "wb");
    assert_non_null(out);
    fputs(old_text, out);
    assert_int_equal(fclose(out), 0);
}

static bool is_old(const content *c) {
    return c->bytes != NULL && strcmp(c->bytes, old_text) == 0;
}

/* The tool runs in a folder that only has its output; inputs are one above. */
static void begin_folder(void) {
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(shell("rm -rf run"), 0); /* of a test that failed */
    assert_true(mkdir("run", 0700) == 0 && chdir("run") == 0);
}

static void end_folder(void) {
    assert_int_equal(shell("rm -r run"), 0);
    assert_int_equal(chdir(folder), 0);
}

/* ---- Commands that write all or nothing ------------------------------------------------------ */

typedef struct command {
    const char *line;
    const char *outputs[MOST_OUTPUTS]; /* in the folder "run" */
} command;

/* Each with one thread, so that the points are the same ones each time. Small inputs; "big" ones
 * take more than a buffer to write. */
static const command commands[] = {
    {"make torus --detail 3 -o o.ply", {"o.ply"}},
    {"make shards --parts 3 -o o.obj", {"o.obj"}},
    {"make grid --detail 60 -o o.off", {"o.off"}}, /* two buffers */
    {"convert ../torus.ply o.obj", {"o.obj"}},
    {"convert ../torus.ply o.stl", {"o.stl"}}, /* rounds */
    {"convert ../grid.ply o.ply --format ply-ascii", {"o.ply"}},
    {"close ../cloth.ply -o o.ply --mark o.html", {"o.ply", "o.html"}},
    {"pairs ../cloth.ply -o o.csv", {"o.csv"}},
    {"pairs ../cloth.ply --points -o o.csv --mark o.ply", {"o.csv", "o.ply"}},
    {"pairs ../cloth.ply --within 0.1 --points -o o.csv", {"o.csv"}},
    {"pairs ../cloth.ply -o o.html --mark o.glb", {"o.html", "o.glb"}},
    {"pairs ../torus.ply ../ball.obj --within 0.2 -o o.glb", {"o.glb"}},
    {"view ../two.obj -o o.glb", {"o.glb"}},
    {"view ../torus.ply -o o.png", {"o.png"}},
    {"info ../cloth.ply -o o.glb", {"o.glb"}},
    {"info ../cloth.ply --mark o.ply", {"o.ply"}},
    {"query ../torus.ply ../ball.obj -o o.glb", {"o.glb"}},
    {"convert ../torus.ply o.glb", {"o.glb"}},
    {"pairs ../torus.ply ../ball.obj --by-part -o o.csv", {"o.csv"}},
    {"scene ../two.obj --clearance 1 -o o.csv", {"o.csv"}},
    {"scene ../two.obj --clearance 1 --depth -o o.html", {"o.html"}},
    {"scene ../two.obj --clearance 1 -o o.glb", {"o.glb"}},
    {"scene ../two.obj --clearance 1 -o o.bcf", {"o.bcf"}},
    {"scene ../arm.urdf --clearance 1 -o o.csv", {"o.csv"}},
    {"robot ../arm.urdf --sample 3 --spheres 1 -o o.csv", {"o.csv"}},
    {"robot ../arm.urdf --sample 3 --spheres 1 -o o.glb", {"o.glb"}},
    {"robot ../arm.urdf --spheres 1 --save o.robot --export o.csv", {"o.robot", "o.csv"}},
    {"robot ../arm.urdf --audit ../spheres.yml --picture o.glb", {"o.glb"}},
    {"kfree ../torus.ply -o o.csv", {"o.csv"}},
    {"kfree ../torus.ply --memory 64M -o o.csv", {"o.csv"}},
    {"pairs ../cloth.ply --memory 64M -o o.csv", {"o.csv"}},
    {"pairs ../cloth.ply --boxes -o o.csv", {"o.csv"}},
    {"scene ../two.obj --clearance 1 --shard 1/1 -o o.csv", {"o.csv"}},
    {"robot ../arm.urdf --sample 3 --spheres 1 --shard 1/1 -o o.csv", {"o.csv"}},
    {"query ../torus.ply ../ball.obj --poses ../poses.txt -o o.csv", {"o.csv"}},
    {"query ../torus.ply ../ball.obj --poses ../poses.txt --shard 1/1 -o o.csv", {"o.csv"}},
    {"make cloth --detail 60 -o o.ply", {"o.ply"}},
    {"kfree ../torus.ply -o o.glb", {"o.glb"}},
    {"kfree ../torus.ply --split 4 --split-to o.ply -o o.csv", {"o.ply", "o.csv"}},
    {"distance ../torus.ply ../points.csv --nearest -o o.csv", {"o.csv"}},
    {"distance ../torus.ply ../points.csv -o o.glb", {"o.glb"}},
    {"distance ../torus.ply ../points.csv --winding -o o.csv", {"o.csv"}},
    {"rays ../torus.ply ../rays.csv -o o.csv", {"o.csv"}},
    {"rays ../torus.ply ../rays.csv --all -o o.csv", {"o.csv"}},
    {"hulls ../torus.ply -o o.off", {"o.off"}},
    {"toi ../cloth.ply --end ../crumpled.ply -o o.csv", {"o.csv"}},
    {"toi ../cloth.ply --end ../crumpled.ply -o o.glb", {"o.glb"}},
    {"toi ../torus.ply ../ball.obj --pose 9,0,0,1,0,0,0 --to -9,0,0,1,0,0,0 -o o.glb", {"o.glb"}},
    {"toi ../cloth.ply --near 0.02 -o o.csv", {"o.csv"}},
    {"pack ../ball.obj --voxels 2 -o o.csv", {"o.csv"}},
    {"pack ../ball.obj -n 2 -o o.ply --cells cells.csv", {"o.ply", "cells.csv"}},
    {"pack ../ball.obj -n 2 -o o.glb", {"o.glb"}},
    {"pack ../torus.ply --outer -n 1 -o o.glb", {"o.glb"}},
    {"pack ../torus.ply --outer -n 1 -o o.csv --cells cells.csv", {"o.csv", "cells.csv"}},
    {"pack ../two.obj --outer -n 1 --format morphit -o o.json", {"o_left.json", "o_right.json"}},
    /* no file, but the same way out */
    {"info ../torus.ply", {NULL}},
    {"query ../torus.ply ../ball.obj", {NULL}},
    {"boxes -n 50 --frames 3", {NULL}},
#ifdef CAROM_HAVE_ZLIB
    {"convert ../grid.ply o.off.gz", {"o.off.gz"}},
    {"pairs ../cloth.ply -o o.csv.gz", {"o.csv.gz"}},
#endif
};

static size_t count_outputs(const command *c) {
    size_t count = 0;
    while (count < MOST_OUTPUTS && c->outputs[count] != NULL) ++count;
    return count;
}

/* Nothing is in the folder but the outputs and what start() writes. */
static void check_folder(const char *line, unsigned long long n, const char *const outputs[],
                         size_t count) {
    DIR *here = opendir(".");
    assert_non_null(here);
    for (struct dirent *entry; (entry = readdir(here)) != NULL;) {
        const char *name = entry->d_name;
        bool known = name[0] == '.' || strcmp(name, "out") == 0 || strcmp(name, "err") == 0;
        for (size_t i = 0; i < count && !known; ++i) known = strcmp(name, outputs[i]) == 0;
        if (!known) fail_msg("%s: interrupted at %llu leaves '%s'", line, n, name);
    }
    closedir(here);
}

/* The last line of stderr; --json prints one object. */
static void check_words(const char *line, unsigned long long n, const char *words) {
    content err = read_whole("err"), out = read_whole("out");
    size_t length = strlen(words);
    bool good = err.bytes != NULL && err.size >= length &&
                strcmp(err.bytes + err.size - length, words) == 0;
    if (!good) fail_msg("%s: interrupted at %llu says '%s'", line, n, err.bytes);
    if (strstr(line, "--json") != NULL) {
        static const char head[] = "{\"schema\": \"carom/1\", \"command\": \"",
                          tail[] = "\"error\": \"interrupted\", \"status\": \"cancelled\"}\n";
        good = strncmp(out.bytes, head, strlen(head)) == 0 && strstr(out.bytes, tail) != NULL &&
               strstr(out.bytes + 10, "schema") == NULL;
        if (!good) fail_msg("%s: interrupted at %llu prints '%s'", line, n, out.bytes);
    }
    free(err.bytes);
    free(out.bytes);
}

/* One run, interrupted at the nth look: complete files, or those that were there before. */
static int try(const command *c, const char *line, const content *whole, unsigned long long n) {
    size_t count = count_outputs(c);
    bool replaces = n % 2 == 0;
    for (size_t i = 0; i < count; ++i)
        if (replaces)
            write_old(c->outputs[i]);
        else
            (void)unlink(c->outputs[i]);
    int code = interrupt_at(line, n, 1 + (int)(n % 3));
    if (code != 0 && code != 130) fail_msg("%s: interrupted at %llu: code %d", line, n, code);
    if (code == 130) check_words(line, n, "carom: interrupted\n");
    for (size_t i = 0; i < count; ++i) {
        content now = read_whole(c->outputs[i]);
        bool untouched = replaces ? is_old(&now) : now.bytes == NULL;
        if (!is_equal(&now, &whole[i]) && !(code == 130 && untouched))
            fail_msg("%s: interrupted at %llu, code %d, %s is neither whole nor as it was", line, n,
                     code, c->outputs[i]);
        free(now.bytes);
    }
    check_folder(line, n, c->outputs, count);
    return code;
}

/* The last n that interrupts the run: a later one never does, an earlier one always. The tool
 * counts the points; at the last ones everything is done. */
static unsigned long long find_last(const char *line) {
    assert_int_equal(interrupt_at(line, 0, 1), 0);
    content err = read_whole("err");
    const char *end = strrchr(err.bytes, ' ');
    if (end == NULL || strcmp(end, " points\n") != 0) fail_msg("%s says '%s'", line, err.bytes);
    while (end > err.bytes && end[-1] >= '0' && end[-1] <= '9') --end;
    unsigned long long last = strtoull(end, NULL, 10);
    free(err.bytes);
    while (last > 0 && interrupt_at(line, last, 1) != 130) --last;
    return last;
}

/* The n after this one that is tried, of 1 to `last`. */
static unsigned long long next_try(unsigned long long n, unsigned long long last) {
    /* Four at least: some at the start, in the middle and at the end. */
    unsigned long long most = (unsigned long long)(MOST_TRIES < 4 ? 4 : MOST_TRIES);
    if (last <= (unsigned long long)MOST_STOPS || campaign_is_long() || n < most / 2 ||
        n + most / 4 >= last)
        return n + 1;
    unsigned long long end = last - most / 4, next = n + (last - most / 2) / (most / 4) + 1;
    return next < end ? next : end;
}

static void check_command(const command *c) {
    char line[512];
    content whole[MOST_OUTPUTS] = {{0}};
    size_t count = count_outputs(c);
    begin_folder();
    snprintf(line, sizeof(line), "%s -j 1 --json", c->line);
    if (interrupt_at(line, NEVER, 1) != 0) {
        content err = read_whole("err");
        fail_msg("%s: %s", line, err.bytes);
    }
    for (size_t i = 0; i < count; ++i) {
        whole[i] = read_whole(c->outputs[i]);
        if (whole[i].bytes == NULL) fail_msg("%s writes no %s", line, c->outputs[i]);
    }
    unsigned long long last = find_last(line);
    assert_true(last >= 1);
    for (unsigned long long n = 1; n <= last; n = next_try(n, last))
        if (try(c, line, whole, n) != 130) fail_msg("%s: not interrupted at %llu", line, n);
    for (unsigned long long n = last + 1; n < last + (TEST_ALL_CASES ? 6 : 2); ++n)
        if (try(c, line, whole, n) != 0) fail_msg("%s: interrupted at %llu, not before", line, n);
    snprintf(line, sizeof(line), "%s -j 1", c->line); /* without JSON */
    (void)try(c, line, whole, 1);
    (void)try(c, line, whole, last / 2 + 1);
    (void)try(c, line, whole, last);
    if (campaign_is_long()) print_message("%llu points: %s\n", last, line);
    for (size_t i = 0; i < count; ++i) free(whole[i].bytes);
    end_folder();
}

static void every_command_writes_all_or_nothing(void **state) {
    (void)state;
    /* Threads and signals are the same in all of them. */
    for (size_t i = 0; i < COUNT_OF(commands); i += TEST_THREADS_ONLY ? 4 : 1)
        check_command(&commands[i]);
}

/* The tour takes many seconds, so most of it is interrupted in the long form only. */
static void the_tour_leaves_no_part_of_its_page(void **state) {
    (void)state;
    static const char line[] = "demo -o tour --json -j 1";
    unsigned long long last = campaign_is_long() ? NEVER : 300;
    int code = 130;
    begin_folder();
    for (unsigned long long n = 1; n <= last && code == 130; n *= campaign_is_long() ? 2 : 16) {
        code = interrupt_at(line, n, 1 + (int)(n % 3));
        assert_true(code == 130 || (code == 0 && campaign_is_long()));
        content page = read_whole("tour/index.html");
        if (code == 130) check_words(line, n, "carom: interrupted\n");
        if (code == 130) assert_null(page.bytes);
        if (code == 0) assert_string_equal(page.bytes + page.size - 8, "</html>\n");
        free(page.bytes);
        assert_int_equal(shell("ls -R run | grep part"), 1);
    }
    end_folder();
}

/* ---- A gas keeps what it has ----------------------------------------------------------------- */

#define GAS_TIME 2 /* in units of the time between two samples */
typedef struct gas_run {
    const char *arguments, *trajectory;
    double sample_time; /* a power of two, so that multiples of it are exact */
    uint64_t spheres;
} gas_run;

typedef struct kept {
    uint64_t frames, events, samples;
} kept;

/* What the message says is kept of a file. */
static uint64_t kept_of(const char *message, const char *name, const char *format) {
    char words[64];
    unsigned long long count = 0;
    snprintf(words, sizeof(words), "; '%s' %s", name, format);
    size_t length = strlen(words);
    for (const char *at = strchr(message, ';'); at != NULL; at = strchr(at + 1, ';'))
        if (strncmp(at, words, length) == 0) count = strtoull(at + length, NULL, 10);
    return count;
}

/* The bytes of the first `count` lines. */
static size_t size_of_lines(const content *c, uint64_t count) {
    const char *at = c->bytes;
    for (uint64_t i = 0; i < count; ++i) {
        at = strchr(at, '\n');
        assert_non_null(at);
        ++at;
    }
    return (size_t)(at - c->bytes);
}

/* A file of `lines` lines is the begin of `whole`; none is kept of a file without any. */
static void check_lines(const char *name, const content *whole, uint64_t lines, bool replaces,
                        unsigned long long n) {
    content now = read_whole(name);
    if (lines == 0) {
        if (replaces ? !is_old(&now) : now.bytes != NULL)
            fail_msg("interrupted at %llu: %s is not as it was", n, name);
    } else {
        size_t size = size_of_lines(whole, lines);
        if (now.bytes == NULL || now.size != size || memcmp(now.bytes, whole->bytes, size) != 0)
            fail_msg("interrupted at %llu: %s is not the first %llu lines of the run", n, name,
                     (unsigned long long)lines);
    }
    free(now.bytes);
}

typedef struct reference {
    content xyz, events, gas, gr[GAS_TIME + 2]; /* g(r) by the number of samples */
} reference;

static void gas_line(const gas_run *run, int samples, char *line, size_t size) {
    snprintf(line, size,
             "gas %s -j 1 --time %.17g --frames %d -o %s --events o.csv --gr gr.csv --save o.gas",
             run->arguments, run->sample_time * (samples - 1), samples, run->trajectory);
}

static bool is_packed(const gas_run *run) {
    return strcmp(run->trajectory, "o.xyz.gz") == 0;
}

/* Fewer samples are a shorter run, for which nothing is interrupted. */
static void make_reference(const gas_run *run, reference *r) {
    char line[512];
    for (int samples = 2; samples <= GAS_TIME + 1; ++samples) {
        gas_line(run, samples, line, sizeof(line));
        assert_int_equal(interrupt_at(line, NEVER, 1), 0);
        r->gr[samples] = read_whole("gr.csv");
    }
    /* one sample alone is at the end of its run: of time 0 */
    snprintf(line, sizeof(line), "gas %s -j 1 --time 0 --frames 1 --gr gr.csv", run->arguments);
    assert_int_equal(interrupt_at(line, NEVER, 1), 0);
    r->gr[1] = read_whole("gr.csv");
    if (is_packed(run)) {
        assert_int_equal(shell("cd run && gzip -dc o.xyz.gz > unpacked"), 0);
        r->xyz = read_whole("unpacked");
        assert_int_equal(unlink("unpacked"), 0);
    } else {
        r->xyz = read_whole(run->trajectory);
    }
    r->events = read_whole("o.csv");
    r->gas = read_whole("o.gas");
}

static void free_reference(reference *r) {
    free(r->xyz.bytes);
    free(r->events.bytes);
    free(r->gas.bytes);
    for (size_t i = 0; i < COUNT_OF(r->gr); ++i) free(r->gr[i].bytes);
}

/* The saved gas is one that goes on, and at the time that was told. */
static void check_saved(const char *message, unsigned long long n) {
    double time;
    content gas = read_whole("o.gas");
    assert_true(sscanf(message, "carom: interrupted at time %lf", &time) == 1);
    if (gas.bytes == NULL || is_old(&gas)) fail_msg("interrupted at %llu: no gas is saved", n);
    free(gas.bytes);
    if (n % 8 != 0 && !campaign_is_long()) return;
    assert_int_equal(interrupt_at("gas --resume o.gas --time 0 -j 1", NEVER, 1), 0);
}

/* Checks the files of a run that was interrupted at n, and that no later n keeps less. */
static void check_kept(const gas_run *run, const reference *r, unsigned long long n, bool replaces,
                       kept *most) {
    content err = read_whole("err"), gr = read_whole("gr.csv");
    kept now = {kept_of(err.bytes, run->trajectory, "has "), kept_of(err.bytes, "o.csv", "has "),
                kept_of(err.bytes, "gr.csv", "is of ")};
    if (now.frames < most->frames || now.events < most->events || now.samples < most->samples)
        fail_msg("interrupted at %llu: less is kept than before: %s", n, err.bytes);
    *most = now;
    assert_true(now.samples <= GAS_TIME + 1);
    if (is_packed(run) && now.frames != 0) {
        assert_int_equal(shell("cd run && gzip -dc o.xyz.gz > unpacked"), 0);
        check_lines("unpacked", &r->xyz, now.frames * (run->spheres + 2), false, n);
        assert_int_equal(unlink("unpacked"), 0);
    } else {
        check_lines(run->trajectory, &r->xyz, now.frames * (run->spheres + 2), replaces, n);
    }
    check_lines("o.csv", &r->events, now.events == 0 ? 0 : now.events + 1, replaces, n);
    if (now.samples != 0 ? !is_equal(&gr, &r->gr[now.samples])
        : replaces       ? !is_old(&gr)
                         : gr.bytes != NULL)
        fail_msg("interrupted at %llu: g(r) is not of %llu samples", n,
                 (unsigned long long)now.samples);
    if (strstr(err.bytes, "interrupted at time") != NULL)
        check_saved(err.bytes, n);
    else
        check_words("gas", n, "carom: interrupted\n");
    free(err.bytes);
    free(gr.bytes);
}

static void check_gas(const gas_run *run) {
    char line[512];
    reference r = {0};
    kept most = {0};
    begin_folder();
    make_reference(run, &r);
    gas_line(run, GAS_TIME + 1, line, sizeof(line));
    const char *const outputs[] = {run->trajectory, "o.csv", "gr.csv", "o.gas"};
    unsigned long long last = find_last(line);
    for (unsigned long long n = 1; n <= last; n = next_try(n, last)) {
        bool replaces = n % 2 == 0;
        for (size_t i = 0; i < COUNT_OF(outputs); ++i)
            if (replaces)
                write_old(outputs[i]);
            else
                (void)unlink(outputs[i]);
        int code = interrupt_at(line, n, 1 + (int)(n % 3));
        if (code != 130) fail_msg("%s: interrupted at %llu: code %d", line, n, code);
        check_kept(run, &r, n, replaces, &most);
        check_folder(line, n, outputs, COUNT_OF(outputs));
    }
    /* the last ones come while the gas is saved: all is there */
    assert_int_equal(most.frames, GAS_TIME + 1);
    assert_int_equal(most.samples, GAS_TIME + 1);
    assert_int_equal(interrupt_at(line, last + 1, 1), 0);
    content gas = read_whole("o.gas"), gr = read_whole("gr.csv");
    assert_true(is_equal(&gas, &r.gas) && is_equal(&gr, &r.gr[GAS_TIME + 1]));
    free(gas.bytes);
    free(gr.bytes);
    free_reference(&r);
    end_folder();
}

/* More than 1024 spheres, so that the tool looks for a signal within frames and samples. */
static void a_gas_keeps_what_it_has(void **state) {
    (void)state;
    check_gas(&(gas_run){"-n 60 --periodic --fraction 0.3", "o.xyz", 0x1p-2, 60});
    check_gas(&(gas_run){"-n 60 --warm 0.5 --fraction 0.3", "o.xyz", 0x1p-2, 60});
    check_gas(&(gas_run){"-n 1100 --fraction 0.3", "o.xyz", 0x1p-9, 1100});
#ifdef CAROM_HAVE_ZLIB
    if (shell("command -v gzip") == 0)
        check_gas(&(gas_run){"-n 1100 --fraction 0.3", "o.xyz.gz", 0x1p-9, 1100});
#endif
}

/* Words of a saved gas: of all before its spheres, and some of these. */
#define SAVED_HEAD   34
#define SAVED_TICK   17
#define SAVED_NOW    18
#define SAVED_EPOCHS 19 /* of 2^59 ticks */

static double saved_time(const content *gas) {
    double tick;
    uint64_t now, epochs;
    assert_true(gas->size >= 8 * SAVED_HEAD);
    memcpy(&tick, gas->bytes + 8 * SAVED_TICK, 8);
    memcpy(&now, gas->bytes + 8 * SAVED_NOW, 8);
    memcpy(&epochs, gas->bytes + 8 * SAVED_EPOCHS, 8);
    return ((double)epochs * 0x1p59 + (double)now) * tick;
}

/* On several threads the points depend on the threads; the state that is saved does not: it goes on
 * to the same spheres, on one thread too. */
static void a_gas_on_threads_is_interrupted(void **state) {
    (void)state;
    static const char *const line =
        "gas -n 20736 --fraction 0.3 --periodic --time 1.25 --save o.gas --json -j 3";
    begin_folder();
    unsigned long long last = find_last(line), tries = TEST_CASES(16);
    content out = read_whole("out"), wanted, found;
    assert_int_equal(interrupt_at(line, NEVER, 1), 0);
    wanted = read_whole("o.gas");
    free(out.bytes);
    out = read_whole("out");
    if (strstr(out.bytes, "\"windows\": 0,") != NULL) fail_msg("no windows: %s", out.bytes);
    uint64_t resumed = 0;
    for (unsigned long long k = 1; k <= tries; ++k) {
        char resume[160];
        double time = 0.0;
        (void)unlink("o.gas");
        /* the last third: before, the gas is made */
        int code = interrupt_at(line, last - k * (last / 3) / (tries + 1), 1);
        if (code == 0) continue; /* fewer points than before */
        assert_int_equal(code, 130);
        found = read_whole("o.gas");
        if (found.bytes != NULL) { /* interrupted while it moved */
            time = saved_time(&found);
            free(found.bytes);
            snprintf(resume, sizeof(resume), "gas --resume o.gas --time %.17g --save o.gas -j %d",
                     1.25 - time, k % 2 == 0 ? 1 : 2);
            assert_int_equal(interrupt_at(resume, NEVER, 1), 0);
            found = read_whole("o.gas");
            assert_int_equal(found.size, wanted.size);
            if (memcmp(found.bytes + 8 * SAVED_HEAD, wanted.bytes + 8 * SAVED_HEAD,
                       wanted.size - 8 * SAVED_HEAD) != 0)
                fail_msg("interrupted at %g, the gas went on to another state", time);
            free(found.bytes);
            ++resumed;
        }
    }
    assert_true(resumed > 0);
    free(wanted.bytes);
    free(out.bytes);
    end_folder();
}

/* A gas without files has nothing to keep; JSON is one object in any case. */
static void a_gas_without_files_is_interrupted(void **state) {
    (void)state;
    check_command(&(command){"gas -n 60 --time 0.25", {NULL}});
    begin_folder();
    static const char *const line = "gas -n 60 --time 1 --save o.gas --json -j 1";
    /* the second half: at first the gas is made */
    assert_int_equal(interrupt_at(line, find_last(line) / 2, 2), 130);
    content out = read_whole("out");
    assert_non_null(strstr(out.bytes, "\"error\": \"interrupted at time "));
    assert_null(strstr(out.bytes + 10, "schema"));
    free(out.bytes);
    end_folder();
}

/* A failure that comes before the signal is told as itself. */
static void failures_before_the_signal_stay_what_they_are(void **state) {
    (void)state;
    begin_folder();
    for (unsigned long long n = 1; n < 8; ++n) {
        int code = interrupt_at("info absent.ply -j 1", n, 1);
        content err = read_whole("err");
        bool interrupted = strcmp(err.bytes, "carom: interrupted\n") == 0;
        bool absent = strstr(err.bytes, "absent.ply: cannot be opened") != NULL;
        if (!(code == 130 && interrupted) && !(code == 3 && absent))
            fail_msg("interrupted at %llu: code %d: %s", n, code, err.bytes);
        free(err.bytes);
    }
    end_folder();
}

/* ---- Pipes and signals from outside ---------------------------------------------------------- */

/* Where nobody is at the other end, the tool looks for signals for ever. */
static void pipes_without_another_end_do_not_hold_it(void **state) {
    (void)state;
    static const char *const lines[] = {"make torus --format off -o fifo", "info fifo",
                                        "convert fifo o.off --from ply"};
    begin_folder();
    assert_int_equal(mkfifo("fifo", 0600), 0);
    for (size_t i = 0; i < COUNT_OF(lines); ++i)
        for (unsigned long long n = 1; n < (TEST_ALL_CASES ? 12 : 4); ++n) {
            assert_int_equal(interrupt_at(lines[i], n, 1), 130);
            check_words(lines[i], n, "carom: interrupted\n");
            check_folder(lines[i], n, (const char *const[]){"fifo"}, 1);
        }
    end_folder();
}

/* Sends the signal when the tool, which has opened the pipe, cannot end by itself. */
static void signal_and_check(pid_t child, const char *line, int number, int signals) {
    for (int i = 0; i < signals; ++i) assert_int_equal(kill(child, number), 0);
    int code = wait_for(child);
    if (code != 128 + number) fail_msg("%s: code %d", line, code);
}

/* Waits for bytes that nobody sends. */
static void every_signal_ends_it(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    begin_folder();
    assert_int_equal(mkfifo("fifo", 0600), 0);
    for (size_t i = 0; i < COUNT_OF(signals); ++i) {
        pid_t child = start("info fifo", NULL, -1);
        int writer = open("fifo", O_WRONLY); /* returns when the tool has opened it */
        assert_true(writer >= 0);
        signal_and_check(child, "info fifo", signals[i], 1 + (int)(i % 2));
        check_words("info fifo", 0, "carom: interrupted\n");
        close(writer);
    }
    end_folder();
}

/* A benchmark does not look for signals: the timer ends it, and the drafts are removed. It would
 * take hours. */
static void work_that_does_not_look_is_ended(void **state) {
    (void)state;
    static const char line[] = "bench base --rounds 100000 --csv made.csv --svg fifo --json";
    begin_folder();
    assert_int_equal(mkfifo("fifo", 0600), 0);
    for (int signals = 1; signals <= 2; ++signals) {
        pid_t child = start(line, NULL, -1);
        int reader = open("fifo", O_RDONLY);
        assert_true(reader >= 0);
        signal_and_check(child, line, SIGINT, signals);
        check_words(line, 0, "carom: interrupted\n");
        check_folder(line, 0, (const char *const[]){"fifo"}, 1);
        close(reader);
    }
    end_folder();
}

/* Linux fills pipes by pages, which writes of odd lengths leave partly empty: how many bytes a full
 * one holds depends on the C library's buffers. So its other end is asked, where it can be opened;
 * elsewhere bytes are counted. */
static bool is_full(int reader) {
    char name[32];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", reader);
    struct pollfd writer = {.fd = open(name, O_WRONLY | O_NONBLOCK), .events = POLLOUT};
    if (writer.fd >= 0) {
        bool full = poll(&writer, 1, 0) == 0;
        close(writer.fd);
        return full;
    }
    int held = 0, capacity = 4096; /* at least */
#ifdef F_GETPIPE_SZ
    capacity = fcntl(reader, F_GETPIPE_SZ);
#endif
    assert_int_equal(ioctl(reader, FIONREAD, &held), 0);
    return held > 0 && held >= capacity - 4096;
}

/* Waits until the pipe takes no further buffer of bytes, so that its writer waits, too. */
static void wait_until_full(int reader) {
    while (!is_full(reader)) {
        struct pollfd end = {.fd = reader};
        assert_true(poll(&end, 1, 0) >= 0 && (end.revents & POLLHUP) == 0);
        (void)sched_yield();
    }
}

/* The pipe of its standard output is full: more is to come than it holds. */
static void full_pipes_do_not_hold_it(void **state) {
    (void)state;
    static const char *const lines[] = {"convert ../grid.ply - --format obj",
                                        "pairs ../dense.ply -o -"};
    begin_folder();
    for (size_t i = 0; i < COUNT_OF(lines); ++i) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
#ifdef F_SETPIPE_SZ
        assert_true(fcntl(ends[1], F_SETPIPE_SZ, 65536) > 0); /* more where pages are long */
#endif
        pid_t child = start(lines[i], NULL, ends[1]);
        close(ends[1]);
        wait_until_full(ends[0]);
        signal_and_check(child, lines[i], SIGINT, 1);
        check_words(lines[i], 0, "carom: interrupted\n");
        close(ends[0]);
    }
    end_folder();
}

/* The reader of the events has stopped reading: the other results are kept all the same. */
static void a_stuck_reader_costs_a_gas_nothing_else(void **state) {
    (void)state;
    static const char line[] =
        "gas -n 300 --time 1e6 --frames 1e6 --events fifo --gr gr.csv --save o.gas";
    begin_folder();
    assert_int_equal(mkfifo("fifo", 0600), 0);
    pid_t child = start(line, NULL, -1);
    int reader = open("fifo", O_RDONLY);
    assert_true(reader >= 0);
    wait_until_full(reader);
    signal_and_check(child, line, SIGINT, 1);
    close(reader);
    content err = read_whole("err"), gr = read_whole("gr.csv");
    assert_non_null(strstr(err.bytes, "carom: interrupted at time "));
    assert_non_null(strstr(err.bytes, "the gas is saved in 'o.gas'"));
    assert_true(gr.bytes != NULL && strncmp(gr.bytes, "r,g\n", 4) == 0);
    free(err.bytes);
    free(gr.bytes);
    assert_int_equal(interrupt_at("gas --resume o.gas --time 0", NEVER, 1), 0);
    end_folder();
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static const char arm[] = "<robot name=\"arm\"><link name=\"a\"><collision><geometry>"
                          "<box size=\"1 1 1\"/></geometry></collision></link>"
                          "<link name=\"b\"><collision><geometry><sphere radius=\"0.5\"/>"
                          "</geometry></collision></link><joint name=\"j\" type=\"fixed\">"
                          "<parent link=\"a\"/><child link=\"b\"/></joint></robot>\n";

static const char two[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                          "v 0.5 0 0\nv 1.5 0 0\nv 0.5 1 0\nv 0.5 0 1\n"
                          "o left\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                          "o right\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 7 5 8\n";

static bool make_inputs(void) {
    write_file("two.obj", two);
    write_file("points.csv", "0,0,0\n1,0,0\n0,2,0\n");
    write_file("rays.csv", "0,0,0,1,0,0\n9,9,9,0,1,0\n0,2,0,0,-1,0.5\n");
    write_file("arm.urdf", arm);
    write_file("poses.txt", "0,0,0,1,0,0,0\n1,0,0,1,0,1,0\n");
    write_file("spheres.yml", "spheres:\n  a:\n    - {center: [0, 0, 0], radius: 0.7}\n");
    return carom("make torus --detail 3 -o torus.ply") == 0 &&
           carom("make sphere --detail 1 -o ball.obj") == 0 &&
           carom("make cloth --detail 4 -o cloth.ply") == 0 &&
           carom("make cloth --detail 4 --seed 2 -o crumpled.ply") == 0 &&
           carom("make cloth --detail 150 -o dense.ply") == 0 &&
           carom("make grid --detail 90 -o grid.ply") == 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_writes_all_or_nothing),
        cmocka_unit_test(the_tour_leaves_no_part_of_its_page),
        cmocka_unit_test(a_gas_keeps_what_it_has),
        cmocka_unit_test(a_gas_on_threads_is_interrupted),
        cmocka_unit_test(a_gas_without_files_is_interrupted),
        cmocka_unit_test(failures_before_the_signal_stay_what_they_are),
        cmocka_unit_test(pipes_without_another_end_do_not_hold_it),
        cmocka_unit_test(every_signal_ends_it),
        cmocka_unit_test(work_that_does_not_look_is_ended),
        cmocka_unit_test(full_pipes_do_not_hold_it),
        cmocka_unit_test(a_stuck_reader_costs_a_gas_nothing_else),
    };
    if (!cli_run_begin("cli_interrupt") || chdir(folder) != 0) return 1;
    if (setenv("SOURCE_DATE_EPOCH", "0", 1) != 0) return 1; /* BCF has a date */
    if (!make_inputs()) {
        fprintf(stderr, "%s", said);
        return cli_run_end(1);
    }
    return cli_run_end(cmocka_run_group_tests_name("cli_interrupt", tests, NULL, NULL));
}
