/* SPDX-License-Identifier: MIT */
/* JSON: any bytes either get a message and where it is, or are a tree whose sizes add up, with keys
 * in objects alone and numbers that are finite. */
#include <math.h>
#include <string.h>

#include "cli/json_read.h"
#include "fuzz/fuzz.h"

/* The number of values in an array or object, with all in them. */
static uint32_t check_value(const json_value *v, bool in_object) {
    uint32_t size = 1;
    FUZZ_CHECK(v->kind <= JSON_OBJECT && v->size >= 1);
    FUZZ_CHECK((v->key != NULL) == in_object);
    FUZZ_CHECK((v->kind == JSON_NUMBER) == (isfinite(v->number) != 0));
    FUZZ_CHECK((v->kind == JSON_TEXT) == (v->text != NULL));
    for (const json_value *i = json_first(v); i != NULL && i < json_end(v); i = json_next(i))
        size += check_value(i, v->kind == JSON_OBJECT);
    FUZZ_CHECK(size == v->size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_tree tree;
    if (json_read((const char *)data, size, &tree)) {
        (void)check_value(tree.values, false);
        FUZZ_CHECK(json_get(tree.values, "no such key") == NULL || tree.values->size > 1);
    } else {
        FUZZ_CHECK(tree.what != NULL && tree.at <= size);
    }
    json_tree_free(&tree);
    return 0;
}
