/* SPDX-License-Identifier: MIT */
/* shard.h: the file of pairs of one shard, and how it is recognised.
 *
 *   # carom shard 2 of 3, version 0.2.0, input 0123456789abcdef
 *   0,7
 *   ...
 *   # end of shard: 123 pairs, check 0123456789abcdef
 *
 * The lines between are those of the whole list. The last line says that nothing is missing. */
#ifndef CAROM_CLI_SHARD_H
#define CAROM_CLI_SHARD_H

#include "cli/output.h"

#define SHARD_MOST 512u /* a merge has all files open at once */

/* Which shard, and of what. */
typedef struct shard_head {
    uint32_t number, count; /* from 1; 0: no shard */
    char version[32];
    uint64_t input; /* hash (carom_parts_report) */
    char table[16]; /* "scene", "robot" or "query": rows of a table (rows.h); empty: pairs */
} shard_head;

#define SHARD_HEADING 1024 /* bytes of the longest heading of a table */

/* Reads "2/3". Returns NULL, or what is wrong. NULL text: no shard. */
const char *shard_parse(const char *text, shard_head *head);

/* Has the version of this library. */
void shard_set(shard_head *head, uint64_t input);

/* Both lines, and the check of the pairs between them: start with 0. */
void shard_write_head(const shard_head *head, output *out);
void shard_write_end(uint64_t pairs, uint64_t check, output *out);
uint64_t shard_check(uint64_t check, carom_pair pair);

/* A file of a shard that is being read. */
typedef struct shard_file {
    const char *path;
    FILE *file; /* NULL: not open */
    shard_head head;
    carom_pair next;
    bool more; /* there is a next pair */
    uint64_t pairs, check;
} shard_file;

/* Reads the first line and, of pairs, the first pair; and the next one. CAROM_IO or CAROM_BAD_FILE
 * with a message on the tool. */
carom_status shard_open(cli *cli, const char *path, shard_file *file);
carom_status shard_next(cli *cli, shard_file *file);
void shard_close(shard_file *file);

/* Whether a file is there, whole and of this head. */
bool shard_is_finished(cli *cli, const char *path, const shard_head *head, uint64_t *pairs);

#endif
