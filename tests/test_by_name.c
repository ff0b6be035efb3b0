/* SPDX-License-Identifier: MIT */
/* A program that knows no header finds every function in the shared library by its name: it
 * compares the ABI, creates a context and queries the pairs of a mesh that crosses itself. One
 * thread. */
#include <dlfcn.h>
#include <string.h>

#include "tests/support/test.h"

/* A pointer of dlsym as a function pointer, which C cannot cast. */
#define FIND(type, name, ...)                                                                      \
    type (*name)(__VA_ARGS__);                                                                     \
    do {                                                                                           \
        void *found = dlsym(library, "carom_" #name);                                              \
        if (found == NULL) fail_msg("carom_%s is not exported", #name);                            \
        memcpy(&(name), &found, sizeof(found));                                                    \
    } while (0)

static void a_query_is_found_by_name(void **state) {
    (void)state;
    void *library = dlopen(CAROM_BINARY_DIR "/lib/libcarom.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail_msg("%s", dlerror());
    FIND(uint32_t, abi, void);
    FIND(carom_status, context_create, const carom_context_def *, carom_context **);
    FIND(void, context_destroy, carom_context *);
    FIND(const char *, context_message, const carom_context *);
    FIND(carom_status, soup_create, carom_context *, const carom_soup_def *, carom_soup **);
    FIND(carom_status, soup_self_pairs, carom_context *, const carom_soup *, carom_pairs *);
    FIND(void, soup_destroy, carom_soup *);
    FIND(void, pairs_free, carom_pairs *);

    assert_int_equal(abi(), CAROM_ABI);
    carom_context *context = NULL;
    carom_context_def def = {.threads = 257};
    assert_int_equal(context_create(&def, &context), CAROM_BAD_INPUT);
    assert_non_null(strstr(context_message(NULL), "at most 256"));
    def.threads = 1;
    assert_int_equal(context_create(&def, &context), CAROM_OK);

    /* Two triangles that cross. */
    static const double positions[] = {0, 0, 0, 2, 0, 0, 0, 2, 0, .5, .5, -1, .5, .5, 1, .5, 2, 1};
    static const uint32_t corners[] = {0, 1, 2, 3, 4, 5};
    carom_soup_def soup_def = {
        .mesh = &(carom_mesh_view){
            .positions = positions, .vertex_count = 6, .corners = corners, .face_count = 2}};
    carom_soup *soup = NULL;
    carom_pairs pairs = {0};
    assert_int_equal(soup_create(context, &soup_def, &soup), CAROM_OK);
    assert_int_equal(soup_self_pairs(context, soup, &pairs), CAROM_OK);
    assert_int_equal(pairs.count, 1);
    assert_true(pairs.data[0].a == 0 && pairs.data[0].b == 1);
    pairs_free(&pairs);
    soup_destroy(soup);
    context_destroy(context);
    assert_int_equal(dlclose(library), 0);
}

/* The header's macro takes a def written in place, with commas, and hides no function. */
static void the_header_checks_the_abi(void **state) {
    (void)state;
    carom_context *context;
    assert_ok(NULL, carom_context_create(&(carom_context_def){.threads = 1, .isa = CAROM_ISA_BEST},
                                         &context));
    carom_context_destroy(context);
    carom_status (*create)(const carom_context_def *, carom_context **) = carom_context_create;
    assert_int_equal(create(NULL, &context), CAROM_OK);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_found_by_name),
        cmocka_unit_test(the_header_checks_the_abi),
    };
    return cmocka_run_group_tests_name("by_name", tests, NULL, NULL);
}
