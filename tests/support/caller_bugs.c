/* SPDX-License-Identifier: MIT */
/* What was tried of callers' bugs, and what the headers say there is to try. */
#include "tests/support/caller_bugs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

#include "base/context.h"

/* ---- what was tried -------------------------------------------------------------------------- */

#define MOST_TRIED 2048
#define LONG       96 /* of a name */

static char tried[MOST_TRIED][LONG]; /* "function parameter" or "struct.field" */
static uint32_t tried_count;

static bool was_tried(const char *name) {
    for (uint32_t i = 0; i < tried_count; ++i)
        if (strcmp(tried[i], name) == 0) return true;
    return false;
}

void bugs_note(const char *first, char between, const char *second) {
    char name[LONG];
    int length = snprintf(name, sizeof(name), "%s%c%s", first, between, second);
    assert_true(length > 0 && length < LONG && tried_count < MOST_TRIED);
    if (!was_tried(name)) memcpy(tried[tried_count++], name, LONG);
}

/* ---- one bug --------------------------------------------------------------------------------- */

test_memory bugs_memory;

carom_context *bugs_context(void) {
    const carom_context_def def = {.allocator = test_allocator(&bugs_memory), .threads = 1};
    carom_context *made;
    assert_ok(NULL, carom_context_create(&def, &made));
    return made;
}
static uint64_t live_before;

void bugs_begin(void) {
    live_before = bugs_memory.live;
    test_asserts_begin();
}

void bugs_end(const char *call, carom_status status, int line) {
    int heard = test_asserts_end();
    if (heard != 1 || status != CAROM_INVALID)
        fail_msg("line %d: %s: handler called %d times, status %s", line, call, heard,
                 carom_status_name(status));
    if (bugs_memory.live != live_before) fail_msg("line %d: %s: memory was kept", line, call);
}

void bugs_end_fine(const char *call, carom_status status, int line) {
    int heard = test_asserts_end();
    if (heard != 0 || status == CAROM_INVALID)
        fail_msg("line %d: %s: handler called %d times, status %s", line, call, heard,
                 carom_status_name(status));
}

/* ---- contexts that no call may enter --------------------------------------------------------- */

static int bad_context; /* which: see bugs_bad_context */
static bool bad_context_taken;

static carom_context *of_parent(void) {
    static carom_context *made;
    if (made == NULL) {
        assert_int_equal(carom_context_create(&(carom_context_def){.threads = 1}, &made), CAROM_OK);
        --made->forks;
    }
    return made;
}

static carom_context *of_other_thread(void) {
    static carom_context *made;
    static char other_thread;
    if (made == NULL) {
        assert_int_equal(carom_context_create(&(carom_context_def){.threads = 1}, &made), CAROM_OK);
        made->owner = &other_thread;
    }
    return made;
}

carom_context *bugs_bad_context(void) {
    static carom_context *(*const make[])(void) = {of_parent, of_other_thread};
    bad_context_taken = true;
    return bad_context == 0 ? NULL : make[bad_context - 1]();
}

bool bugs_next_context(const char *function) {
#ifdef CAROM_CHECKS
    const int last = 2;
#else
    const int last = 1;
#endif
    bool taken = bad_context_taken;
    bad_context_taken = false;
    if (!taken) return false;
    if (bad_context < last) return ++bad_context, true;
    bad_context = 0;
    bugs_note(function, ' ', "BAD_CONTEXT");
    return false;
}

/* ---- the headers ----------------------------------------------------------------------------- */

/* Headers in a row, without comments, blanks made one. */
typedef struct header_text {
    char data[1 << 18];
    uint64_t size;
} header_text;

static header_text all, wanted; /* all for the names of enums */

static void read_header(const char *name, header_text *text) {
    char file_name[1024];
    int last = ' ';
    bool comment = false, line_start = true, directive = false;
    snprintf(file_name, sizeof(file_name), CAROM_SOURCE_DIR "/include/carom/%s", name);
    FILE *file = fopen(file_name, "r");
    assert_non_null(file);
    for (int c = fgetc(file), next; c != EOF; c = next) {
        next = fgetc(file);
        if (!comment && c == '/' && next == '*') comment = true;
        if (line_start && c == '#' && !comment) directive = true;
        line_start = c == '\n';
        if (directive) { /* up to its last line */
            if (c == '\n' && last != '\\') directive = false;
            last = c;
            continue;
        }
        if (comment) {
            if (last == '*' && c == '/') {
                comment = false;
                c = ' ';
            }
            last = c;
            continue;
        }
        last = c;
        if (isspace(c)) c = ' ';
        if (c == ' ' && text->size > 0 && text->data[text->size - 1] == ' ') continue;
        assert_true(text->size + 2 < sizeof(text->data));
        text->data[text->size++] = (char)c;
    }
    fclose(file);
    text->data[text->size] = '\0';
}

static void read_all_headers(void) {
    DIR *folder = opendir(CAROM_SOURCE_DIR "/include/carom");
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        size_t length = strlen(entry->d_name);
        if (length > 2 && strcmp(entry->d_name + length - 2, ".h") == 0)
            read_header(entry->d_name, &all);
    }
    closedir(folder);
}

