/* SPDX-License-Identifier: MIT */
/* rows.h: shards of tables: a share of the rows of a CSV file, and their joining (carom merge).
 *
 *   # carom rows 2 of 3 of scene, version 0.2.0, input 0123456789abcdef
 *   part_a,part_b,...                                 the heading of the table
 *   7,9,41,12,0,0,0,1,1,1:TEXT                        a row, see below
 *   ...
 *   # end of rows: 123, check 0123456789abcdef
 *
 * A row has the two numbers that it is sorted by, the bytes of its text before and after the cell
 * of its group, and the box by which groups are found. Tables without groups have no such cell. */
#ifndef CAROM_CLI_ROWS_H
#define CAROM_CLI_ROWS_H

#include "cli/shard.h"

/* Writes rows. The text of one goes to `text`, a temporary file. */
typedef struct rows_writer {
    output *out;
    FILE *text;
    long middle; /* bytes before the group */
    uint64_t count, check;
    bool failed;
} rows_writer;

/* Writes the head and the heading, which ends its line. Returns false, and rows_end will too, where
 * there is no temporary file. */
bool rows_begin(rows_writer *writer, const shard_head *head, const char *heading, output *out);
/* The cell of the group is here in the text. */
void rows_group(rows_writer *writer);
/* Ends a row; a NULL box: the table has no groups. */
void rows_put(rows_writer *writer, uint64_t a, uint64_t b, const carom_bounds *box);
/* Writes the last line; false: something could not be written. */
bool rows_end(rows_writer *writer);

/* Whether a file is there, whole and of this head. */
bool rows_are_finished(cli *cli, const char *path, const shard_head *head);

/* Joins open files, which are of one table and complete, and closes none. *count: rows. */
carom_status rows_merge(cli *cli, shard_file *files, size_t file_count, output *out,
                        uint64_t *count);

/* A hash of bytes, after another; begin with 0. */
uint64_t rows_hash(uint64_t hash, const void *bytes, size_t size);

/* The hash of the bytes of files, after *hash; false: one cannot be read. */
bool rows_hash_files(char **paths, size_t count, uint64_t *hash);

#endif
