/* SPDX-License-Identifier: MIT */
#include "tests/support/xml_check.h"

#include <string.h>

#include "tests/support/test.h"

int check_xml(const char *at, const char *wanted) {
    char open[16][16];
    int depth = 0, found = 0;
    while (*at != '\0') {
        if (*at == '&') {
            assert_true(strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                        strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&quot;", 6) == 0);
        } else if (*at == '<') {
            bool closes = *++at == '/';
            at += closes;
            char name[16];
            size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
            assert_in_range(length, 1, 15);
            memcpy(name, at, length);
            name[length] = '\0';
            at += length;
            while (*at == ' ') {
                at += 1 + strcspn(at + 1, "=<>\"");
                assert_int_equal(strncmp(at, "=\"", 2), 0);
                at += 2 + strcspn(at + 2, "\"<&");
                assert_int_equal(*at++, '"');
            }
            bool empty = *at == '/';
            at += empty;
            assert_int_equal(*at, '>');
            found += !closes && strcmp(name, wanted) == 0;
            if (closes)
                assert_true(depth > 0 && strcmp(open[--depth], name) == 0);
            else if (!empty) {
                assert_true(depth < 16);
                strcpy(open[depth++], name);
            }
        }
        ++at;
    }
    assert_int_equal(depth, 0);
    return found;
}
