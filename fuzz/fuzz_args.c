/* SPDX-License-Identifier: MIT */
/* The tool's option parser: words separated by zero bytes become argv. */
#include "fuzz/fuzz.h"

#include "cli/args.h"

typedef struct values {
    bool flag;
    const char *text;
    uint64_t count;
    double number;
    int choice;
    arg_list list;
} values;

static const char *choice(int index) {
    static const char *const choices[] = {"red", "green", "blue", NULL};
    return choices[index];
}

static const arg_option options[] = {
    {"--flag", 'f', ARG_FLAG, offsetof(values, flag), NULL, "", NULL},
    {"--text", 't', ARG_TEXT, offsetof(values, text), "TEXT", "", NULL},
    {"--count", 'n', ARG_COUNT, offsetof(values, count), "N", "", NULL},
    {"--number", 'x', ARG_NUMBER, offsetof(values, number), "X", "", NULL},
    {"--list", 'l', ARG_LIST, offsetof(values, list), "TEXT", "", NULL},
    {"--choice", 0, ARG_CHOICE, offsetof(values, choice), "NAME", "", choice},
};

#define MOST_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1), *argv[MOST_WORDS];
    FUZZ_CHECK(text != NULL);
    if (size != 0) memcpy(text, bytes, size);
    text[size] = '\0';
    size_t argc = 0;
    for (size_t i = 0; i <= size && argc < MOST_WORDS; i += strlen(text + i) + 1)
        argv[argc++] = text + i;
    values v = {0};
    arg_set set = {options, sizeof(options) / sizeof(options[0]), &v};
    arg_result result;
    bool good = args_parse(&set, 1, argc, argv, &result);
    FUZZ_CHECK(good == (result.message[0] == '\0'));
    FUZZ_CHECK(strlen(result.message) < sizeof(result.message));
    FUZZ_CHECK(result.count <= argc);
    FUZZ_CHECK(v.list.count <= ARG_MOST_LIST);
    for (size_t i = 0; i < v.list.count; ++i) FUZZ_CHECK(v.list.values[i] != NULL);
    FUZZ_CHECK(v.choice >= 0 && v.choice < 3);
    FUZZ_CHECK(v.number - v.number == 0.0); /* never NaN or infinite */
    free(text);
    return 0;
}
