/* SPDX-License-Identifier: MIT */
/* The option parser. A table row contains an option's name, its kind and the offset of its value.
 * Parsing, help and "did you mean" all use the same rows. */
#include "cli/args.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/endings.h"

/* ---- Spelling suggestions -------------------------------------------------------------------- */

#define LONGEST_WORD 32

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* The number of edits that turn a into b: letters inserted, deleted, replaced, or two adjacent
 * letters exchanged. */
static size_t edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    size_t rows[3][LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= m; ++j) rows[0][j] = j;
    for (size_t i = 1; i <= n; ++i) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; ++j) {
            size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, replace);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

const char *args_did_you_mean(const char *word, const char *const *names) {
    const char *best = NULL;
    size_t length = strlen(word);
    size_t best_distance = length > 3 ? 1 + length / 3 : 1; /* more is another word */
    for (; *names != NULL; ++names) {
        size_t distance = edit_distance(word, *names);
        bool begins = length >= 2 && strncmp(word, *names, length) == 0;
        if (begins) distance = 1;
        if (distance < best_distance || (distance == best_distance && best == NULL)) {
            best = *names;
            best_distance = distance;
        }
    }
    return best;
}

/* ---- Values ---------------------------------------------------------------------------------- */

bool args_read_number(const char *text, double *value) {
    if (*text == '\0' || isspace((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    if (errno == ERANGE && *value == 0.0) return false; /* not zero as given, but too small */
    return *end == '\0' && isfinite(*value);
}

#define MOST_DIGITS   20   /* of 2^64 - 1 */
#define MOST_EXPONENT 1000 /* more is never a count */

/* Reads [+-] digits after an e; NULL when there are none. */
static const char *read_exponent(const char *text, int *exponent) {
    int sign = *text == '-' ? -1 : 1, size = 0;
    if (*text == '-' || *text == '+') ++text;
    if (!isdigit((unsigned char)*text)) return NULL;
    for (; isdigit((unsigned char)*text); ++text)
        if (size < MOST_EXPONENT) size = 10 * size + (*text - '0');
    *exponent = sign * size;
    return text;
}

/* The number is kept as its digits without leading and trailing zeros, and a power of ten. So 1e6,
 * 2.5k and 1.50e1 are exact, and 1.5 is recognised as not an integer. */
bool args_read_count(const char *text, uint64_t *value) {
    char digits[MOST_DIGITS];
    int count = 0, zeros = 0, power = 0, exponent = 0;
    bool fraction = false;
    if (!isdigit((unsigned char)*text)) return false;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !fraction); ++text) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        power -= fraction;
        if (*text == '0') { /* significant only when another digit follows */
            zeros += count != 0;
            power += count != 0;
            continue;
        }
        power -= zeros;
        if (count + zeros >= MOST_DIGITS) return false;
        for (; zeros > 0; --zeros) digits[count++] = 0;
        digits[count++] = (char)(*text - '0');
    }
    if (text[-1] == '.') return false;
    if (*text == 'e' || *text == 'E') {
        text = read_exponent(text + 1, &exponent);
        if (text == NULL) return false;
    } else if (*text != '\0') {
        exponent = *text == 'k' ? 3 : *text == 'M' ? 6 : *text == 'G' ? 9 : -1;
        if (exponent < 0) return false;
        ++text;
    }
    power += exponent;
    if (*text != '\0' || (count != 0 && (power < 0 || count + power > MOST_DIGITS))) return false;
    uint64_t number = 0;
    for (int i = 0; count != 0 && i < count + power; ++i) {
        uint64_t digit = i < count ? (uint64_t)digits[i] : 0;
        if (number > (UINT64_MAX - digit) / 10) return false;
        number = 10 * number + digit;
    }
    *value = number;
    return true;
}

/* "--isa takes best or avx2, not 'mmx'"; names for which there is no space are left out. */
static void say_choices(const arg_option *option, const char *text, arg_result *result) {
    char names[sizeof(result->message) - 96] = "";
    size_t length = 0;
    for (int i = 0; option->choice(i) != NULL; ++i) {
        size_t space = sizeof(names) - length;
        int added =
            snprintf(names + length, space, "%s%s", i == 0 ? "" : " or ", option->choice(i));
        if (added < 0 || (size_t)added >= space) break;
        length += (size_t)added;
    }
    names[length] = '\0';
    snprintf(result->message, sizeof(result->message), "%.40s takes %s, not '%.40s'", option->name,
             names, text);
}

/* Adds to a list. */
static bool add_to_list(const arg_option *option, const char *text, void *at, arg_result *result) {
    arg_list list;
    memcpy(&list, at, sizeof(list));
    if (list.count == ARG_MOST_LIST) {
        snprintf(result->message, sizeof(result->message), "%s may be given %d times, not more",
                 option->name, ARG_MOST_LIST);
        return false;
    }
    list.values[list.count++] = text;
    memcpy(at, &list, sizeof(list));
    return true;
}

