/* SPDX-License-Identifier: MIT */
/* carom-mpi: pairs of faces of meshes that many machines hold together.
 *
 *   mpirun -n 64 carom-mpi scan.ply -o pairs.csv
 *
 * Ranks read their shares of the file, find the cut of space together, send each face to the ranks
 * that it reaches into, search with the library and write one sorted list: the bytes of carom
 * pairs, for any number of ranks. A rank that fails ends all, with its message. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/pose.h"
#include "job.h"

static const char usage[] =
    "usage: mpirun -n N carom-mpi A [B] [OPTION...] -o FILE.csv\n"
    "       mpirun -n N carom-mpi scene FILE... [OPTION OF carom scene...] -o FILE.csv\n"
    "  -o FILE             where the pairs go, as carom pairs writes them\n"
    "  --pose NUMBERS      tx,ty,tz,qw,qx,qy,qz: move B first\n"
    "  --within D          faces at most D apart, not only those that meet\n"
    "  --boxes             faces whose boxes overlap\n"
    "  --as-segments       take faces without area for segments and points\n"
    "  --threads N         of each rank (1)\n"
    "  --memory BYTES      of the search of each rank, such as 4G (1G)\n"
    "  --temp FOLDER       of its temporary files (TMPDIR)\n"
    "A and B are binary PLY of triangles, or binary STL, that all ranks can read.\n";

void ranks_die(const ranks_job *job, int code, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "carom-mpi: rank %d: ", job->rank);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

void *ranks_take(const ranks_job *job, uint64_t count, uint64_t size, const char *what) {
    void *made = calloc(count != 0 ? count : 1, size != 0 ? size : 1);
    if (made == NULL)
        ranks_die(job, RANKS_EXIT_MACHINE,
                  "out of memory: %" PRIu64 " bytes for %s; take more ranks, on more machines",
                  count * size, what);
    return made;
}

void ranks_check(const ranks_job *job, carom_status status) {
    bool machine = status == CAROM_NO_MEMORY;
    if (status != CAROM_OK)
        ranks_die(job, machine ? RANKS_EXIT_MACHINE : RANKS_EXIT_INPUT, "%s",
                  carom_context_message(job->context));
}

void ranks_check_io(const ranks_job *job, int code, const char *path, const char *what) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    ranks_die(job, RANKS_EXIT_INPUT, "%s: %s: %s", path, what, text);
}

void *ranks_exchange(ranks_job *job, const void *items, const uint64_t *counts, uint64_t size,
                     uint64_t *received) {
    int ranks = job->ranks, out = 0, in = 0;
    int *numbers = ranks_take(job, 4 * (uint64_t)ranks, sizeof(*numbers), "counts");
    int *send = numbers, *send_at = numbers + ranks;
    int *get = numbers + 2 * ranks, *get_at = numbers + 3 * ranks;
    uint64_t *coming = ranks_take(job, (uint64_t)ranks, sizeof(*coming), "counts"), sum = 0;
    MPI_Alltoall(counts, 1, MPI_UINT64_T, coming, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    *received = 0;
    for (int r = 0; r < ranks; ++r) {
        sum += counts[r];
        *received += coming[r];
        if (sum > INT_MAX || *received > INT_MAX)
            ranks_die(job, RANKS_EXIT_MACHINE, "more than 2^31 items of one rank; take more ranks");
        send[r] = (int)counts[r];
        send_at[r] = out;
        out += send[r];
        get[r] = (int)coming[r];
        get_at[r] = in;
        in += get[r];
    }
    void *made = ranks_take(job, *received, size, "what other ranks send");
    MPI_Datatype item;
    MPI_Type_contiguous((int)size, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    MPI_Alltoallv(items, send, send_at, item, made, get, get_at, item, MPI_COMM_WORLD);
    MPI_Type_free(&item);
    job->sent += sum * size;
    free(numbers);
    free(coming);
    return made;
}

/* ---- Options --------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void misuse(const ranks_job *job, const char *what) {
    if (job->rank == 0) fprintf(stderr, "carom-mpi: %s\n%s", what, usage);
    MPI_Finalize();
    exit(RANKS_EXIT_MISUSE);
}

static void read_pose(ranks_job *job, const char *text) {
    pose_arg pose;
    char message[256];
    if (!pose_read(text, &pose, message, sizeof(message))) misuse(job, message);
    if (pose.is_matrix) misuse(job, "--pose takes seven numbers");
    job->def.pose_b = pose.pose;
}

static double read_number(const ranks_job *job, const char *text, double least, const char *what) {
    char *end;
    double number = strtod(text, &end);
    if (*end == 'M' || *end == 'G') number *= *end++ == 'M' ? 1e6 : 1e9;
    if (*text == '\0' || *end != '\0' || !(number >= least) || !isfinite(number)) misuse(job, what);
    return number;
}

static void read_options(ranks_job *job, int count, char **words, carom_context_def *def) {
    bool posed = false;
    for (int i = 1; i < count; ++i) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        bool takes = strcmp(word, "-o") == 0 || strcmp(word, "--pose") == 0 ||
                     strcmp(word, "--within") == 0 || strcmp(word, "--threads") == 0 ||
                     strcmp(word, "--memory") == 0 || strcmp(word, "--temp") == 0;
        if (takes && value == NULL) misuse(job, "the last option lacks its value");
        i += takes;
        if (strcmp(word, "-o") == 0)
            job->output = value;
        else if (strcmp(word, "--pose") == 0)
            read_pose(job, value), posed = true;
        else if (strcmp(word, "--within") == 0)
            job->def.within = true,
            job->def.reach = read_number(job, value, 0.0, "--within takes a distance");
        else if (strcmp(word, "--threads") == 0)
            def->threads = (uint32_t)read_number(job, value, 1.0, "--threads takes a count");
        else if (strcmp(word, "--memory") == 0)
            job->def.memory = (uint64_t)read_number(job, value, 1.0, "--memory takes bytes");
        else if (strcmp(word, "--temp") == 0)
            job->def.folder = value;
        else if (strcmp(word, "--boxes") == 0)
            job->def.boxes = true;
        else if (strcmp(word, "--as-segments") == 0)
            job->def.degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT;
        else if (word[0] == '-' || job->inputs == 2)
            misuse(job, "an option is unknown, or there are more than two meshes");
        else
            job->paths[job->inputs++] = word;
    }
    if (job->inputs == 0 || job->output == NULL) misuse(job, "a mesh or -o FILE is missing");
    if (posed && job->inputs == 1) misuse(job, "--pose moves the second mesh, and there is none");
    if (job->def.boxes && job->def.within) misuse(job, "--boxes goes without --within");
    job->def.a.path = job->paths[0];
    job->def.b.path = job->paths[1];
    job->def.cross = job->inputs == 2;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* What each rank read and sent, and what the law of docs/large.md says it sends: a copy of a face
 * is a record, a pair has 8 bytes; beside them the counts of the cut. */
