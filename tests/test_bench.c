/* SPDX-License-Identifier: MIT */
/* The frame of the benchmarks: medians, slowest rounds, device time, and the files it writes. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plot.h"
#include "cli/command.h"
#include "tests/support/cli_run.h"
#include "tests/support/xml_check.h"

static bench b; /* large: all rows */

static bool run_short(void *input) {
    ++*(uint32_t *)input;
    return true;
}

/* On a device for 2 and 3 in turns, as its clock says; wrong once. */
static bool run_on_device(void *input) {
    uint32_t *runs = input;
    bench_add_device_seconds(1.0);
    bench_add_device_seconds(*runs % 2 == 0 ? 1.0 : 2.0);
    return ++*runs != 3;
}

/* Adds two rows. */
static void compare_more(uint32_t rounds, const char *job) {
    uint32_t runs[2] = {0, 0};
    bench_contender contenders[] = {{"a \"quoted\", <short> & one", NULL, run_short, &runs[0]},
                                    {"device", NULL, run_on_device, &runs[1]}};
    bench_compare(&b, job, 10.0, contenders, 2);
    assert_int_equal(runs[0], rounds + 1); /* once to warm up */
    assert_int_equal(runs[1], rounds + 1);
}

static void compare(uint32_t rounds, const char *job) {
    b = (bench){.rounds = rounds, .group = "a group & more"};
    compare_more(rounds, job);
    assert_int_equal(b.row_count, 2);
}

static void rows_have_their_slow_rounds(void **state) {
    (void)state;
    compare(BENCH_TAIL_ROUNDS, "job, <1>");
    for (int i = 0; i < 2; ++i) {
        const bench_row *row = &b.rows[i];
        assert_int_equal(row->rounds, BENCH_TAIL_ROUNDS);
        assert_true(row->items == 10.0 && row->seconds > 0.0);
        assert_true(row->seconds <= row->tail_seconds && row->tail_seconds <= row->most_seconds);
        assert_true(row->wrong == (i == 1));
    }
    assert_true(b.rows[0].ratio == 1.0 && isnan(b.rows[0].device_seconds));
    /* of 1000 runs after the first, 500 took 2 and 500 took 3 */
    assert_true(b.rows[1].device_seconds == 3.0 || b.rows[1].device_seconds == 2.0);
    compare(BENCH_TAIL_ROUNDS - 1, "job");
    assert_true(isnan(b.rows[0].tail_seconds) && isnan(b.rows[1].tail_seconds));
    assert_true(b.rows[0].most_seconds >= b.rows[0].seconds);
    compare(1, "job");
    assert_true(b.rows[0].most_seconds == b.rows[0].seconds && b.rows[1].device_seconds == 3.0);
}

static char *text_of(void (*write)(FILE *, const bench *)) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write(out, &b);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* One field of RFC 4180; returns what follows it. */
static const char *take_field(const char *at, char *field) {
    bool quoted = *at == '"';
    at += quoted;
    while (*at != '\0' && (quoted || (*at != ',' && *at != '\n'))) {
        if (quoted && *at == '"') {
            if (at[1] != '"') break;
            ++at;
        }
        *field++ = *at++;
    }
    *field = '\0';
    if (quoted) assert_int_equal(*at++, '"');
    assert_true(*at == ',' || *at == '\n');
    return at;
}

static void the_table_is_well_formed(void **state) {
    (void)state;
    compare(3, "job, <1>");
    char *text = text_of(bench_write_csv), field[256];
    const char *at = text;
    for (int line = 0; line < 3; ++line)
        for (int column = 0; column < 14; ++column, ++at) {
            at = take_field(at, field);
            assert_int_equal(*at, column == 13 ? '\n' : ',');
            const bench_row *row = &b.rows[line == 0 ? 0 : line - 1];
            if (line == 0) {
                assert_true(isalpha((unsigned char)field[0]));
                if (column == 7) assert_string_equal(field, "p999_seconds");
                continue;
            }
            if (column == 0) assert_string_equal(field, "a group & more");
            if (column == 1) assert_string_equal(field, "job, <1>");
            if (column == 2) assert_string_equal(field, row->contender);
            if (column == 3) assert_string_equal(field, "3");
            if (column == 5) assert_true(strtod(field, NULL) == row->seconds);
            if (column == 6) assert_true(strtod(field, NULL) == row->most_seconds);
            if (column == 7) assert_string_equal(field, "");
            if (column == 9) assert_string_equal(field, line == 1 ? "" : "3");
            if (column == 13) assert_string_equal(field, line == 1 ? "0" : "1");
        }
    assert_int_equal(*at, '\0');
    free(text);
}

