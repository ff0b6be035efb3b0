/* SPDX-License-Identifier: MIT */
/* The first program: a context with one's own allocator and progress, and what a failure says. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocate(void *user, size_t size, size_t alignment) {
    ++*(int *)user;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *pointer) {
    --*(int *)user;
    free(pointer);
}

int main(void) {
    int blocks = 0;
    carom_context_def def = {.threads = 2, .allocator = {allocate, release, &blocks}};
    carom_context *context;
    if (carom_context_create(&def, &context) != CAROM_OK) {
        fprintf(stderr, "%s\n", carom_context_message(NULL));
        return EXIT_FAILURE;
    }
    carom_context_info info;
    carom_status status = carom_context_get_info(context, &info);
    if (status == CAROM_OK)
        printf("%u threads, instruction set %s, %d blocks of memory\n", info.threads,
               carom_isa_name(info.isa), blocks);
    carom_context_destroy(context);

    def.threads = 1000; /* a failure is a status and a message, never a crash */
    status = carom_context_create(&def, &context);
    printf("%s: %s\n", carom_status_name(status), carom_context_message(NULL));
    return blocks == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
