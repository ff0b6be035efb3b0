/* SPDX-License-Identifier: MIT */
/* parts.h: what the steps of a search in parts share.
 *
 *   inputs ──► cut ──► streams of faces, one per part ──► soups ──► runs of pairs ──► merged
 *   (source)   (cut)   (spill)                            (search)  (runs)
 *
 * Everything that grows with the input is counted by parts_memory and never exceeds its limit. */
#ifndef CAROM_SRC_PARTS_PARTS_H
#define CAROM_SRC_PARTS_PARTS_H

#include <stdatomic.h>

#include "base/array.h"
#include "base/context.h"
#include "carom/parts.h"
#include "geom/pose.h"
#include "kfree/kfree_part.h"
#include "mesh/mesh_ply.h"

/* ---- Memory (parts_memory.c) ----------------------------------------------------------------- */

/* An allocator that refuses what would exceed its limit. */
typedef struct parts_memory {
    carom_allocator base, counted;
    uint64_t limit;
    _Atomic uint64_t used, peak;
} parts_memory;

void carom_parts_memory_init(parts_memory *memory, const carom_allocator *base, uint64_t limit);

/* ---- Files (parts_spill.c) ------------------------------------------------------------------- */

/* A file that is read or written by offset. */
typedef struct parts_file parts_file;
typedef carom_status parts_read_fn(const parts_file *file, uint64_t offset, void *to,
                                   uint64_t size);
struct parts_file {
    carom_context *context; /* for messages */
    const char *name;
    int descriptor;
    uint64_t size;
    parts_read_fn *read; /* in place of the system's; NULL: that */
    void *user;          /* of it */
};

carom_status carom_parts_read_at(const parts_file *file, uint64_t offset, void *to, uint64_t size);
carom_status carom_parts_write_at(const parts_file *file, uint64_t offset, const void *from,
                                  uint64_t size);
/* Opens a temporary file; its name, for messages, is the folder's. */
carom_status carom_parts_temporary(carom_context *context, const char *folder, parts_file *file);
void carom_parts_close(parts_file *file); /* of one that is not open: nothing */

CAROM_ARRAY(parts_offsets, uint64_t);

/* Chunks of one size in a temporary file, which streams take and give back. */
typedef struct parts_spill {
    parts_file file;
    const carom_allocator *allocator;
    uint64_t chunk; /* bytes */
    uint64_t end;   /* of the file */
    parts_offsets unused;
} parts_spill;

/* Faces in the order of their ids: what a part keeps of one input. */
typedef struct parts_stream {
    parts_offsets chunks;
    uint8_t *buffer; /* the chunk that is being filled; NULL: none */
    uint64_t used;
    uint64_t faces, corners;
    uint32_t last; /* id */
} parts_stream;

/* Where a reader of a stream is. */
typedef struct parts_cursor {
    uint64_t chunk, at; /* its index and the byte in it */
    uint32_t last;
    uint64_t left; /* faces */
} parts_cursor;

/* A face: its corners one after another, as the input has them. */
typedef struct parts_face {
    uint32_t id;
    uint64_t count;           /* of corners; 0 after the last face */
    const void *positions;    /* x, y, z each, of the scalar of the input */
    const uint32_t *vertices; /* indices in the input; NULL: they are not kept */
} parts_face;

carom_status carom_parts_stream_add(parts_spill *spill, parts_stream *stream,
                                    const parts_face *face, carom_scalar scalar);
/* Writes the last chunk and frees the buffer. */
carom_status carom_parts_stream_end(parts_spill *spill, parts_stream *stream);
/* Gives all chunks back. */
void carom_parts_stream_release(parts_spill *spill, parts_stream *stream);

/* Reads faces of a stream that has ended. */
typedef struct parts_stream_reader {
    parts_spill *spill;
    const parts_stream *stream;
    carom_scalar scalar;
    bool indexed; /* indices are kept */
    parts_cursor at;
    uint8_t *buffer;
    uint64_t loaded;    /* the chunk in the buffer; UINT64_MAX: none */
    uint32_t *vertices; /* aligned copies */
    void *positions;
    uint64_t room; /* corners */
} parts_stream_reader;

