/* SPDX-License-Identifier: MIT */
/* Compares a report with an earlier one: a page of it, as it was written or as a browser saved it,
 * or its JSON. Clashes are the same where their GUIDs are (scene_identity.c). Status and notes are
 * carried on; those of a clash that was solved and has come back, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_read.h"
#include "cli/scene_report.h"

/* Where the JSON stands in a page; no text of it has a <, as pages write \u003c for that. */
static const char opening[] = "id=\"carom-report\"";

/* A clash of the earlier report. */
typedef struct earlier {
    const char *guid;
    const json_value *clash;
    bool solved; /* by then */
    bool found;  /* now */
} earlier;

typedef struct baseline {
    earlier *data;
    uint64_t count;
} baseline;

/* The JSON in the text of a file; false where a page has none. */
static bool find_json(const char *text, size_t size, const char **json, size_t *json_size) {
    size_t at = 0;
    while (at < size && strchr(" \t\r\n\xEF\xBB\xBF", text[at]) != NULL && text[at] != '\0') ++at;
    *json = text + at;
    *json_size = size - at;
    if (at < size && text[at] != '<') return true;
    const char *mark = strstr(text, opening);
    const char *begin = mark != NULL ? strchr(mark, '>') : NULL;
    const char *end = begin != NULL ? strstr(begin, "</script>") : NULL;
    if (end == NULL) return false;
    *json = begin + 1;
    *json_size = (size_t)(end - begin - 1);
    return true;
}

static int compare_earlier(const void *one, const void *other) {
    const earlier *x = one, *y = other;
    int order = strcmp(x->guid, y->guid);
    return order != 0 ? order : (int)x->solved - (int)y->solved;
}

/* Lists the clashes of one key; false when there is no memory. */
static bool list_clashes(const json_value *report, const char *key, bool solved, baseline *base) {
    const json_value *list = json_get(report, key), *v = json_first(list);
    if (v == NULL || list->kind != JSON_ARRAY) return true;
    earlier *data = realloc(base->data, (size_t)(base->count + list->size + 1) * sizeof(*data));
    if (data == NULL) return false;
    base->data = data;
    for (; v < json_end(list); v = json_next(v)) {
        const char *guid = json_get_text(v, "guid");
        if (guid != NULL && strlen(guid) == GUID_SIZE - 1)
            data[base->count++] = (earlier){.guid = guid, .clash = v, .solved = solved};
    }
    return true;
}

/* The one of a GUID, first among those that were there; NULL: none. */
static earlier *find(const baseline *base, const char *guid) {
    uint64_t low = 0, high = base->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (strcmp(base->data[middle].guid, guid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < base->count && strcmp(base->data[low].guid, guid) == 0 ? &base->data[low] : NULL;
}

static char *copy_of(const json_value *clash, const char *key, bool *no_memory) {
    const char *text = json_get_text(clash, key);
    if (text == NULL || *text == '\0') return NULL;
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    *no_memory = *no_memory || copy == NULL;
    return copy;
}

static scene_status status_of(const json_value *clash) {
    const char *text = json_get_text(clash, "status");
    for (int i = 0; i < SCENE_STATUSES && text != NULL; ++i)
        if (strcmp(text, scene_status_name((scene_status)i)) == 0) return (scene_status)i;
    return SCENE_NEW;
}

/* Carries status and notes on. */
static bool carry_on(const baseline *base, scene_report *report) {
    bool no_memory = false;
    for (uint64_t i = 0; i < report->count; ++i) {
        scene_clash *c = &report->clashes[i];
        earlier *e = find(base, c->guid);
        c->change = e != NULL && !e->solved ? SCENE_STAYED : SCENE_CAME;
        ++report->changes[c->change];
        if (e == NULL) continue;
        e->found = true;
        c->status = status_of(e->clash);
        c->note = copy_of(e->clash, "note", &no_memory);
    }
    return !no_memory;
}

static bool list_solved(const baseline *base, scene_report *report) {
    bool no_memory = false;
    report->solved = calloc((size_t)base->count + 1, sizeof(*report->solved));
    if (report->solved == NULL) return false;
    for (uint64_t i = 0; i < base->count && !no_memory; ++i) {
        const earlier *e = &base->data[i];
        if (e->found || e->solved) continue;
        if (i > 0 && strcmp(base->data[i - 1].guid, e->guid) == 0) continue; /* twice in the file */
        scene_solved *s = &report->solved[report->solved_count++];
        memcpy(s->guid, e->guid, sizeof(s->guid));
        s->name_a = copy_of(e->clash, "name_a", &no_memory);
        s->name_b = copy_of(e->clash, "name_b", &no_memory);
        s->relation = copy_of(e->clash, "relation", &no_memory);
        s->note = copy_of(e->clash, "note", &no_memory);
        s->status = status_of(e->clash);
        s->volume = json_get_number(e->clash, "volume");
        s->distance = json_get_number(e->clash, "distance");
        s->depth = json_get_number(e->clash, "depth");
    }
    return !no_memory;
}

/* A message where the file is no report; "" where there is no memory. */
static const char *read_report(const char *text, size_t size, json_tree *tree, char *detail,
                               size_t detail_size) {
    const char *json, *command;
    size_t json_size;
    *detail = '\0';
    if (!find_json(text, size, &json, &json_size))
        return "the page has no clash report in it; it is from an earlier version or no page of "
               "carom scene";
    if (!json_read(json, json_size, tree)) {
        if (tree->what == NULL) return "";
        snprintf(detail, detail_size, " at byte %zu: %s", (size_t)(json - text) + tree->at,
                 tree->what);
        return "neither a page nor JSON";
    }
    command = json_get_text(tree->values, "command");
    if (command == NULL || strcmp(command, "scene") != 0 ||
        json_get(tree->values, "clashes") == NULL)
        return "this is no clash report: there are no clashes in it";
    const json_value *first = json_first(json_get(tree->values, "clashes"));
    if (first != NULL && json_get_text(first, "guid") == NULL)
        return "its clashes have no GUIDs: it is from an earlier version";
    return NULL;
}

carom_status scene_compare(cli *cli, const char *path, const scene_clash *left_out,
                           uint64_t left_out_count, scene_report *report) {
    char *text = NULL, detail[128];
    size_t size = 0;
    json_tree tree = {0};
    baseline base = {0};
    carom_status status = scene_urdf_text(cli, path, &text, &size);
    if (status != CAROM_OK) return status;
    const char *message = read_report(text, size, &tree, detail, sizeof(detail));
    if (message != NULL && *message != '\0') {
        snprintf(cli->message, sizeof(cli->message), "%.200s: %.150s%.150s", path, message, detail);
        status = CAROM_BAD_INPUT;
    } else if (message != NULL || !list_clashes(tree.values, "clashes", false, &base) ||
               !list_clashes(tree.values, "solved", true, &base)) {
        status = CAROM_NO_MEMORY;
    } else {
        if (base.count != 0)
            qsort(base.data, (size_t)base.count, sizeof(*base.data), compare_earlier);
        for (uint64_t i = 0; i < left_out_count; ++i) {
            earlier *e = find(&base, left_out[i].guid);
            if (e != NULL) e->found = true;
        }
        if (!carry_on(&base, report) || !list_solved(&base, report)) status = CAROM_NO_MEMORY;
    }
    free(base.data);
    json_tree_free(&tree);
    free(text);
    return status;
}