/* ---- SVG ------------------------------------------------------------------------------------- */

static void the_picture_is_well_formed(void **state) {
    (void)state;
    compare(3, "job, <1> & \"2\"");
    char *text = text_of(bench_write_svg);
    assert_int_equal(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    assert_int_equal(check_xml(text, "rect"), 3); /* the ground, and a bar per row */
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    for (int i = 0; i < 3; ++i) { /* one more of each row, and two curves of three points */
        bench_at_size(&b, "growth & <more>", 10.0 + i);
        compare_more(3, "job");
    }
    text = text_of(bench_write_svg);
    assert_int_equal(check_xml(text, "polyline"), 2);
    assert_int_equal(check_xml(text, "circle"), 6);
    assert_null(strstr(text, "nan"));
    free(text);
    b = (bench){0}; /* no rows */
    text = text_of(bench_write_svg);
    assert_int_equal(check_xml(text, "rect"), 1);
    free(text);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void the_command_writes_both(void **state) {
    (void)state;
    static char text[1 << 20];
    assert_int_equal(carom("bench base --quick --rounds 2 --csv b.csv --svg b.svg"), CLI_OK);
    assert_said("p99.9");
    read_file("b.csv", text, sizeof(text));
    int lines = 0;
    for (const char *at = text; *at != '\0'; ++at) lines += *at == '\n';
    read_file("b.svg", text, sizeof(text));
    assert_int_equal(check_xml(text, "rect"), lines); /* a head here, the ground there */
    if (shell("command -v xmllint") == 0) assert_int_equal(shell("xmllint --noout b.svg"), 0);
    assert_int_equal(carom("bench base --quick --rounds 1 --csv - 2>/dev/null"), CLI_OK);
    assert_int_equal(strncmp(said, "benchmark,job,", 14), 0);
    assert_not_said("medians");
    assert_int_equal(carom("bench base --csv - --svg -"), CLI_USAGE);
    assert_int_equal(carom("bench base --csv - --json"), CLI_USAGE);
    assert_int_equal(carom("bench base --svg nowhere/x.svg --csv y.csv"), CLI_INPUT);
    assert_said("nowhere/x.svg");
    assert_int_equal(shell("test -e y.csv || ls -a | grep part"), 1);
}

/* Sixteen rows, each with what is printed beside ours. Quick scenes are smaller than the printed
 * ones: rows have the number of triangles that was measured, and none claims a printed time. */
static void a_printed_table_is_set_beside_ours(void **state) {
    (void)state;
    static char text[1 << 20];
    assert_int_equal(carom("bench table1 --quick --csv t.csv --svg t.svg"), CLI_OK);
    assert_said("Cloth on Buddha   6500  8.2 (0.6) ");
    assert_said("Breaking Buddha   5200 13.3 (1.8) ");
    assert_said("quick: these scenes have fewer polygons than those that are printed");
    assert_not_said("nan");
    read_file("t.csv", text, sizeof(text));
    int lines = 0, printed = 0;
    for (const char *at = text; *at != '\0'; ++at) lines += *at == '\n';
    for (const char *at = text; (at = strstr(at, "(printed)")) != NULL; ++at) ++printed;
    assert_int_equal(printed, 0);
    assert_true(lines >= 1 + 4 * 16); /* more with a GPU */
    read_file("t.svg", text, sizeof(text));
    assert_int_equal(check_xml(text, "rect"), lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_slow_rounds), cmocka_unit_test(the_table_is_well_formed),
        cmocka_unit_test(the_picture_is_well_formed), cmocka_unit_test(the_command_writes_both),
        cmocka_unit_test(a_printed_table_is_set_beside_ours)};
    if (!cli_run_begin("bench")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("bench", tests, NULL, NULL));
}
