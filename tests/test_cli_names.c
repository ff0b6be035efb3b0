/* SPDX-License-Identifier: MIT */
/* Names on their way into files, and files that must not be replaced. tests/names.py does the same
 * with every writer. One thread. */
#include "cli/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/text.h"
#include "tests/support/cli_run.h"

/* ---- Text ------------------------------------------------------------------------------------ */

/* UTF-8 of a code point, by its definition; surrogates and too large ones, too. */
static void encode(uint32_t code, char *to) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) *to++ = (char)(0x80 | (code & 0x3F));
    *to = '\0';
}

static void each_code_point_is_kept_or_replaced(void **state) {
    (void)state;
    for (uint32_t code = 1; code < 0x120000; ++code) {
        char bytes[8], got[32] = "", want[32];
        encode(code, bytes);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF, large = code > 0x10FFFF;
        bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
        bool noncharacter = code % 0x10000 >= 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
        size_t replacements = surrogate || large ? strlen(bytes) : control || noncharacter ? 1 : 0;
        snprintf(want, sizeof(want), "%s", replacements == 0 ? bytes : "");
        for (size_t i = 0; i < replacements; ++i) strcat(want, "\xEF\xBF\xBD");
        for (const char *at = bytes; *at != '\0';) strcat(got, text_next(&at).bytes);
        if (strcmp(got, want) != 0) fail_msg("U+%04X becomes '%s'", code, got);
    }
}

/* Any bytes become UTF-8, one U+FFFD for each byte that is none, and nothing is read beyond them.
 */