carom_status carom_parts_stream_open(parts_spill *spill, const parts_stream *stream,
                                     carom_scalar scalar, bool indexed, const parts_cursor *from,
                                     parts_stream_reader *reader);
carom_status carom_parts_stream_next(parts_stream_reader *reader, parts_face *face);
void carom_parts_stream_close(parts_stream_reader *reader);

/* ---- Inputs (parts_source.c, parts_reader.c) ------------------------------------------------- */

#define PARTS_MOST_FACES (UINT32_MAX - 64u) /* ids of a soup: 2^32 - 65 (soup.h) */

typedef enum parts_kind {
    PARTS_EMPTY,
    PARTS_VIEW,  /* arrays */
    PARTS_LISTS, /* a file, or two, of vertices and of lists of corners */
    PARTS_FACETS /* binary STL */
} parts_kind;

typedef struct parts_input {
    parts_kind kind;
    const char *name;
    carom_scalar scalar;
    const carom_mesh_view *view;
    parts_file file;    /* vertices, or all */
    parts_file corners; /* of OBJ; else not open, and the lists are in `file` */
    bool swap;          /* the byte order of the file is not the machine's */
    uint64_t vertex_count, vertex_offset, stride;
    uint64_t at[3]; /* of x, y and z in a vertex */
    carom_ply_type types[3];
    uint64_t list_count, list_offset, list_end; /* the lists of corners */
    uint64_t before, after;                     /* bytes of a face before and after its list */
    carom_ply_type count_type, corner_type;
    uint64_t first;                     /* the number of the first vertex or facet, for messages */
    uint64_t faces, triangles, skipped; /* known after the first pass over all faces */
    bool posed;
    carom_frame frame;
} parts_input;

typedef struct parts_job parts_job;

/* Finds out what an input is, and turns OBJ into lists. */
carom_status carom_parts_open(parts_job *job, const carom_parts_input *from, parts_input *input);
void carom_parts_close_input(parts_input *input);
carom_status carom_parts_fail_faces(parts_job *job, const char *name); /* there are too many */

/* Turns OBJ into vertices and lists of corners in temporary files (parts_obj.c). */
carom_status carom_parts_read_obj(parts_job *job, parts_input *input);

/* Checks that all coordinates are finite, before and after the pose, widens the bounds and adds to
 * the hash. */
carom_status carom_parts_survey(parts_job *job, parts_input *input);

#define PARTS_WINDOW ((uint64_t)1 << 20) /* bytes of a file that are read at once */

/* A piece of a file that moves forward. */
typedef struct parts_window {
    const parts_file *file;
    uint8_t *bytes;
    uint64_t offset, end;  /* of what is not read yet */
    uint64_t at, filled;   /* in `bytes` */
    uint64_t *hash, *read; /* of what is read; hash may be NULL */
} parts_window;

/* Has `size` bytes, at most PARTS_WINDOW, lie at bytes + at. */
carom_status carom_parts_window_need(parts_window *window, uint64_t size);

/* Reads the faces of an input one after another. */
typedef struct parts_reader {
    parts_job *job;
    parts_input *input;
    parts_window window;
    uint64_t next;  /* list, facet or face of the view */
    uint64_t last;  /* where it ends */
    uint64_t id;    /* of the next face */
    uint64_t *hash; /* NULL: not wanted */
    uint64_t skipped;
    /* The corners of the face. */
    uint32_t *vertices;
    void *positions;
    uint64_t count, room;
    uint64_t fan; /* the next triangle of the polygon; 0: none */
    uint32_t fan_vertices[3];
    double fan_positions[9];
    /* Blocks of vertices of the file, each in the slot of its number modulo slots. */
    uint64_t slots;
    uint32_t *slot_block; /* UINT32_MAX: none */
    uint8_t *slot_bytes;
    uint8_t *raw; /* one block as it is in the file */
} parts_reader;

carom_status carom_parts_reader_open(parts_job *job, parts_input *input, uint64_t *hash,
                                     parts_reader *reader);
carom_status carom_parts_reader_next(parts_reader *reader, parts_face *face);
/* Has a reader of a file of triangles read a range of them, after it was opened. */
carom_status carom_parts_reader_set_range(parts_reader *reader, uint64_t first, uint64_t last);
void carom_parts_reader_close(parts_reader *reader);

