/* SPDX-License-Identifier: MIT */
#include "tests/support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

char *cases_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    text[size] = '\0';
    return text;
}

const char *cases_after_key(const char *text, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *found = strstr(text, quoted);
    assert_non_null(found);
    return found + strlen(quoted);
}