static bool store(const arg_option *option, const char *text, void *values, arg_result *result) {
    char *offset = (char *)values + option->offset;
    double number;
    uint64_t count;
    switch (option->kind) {
    case ARG_FLAG:
        memcpy(offset, &(bool){true}, sizeof(bool));
        return true;
    case ARG_TEXT:
    case ARG_INPUT:
    case ARG_OUTPUT:
        memcpy(offset, &text, sizeof(text));
        return true;
    case ARG_LIST:
        return add_to_list(option, text, offset, result);
    case ARG_COUNT:
    case ARG_SOME:
        if (args_read_count(text, &count) && (option->kind == ARG_COUNT || count != 0)) {
            memcpy(offset, &count, sizeof(count));
            return true;
        }
        snprintf(result->message, sizeof(result->message),
                 "%s takes a whole number%s such as 8, 10k or 1e6, not '%.80s'", option->name,
                 option->kind == ARG_SOME ? " from 1 on" : "", text);
        return false;
    case ARG_NUMBER:
    case ARG_SIZE:
        if (args_read_number(text, &number) && (option->kind == ARG_NUMBER || number > 0.0)) {
            memcpy(offset, &number, sizeof(number));
            return true;
        }
        snprintf(result->message, sizeof(result->message), "%s takes a number%s, not '%.80s'",
                 option->name, option->kind == ARG_SIZE ? " above 0" : "", text);
        return false;
    case ARG_CHOICE:
        break;
    }
    for (int i = 0; option->choice(i) != NULL; ++i) {
        if (strcmp(option->choice(i), text) == 0) {
            memcpy(offset, &i, sizeof(i));
            return true;
        }
    }
    say_choices(option, text, result);
    return false;
}

/* ---- Parser ---------------------------------------------------------------------------------- */

typedef struct match {
    const arg_option *option;
    void *values;
    const char *value; /* attached with = or to the letter, or NULL */
} match;

static bool find_option(const arg_set *sets, size_t set_count, const char *word, match *found) {
    for (size_t s = 0; s < set_count; ++s) {
        for (size_t i = 0; i < sets[s].count; ++i) {
            const arg_option *option = &sets[s].options[i];
            size_t length = strlen(option->name);
            *found = (match){option, sets[s].values, NULL};
            if (strncmp(word, option->name, length) == 0 &&
                (word[length] == '\0' || word[length] == '=')) {
                if (word[length] == '=') found->value = word + length + 1;
                return true;
            }
            if (option->letter != 0 && word[1] == option->letter) {
                if (word[2] != '\0') found->value = word + 2;
                return option->kind != ARG_FLAG || word[2] == '\0';
            }
        }
    }
    return false;
}

#define MOST_NAMES 64

static void say_unknown(const arg_set *sets, size_t set_count, const char *word,
                        arg_result *result) {
    const char *names[MOST_NAMES + 1];
    size_t count = 0;
    for (size_t s = 0; s < set_count; ++s)
        for (size_t i = 0; i < sets[s].count && count < MOST_NAMES; ++i)
            names[count++] = sets[s].options[i].name;
    names[count] = NULL;
    const char *near = args_did_you_mean(word, names);
    if (near != NULL)
        snprintf(result->message, sizeof(result->message),
                 "unknown option '%.80s'; did you mean %s?", word, near);
    else
        snprintf(result->message, sizeof(result->message), "unknown option '%.80s'", word);
}

/* "-" is a file name, "-1" is a number. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* Whether the word is exactly an option, and thus unlikely to be the value of another. */
static bool names_option(const arg_set *sets, size_t set_count, const char *word) {
    for (size_t s = 0; s < set_count; ++s)
        for (size_t i = 0; i < sets[s].count; ++i) {
            const arg_option *option = &sets[s].options[i];
            if (strcmp(word, option->name) == 0) return true;
            if (option->letter != 0 && word[0] == '-' && word[1] == option->letter &&
                word[2] == '\0')
                return true;
        }
    return false;
}

bool args_parse(const arg_set *sets, size_t set_count, size_t argc, char **argv,
                arg_result *result) {
    bool options_ended = false;
    *result = (arg_result){0};
    for (size_t i = 0; i < argc; ++i) {
        char *word = argv[i];
        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = true;
            continue;
        }
        if (options_ended || !is_option(word)) {
            argv[result->count++] = word;
            continue;
        }
        match found;
        if (!find_option(sets, set_count, word, &found)) {
            say_unknown(sets, set_count, word, result);
            return false;
        }
        if (found.option->kind == ARG_FLAG) {
            if (found.value != NULL) {
                snprintf(result->message, sizeof(result->message), "%s takes no value",
                         found.option->name);
                return false;
            }
        } else if (found.value == NULL) {
            if (i + 1 == argc) {
                snprintf(result->message, sizeof(result->message), "%s needs a value: %s",
                         found.option->name, found.option->value);
                return false;
            }
            found.value = argv[++i];
            if (names_option(sets, set_count, found.value)) {
                snprintf(result->message, sizeof(result->message),
                         "%s needs a value, and '%.40s' is an option; %s=%.40s makes it one",
                         found.option->name, found.value, found.option->name, found.value);
                return false;
            }
        }
        if (!store(found.option, found.value, found.values, result)) return false;
    }
    return true;
}

void args_print_help(FILE *out, const arg_option *options, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        char left[64], list[128];
        const arg_option *option = &options[i];
        int length = option->letter != 0
                         ? snprintf(left, sizeof(left), "-%c, %s", option->letter, option->name)
                         : snprintf(left, sizeof(left), "    %s", option->name);
        if (option->value != NULL)
            snprintf(left + length, sizeof(left) - (size_t)length, " %s", option->value);
        fprintf(out, "  %-26s %s", left, option->help);
        if (option->kind == ARG_OUTPUT && option->choice != NULL) {
            endings_list(option->choice, list, sizeof(list));
            fprintf(out, "; %s", list);
        }
        putc('\n', out);
    }
}