static void any_bytes_become_utf8(void **state) {
    (void)state;
    carom_random random = {7};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        size_t size = carom_random_next(&random) % 8;
        char *text = malloc(size + 1); /* its own, for the address sanitizer */
        for (size_t k = 0; k < size; ++k) text[k] = (char)(1 + carom_random_next(&random) % 255);
        text[size] = '\0';
        for (const char *at = text; *at != '\0';) {
            const char *from = at;
            text_character c = text_next(&at);
            size_t length = text_utf8_length(c.bytes);
            assert_true(at > from && at <= text + size && length == strlen(c.bytes));
            if (strcmp(c.bytes, TEXT_REPLACEMENT) != 0) assert_memory_equal(from, c.bytes, length);
        }
        assert_true(text_prefix(text, 3) <= 3 && text_prefix(text, 100) == size);
        free(text);
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void assert_names(names_kind kind, const char *const (*pairs)[2], size_t count) {
    names list = {.kind = kind};
    for (size_t i = 0; i < count; ++i)
        assert_string_equal(names_add(&list, pairs[i][0], i), pairs[i][1]);
    for (size_t i = 0; i < count; ++i) assert_string_equal(list.data[i], pairs[i][1]);
    names_free(&list);
}

static void names_follow_the_rules(void **state) {
    (void)state;
    static const char *const text[][2] = {
        {"a", "a"},
        {"a", "a_1"},
        {"a_1", "a_1_2"},
        {"", "part_3"},
        {" a ", "a_4"},
        {"A", "A"},
        {"a/b", "a/b"},
        {"a_b", "a_b"},
        {"x\xE4", "x\xEF\xBF\xBD"},
        {"base", "base"},
        {"a\nb", "a\xEF\xBF\xBD"
                 "b"},
    };
    static const char *const files[][2] = {
        {"a", "a"},
        {"A", "A_1"},
        {"a/b", "a_b"},
        {"a_b", "a_b_3"},
        {"../../x", "_._.._x"},
        {"..", "part_5"},
        {"con", "_con"},
        {"COM1.txt", "_COM1.txt"},
        {"\xC3\xA4", "\xC3\xA4_8"},
        {"-rf", "_rf"},
        {"a. ", "a_10"},
        {"", "part_11"},
        {"\xFF", "_"},
    };
    assert_names(NAMES_TEXT, text, COUNT_OF(text));
    assert_names(NAMES_FILE, files, COUNT_OF(files));
}

/* Against every earlier name, one by one. */
static void many_names_differ(void **state) {
    (void)state;
    static const char letters[] = "aA_01 ./";
    carom_random random = {11};
    for (int kind = 0; kind < 2; ++kind) {
        names list = {.kind = kind == 0 ? NAMES_TEXT : NAMES_FILE};
        for (uint64_t i = 0; i < 600; ++i) {
            char name[8] = "";
            size_t size = carom_random_next(&random) % 5;
            for (size_t k = 0; k < size; ++k)
                name[k] = letters[carom_random_next(&random) % (sizeof(letters) - 1)];
            const char *written = names_add(&list, name, i);
            for (uint64_t k = 0; k < i; ++k)
                assert_true((kind == 0 ? strcmp : strcasecmp)(written, list.data[k]) != 0);
        }
        names_free(&list);
    }
}

/* ---- Files that are read --------------------------------------------------------------------- */

/* Every command that reads and writes: the input stays as it is, whatever name it is given by. */
static void inputs_are_not_replaced(void **state) {
    (void)state;
    static const char *const lines[] = {
        "pack in.obj -o in.obj",
        "pack in.obj -n 3 -o ./in.obj",
        "pack in.obj --outer -o link.obj",
        "pack in.obj --cells hard.obj",
        "convert in.obj in.obj",
        "convert link.obj in.obj",
        "close in.obj -o link.obj",
        "close in.obj -o out.ply --mark in.obj",
        "info in.obj --mark in.obj",
        "pairs in.obj -o in.obj",
        "pairs in.obj --mark in.obj",
        "kfree in.obj -o in.obj",
        "kfree in.obj --split 3 --split-to in.obj",
        "hulls in.obj in.obj -o in.obj",
        "distance in.obj p.txt -o p.txt",
        "toi in.obj --end end.obj -o end.obj",
        "scene in.obj in.csv -o in.csv",
        "scene r.urdf --srdf s.csv -o s.csv",
        "gas --start g.xyz -o g.xyz",
    };
    assert_int_equal(carom("make box -o in.obj"), 0);
    assert_int_equal(
        shell("ln -sf in.obj link.obj && ln -f in.obj hard.obj && cp in.obj end.obj && "
              "cp in.obj in.csv && cp in.obj s.csv && echo 1 2 3 > p.txt && "
              "cp p.txt g.xyz && cp p.txt g.gas && cat *.obj *.csv p.txt g.* > before"),
        0);
    for (size_t i = 0; i < COUNT_OF(lines); ++i) {
        if (carom(lines[i]) != CLI_USAGE) fail_msg("%s: %s", lines[i], said);
        assert_said("it is read by this call, and would be replaced; give another name");
        assert_int_equal(shell("cat *.obj *.csv p.txt g.* | cmp - before"), 0);
    }
    assert_int_equal(carom("pack in.obj -n 3 -o /dev/null"), 0);
    assert_int_equal(carom("pack in.obj -n 3 -o - </dev/null >/dev/null"), 0);
}

static void results_do_not_replace_each_other(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o in.obj"), 0);
    assert_int_equal(carom("pack in.obj -n 3 -o a.csv --cells ./a.csv"), CLI_USAGE);
    assert_said("--cells ./a.csv: another result of this call is written to it");
    assert_int_equal(carom("gas -n 10 --time 0.1 --events e.csv --gr e.csv"), CLI_USAGE);
    assert_int_equal(shell("test ! -e a.csv && test ! -e e.csv"), 0);
    assert_int_equal(carom("pairs in.obj -o /dev/null --mark /dev/null"), 0);
    /* A file of a part, whose name is known only when the mesh has been read. */
    write_file("two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\no x\nf 1 2 3\no y\nf 1 3 2\n");
    assert_int_equal(carom("pack two.obj --outer --allow-open -n 1 --format dem -o o.csv "
                           "--cells o_y.csv"),
                     CLI_MACHINE);
    assert_said("cannot write 'o_y.csv': this call has just written it");
    assert_int_equal(shell("head -1 o_y.csv | grep -q x,y,z,edge,sphere"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_point_is_kept_or_replaced),
        cmocka_unit_test(any_bytes_become_utf8),
        cmocka_unit_test(names_follow_the_rules),
        cmocka_unit_test(many_names_differ),
        cmocka_unit_test(inputs_are_not_replaced),
        cmocka_unit_test(results_do_not_replace_each_other),
    };
    if (!cli_run_begin("names")) return 1;
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
