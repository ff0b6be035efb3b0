/* SPDX-License-Identifier: MIT */
/* Scenes: each rank reads all files and finds the clashes of its share of the pairs of parts, as
 * carom scene --shard does; the first rank joins their rows, as carom merge does. Ranks exchange
 * these rows alone, through files with a name in the temporary folder of each machine. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "job.h"

#define SCENE_AT_ONCE (1 << 20) /* bytes of rows */

/* Sends the rows of rank `from` to the first, which writes them to a file of its own. */
static void pass_rows(ranks_job *job, int from, const char *path) {
    char *bytes = ranks_take(job, SCENE_AT_ONCE, 1, "rows");
    FILE *file = fopen(path, job->rank == 0 ? "wb" : "rb");
    bool good = file != NULL;
    for (int got = SCENE_AT_ONCE; good && got == SCENE_AT_ONCE; job->sent += (uint64_t)got) {
        if (job->rank == 0) {
            MPI_Status status;
            MPI_Recv(bytes, got, MPI_BYTE, from, 0, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &got);
            good = fwrite(bytes, 1, (size_t)got, file) == (size_t)got;
        } else {
            got = (int)fread(bytes, 1, SCENE_AT_ONCE, file);
            MPI_Send(bytes, got, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            good = ferror(file) == 0;
        }
    }
    if (file == NULL || fclose(file) != 0 || !good)
        ranks_die(job, RANKS_EXIT_INPUT, "%s: rows cannot be passed on: disk full?", path);
    free(bytes);
}

/* Runs the share of this rank without what the tool says of it; the first rank joins all. */
static int run_share(ranks_job *job, char **call, int count, char **merge, int joined,
                     char (*paths)[1100]) {
    int out = dup(STDOUT_FILENO), none = open("/dev/null", O_WRONLY), merged = CLI_OK;
    (void)dup2(none, STDOUT_FILENO);
    int code = cli_main((size_t)count, call);
    (void)dup2(out, STDOUT_FILENO);
    (void)close(none);
    (void)close(out);
    if (code != CLI_OK && code != CLI_YES) return code;
    for (int r = 1; r < job->ranks; ++r)
        if (job->rank == 0 || job->rank == r) pass_rows(job, r, paths[r]);
    if (job->rank == 0) merged = cli_main((size_t)joined, merge);
    return merged != CLI_OK ? merged : code;
}

int ranks_scene(ranks_job *job, int count, char **words) {
    const char *temporary = getenv("TMPDIR");
    char folder[1024], share[32], *output = NULL;
    char scene[] = "scene", shard[] = "--shard", threads[] = "--threads", one[] = "1";
    char quiet[] = "--quiet", to[] = "-o", name[] = "merge";
    int ranks = job->ranks, used = 0, joined = 0;
    char(*paths)[1100] = ranks_take(job, (uint64_t)ranks, sizeof(*paths), "names");
    char **call = ranks_take(job, (uint64_t)count + 8, sizeof(*call), "words");
    char **merge = ranks_take(job, (uint64_t)ranks + 3, sizeof(*merge), "words");
    for (int i = 0; i + 1 < count; ++i)
        if (strcmp(words[i], "-o") == 0) output = words[i + 1];
    if (output == NULL) ranks_die(job, RANKS_EXIT_MISUSE, "a scene needs -o FILE.csv");
    snprintf(folder, sizeof(folder), "%s/carom-mpi-XXXXXX", temporary != NULL ? temporary : "/tmp");
    snprintf(share, sizeof(share), "%d/%d", job->rank + 1, ranks);
    if (mkdtemp(folder) == NULL)
        ranks_die(job, RANKS_EXIT_INPUT, "%s: no temporary folder can be made", folder);
    merge[joined++] = name;
    for (int r = 0; r < ranks; ++r) {
        snprintf(paths[r], sizeof(paths[r]), "%s/%d.csv", folder, r);
        merge[joined++] = paths[r];
    }
    merge[joined++] = to, merge[joined++] = output;
    call[used++] = scene, call[used++] = threads, call[used++] = one;
    for (int i = 0; i < count; ++i) call[used++] = words[i]; /* a later option replaces one */
    call[used++] = quiet, call[used++] = shard, call[used++] = share;
    call[used++] = to, call[used++] = paths[job->rank];
    int code = run_share(job, call, used, merge, joined, paths);
    for (int r = 0; r < ranks; ++r) (void)unlink(paths[r]);
    (void)rmdir(folder);
    if (code != CLI_OK && code != CLI_YES) ranks_die(job, code, "no clash report");
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (job->rank == 0) printf("%" PRIu64 " bytes of rows from %d ranks\n", job->sent, ranks);
    free(call);
    free(merge);
    free(paths);
    return MPI_Finalize() == MPI_SUCCESS ? code : RANKS_EXIT_MACHINE;
}