static inline uint64_t carom_parts_hash(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* ---- The cut (parts_cut.c) ------------------------------------------------------------------- */

/* A grid of 2^32 cells along each axis over the bounds of all vertices. The cell of a coordinate is
 * a monotone function of it, so boxes that overlap have ranges of cells that overlap. */
typedef struct parts_grid {
    double low[3], scale[3]; /* of halves of coordinates, which do not overflow */
    double half;             /* of the reach, rounded up; 0: no reach */
    double share;            /* or, of the edges of a face's box, how far it reaches; 0: not */
} parts_grid;

/* The cells of a face: of the box of its posed corners, enlarged by half the reach. */
typedef struct parts_cells {
    uint32_t low[3], high[3];
} parts_cells;

void carom_parts_grid_make(const double low[3], const double high[3], double reach,
                           parts_grid *grid);
parts_cells carom_parts_cells_of(const parts_grid *grid, const parts_input *input,
                                 const parts_face *face);

/* The bounds of the posed corners of a face. */
carom_bounds carom_parts_bounds_of(const parts_input *input, const parts_face *face);

#define PARTS_LEVELS       6u /* at most, below the cube of a cut: 64 nodes along an axis */
#define PARTS_LEAST_LEVELS 4u
#define PARTS_NONE         UINT32_MAX       /* a node without pairs */
#define PARTS_MIXED        (UINT32_MAX - 1) /* a node of several parts */

/* A part: some consecutive nodes of a cut along the curve. */
typedef struct parts_part {
    uint64_t count;        /* of triangles in its nodes: at least those of the part */
    bool single;           /* one node of the finest level, which may hold too many faces */
    uint32_t node[3];      /* that node, in cells of this cut */
    parts_stream faces[2]; /* of a, of b */
} parts_part;

CAROM_ARRAY(parts_list, parts_part);

/* How a cube of the grid is divided. */
typedef struct parts_cut {
    uint32_t levels;                       /* from PARTS_LEAST_LEVELS to PARTS_LEVELS */
    uint32_t shift;                        /* a node of the finest level has 2^shift cells a side */
    uint32_t base[3];                      /* its first node, by cells >> shift */
    uint32_t *counts[2][PARTS_LEVELS + 1]; /* triangles in each node; freed after the division */
    uint32_t *steps[2][PARTS_LEVELS + 1];  /* differences along all axes */
    uint32_t *owner[PARTS_LEVELS + 1];     /* the part of each node */
    void *count_block, *owner_block;
    parts_list parts;
} parts_cut;

/* A cut of a cube of 2^bits cells a side, PARTS_LEAST_LEVELS <= bits <= 32; `cube` is its index, by
 * cells >> bits. */
carom_status carom_parts_cut_begin(parts_job *job, parts_cut *cut, uint32_t bits,
                                   const uint32_t cube[3], uint64_t faces);
/* Counts a face `weight` times: its triangles. */
void carom_parts_cut_count(parts_cut *cut, uint32_t which, const parts_cells *cells,
                           uint32_t weight);
/* Makes parts of at most `most` faces where nodes allow it, in the shard alone. */
carom_status carom_parts_cut_divide(parts_job *job, parts_cut *cut, uint64_t most, uint32_t shard,
                                    uint32_t shards);
/* Makes the shards themselves the parts, by number: carom_parts_cut_visit and _owner give these.
 * `cut` has the counts of `from`, which has not been divided. */
carom_status carom_parts_cut_share(parts_job *job, const parts_cut *from, uint32_t shards,
                                   parts_cut *cut);
/* All numbers that are counted, to be added up over several cuts of one grid. */
uint32_t *carom_parts_cut_counts(const parts_job *job, const parts_cut *cut, uint64_t *count);
void carom_parts_cut_release(parts_job *job, parts_cut *cut);

typedef carom_status parts_visit_fn(void *user, uint32_t part);
/* Calls visit for each part that the face reaches into, once for each of the part's nodes. */
carom_status carom_parts_cut_visit(const parts_cut *cut, const parts_cells *cells,
                                   parts_visit_fn *visit, void *user);
/* Whether all cells of a face are the part's; and the part of one cell. */
bool carom_parts_cut_holds(const parts_cut *cut, const parts_cells *cells, uint32_t part);
uint32_t carom_parts_cut_owner(const parts_cut *cut, const uint32_t cell[3]);

/* ---- Runs of pairs (parts_runs.c) ------------------------------------------------------------ */

typedef struct parts_run {
    uint64_t offset, count;
} parts_run;

CAROM_ARRAY(parts_run_list, parts_run);

/* Sorted lists of pairs in a temporary file, each pair first << 32 | second. */
typedef struct parts_runs {
    parts_file file;
    parts_run_list list;
    uint64_t end; /* of the file */
    uint64_t *buffer;
    uint64_t used, count; /* in the buffer; of the run that is being written */
} parts_runs;

#define PARTS_RUN_BUFFER 65536u /* pairs */

carom_status carom_parts_runs_begin(parts_job *job);
carom_status carom_parts_runs_add(parts_job *job, uint64_t pair);
carom_status carom_parts_runs_end(parts_job *job);
/* Passes all pairs on in ascending order. */
carom_status carom_parts_runs_merge(parts_job *job, carom_pairs_fn *receive, void *user);
void carom_parts_runs_release(parts_job *job);

/* ---- k-freeness (parts_kfree.c) -------------------------------------------------------------- */

/* Adds what one part knows of a face to the runs. Faces that it does not own may be left out where
 * they have a count of 0. */
carom_status carom_parts_kfree_add(parts_job *job, uint32_t id, uint32_t count, uint32_t near);
/* Adds up the counts of all faces, and passes them on. */
carom_status carom_parts_kfree_merge(parts_job *job, carom_parts_counts_fn *receive, void *user,
                                     carom_kfree *kfree);

/* ---- The job (parts.c) and the search (parts_search.c) --------------------------------------- */

struct parts_job {
    carom_context *context; /* the caller's: messages and progress */
    carom_context *inner;   /* its memory is counted; searches run in it */
    const carom_parts_def *def;
    parts_memory memory;
    const carom_allocator *allocator; /* of this memory */
    char folder[1024];
    uint64_t most; /* triangles in a part */
    parts_input inputs[2];
    double low[3], high[3]; /* bounds of all posed vertices */
    parts_grid grid;
    parts_spill spill;
    parts_runs runs;
    carom_parts_report report;
    bool counts;         /* k-freeness is measured: runs have what parts_kfree.c says */
    carom_kfree_sum sum; /* of it; the counts are added when runs are merged */
};

/* The steps of a search, in their order: the inputs are opened, their bounds found, the faces
 * counted in a cut, which is divided; their streams are made, filled and ended; each part is
 * searched. carom_parts_end is due after a failure, too. */
carom_status carom_parts_begin(carom_context *context, const carom_parts_def *def, parts_job *job);
void carom_parts_make_grid(parts_job *job);
carom_status carom_parts_open_spill(parts_job *job, const parts_cut *cut);
carom_status carom_parts_search_all(parts_job *job, parts_cut *cut);
void carom_parts_end(parts_job *job, parts_cut *cut);

/* Faces of an input or of a stream, one after another. */
typedef carom_status parts_next_fn(void *reader, parts_face *face);

/* Counts the faces of a reader in a cut; the cut must have begun. Cells that the cut does not have
 * do not count. */
carom_status carom_parts_count_all(parts_job *job, parts_cut *cut, uint32_t which,
                                   parts_next_fn *next, void *reader);
/* Adds each face to the streams of the parts that it reaches into. */
carom_status carom_parts_spill_all(parts_job *job, parts_cut *cut, uint32_t which,
                                   parts_next_fn *next, void *reader);
/* Ends the streams of a cut. */
carom_status carom_parts_spill_end(parts_job *job, parts_cut *cut);

/* Searches one part of a cut, and adds its pairs to the runs. */
carom_status carom_parts_search(parts_job *job, parts_cut *cut, uint32_t part);

/* A failure of a call on the inner context, with its message. */
carom_status carom_parts_fail_inner(parts_job *job, carom_status status);
carom_status carom_parts_fail_memory(parts_job *job, uint64_t bytes, const char *what);

#endif
