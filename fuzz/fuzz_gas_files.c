/* SPDX-License-Identifier: MIT */
/* Files of spheres: any bytes either get one message that names the file, or are spheres of finite
 * numbers in the order of their ids. The first byte selects the format and the frame. What was read
 * is written as extended XYZ and reads back the same, bit for bit. */
#include "fuzz/fuzz.h"

#include <inttypes.h>
#include <math.h>

#include "cli/gas_files.h"

#define MOST_BYTES 16384
#define ROW_SIZE   256 /* bytes: eight numbers of 24, two words */

static carom_status read_bytes(const char *bytes, size_t size, gas_format format, uint64_t frame,
                               gas_file *file, char message[512]) {
    gas_file_def def = {.path = "f",
                        .bytes = bytes,
                        .byte_count = size,
                        .format = format,
                        .frame = frame,
                        .message = message,
                        .message_size = 512};
    return gas_file_read(&def, file);
}

static void check_vec(carom_vec3 v) {
    FUZZ_CHECK(!isnan(v.x) && !isnan(v.y) && !isnan(v.z));
}

static void check_file(const gas_file *f) {
    FUZZ_CHECK(!f->has_box || (f->edges.x > 0.0 && f->edges.y > 0.0 && f->edges.z > 0.0));
    for (uint64_t i = 0; i < f->count; ++i) {
        const carom_gas_sphere *s = &f->spheres[i];
        check_vec(s->position);
        check_vec(s->velocity);
        FUZZ_CHECK(f->has_radii ? s->radius >= 0.0 : s->radius == 0.0);
        FUZZ_CHECK(f->has_masses ? s->mass > 0.0 : s->mass == 0.0);
        FUZZ_CHECK(isfinite(s->radius) && isfinite(s->mass));
        FUZZ_CHECK(i == 0 || f->labels[i - 1].id < f->labels[i].id);
        FUZZ_CHECK(strlen(f->labels[i].species) < GAS_SPECIES_SIZE);
    }
}

/* Only what `carom gas` could write: everything there, and no name with a blank. */
static void check_round_trip(const gas_file *f) {
    char message[512];
    size_t space = 512 + f->count * ROW_SIZE;
    char *text = malloc(space);
    FUZZ_CHECK(text != NULL);
    size_t length =
        (size_t)snprintf(text, space,
                         "%" PRIu64 "\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" pbc=\"%c %c %c\" "
                         "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:mass:R:1:id:I:1\n",
                         f->count, f->edges.x, f->edges.y, f->edges.z, f->periodic[0] ? 'T' : 'F',
                         f->periodic[1] ? 'T' : 'F', f->periodic[2] ? 'T' : 'F');
    for (uint64_t i = 0; i < f->count; ++i) {
        const carom_gas_sphere *s = &f->spheres[i];
        bool finite = isfinite(s->position.x) && isfinite(s->position.y) && isfinite(s->position.z);
        if (!finite || !(s->radius > 0.0) || f->labels[i].species[0] == '\0') {
            free(text);
            return;
        }
        length += (size_t)snprintf(
            text + length, space - length,
            "%s %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %" PRIu64 "\n",
            f->labels[i].species, s->position.x, s->position.y, s->position.z, s->velocity.x,
            s->velocity.y, s->velocity.z, s->radius, s->mass, f->labels[i].id);
    }
    gas_file again;
    FUZZ_CHECK(read_bytes(text, length, GAS_FORMAT_XYZ, GAS_LAST_FRAME, &again, message) ==
               CAROM_OK);
    FUZZ_CHECK(again.count == f->count);
    FUZZ_CHECK(f->count == 0 ||
               memcmp(again.spheres, f->spheres, f->count * sizeof(*f->spheres)) == 0);
    gas_file_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0 || size > MOST_BYTES) return 0;
    gas_format format = (gas_format)(bytes[0] % GAS_FORMAT_COUNT);
    uint64_t frame = bytes[0] / GAS_FORMAT_COUNT % 8;
    gas_file file;
    char message[512];
    carom_status status = read_bytes((const char *)bytes + 1, size - 1, format,
                                     frame == 0 ? GAS_LAST_FRAME : frame - 1, &file, message);
    FUZZ_CHECK((status == CAROM_OK) == (message[0] == '\0'));
    FUZZ_CHECK(status == CAROM_OK || strncmp(message, "f:", 2) == 0);
    FUZZ_CHECK(status == CAROM_OK || (file.spheres == NULL && file.labels == NULL));
    if (status == CAROM_OK) {
        check_file(&file);
        if (file.has_box && file.has_radii && file.has_masses) check_round_trip(&file);
    }
    gas_file_free(&file);
    return 0;
}