static void report(const ranks_job *job, double seconds) {
    enum { READ, SENT, FACES, PAIRS, BYTES, KINDS };
    uint64_t mine[KINDS] = {job->read, job->sent, job->copies, job->pair_count, job->copied_bytes};
    uint64_t sum[KINDS], most = 0, faces = job->all_faces[0] + job->all_faces[1];
    uint64_t *each = ranks_take(job, KINDS * (uint64_t)job->ranks, sizeof(*each), "a report");
    MPI_Gather(mine, KINDS, MPI_UINT64_T, each, KINDS, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, sum, KINDS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int r = 0; r < job->ranks && job->rank == 0; ++r) {
        const uint64_t *e = each + KINDS * r;
        printf("rank %d: %" PRIu64 " bytes read, %" PRIu64 " exchanged, %" PRIu64
               " faces searched, %" PRIu64 " pairs written\n",
               r, e[READ], e[SENT], e[FACES], e[PAIRS]);
        most = e[SENT] > most ? e[SENT] : most;
    }
    free(each);
    if (job->rank != 0) return;
    double law = (double)(sum[BYTES] + 8 * sum[PAIRS]) / job->ranks + (double)job->cut_bytes;
    printf("%s: %" PRIu64 " pairs among %" PRIu64 " faces in %.2f s on %d ranks, %" PRIu64
           " faces searched; at most %" PRIu64 " bytes exchanged, by the law %.0f: %.3f\n",
           job->output, sum[PAIRS], faces, seconds, job->ranks, sum[FACES], most, law,
           law > 0.0 ? (double)most / law : 0.0);
}

int main(int count, char **words) {
    ranks_job job = {.inputs = 0};
    carom_context_def def = {.threads = 1, .input_limit = UINT64_MAX};
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    if (count > 1 && strcmp(words[1], "scene") == 0) return ranks_scene(&job, count - 2, words + 2);
    read_options(&job, count, words, &def);
    double start = MPI_Wtime();
    if (carom_context_create(&def, &job.context) != CAROM_OK)
        ranks_die(&job, RANKS_EXIT_MACHINE, "%s", carom_context_message(NULL));
    ranks_search(&job);
    ranks_write(&job);
    report(&job, MPI_Wtime() - start);
    free(job.pairs);
    carom_context_destroy(job.context);
    MPI_Finalize();
    return 0;
}
