/* SPDX-License-Identifier: MIT */
/* Reading by MPI-IO: each rank reads its share of the vertices and of the faces, then numbers the
 * ranks that hold them for the vertices that its faces name. Which these are is a set of bits, one
 * per vertex of the file, whose ranks (Jacobson 1989) are where the coordinates then lie. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "job.h"

#define HEADER_BYTES  (1 << 16) /* the longest header of PLY */
#define READ_AT_ONCE  (1 << 30) /* bytes: counts of MPI are ints */
#define FACET_HEADER  84u
#define FACET_BYTES   50u
#define MOST_VERTICES UINT32_MAX
#define MOST_FACES    (UINT32_MAX - 65u)

static void read_at(job *job, MPI_File file, const char *path, uint64_t at, void *to,
                    uint64_t size) {
    for (uint64_t done = 0; done < size;) {
        MPI_Status status;
        int wanted = (int)(size - done < READ_AT_ONCE ? size - done : READ_AT_ONCE), got = 0;
        int code = MPI_File_read_at(file, (MPI_Offset)(at + done), (uint8_t *)to + done, wanted,
                                    MPI_BYTE, &status);
        check_io(job, code, path, "cannot be read");
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got <= 0) die(job, MPI_EXIT_INPUT, "%s: ends at byte %" PRIu64, path, at + done);
        done += (uint64_t)got;
    }
    job->read += size;
}

/* ---- The header ------------------------------------------------------------------------------ */

static uint64_t type_bytes(const char *type) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"char", 1},  {"uchar", 1},   {"int8", 1},   {"uint8", 1},
                 {"short", 2}, {"ushort", 2},  {"int16", 2},  {"uint16", 2},
                 {"int", 4},   {"uint", 4},    {"int32", 4},  {"uint32", 4},
                 {"float", 4}, {"float32", 4}, {"double", 8}, {"float64", 8}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i)
        if (strcmp(type, types[i].name) == 0) return types[i].bytes;
    return 0;
}

/* One line of the header that tells of a property. Returns what is wrong, or NULL. */
static const char *take_property(const char *line, int element, layout *l) {
    char type[32], name[64], count[32];
    if (sscanf(line, "property list %31s %31s %63s", count, type, name) == 3) {
        if (element != 1) return "has lists that are not of faces";
        if (l->count_bytes != 0) return "has faces of several lists";
        l->count_at = l->face_bytes;
        l->count_bytes = type_bytes(count);
        l->corners_at = l->count_at + l->count_bytes;
        if ((l->count_bytes != 1 && l->count_bytes != 4) || type_bytes(type) != 4)
            return "has corners that are not int or uint, or lengths that are not uchar or int";
        l->face_bytes = l->corners_at + 12;
        return NULL;
    }
    if (sscanf(line, "property %31s %63s", type, name) != 2 || type_bytes(type) == 0)
        return "has a header that is not that of PLY";
    if (element == 0 && name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0') {
        if (type_bytes(type) < 4 || strstr(type, "int") != NULL)
            return "has coordinates that are neither float nor double";
        bool wide = type_bytes(type) == 8;
        if (name[0] != 'x' && wide != (l->wide != 0)) return "has coordinates of two types";
        l->wide = wide;
        l->x[name[0] - 'x'] = l->stride;
    }
    *(element == 0 ? &l->stride : &l->face_bytes) += type_bytes(type);
    return NULL;
}

/* Binary PLY of triangles: vertices, then faces. */
static const char *parse_ply(const char *text, uint64_t size, layout *l) {
    const char *end = strstr(text, "end_header\n"), *why = NULL;
    int element = -1;
    bool binary = false;
    if (end == NULL) return "has no header of PLY in its first 64 KiB";
    for (const char *line = text; line < end && why == NULL; line = strchr(line, '\n') + 1) {
        unsigned long long count;
        if (strncmp(line, "format ", 7) == 0)
            binary = strncmp(line, "format binary_little_endian 1.0", 31) == 0;
        else if (sscanf(line, "element vertex %llu", &count) == 1 && element == -1)
            l->vertices = count, element = 0;
        else if (sscanf(line, "element face %llu", &count) == 1 && element == 0)
            l->faces = count, element = 1;
        else if (strncmp(line, "element ", 8) == 0)
            why = "has elements other than vertices and faces";
        else if (strncmp(line, "property ", 9) == 0)
            why = take_property(line, element, l);
    }
    if (why == NULL && !binary) why = "is not binary PLY of little byte order";
    if (why == NULL && (l->count_bytes == 0 || l->stride == 0)) why = "has no vertices or no faces";
    l->vertex_at = (uint64_t)(end - text) + strlen("end_header\n");
    l->face_at = l->vertex_at + l->vertices * l->stride;
    if (why == NULL && (l->vertices > MOST_VERTICES || l->faces > MOST_FACES))
        why = "has more vertices or faces than 32 bits number";
    if (why == NULL && size != l->face_at + l->faces * l->face_bytes)
        why = "has another size than that many triangles have";
    return why;
}

