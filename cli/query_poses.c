/* SPDX-License-Identifier: MIT */
/* Many poses of one pair of solids, answered in batches. What is not known is an empty cell. */
#include "cli/query_poses.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/rows.h"

#define POSES_NUMBERS 7u     /* of a pose */
#define POSES_AT_ONCE 16384u /* poses of a batch: some 10 MB of answers */

static const char poses_heading[] =
    "index,relation,distance,distance_lower,distance_upper,volume,volume_lower,volume_upper,"
    "force_x,force_y,force_z,torque_x,torque_y,torque_z,centroid_x,centroid_y,centroid_z\n";

void query_poses_close(query_poses *poses) {
    free(poses->numbers.data);
    poses->numbers = (number_lines){0};
}

static carom_pose poses_get(const query_poses *poses, uint64_t i) {
    const double *n = poses->numbers.data + POSES_NUMBERS * i;
    return (carom_pose){
        .q.w = n[3], .q.x = n[4], .q.y = n[5], .q.z = n[6], .t = {n[0], n[1], n[2]}};
}

/* The hash of all that the rows depend on. */
static bool hash_all(const query_poses *poses, int engine, char **paths, uint64_t *hash) {
    const uint64_t numbers[2] = {(uint64_t)engine, engine == QUERY_EXACT ? 0 : poses->spheres};
    *hash = rows_hash(3, numbers, sizeof(numbers));
    for (int i = 0; i < 2; ++i)
        if (poses->parts[i] != NULL)
            *hash = rows_hash(*hash, poses->parts[i], strlen(poses->parts[i]) + 1);
    *hash = rows_hash(*hash, poses->numbers.data,
                      (size_t)poses->numbers.count * sizeof(*poses->numbers.data));
    return rows_hash_files(paths, 2, hash);
}

int query_poses_open(cli *cli, int engine, char **paths, query_poses *poses) {
    uint64_t hash, shards = poses->shard.count;
    int code = number_lines_read(cli, poses->path, POSES_NUMBERS, &poses->numbers);
    if (code != CLI_OK) return code;
    poses->count = poses->numbers.lines;
    for (uint64_t i = 0; i < poses->count; ++i) {
        carom_quat q = poses_get(poses, i).q;
        char message[512];
        if (q.w != 0.0 || q.x != 0.0 || q.y != 0.0 || q.z != 0.0) continue;
        snprintf(message, sizeof(message),
                 "%.300s: pose %" PRIu64 ": the quaternion is zero; 1,0,0,0 turns nothing",
                 poses->path, i);
        return cli_fail_with(cli, CAROM_BAD_FILE, message);
    }
    if (poses->shard.number == 0) return CLI_OK;
    if (!hash_all(poses, engine, paths, &hash)) {
        snprintf(cli->message, sizeof(cli->message), "%.200s or %.200s: cannot be read", paths[0],
                 paths[1]);
        return cli_fail(cli, CAROM_IO);
    }
    shard_set(&poses->shard, hash);
    poses->first = poses->numbers.lines * (poses->shard.number - 1) / shards;
    poses->count = poses->numbers.lines * poses->shard.number / shards - poses->first;
    poses->finished = poses->resume && rows_are_finished(cli, poses->output, &poses->shard);
    if (poses->finished)
        printf("shard %u of %u: was there\n", poses->shard.number, poses->shard.count);
    return CLI_OK;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void put_known(FILE *out, double number) {
    putc(',', out);
    if (isfinite(number)) fprintf(out, "%.17g", number);
}

static void put_vector(FILE *out, carom_vec3 v) {
    fprintf(out, ",%.17g,%.17g,%.17g", v.x, v.y, v.z);
}

static void write_row(FILE *out, uint64_t index, const query_answer *a) {
    fprintf(out, "%" PRIu64 ",%s", index, a->relation);
    put_known(out, a->distance);
    put_known(out, a->distance_lower);
    put_known(out, a->distance_upper);
    put_known(out, a->volume);
    put_known(out, a->volume_lower);
    put_known(out, a->volume_upper);
    put_vector(out, a->force);
    put_vector(out, a->torque);
    put_vector(out, a->centroid);
    putc('\n', out);
}

/* What was found in all poses of the share. */
typedef struct poses_sum {
    uint64_t relations[CAROM_RELATION_COUNT];
    double seconds;
} poses_sum;

static void count_relation(poses_sum *sum, const query_answer *answer) {
    for (int r = 0; r < CAROM_RELATION_COUNT; ++r)
        if (strcmp(answer->relation, carom_relation_name((carom_relation)r)) == 0)
            ++sum->relations[r];
}

/* Answers for all poses. With a shard, rows go to its writer, else to the file of `out`. */
static carom_status answer_all(cli *cli, const query_question *question, const query_body bodies[2],
                               const query_prepared *made, const query_poses *poses,
                               rows_writer *rows, const output *out, poses_sum *sum) {
    carom_pose *some = calloc(POSES_AT_ONCE, sizeof(*some));
    query_answer *answers = calloc(POSES_AT_ONCE, sizeof(*answers));
    carom_status status = some != NULL && answers != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    for (uint64_t at = 0; at < poses->count && status == CAROM_OK; at += POSES_AT_ONCE) {
        uint64_t count = poses->count - at < POSES_AT_ONCE ? poses->count - at : POSES_AT_ONCE;
        for (uint64_t i = 0; i < count; ++i) some[i] = poses_get(poses, poses->first + at + i);
        double start = carom_time_seconds();
        status = query_answer_all(cli, question, bodies, made, some, count, answers);
        sum->seconds += carom_time_seconds() - start;
        if (status != CAROM_OK && at != 0)
            snprintf(cli->message, sizeof(cli->message), "counted from pose %" PRIu64 ": %.400s",
                     poses->first + at, carom_context_message(cli->context));
        for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
            uint64_t index = poses->first + at + i;
            count_relation(sum, &answers[i]);
            if (rows != NULL) {
                write_row(rows->text, index, &answers[i]);
                rows_put(rows, index, 0, NULL);
            } else if (out->file != NULL) {
                write_row(out->file, index, &answers[i]);
            }
        }
    }
    free(some);
    free(answers);
    return status;
}

