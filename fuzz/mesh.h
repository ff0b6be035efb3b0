/* SPDX-License-Identifier: MIT */
/* mesh.h: any bytes through a reader. Either there is a message that names the file, or a mesh
 * that passes the check and survives being written and read again; and memory stays below what
 * carom/mesh.h promises. */
#ifndef CAROM_FUZZ_MESH_H
#define CAROM_FUZZ_MESH_H

#include "carom/carom.h"
#include "fuzz/fuzz.h"

typedef struct fuzz_meter {
    uint64_t now, peak;
} fuzz_meter;

static inline void *fuzz_allocate(void *user, size_t size, size_t alignment) {
    fuzz_meter *meter = (fuzz_meter *)user;
    (void)alignment;
    uint64_t *block = (uint64_t *)aligned_alloc(64, (size + 127) / 64 * 64);
    if (block == NULL) return NULL;
    block[0] = size;
    meter->now += size;
    if (meter->now > meter->peak) meter->peak = meter->now;
    return block + 8;
}

static inline void fuzz_release(void *user, void *pointer) {
    fuzz_meter *meter = (fuzz_meter *)user;
    uint64_t *block = (uint64_t *)pointer - 8;
    meter->now -= block[0];
    free(block);
}

static inline uint32_t fuzz_part(const carom_mesh_view *view, uint64_t face) {
    return view->parts != NULL ? view->parts[face] : 0;
}

/* PLY keeps parts and names as they are; OBJ and text STL tell neighbours of different parts
 * apart. */
static inline void fuzz_compare_parts(const carom_mesh_view *a, const carom_mesh_view *b,
                                      carom_mesh_format format) {
    bool ply = format >= CAROM_MESH_FORMAT_PLY && format <= CAROM_MESH_FORMAT_PLY_ASCII;
    if (!ply && format != CAROM_MESH_FORMAT_OBJ && format != CAROM_MESH_FORMAT_STL_ASCII) return;
    for (uint64_t f = 0; f < a->face_count; ++f) {
        if (ply) FUZZ_CHECK(fuzz_part(a, f) == fuzz_part(b, f));
        if (f > 0)
            FUZZ_CHECK((fuzz_part(a, f) == fuzz_part(a, f - 1)) ==
                       (fuzz_part(b, f) == fuzz_part(b, f - 1)));
    }
    if (!ply || a->part_names == NULL) return;
    FUZZ_CHECK(a->part_count == b->part_count && b->part_names != NULL);
    for (uint64_t p = 0; p < a->part_count; ++p)
        FUZZ_CHECK(strcmp(a->part_names[p], b->part_names[p]) == 0);
}

/* PLY keeps properties: in binary bit for bit. */
static inline void fuzz_compare_properties(const carom_mesh_view *a, const carom_mesh_view *b,
                                           carom_mesh_format format) {
    static const size_t sizes[CAROM_MESH_PROPERTY_TYPE_COUNT] = {8, 4, 1, 1, 2, 2, 4, 4};
    if (format < CAROM_MESH_FORMAT_PLY || format > CAROM_MESH_FORMAT_PLY_ASCII) return;
    FUZZ_CHECK(a->property_count == b->property_count);
    uint64_t at = 0; /* those of vertices come first */
    for (int of_faces = 0; of_faces < 2; ++of_faces)
        for (uint64_t i = 0; i < a->property_count; ++i) {
            const carom_mesh_property *p = &a->properties[i], *q = &b->properties[at];
            uint64_t count = p->of_faces ? a->face_count : a->vertex_count;
            if (p->of_faces != (of_faces != 0)) continue;
            FUZZ_CHECK(strcmp(p->name, q->name) == 0 && p->type == q->type);
            FUZZ_CHECK(p->of_faces == q->of_faces);
            if (format != CAROM_MESH_FORMAT_PLY_ASCII && count != 0)
                FUZZ_CHECK(memcmp(p->values, q->values, count * sizes[p->type]) == 0);
            ++at;
        }
}

static inline void fuzz_write_and_read(carom_context *context, const carom_mesh_view *view,
                                       carom_mesh_format format) {
    carom_bytes bytes = {0};
    carom_mesh *again;
    carom_mesh_view back;
    carom_status status = carom_mesh_save_memory(context, view, format, &bytes);
    bool stl = format == CAROM_MESH_FORMAT_STL || format == CAROM_MESH_FORMAT_STL_ASCII;
    FUZZ_CHECK(status == CAROM_OK || (stl && status == CAROM_BAD_INPUT));
    if (status == CAROM_OK) {
        FUZZ_CHECK(carom_mesh_load_memory(context, bytes.data, bytes.count, format, "again",
                                          &again) == CAROM_OK);
        FUZZ_CHECK(carom_mesh_get_view(again, &back) == CAROM_OK);
        FUZZ_CHECK(back.face_count == view->face_count);
        fuzz_compare_parts(view, &back, format);
        fuzz_compare_properties(view, &back, format);
        FUZZ_CHECK(stl || back.vertex_count == view->vertex_count);
        if (back.scalar == view->scalar && !stl && view->vertex_count != 0)
            FUZZ_CHECK(memcmp(back.positions, view->positions,
                              view->vertex_count * (size_t)view->stride) == 0);
        carom_mesh_destroy(again);
    }
    carom_bytes_free(&bytes);
}

static inline void fuzz_mesh(const uint8_t *bytes, size_t size, carom_mesh_format format) {
    static fuzz_meter meter;
    static carom_context *context; /* kept for the life of the process */
    if (context == NULL) {
        carom_context_def def = {.threads = 1, .allocator = {fuzz_allocate, fuzz_release, &meter}};
        FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    }
    carom_mesh *mesh;
    uint64_t before = meter.now;
    meter.peak = meter.now;
    carom_status status = carom_mesh_load_memory(context, bytes, size, format, "fuzz", &mesh);
    bool packed = size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
    FUZZ_CHECK(packed || meter.peak - before <= 16 * (uint64_t)size + (128 << 10));
    FUZZ_CHECK(status != CAROM_NO_MEMORY && status != CAROM_INVALID);
    if (status == CAROM_OK) {
        carom_mesh_view view;
        carom_mesh_origin origin;
        FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
        FUZZ_CHECK(carom_mesh_get_origin(mesh, &origin) == CAROM_OK);
        FUZZ_CHECK(carom_mesh_check(context, &view) == CAROM_OK);
        fuzz_write_and_read(context, &view, origin.format);
        fuzz_write_and_read(context, &view, CAROM_MESH_FORMAT_PLY);
        fuzz_write_and_read(context, &view, CAROM_MESH_FORMAT_OBJ);
        carom_mesh_destroy(mesh);
    } else {
        FUZZ_CHECK(mesh == NULL);
        FUZZ_CHECK(strncmp(carom_context_message(context), "fuzz: ", 6) == 0);
    }
    FUZZ_CHECK(meter.now == before);
}

#endif
