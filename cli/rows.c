/* SPDX-License-Identifier: MIT */
/* Shards of tables. Texts may have any bytes, line ends in quotes too, so each row says how long
 * its text is. */
#include "cli/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/platform.h"
#include "cli/scene_report.h"

#define ROWS_MOST_TEXT 1000000u /* bytes of a row */

typedef struct row {
    scene_group_item item;
    unsigned left, right; /* bytes of text before and after the group */
    char *text;
} row;

typedef struct row_list {
    row *rows;
    uint64_t count, room;
} row_list;

uint64_t rows_hash(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

bool rows_hash_files(char **paths, size_t count, uint64_t *hash) {
    static char bytes[1 << 16];
    for (size_t i = 0; i < count; ++i) {
        FILE *file = carom_os_stream(paths[i], "rb");
        if (file == NULL) return false;
        for (size_t got; (got = fread(bytes, 1, sizeof(bytes), file)) != 0;)
            *hash = rows_hash(*hash, bytes, got);
        bool good = ferror(file) == 0;
        (void)fclose(file);
        if (!good) return false;
    }
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

bool rows_begin(rows_writer *writer, const shard_head *head, const char *heading, output *out) {
    *writer = (rows_writer){.out = out, .text = tmpfile(), .middle = -1};
    fprintf(out->file,
            "# carom rows %" PRIu32 " of %" PRIu32 " of %s, version %s, input %016" PRIx64 "\n%s",
            head->number, head->count, head->table, head->version, head->input, heading);
    writer->failed = writer->text == NULL;
    return !writer->failed;
}

void rows_group(rows_writer *writer) {
    writer->middle = ftell(writer->text);
}

void rows_put(rows_writer *writer, uint64_t a, uint64_t b, const carom_bounds *box) {
    char bytes[1024];
    long size = ftell(writer->text), left = writer->middle >= 0 ? writer->middle : size;
    carom_bounds none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, *at = &none;
    FILE *to = writer->out->file;
    if (box != NULL) none = *box;
    writer->failed = writer->failed || size < 0 || size > (long)ROWS_MOST_TEXT;
    if (writer->failed) return;
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",%ld,%ld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g:", a, b, left,
            size - left, at->low.x, at->low.y, at->low.z, at->high.x, at->high.y, at->high.z);
    const uint64_t numbers[2] = {a, b};
    writer->check = rows_hash(writer->check, numbers, sizeof(numbers));
    rewind(writer->text);
    for (long done = 0; done < size && !writer->failed;) {
        size_t wanted =
            (size_t)(size - done) < sizeof(bytes) ? (size_t)(size - done) : sizeof(bytes);
        size_t got = fread(bytes, 1, wanted, writer->text);
        writer->failed = got != wanted || fwrite(bytes, 1, got, to) != got;
        writer->check = rows_hash(writer->check, bytes, got);
        done += (long)got;
    }
    putc('\n', to);
    rewind(writer->text);
    writer->middle = -1;
    ++writer->count;
}

bool rows_end(rows_writer *writer) {
    fprintf(writer->out->file, "# end of rows: %" PRIu64 ", check %016" PRIx64 "\n", writer->count,
            writer->check);
    if (writer->text != NULL) (void)fclose(writer->text);
    return !writer->failed;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static carom_status rows_refuse(cli *cli, const shard_file *file, const char *what) {
    snprintf(cli->message, sizeof(cli->message), "%.300s: %s", file->path, what);
    return CAROM_BAD_FILE;
}

/* Reads the next row; its text is NULL after the last. */
static carom_status rows_next(cli *cli, shard_file *file, row *r) {
    static const char bad[] = "is cut short or changed: a row is none; make it anew";
    uint64_t count, check;
    carom_bounds *box = &r->item.box;
    *r = (row){.text = NULL};
    int first = getc(file->file);
    if (first == '#') {
        if (fscanf(file->file, " end of rows: %" SCNu64 ", check %" SCNx64, &count, &check) != 2 ||
            getc(file->file) != '\n' || getc(file->file) != EOF)
            return rows_refuse(cli, file, bad);
        return count == file->pairs && check == file->check
                   ? CAROM_OK
                   : rows_refuse(cli, file,
                                 "was changed: its rows do not agree with its last line");
    }
    if (first == EOF || ungetc(first, file->file) == EOF)
        return rows_refuse(cli, file, "is cut short: its last line is missing; make it anew");
    if (fscanf(file->file, "%" SCNu64 ",%" SCNu64 ",%u,%u,%lf,%lf,%lf,%lf,%lf,%lf", &r->item.a,
               &r->item.b, &r->left, &r->right, &box->low.x, &box->low.y, &box->low.z, &box->high.x,
               &box->high.y, &box->high.z) != 10 ||
        getc(file->file) != ':' || r->left > ROWS_MOST_TEXT || r->right > ROWS_MOST_TEXT)
        return rows_refuse(cli, file, bad);
    size_t size = (size_t)r->left + r->right;
    r->text = malloc(size + 1);
    if (r->text == NULL) return CAROM_NO_MEMORY;
    if (fread(r->text, 1, size, file->file) != size || getc(file->file) != '\n') {
        free(r->text);
        return rows_refuse(cli, file, bad);
    }
    const uint64_t numbers[2] = {r->item.a, r->item.b};
    file->check = rows_hash(file->check, numbers, sizeof(numbers));
    file->check = rows_hash(file->check, r->text, size);
    ++file->pairs;
    return CAROM_OK;
}

bool rows_are_finished(cli *cli, const char *path, const shard_head *head) {
    shard_file file;
    carom_os_file_info info;
    row r = {.text = NULL};
    char heading[SHARD_HEADING];
    if (!carom_os_file_info_of(path, &info)) return false;
    carom_status status = shard_open(cli, path, &file);
    bool same = status == CAROM_OK && strcmp(file.head.table, head->table) == 0 &&
                file.head.number == head->number && file.head.count == head->count &&
                file.head.input == head->input && strcmp(file.head.version, head->version) == 0 &&
                fgets(heading, sizeof(heading), file.file) != NULL;
    do {
        free(r.text);
        r.text = NULL;
        if (same) status = rows_next(cli, &file, &r);
    } while (same && status == CAROM_OK && r.text != NULL && !interrupt_seen());
    shard_close(&file);
    cli->message[0] = '\0'; /* a file that is not whole is made anew */
    return same && status == CAROM_OK && !interrupt_seen();
}

/* ---- Merging --------------------------------------------------------------------------------- */

static int rows_compare(const void *one, const void *other) {
    const scene_group_item *x = &((const row *)one)->item, *y = &((const row *)other)->item;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static carom_status rows_read_all(cli *cli, shard_file *file, row_list *list) {
    for (;;) {
        row r;
        carom_status status = interrupt_seen() ? CAROM_CANCELLED : rows_next(cli, file, &r);
        if (status != CAROM_OK || r.text == NULL) return status;
        if (list->count == list->room) {
            uint64_t room = 2 * list->room + 1024;
            row *grown = realloc(list->rows, (size_t)room * sizeof(*grown));
            if (grown == NULL) free(r.text);
            if (grown == NULL) return CAROM_NO_MEMORY;
            list->rows = grown;
            list->room = room;
        }
        list->rows[list->count++] = r;
    }
}

static carom_status rows_write(const row_list *list, bool grouped, output *out) {
    uint64_t group_count = 0, *groups = calloc((size_t)list->count + 1, sizeof(*groups));
    scene_group_item *items = calloc((size_t)list->count + 1, sizeof(*items));
    bool good = groups != NULL && items != NULL;
    for (uint64_t i = 0; i < list->count && good; ++i) items[i] = list->rows[i].item;
    if (good && grouped) good = scene_group_items(items, list->count, groups, &group_count);
    for (uint64_t i = 0; i < list->count && good; ++i) {
        const row *r = &list->rows[i];
        fwrite(r->text, 1, r->left, out->file);
        if (grouped) fprintf(out->file, "%" PRIu64, groups[i]);
        fwrite(r->text + r->left, 1, r->right, out->file);
    }
    free(groups);
    free(items);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status rows_merge(cli *cli, shard_file *files, size_t file_count, output *out,
                        uint64_t *count) {
    char heading[SHARD_HEADING] = "", other[SHARD_HEADING];
    row_list list = {0};
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < file_count && status == CAROM_OK; ++i) {
        if (fgets(i == 0 ? heading : other, SHARD_HEADING, files[i].file) == NULL ||
            (i != 0 && strcmp(heading, other) != 0))
            status = rows_refuse(cli, &files[i], "is cut short, or has other columns");
        if (status == CAROM_OK) status = rows_read_all(cli, &files[i], &list);
    }
    if (status == CAROM_OK && list.count != 0)
        qsort(list.rows, (size_t)list.count, sizeof(*list.rows), rows_compare);
    if (status == CAROM_OK) {
        fputs(heading, out->file);
        status = rows_write(&list, strcmp(files[0].head.table, "scene") == 0, out);
    }
    *count = list.count;
    for (uint64_t i = 0; i < list.count; ++i) free(list.rows[i].text);
    free(list.rows);
    return status;
}