static carom_status write_table(cli *cli, const query_question *question,
                                const query_body bodies[2], const query_prepared *made,
                                const query_poses *poses, output *out, poses_sum *sum) {
    rows_writer rows;
    carom_status status = CAROM_OK;
    if (poses->shard.number == 0) {
        if (out->file != NULL) fputs(poses_heading, out->file);
        return answer_all(cli, question, bodies, made, poses, NULL, out, sum);
    }
    if (rows_begin(&rows, &poses->shard, poses_heading, out))
        status = answer_all(cli, question, bodies, made, poses, &rows, out, sum);
    if (rows_end(&rows) || status != CAROM_OK) return status;
    snprintf(cli->message, sizeof(cli->message), "a temporary file cannot be written");
    return CAROM_IO;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void print_poses_json(const cli *cli, const query_question *question,
                             const query_answer *answer, const query_poses *poses,
                             const poses_sum *sum) {
    json j = cli_begin_json(cli);
    json_text(&j, "engine", query_engine_name(question->engine));
    if (answer->reason != NULL) json_text(&j, "reason", answer->reason);
    json_count(&j, "poses", poses->count);
    json_begin_object(&j, "relations");
    for (int r = 0; r < CAROM_RELATION_COUNT; ++r)
        json_count(&j, carom_relation_name((carom_relation)r), sum->relations[r]);
    json_end_object(&j);
    json_number(&j, "prepare_s", answer->prepare_s);
    json_number(&j, "seconds", sum->seconds);
    if (poses->output != NULL) json_text(&j, "output", poses->output);
    cli_end_json(&j);
}

static void print_poses_words(const query_question *question, char **paths,
                              const query_answer *answer, const query_poses *poses,
                              const poses_sum *sum) {
    FILE *out = output_words(poses->output);
    const char *comma = "";
    fprintf(out, "%s and %s in %" PRIu64 " poses: ", paths[0], paths[1], poses->count);
    for (int r = 0; r < CAROM_RELATION_COUNT; ++r) {
        if (sum->relations[r] == 0) continue;
        fprintf(out, "%s%" PRIu64 " %s", comma, sum->relations[r],
                carom_relation_name((carom_relation)r));
        comma = ", ";
    }
    putc('\n', out);
    if (answer->reason != NULL)
        fprintf(out, "  %-9s %s: %s\n", "engine", query_engine_name(question->engine),
                answer->reason);
    fprintf(out, "prepared in %.2f ms, answered in %.2f ms, %.1f us each\n",
            1e3 * answer->prepare_s, 1e3 * sum->seconds,
            poses->count != 0 ? 1e6 * sum->seconds / (double)poses->count : 0.0);
    if (out == stdout && poses->output != NULL) fprintf(out, "written to %s\n", poses->output);
}

carom_status query_poses_run(cli *cli, const query_question *question, const query_body bodies[2],
                             const query_prepared *made, char **paths, const query_poses *poses,
                             query_answer *answer) {
    output out = {0};
    poses_sum sum = {0};
    answer->reported = !output_open(cli, poses->output, &out);
    if (answer->reported) return CAROM_IO;
    carom_status status = write_table(cli, question, bodies, made, poses, &out, &sum);
    bool written = output_close(&out, status == CAROM_OK);
    if (status != CAROM_OK) return status;
    answer->reported = !written;
    if (!written) return CAROM_NO_MEMORY; /* of the machine */
    bar_clear(&cli->bar);
    answer->collided = sum.relations[CAROM_RELATION_APART] != poses->count;
    if (cli->json)
        print_poses_json(cli, question, answer, poses, &sum);
    else
        print_poses_words(question, paths, answer, poses, &sum);
    return CAROM_OK;
}