static bool is_word(int c) {
    return isalnum(c) || c == '_';
}

/* The word that ends before `end`, which is moved to where it starts. */
static void word_before(const char *begin, const char **end, char word[LONG]) {
    const char *last = *end;
    while (last > begin && !is_word(last[-1])) --last;
    const char *first = last;
    while (first > begin && is_word(first[-1])) --first;
    assert_true(last - first < LONG);
    memcpy(word, first, (size_t)(last - first));
    word[last - first] = '\0';
    *end = first;
}

/* Whether the text between names a type of enum. */
static bool has_enum(const char *begin, const char *end) {
    for (const char *at = strstr(all.data, "typedef enum "); at != NULL;
         at = strstr(at + 1, "typedef enum ")) {
        const char *name = at + strlen("typedef enum ");
        size_t length = strcspn(name, " {");
        for (const char *found = begin; found + length <= end; ++found)
            if (memcmp(found, name, length) == 0 && !is_word(found[length]) &&
                (found == begin || !is_word(found[-1])))
                return true;
    }
    return false;
}

static uint32_t missing;

static void demand(const char *first, char between, const char *second) {
    char name[2 * LONG];
    snprintf(name, sizeof(name), "%s%c%s", first, between, second);
    if (was_tried(name)) return;
    print_error("not tried: %s\n", name);
    ++missing;
}

/* Whether a parameter is the context that a function works with. */
static bool is_context(const char *begin, const char *end) {
    static const char type[] = "carom_context *context";
    while (begin < end && *begin == ' ') ++begin;
    return (size_t)(end - begin) == strlen(type) && memcmp(begin, type, strlen(type)) == 0;
}

static void demand_parameter(const char *function, const char *begin, const char *end) {
    bool pointer = memchr(begin, '*', (size_t)(end - begin)) != NULL;
    const char *bracket = memchr(begin, '[', (size_t)(end - begin));
    char name[LONG];
    if (!pointer && bracket == NULL && !has_enum(begin, end)) return;
    if (bracket != NULL) end = bracket;
    if (is_context(begin, end) && strcmp(function, "carom_context_destroy") != 0)
        demand(function, ' ', "BAD_CONTEXT");
    word_before(begin, &end, name);
    demand(function, ' ', name);
}

static uint32_t demand_functions(void) {
    uint32_t count = 0;
    for (const char *at = strstr(wanted.data, "CAROM_API "); at != NULL;
         at = strstr(at + 1, "CAROM_API ")) {
        const char *open = strchr(at, '('), *end = strchr(at, ';'), *name_end = open;
        char function[LONG];
        assert_true(open != NULL && end != NULL && open < end);
        word_before(at, &name_end, function);
        ++count;
        bool any = false;
        for (const char *begin = open + 1; begin < end;) {
            const char *comma = begin + strcspn(begin, ",)");
            any = any || comma - begin > 4; /* more than "void" */
            demand_parameter(function, begin, comma);
            begin = comma + 1;
        }
        if (!any) demand(function, ' ', "");
    }
    return count;
}

/* Enums in what callers fill in: defs, views and result arrays. */
static void demand_fields(void) {
    for (const char *at = strstr(wanted.data, "typedef struct "); at != NULL;
         at = strstr(at + 1, "typedef struct ")) {
        const char *name_begin = at + strlen("typedef struct ");
        size_t length = strcspn(name_begin, " ;{");
        char name[LONG];
        if (name_begin[length] == ' ' && name_begin[length + 1] != '{') continue; /* opaque */
        assert_true(length < LONG);
        memcpy(name, name_begin, length);
        name[length] = '\0';
        bool given = strcmp(name, "carom_mesh_view") == 0 ||
                     (length > 4 && strcmp(name + length - 4, "_def") == 0);
        const char *end = strchr(name_begin, '}');
        for (const char *begin = strchr(name_begin, '{') + 1; given && begin < end;) {
            const char *stop = begin + strcspn(begin, ";}"), *word_end = stop;
            char field[LONG];
            if (has_enum(begin, stop)) {
                word_before(begin, &word_end, field);
                demand(name, '.', field);
            }
            begin = stop + 1;
        }
    }
    for (const char *at = strstr(wanted.data, "CAROM_RESULT_ARRAY("); at != NULL;
         at = strstr(at + 1, "CAROM_RESULT_ARRAY(")) {
        const char *name_begin = strchr(at, '(') + 1;
        char name[LONG], free_name[LONG + 8];
        size_t length = strcspn(name_begin, ",");
        assert_true(length < LONG);
        memcpy(name, name_begin, length);
        name[length] = '\0';
        demand(name, '.', "owner");
        snprintf(free_name, sizeof(free_name), "%s_free", name);
        demand(free_name, ' ', "result");
    }
}

uint32_t bugs_assert_complete(const char *const *headers, uint32_t count) {
    read_all_headers();
    for (uint32_t i = 0; i < count; ++i) read_header(headers[i], &wanted);
    uint32_t functions = demand_functions();
    demand_fields();
    assert_int_equal(missing, 0);
    return functions;
}
