/* SPDX-License-Identifier: MIT */
/* Spheres of planners as YAML: any bytes either get one message that names the file and a line, or
 * are spheres of finite numbers whose radii are not negative, in sets with a name that ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sphere_file.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sphere_file file = {.name = "f.yml"};
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size != 0) memcpy(text, bytes, size);
    text[size] = '\0';
    carom_status status = sphere_file_read(&file, text, size);
    FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_FILE);
    FUZZ_CHECK((status == CAROM_OK) == (file.message[0] == '\0'));
    FUZZ_CHECK(status == CAROM_OK || strncmp(file.message, "f.yml:", 6) == 0);
    FUZZ_CHECK(status != CAROM_OK || file.count != 0);
    for (uint64_t i = 0; i < file.count; ++i) {
        FUZZ_CHECK(memchr(file.sets[i].name, 0, sizeof(file.sets[i].name)) != NULL);
        for (uint64_t k = 0; k < file.sets[i].count; ++k) {
            const carom_ball *b = &file.sets[i].balls[k];
            FUZZ_CHECK(isfinite(b->centre.x) && isfinite(b->centre.y) && isfinite(b->centre.z));
            FUZZ_CHECK(b->radius >= 0.0 && isfinite(b->radius));
        }
    }
    sphere_file_free(&file);
    free(text);
    return 0;
}