static void parse(const job *job, const char *path, const uint8_t *head, uint64_t size, layout *l) {
    const char *why;
    uint32_t facets = 0;
    if (size >= FACET_HEADER) memcpy(&facets, head + FACET_HEADER - 4, sizeof(facets));
    if (memcmp(head, "ply\n", 4) == 0) {
        why = parse_ply((const char *)head, size, l);
    } else {
        *l = (layout){.facets = 1,
                      .faces = facets,
                      .face_at = FACET_HEADER,
                      .face_bytes = FACET_BYTES,
                      .corners_at = 12}; /* after the normal */
        why = size == FACET_HEADER + FACET_BYTES * (uint64_t)facets && facets <= MOST_FACES
                  ? NULL
                  : "is neither binary PLY nor binary STL";
    }
    if (why != NULL)
        die(job, MPI_EXIT_INPUT,
            "%s %s; carom convert makes binary PLY of triangles, or use carom pairs --memory", path,
            why);
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* This rank's vertices, packed. */
static uint8_t *read_vertices(job *job, MPI_File file, const char *path, const layout *l) {
    uint64_t first = share(job, l->vertices, job->rank);
    uint64_t count = share(job, l->vertices, job->rank + 1) - first;
    uint64_t scalar = l->wide ? 8 : 4;
    uint8_t *raw = take(job, count, l->stride, "vertices");
    read_at(job, file, path, l->vertex_at + first * l->stride, raw, count * l->stride);
    uint8_t *points = take(job, count, 3 * scalar, "vertices");
    for (uint64_t i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a) {
            const uint8_t *from = raw + i * l->stride + l->x[a];
            double d;
            float f;
            memcpy(&d, from, l->wide ? sizeof(d) : 0);
            memcpy(&f, from, l->wide ? 0 : sizeof(f));
            if (!isfinite(l->wide ? d : (double)f))
                die(job, MPI_EXIT_INPUT,
                    "%s: vertex %" PRIu64 " has a coordinate that is not finite", path, first + i);
            memcpy(points + (3 * i + (uint64_t)a) * scalar, from, scalar);
        }
    free(raw);
    return points;
}

/* Which vertices this rank's faces name, and how many of them come before each 64. */
typedef struct vertex_set {
    uint64_t *bits;
    uint32_t *before;
    uint64_t count;
} vertex_set;

static vertex_set set_of(const job *job, const uint32_t *corners, uint64_t count,
                         uint64_t vertices) {
    uint64_t words = vertices / 64 + 1;
    vertex_set set = {take(job, words, sizeof(*set.bits), "a set of vertices"),
                      take(job, words, sizeof(*set.before), "a set of vertices"), 0};
    for (uint64_t i = 0; i < count; ++i)
        set.bits[corners[i] / 64] |= UINT64_C(1) << corners[i] % 64;
    for (uint64_t w = 0; w < words; ++w) {
        set.before[w] = (uint32_t)set.count;
        set.count += (uint64_t)__builtin_popcountll(set.bits[w]);
    }
    return set;
}

static uint64_t position_in(const vertex_set *set, uint32_t vertex) {
    uint64_t below = (UINT64_C(1) << vertex % 64) - 1;
    return set->before[vertex / 64] +
           (uint64_t)__builtin_popcountll(set->bits[vertex / 64] & below);
}

/* The coordinates of all vertices in the set, from the ranks that have read them. */
static uint8_t *fetch(job *job, const vertex_set *set, const layout *l, const uint8_t *points) {
    uint64_t n = 0, wanted_here = 0, got, scalar = l->wide ? 8 : 4;
    uint64_t *counts = take(job, (uint64_t)job->ranks, sizeof(*counts), "counts");
    uint64_t *answers = take(job, (uint64_t)job->ranks, sizeof(*answers), "counts");
    uint32_t *wanted = take(job, set->count, sizeof(*wanted), "numbers of vertices");
    int owner = 0;
    for (uint64_t w = 0; w <= l->vertices / 64; ++w)
        for (uint64_t bits = set->bits[w]; bits != 0; bits &= bits - 1) {
            uint64_t vertex = 64 * w + (uint64_t)__builtin_ctzll(bits);
            while (vertex >= share(job, l->vertices, owner + 1)) ++owner;
            wanted[n++] = (uint32_t)vertex;
            ++counts[owner];
        }
    uint32_t *numbers = exchange(job, wanted, counts, sizeof(*wanted), &wanted_here);
    MPI_Alltoall(counts, 1, MPI_UINT64_T, answers, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    uint8_t *reply = take(job, wanted_here, 3 * scalar, "coordinates");
    uint64_t first = share(job, l->vertices, job->rank);
    for (uint64_t i = 0; i < wanted_here; ++i)
        memcpy(reply + 3 * scalar * i, points + 3 * scalar * (numbers[i] - first), 3 * scalar);
    uint8_t *made = exchange(job, reply, answers, 3 * scalar, &got);
    free(counts);
    free(answers);
    free(wanted);
    free(numbers);
    free(reply);
    return made;
}

/* ---- Faces ----------------------------------------------------------------------------------- */

static uint32_t *corners_of(job *job, const char *path, const layout *l, const uint8_t *raw,
                            uint64_t first, uint64_t count) {
    uint32_t *corners = take(job, 3 * count, sizeof(*corners), "corners");
    for (uint64_t f = 0; f < count; ++f) {
        const uint8_t *face = raw + f * l->face_bytes;
        uint32_t length = face[l->count_at];
        if (l->count_bytes == 4) memcpy(&length, face + l->count_at, sizeof(length));
        if (length != 3)
            die(job, MPI_EXIT_INPUT,
                "%s: face %" PRIu64 " has %" PRIu32 " corners; all must be triangles (carom "
                "convert --triangulate)",
                path, first + f, length);
        memcpy(corners + 3 * f, face + l->corners_at, 12);
        for (int c = 0; c < 3; ++c)
            if (corners[3 * f + (uint64_t)c] >= l->vertices)
                die(job, MPI_EXIT_INPUT,
                    "%s: face %" PRIu64 " names vertex %" PRIu32 ", the file has %" PRIu64, path,
                    first + f, corners[3 * f + (uint64_t)c], l->vertices);
    }
    return corners;
}

void input_read(job *job, int index, faces *made) {
    const char *path = job->paths[index];
    MPI_File file;
    MPI_Offset size = 0;
    layout l = {0};
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    check_io(job, code, path, "cannot be opened");
    check_io(job, MPI_File_get_size(file, &size), path, "has no size");
    if (job->rank == 0) {
        uint64_t head = (uint64_t)size < HEADER_BYTES ? (uint64_t)size : HEADER_BYTES;
        uint8_t *bytes = take(job, HEADER_BYTES + 1, 1, "a header");
        read_at(job, file, path, 0, bytes, head);
        parse(job, path, bytes, (uint64_t)size, &l);
        free(bytes);
    }
    MPI_Bcast(&l, sizeof(l), MPI_BYTE, 0, MPI_COMM_WORLD);
    job->all_faces[index] = l.faces;
    uint64_t first = share(job, l.faces, job->rank), scalar = l.wide ? 8 : 4;
    uint64_t count = share(job, l.faces, job->rank + 1) - first;
    *made = (faces){.count = count,
                    .record = MPI_ID_BYTES + 9 * scalar,
                    .wide = l.wide != 0,
                    .pose = index == 1 ? &job->pose : NULL};
    uint8_t *raw = take(job, count, l.face_bytes, "faces");
    uint32_t *corners = NULL;
    uint8_t *points = NULL;
    vertex_set set = {0};
    read_at(job, file, path, l.face_at + first * l.face_bytes, raw, count * l.face_bytes);
    if (!l.facets) {
        job->vertex_law += l.vertices * (sizeof(*corners) + 3 * scalar);
        uint8_t *own = read_vertices(job, file, path, &l);
        corners = corners_of(job, path, &l, raw, first, count);
        set = set_of(job, corners, 3 * count, l.vertices);
        points = fetch(job, &set, &l, own);
        free(own);
    }
    made->records = take(job, count, made->record, "faces");
    for (uint64_t f = 0; f < count; ++f) {
        uint8_t *to = made->records + f * made->record;
        uint32_t id = (uint32_t)(first + f);
        memcpy(to, &id, MPI_ID_BYTES);
        if (l.facets)
            memcpy(to + MPI_ID_BYTES, raw + f * l.face_bytes + l.corners_at, 36);
        else
            for (uint64_t c = 0; c < 3; ++c)
                memcpy(to + MPI_ID_BYTES + 3 * scalar * c,
                       points + 3 * scalar * position_in(&set, corners[3 * f + c]), 3 * scalar);
    }
    MPI_File_close(&file);
    free(raw);
    free(corners);
    free(points);
    free(set.bits);
    free(set.before);
}
