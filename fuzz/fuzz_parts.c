/* SPDX-License-Identifier: MIT */
/* Any file, read in parts and as a whole: what one accepts the other does, with the same pairs; or
 * it is of a kind that cannot be read in parts. The first byte says which kind of search, and how
 * the file is named. */
#include "carom/carom.h"
#include "fuzz/fuzz.h"

#define MOST_FOUND 4096

typedef struct found {
    carom_pair pairs[MOST_FOUND];
    uint64_t count;
} found;

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    found *f = user;
    for (uint64_t i = 0; i < count; ++i, ++f->count)
        if (f->count < MOST_FOUND) f->pairs[f->count] = pairs[i];
    return false;
}

static carom_status search_whole(carom_context *context, const carom_parts_def *def,
                                 carom_pairs *pairs) {
    carom_mesh *mesh, *welded = NULL;
    carom_mesh_view view;
    carom_soup *soup = NULL;
    carom_status status = carom_mesh_load(context, def->a.path, CAROM_MESH_FORMAT_GUESS, &mesh);
    if (status != CAROM_OK) return status;
    FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
    if (!def->no_weld) {
        FUZZ_CHECK(carom_mesh_weld(context, &view, &welded) == CAROM_OK);
        FUZZ_CHECK(carom_mesh_get_view(welded, &view) == CAROM_OK);
    }
    carom_soup_def soup_def = {.mesh = &view, .fan = def->fan};
    status = carom_soup_create(context, &soup_def, &soup);
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, soup, pairs);
    carom_soup_destroy(soup);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(mesh);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const names[] = {"fuzz_parts.ply", "fuzz_parts.stl", "fuzz_parts.obj"};
    static carom_context *context;
    static found f;
    carom_context_def one = {.threads = 1};
    if (context == NULL) FUZZ_CHECK(carom_context_create(&one, &context) == CAROM_OK);
    uint8_t head;
    fuzz_take(&bytes, &size, &head, 1);
    const char *path = names[head % 3];
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    carom_parts_def def = {.a.path = path,
                           .memory = CAROM_PARTS_LEAST_MEMORY,
                           .part_faces = 1 + head / 16,
                           .no_weld = (head & 4) != 0,
                           .fan = (head & 8) != 0};
    carom_pairs whole = {0};
    f.count = 0;
    carom_status in_parts = carom_parts_pairs(context, &def, receive, &f, NULL);
    carom_status in_memory = search_whole(context, &def, &whole);
    if (in_parts == CAROM_OK && in_memory == CAROM_OK) {
        FUZZ_CHECK(f.count == whole.count);
        uint64_t count = f.count < MOST_FOUND ? f.count : MOST_FOUND;
        if (count != 0) FUZZ_CHECK(memcmp(f.pairs, whole.data, count * sizeof(*f.pairs)) == 0);
    }
    FUZZ_CHECK(in_parts == CAROM_OK || in_parts == CAROM_UNSUPPORTED || in_memory != CAROM_OK);
    FUZZ_CHECK(in_parts != CAROM_OK || in_memory == CAROM_OK);
    carom_pairs_free(&whole);
    (void)remove(path);
    return 0;
}
