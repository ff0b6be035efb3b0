/* SPDX-License-Identifier: MIT */
/* mesh_ply.h: the contents of a PLY header. */
#ifndef CAROM_SRC_MESH_MESH_PLY_H
#define CAROM_SRC_MESH_MESH_PLY_H

#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"

typedef enum carom_ply_type {
    CAROM_PLY_INT8,
    CAROM_PLY_UINT8,
    CAROM_PLY_INT16,
    CAROM_PLY_UINT16,
    CAROM_PLY_INT32,
    CAROM_PLY_UINT32,
    CAROM_PLY_FLOAT32,
    CAROM_PLY_FLOAT64,
    CAROM_PLY_TYPE_COUNT
} carom_ply_type;

/* What a mesh uses a property for. */
typedef enum carom_ply_role {
    CAROM_PLY_IGNORED,
    CAROM_PLY_X,
    CAROM_PLY_Y,
    CAROM_PLY_Z,
    CAROM_PLY_CORNERS,
    CAROM_PLY_STRIPS, /* corners of triangle strips; -1 ends a strip */
    CAROM_PLY_PART,
    CAROM_PLY_KEPT /* a scalar that becomes a property of the mesh */
} carom_ply_role;

typedef struct carom_ply_property {
    carom_ply_role role;
    bool list;
    carom_ply_type count_type; /* for a list */
    carom_ply_type type;
    uint32_t kept; /* its index among the properties of the builder */
} carom_ply_property;

typedef enum carom_ply_kind {
    CAROM_PLY_OTHER,
    CAROM_PLY_VERTEX,
    CAROM_PLY_FACE,
    CAROM_PLY_TRISTRIPS
} carom_ply_kind;

#define CAROM_PLY_MOST_ELEMENTS   64
#define CAROM_PLY_MOST_PROPERTIES 512 /* in total */

typedef struct carom_ply_element {
    carom_ply_kind kind;
    char name[32]; /* truncated when longer; for messages */
    uint64_t count;
    uint32_t begin, end;  /* index range of its properties */
    uint64_t fixed_bytes; /* of one element in binary; a list adds only its count */
    bool has_list;
} carom_ply_element;

typedef struct carom_ply {
    carom_mesh_format format;
    carom_ply_element elements[CAROM_PLY_MOST_ELEMENTS];
    carom_ply_property properties[CAROM_PLY_MOST_PROPERTIES];
    uint32_t element_count, property_count;
    uint64_t vertex_count;
    uint32_t kept_count;
    uint64_t part_limit; /* parts of faces are below: the number of faces and named parts */
} carom_ply;

/* A triangle strip that is being read: its last two corners. */
typedef struct carom_ply_strip {
    uint64_t length;
    uint32_t a, b;
} carom_ply_strip;

/* Adds a corner to a strip. From the third on, each makes a triangle with the two before, every
 * second one the other way round. Triangles with the same corner twice only turn the strip; they
 * are counted as skipped. */
void carom_ply_add_to_strip(carom_builder *builder, carom_ply_strip *strip, uint32_t vertex);

static inline uint64_t carom_ply_size(carom_ply_type type) {
    static const uint8_t sizes[CAROM_PLY_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[type];
}

/* ---- Binary numbers; `swap`: the file's byte order is not the machine's ---------------------- */

static inline void carom_ply_load_bytes(const uint8_t *at, void *to, size_t size, bool swap) {
    uint8_t *bytes = (uint8_t *)to;
    for (size_t i = 0; i < size; ++i) bytes[i] = at[swap ? size - 1 - i : i];
}

static inline uint32_t carom_ply_load_u32(const uint8_t *at, bool swap) {
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return swap ? value >> 24 | (value >> 8 & 0xFF00) | (value << 8 & 0xFF0000) | value << 24
                : value;
}

static inline int64_t carom_ply_load_integer(const uint8_t *at, carom_ply_type type, bool swap) {
    uint16_t u16;
    uint32_t u32;
    switch (type) {
    case CAROM_PLY_INT8:
        return (int8_t)*at;
    case CAROM_PLY_UINT8:
        return *at;
    case CAROM_PLY_INT16:
    case CAROM_PLY_UINT16:
        carom_ply_load_bytes(at, &u16, sizeof(u16), swap);
        return type == CAROM_PLY_INT16 ? (int16_t)u16 : (int64_t)u16;
    default:
        u32 = carom_ply_load_u32(at, swap);
        return type == CAROM_PLY_INT32 ? (int32_t)u32 : (int64_t)u32;
    }
}

static inline double carom_ply_load_number(const uint8_t *at, carom_ply_type type, bool swap) {
    float f32;
    double f64;
    switch (type) {
    case CAROM_PLY_FLOAT32:
        carom_ply_load_bytes(at, &f32, sizeof(f32), swap);
        return (double)f32;
    case CAROM_PLY_FLOAT64:
        carom_ply_load_bytes(at, &f64, sizeof(f64), swap);
        return f64;
    default:
        return (double)carom_ply_load_integer(at, type, swap);
    }
}

/* The last element that has data. There is one: a vertex at least. */
static inline const carom_ply_element *carom_ply_last_element(const carom_ply *ply) {
    uint32_t e = ply->element_count - 1;
    while (e > 0 && ply->elements[e].begin == ply->elements[e].end) --e;
    return &ply->elements[e];
}

/* Reads the header and advances the text to the first byte of data. The names of parts go to the
 * builder. */
carom_status carom_ply_read_header(carom_text *text, carom_ply *ply, carom_builder *builder);

/* Read the data after the header. */
carom_status carom_ply_read_ascii(carom_text *text, const carom_ply *ply, carom_builder *builder);
carom_status carom_ply_read_binary(carom_text *text, const carom_ply *ply, carom_builder *builder);

/* Pieces of a binary file. The header takes the counts of the view; vertices and faces can follow
 * in several views, whose corners are indices in the whole. `wide`: lists have 32-bit lengths. */
void carom_ply_write_header(carom_writer *writer, const carom_mesh_view *view,
                            carom_mesh_format format, bool wide);
void carom_ply_write_positions(carom_writer *writer, const carom_mesh_view *view, bool big);
void carom_ply_write_faces(carom_writer *writer, const carom_mesh_view *view, bool big, bool wide);

#endif
