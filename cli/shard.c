/* SPDX-License-Identifier: MIT */
/* Files of shards: written by carom pairs --shard, read by carom merge. A file that was cut short
 * lacks its last line, and one that was changed does not agree with the check in it. */
#include "cli/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/platform.h"

#define SHARD_LINE 160 /* bytes of the longest line */

const char *shard_parse(const char *text, shard_head *head) {
    char *end;
    *head = (shard_head){0};
    if (text == NULL) return NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '/' || *text == '-') return "--shard takes I/N, such as 2/3";
    const char *second = end + 1;
    unsigned long count = strtoul(second, &end, 10);
    if (end == second || *end != '\0' || *second == '-') return "--shard takes I/N, such as 2/3";
    if (number == 0 || number > count || count > SHARD_MOST)
        return "--shard I/N needs I from 1 to N, and N of at most 512";
    head->number = (uint32_t)number;
    head->count = (uint32_t)count;
    return NULL;
}

void shard_set(shard_head *head, uint64_t input) {
    snprintf(head->version, sizeof(head->version), "%.31s", carom_build_get()->version);
    head->input = input;
}

uint64_t shard_check(uint64_t check, carom_pair pair) {
    check = (check ^ ((uint64_t)pair.a << 32 | pair.b)) * UINT64_C(0x9E3779B97F4A7C15);
    return check ^ check >> 29;
}

void shard_write_head(const shard_head *head, output *out) {
    fprintf(out->file,
            "# carom shard %" PRIu32 " of %" PRIu32 ", version %s, input %016" PRIx64 "\n",
            head->number, head->count, head->version, head->input);
}

void shard_write_end(uint64_t pairs, uint64_t check, output *out) {
    fprintf(out->file, "# end of shard: %" PRIu64 " pairs, check %016" PRIx64 "\n", pairs, check);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static carom_status shard_refuse(cli *cli, const shard_file *file, const char *what) {
    snprintf(cli->message, sizeof(cli->message), "%.300s: %s", file->path, what);
    return CAROM_BAD_FILE;
}

void shard_close(shard_file *file) {
    if (file->file != NULL) (void)fclose(file->file);
    file->file = NULL;
}

carom_status shard_next(cli *cli, shard_file *file) {
    char line[SHARD_LINE], *end;
    uint64_t pairs, check;
    carom_pair before = file->next;
    file->more = false;
    if (fgets(line, sizeof(line), file->file) == NULL)
        return shard_refuse(cli, file, "is cut short: its last line is missing; make it anew");
    if (line[0] == '#') {
        if (sscanf(line, "# end of shard: %" SCNu64 " pairs, check %" SCNx64, &pairs, &check) !=
                2 ||
            strchr(line, '\n') == NULL || fgetc(file->file) != EOF)
            return shard_refuse(cli, file, "has a line in it that shards do not have");
        if (pairs != file->pairs || check != file->check)
            return shard_refuse(cli, file,
                                "was changed: its pairs do not agree with its last line");
        return CAROM_OK;
    }
    unsigned long long a = strtoull(line, &end, 10), b = 0;
    bool good = end != line && *end == ',' && a <= UINT32_MAX;
    if (good) b = strtoull(end + 1, &end, 10);
    if (!good || *end != '\n' || b > UINT32_MAX)
        return shard_refuse(cli, file, "is cut short or changed: a line is no pair");
    file->next = (carom_pair){(uint32_t)a, (uint32_t)b};
    if (file->pairs != 0 &&
        (before.a > file->next.a || (before.a == file->next.a && before.b >= file->next.b)))
        return shard_refuse(cli, file, "was changed: its pairs do not ascend");
    file->check = shard_check(file->check, file->next);
    file->more = true;
    ++file->pairs;
    return CAROM_OK;
}

carom_status shard_open(cli *cli, const char *path, shard_file *file) {
    char line[SHARD_LINE];
    shard_head *head = &file->head;
    *file = (shard_file){.path = path, .file = carom_os_stream(path, "r")};
    if (file->file == NULL) {
        snprintf(cli->message, sizeof(cli->message), "%.300s: cannot be opened: %.100s", path,
                 strerror(errno));
        return CAROM_IO;
    }
    bool read = fgets(line, sizeof(line), file->file) != NULL;
    if (read && strncmp(line, "# carom rows ", 13) == 0 &&
        sscanf(line,
               "# carom rows %" SCNu32 " of %" SCNu32
               " of %15[a-z], version %31[^,], input %" SCNx64,
               &head->number, &head->count, head->table, head->version, &head->input) == 5 &&
        head->number != 0 && head->number <= head->count && head->count <= SHARD_MOST)
        return CAROM_OK;
    if (!read ||
        sscanf(line, "# carom shard %" SCNu32 " of %" SCNu32 ", version %31[^,], input %" SCNx64,
               &head->number, &head->count, head->version, &head->input) != 4 ||
        head->number == 0 || head->number > head->count || head->count > SHARD_MOST)
        return shard_refuse(cli, file, "is no file that carom pairs --shard wrote");
    return shard_next(cli, file);
}

bool shard_is_finished(cli *cli, const char *path, const shard_head *head, uint64_t *pairs) {
    shard_file file;
    carom_os_file_info info;
    if (!carom_os_file_info_of(path, &info)) return false;
    carom_status status = shard_open(cli, path, &file);
    while (status == CAROM_OK && file.more && !interrupt_seen()) status = shard_next(cli, &file);
    *pairs = file.pairs;
    shard_close(&file);
    cli->message[0] = '\0'; /* a file that is not whole is made anew */
    return status == CAROM_OK && !file.more && file.head.number == head->number &&
           file.head.count == head->count && file.head.input == head->input &&
           strcmp(file.head.version, head->version) == 0;
}
