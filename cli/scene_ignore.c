/* SPDX-License-Identifier: MIT */
/* Rules that leave clashes out of a report. A line of the file is
 *
 *     GLOB GLOB [RELATION] [depth<=X]
 *
 * and leaves out the clashes of every two parts of which one matches the first pattern and the
 * other the second, in any order, where the relation and the depth are such. Patterns are those of
 * the shell (glob.h: * ? [a-z]), for whole names; one with blanks stands in double quotes.
 * Parts that touch or are apart have the depth 0. Empty lines and what follows # are left alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/glob.h"
#include "cli/input.h"
#include "cli/scene_report.h"

typedef struct rule {
    char *globs[2];
    int relation; /* SCENE_RELATIONS: any */
    double depth; /* infinite: any */
    uint64_t line, matches;
} rule;

struct scene_rules {
    const char *path;
    rule *data;
    uint64_t count, capacity;
};

void scene_rules_free(scene_rules *rules) {
    if (rules == NULL) return;
    for (uint64_t i = 0; i < rules->count; ++i) {
        free(rules->data[i].globs[0]);
        free(rules->data[i].globs[1]);
    }
    free(rules->data);
    free(rules);
}

/* Takes the next word off a line, in place; NULL at its end. *quoted: it stood in quotes. A quote
 * without an end ends with the line, and *open is true. */
static char *next_word(char **line, bool *quoted, bool *open) {
    char *at = *line + strspn(*line, " \t\r"), *word = at, *to = at;
    *quoted = *at == '"';
    if (*at == '\0' || *at == '#') return NULL;
    if (!*quoted) {
        at += strcspn(at, " \t\r");
    } else {
        for (++at; *at != '\0' && *at != '"'; ++at) {
            if (at[0] == '\\' && at[1] == '"') ++at;
            *to++ = *at;
        }
        *open = *at == '\0';
        *line = *at != '\0' ? at + 1 : at;
        *to = '\0';
        return word;
    }
    *line = *at != '\0' ? at + 1 : at;
    *at = '\0';
    return word;
}

static const char *read_condition(const char *word, rule *r) {
    for (int i = 0; i < SCENE_RELATIONS; ++i)
        if (strcmp(word, scene_relation_name((scene_relation)i)) == 0) {
            r->relation = i;
            return NULL;
        }
    if (strncmp(word, "depth<=", 7) != 0)
        return "after two patterns a line has a relation such as touching, or depth<=X";
    return args_read_number(word + 7, &r->depth) && r->depth >= 0.0
               ? NULL
               : "depth<= needs a number that is not negative";
}

static char *copy_text(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    if (copy != NULL) memcpy(copy, text, strlen(text) + 1);
    return copy;
}

/* A message where the line is no rule; "" where there is no memory. */
static const char *read_line(scene_rules *rules, uint64_t number, char *line) {
    rule r = {.relation = SCENE_RELATIONS, .depth = HUGE_VAL, .line = number};
    bool quoted, open = false;
    const char *words[2] = {NULL, NULL}, *message = NULL, *word;
    if ((words[0] = next_word(&line, &quoted, &open)) == NULL) return NULL;
    words[1] = next_word(&line, &quoted, &open);
    if (words[1] == NULL) return "a line needs two patterns: GLOB GLOB [RELATION] [depth<=X]";
    while (message == NULL && (word = next_word(&line, &quoted, &open)) != NULL)
        message = read_condition(word, &r);
    if (open) message = "a quote has no end";
    if (message != NULL) return message;
    if (rules->count == rules->capacity) {
        uint64_t capacity = 2 * rules->capacity + 16;
        rule *data = realloc(rules->data, (size_t)capacity * sizeof(*data));
        if (data == NULL) return "";
        rules->data = data;
        rules->capacity = capacity;
    }
    for (int k = 0; k < 2; ++k) r.globs[k] = copy_text(words[k]);
    rules->data[rules->count++] = r;
    return r.globs[0] != NULL && r.globs[1] != NULL ? NULL : "";
}

carom_status scene_rules_read(cli *cli, const char *path, scene_rules **made) {
    scene_rules *rules = calloc(1, sizeof(*rules));
    input in;
    *made = rules;
    if (rules == NULL) return CAROM_NO_MEMORY;
    rules->path = path;
    const char *message = NULL;
    char *line;
    bool opened = input_open(&in, path, cli->limit_input);
    while (opened && message == NULL && (line = input_line(&in)) != NULL)
        message = read_line(rules, in.number, line);
    carom_status status = in.status;
    if (message != NULL && *message == '\0') status = CAROM_NO_MEMORY;
    if (message != NULL && *message != '\0') {
        status = CAROM_BAD_INPUT;
        snprintf(cli->message, sizeof(cli->message), "%.200s:%llu: %s", path,
                 (unsigned long long)in.number, message);
    } else if (in.status != CAROM_OK) {
        snprintf(cli->message, sizeof(cli->message), "%.200s: %s", path, in.reason);
    }
    input_close(&in);
    return status;
}

bool scene_rules_need_depth(const scene_rules *rules) {
    for (uint64_t i = 0; rules != NULL && i < rules->count; ++i)
        if (isfinite(rules->data[i].depth)) return true;
    return false;
}

/* ---- Matching -------------------------------------------------------------------------------- */

/* A part is known by its name and by the one under which it is written. */
static bool matches_part(const char *glob, const scene_part *part) {
    return glob_matches(glob, part->title) || glob_matches(glob, part->name);
}

static bool has_at_most(const scene_clash *c, double depth) {
    if (!isfinite(depth)) return true;
    if (c->relation == SCENE_TOUCHING || c->relation == SCENE_CLOSE) return true;
    return scene_has_depth(c) && c->contact.depth <= depth;
}

static bool matches(const rule *r, const scene_report *report, const scene_clash *c) {
    const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
    if (r->relation != SCENE_RELATIONS && r->relation != (int)c->relation) return false;
    if (!has_at_most(c, r->depth)) return false;
    return (matches_part(r->globs[0], a) && matches_part(r->globs[1], b)) ||
           (matches_part(r->globs[0], b) && matches_part(r->globs[1], a));
}

carom_status scene_rules_apply(const scene_rules *rules, scene_report *report) {
    scene_clash *left = malloc((size_t)(report->count + 1) * sizeof(*left));
    uint64_t kept = 0;
    if (left == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < report->count; ++i) {
        const scene_clash *c = &report->clashes[i];
        bool out = false;
        for (uint64_t k = 0; k < rules->count; ++k)
            if (matches(&rules->data[k], report, c)) out = true, ++rules->data[k].matches;
        if (out)
            left[report->ignored++] = *c;
        else
            report->clashes[kept++] = *c;
    }
    for (uint64_t i = 0; i < report->ignored; ++i) {
        report->clashes[kept + i] = left[i];
        --report->counts[left[i].relation];
    }
    report->count = kept;
    free(left);
    for (uint64_t k = 0; k < rules->count; ++k)
        if (rules->data[k].matches == 0)
            fprintf(stderr, "carom: %s:%llu: this rule leaves out no clash\n", rules->path,
                    (unsigned long long)rules->data[k].line);
    return CAROM_OK;
}
