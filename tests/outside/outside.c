/* SPDX-License-Identifier: MIT */
/* What a user's first program does: create a context, query, destroy. */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    if (carom_context_create(NULL, &context) != CAROM_OK) {
        fprintf(stderr, "%s\n", carom_context_message(NULL));
        return 1;
    }
    carom_context_info info;
    carom_status status = carom_context_get_info(context, &info);
    printf("carom %s with %u threads\n", carom_build_get()->version, (unsigned)info.threads);
    carom_context_destroy(context);
    return status != CAROM_OK;
}
