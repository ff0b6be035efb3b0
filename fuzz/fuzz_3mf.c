/* SPDX-License-Identifier: MIT */
/* The unit and names of 3MF, from any bytes taken for the archive. */
#include "fuzz/fuzz.h"

#include "mesh/mesh_3mf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context;
    carom_context_def def = {.threads = 1};
    if (context == NULL) FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    carom_builder builder = {.context = context, .name = "fuzz.3mf"};
    carom_3mf model = {0};
    FUZZ_CHECK(carom_3mf_read(&builder, (carom_source){bytes, size}, &model) == CAROM_OK);
    FUZZ_CHECK(model.names.begins.count == model.ids.begins.count);
    FUZZ_CHECK(model.metres >= 0.0);
    const char *name = carom_3mf_name(&builder, &model, "1");
    FUZZ_CHECK(name == NULL || *name != '\0');
    carom_3mf_release(&builder, &model);
    return 0;
}
