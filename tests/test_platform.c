/* SPDX-License-Identifier: MIT */
/* What systems do differently gives the same everywhere: files with names in UTF-8, replacing,
 * mapping, threads, streams in memory; and what is saved is the same bytes on every machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order.h"
#include "cli/platform.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

static char folder[PLATFORM_LONGEST_PATH];

static const char *path_of(const char *name) {
    static char path[PLATFORM_LONGEST_PATH + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_new(const char *name, const char *text) {
    int file = carom_os_open_new(path_of(name));
    assert_true(file >= 0);
    assert_int_equal(carom_os_write(file, text, strlen(text)), strlen(text));
    assert_int_equal(carom_os_close(file), 0);
}

static void assert_holds(const char *name, const char *text) {
    char bytes[64] = "";
    carom_os_file_info info;
    int file = carom_os_open_input(path_of(name));
    assert_true(file >= 0);
    assert_true(carom_os_descriptor_info(file, &info));
    assert_true(info.kind == CAROM_OS_FILE_REGULAR && info.size == strlen(text));
    assert_int_equal(carom_os_read(file, bytes, sizeof(bytes)), strlen(text));
    assert_string_equal(bytes, text);
    void *mapped = carom_os_map(file, strlen(text));
    assert_non_null(mapped);
    assert_memory_equal(mapped, text, strlen(text));
    assert_int_equal(carom_os_close(file), 0); /* the mapping stays */
    assert_memory_equal(mapped, text, strlen(text));
    carom_os_unmap(mapped, strlen(text));
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *const names[] = {"plain", "gro\xC3\x9F ger\xC3\xB6tet",
                                    "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x94\xB5 ball"};

static void names_are_utf8(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        char whole[PLATFORM_LONGEST_PATH];
        carom_os_file_info a, b;
        write_new(names[i], "one\n");
        assert_int_equal(carom_os_open_new(path_of(names[i])), -1);
        assert_int_equal(errno, EEXIST);
        assert_holds(names[i], "one\n");
        assert_true(carom_os_real_path(path_of(names[i]), whole, sizeof(whole)));
        assert_true(carom_os_file_info_of(path_of(names[i]), &a));
        assert_true(carom_os_file_info_of(whole, &b));
        assert_true(a.volume == b.volume && a.number == b.number);
        write_new("other", "two\r\n");
        assert_true(carom_os_file_info_of(path_of("other"), &b));
        assert_true(a.volume == b.volume && a.number != b.number);
        char from[PLATFORM_LONGEST_PATH + 64];
        strcpy(from, path_of("other"));
        assert_true(carom_os_replace(from, path_of(names[i])));
        assert_holds(names[i], "two\r\n");
        assert_false(carom_os_file_info_of(from, &a));
        assert_int_equal(errno, ENOENT);
        FILE *stream = carom_os_stream(path_of(names[i]), "w");
        assert_non_null(stream);
        fputs("a\nb\n", stream);
        assert_int_equal(fclose(stream), 0);
        assert_holds(names[i], "a\nb\n"); /* no line end was converted */
        assert_true(carom_os_remove(path_of(names[i])));
        assert_false(carom_os_remove(path_of(names[i])));
        assert_int_equal(errno, ENOENT);
    }
}

static void folders_are_known(void **state) {
    (void)state;
    carom_os_file_info info;
    assert_true(carom_os_file_info_of(folder, &info));
    assert_int_equal(info.kind, CAROM_OS_FILE_FOLDER);
    assert_true(platform_make_folder(path_of("inner")));
    assert_false(platform_make_folder(path_of("inner")));
    assert_true(platform_may_write(path_of("inner")));
    assert_true(platform_remove_folder(path_of("inner")));
    assert_false(platform_may_read(path_of("inner")));
    assert_int_equal(carom_os_open_input(path_of("nothing")), -1);
    assert_int_equal(errno, ENOENT);
}

/* \\ is a character of names, but on Windows, where drives have names, too. */
static void paths_end_in_names(void **state) {
    (void)state;
    static const struct {
        const char *path, *name, *on_windows;
        bool absolute, absolute_on_windows;
    } cases[] = {{"", "", "", false, false},
                 {"name", "name", "name", false, false},
                 {"a/b.obj", "b.obj", "b.obj", false, false},
                 {"/a/b", "b", "b", true, true},
                 {"/", "", "", true, true},
                 {"a/b/", "", "", false, false},
                 {"a\\b.obj", "a\\b.obj", "b.obj", false, false},
                 {"\\\\server\\b", "\\\\server\\b", "b", false, true},
                 {"a/b\\c", "b\\c", "c", false, false},
                 {"a\\b/c", "c", "c", false, false},
                 {"C:\\a/b", "b", "b", false, true},
                 {"c:b", "c:b", "b", false, true},
                 {"1:b", "1:b", "1:b", false, false}};
    bool windows = carom_os_is_separator('\\');
    assert_true(carom_os_is_separator('/') && !carom_os_is_separator('\0'));
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        const char *name = windows ? cases[i].on_windows : cases[i].name;
        assert_string_equal(carom_os_file_name(cases[i].path), name);
        assert_int_equal(carom_os_is_absolute(cases[i].path),
                         windows ? cases[i].absolute_on_windows : cases[i].absolute);
    }
    if (!windows) return;
    char turned[PLATFORM_LONGEST_PATH + 64];
    write_new("other", "one");
    strcpy(turned, path_of("other"));
    for (char *at = turned; *at != '\0'; ++at)
        if (*at == '/') *at = '\\';
    assert_true(carom_os_remove(turned));
}

static void streams_end_in_memory(void **state) {
    (void)state;
    for (size_t size = 0; size < 100000; size = 3 * size + 1) {
        platform_memory memory;
        assert_true(platform_open_memory(&memory));
        for (size_t i = 0; i < size; ++i) putc((int)(i % 251), memory.file);
        assert_true(platform_close_memory(&memory));
        assert_int_equal(memory.size, size);
        for (size_t i = 0; i < size; ++i) assert_int_equal((unsigned char)memory.bytes[i], i % 251);
        free(memory.bytes);
    }
}

static void streams_are_truncated(void **state) {
    (void)state;
    int file = carom_os_open_new(path_of("long"));
    FILE *stream = platform_stream_over(file, "w");
    assert_non_null(stream);
    assert_int_equal(platform_descriptor(stream), file);
    fputs("kept\n", stream);
    assert_int_equal(fflush(stream), 0);
    int64_t end = platform_tell(stream);
    assert_int_equal(end, 5);
    fputs("lost\n", stream);
    assert_int_equal(fflush(stream), 0);
    assert_true(platform_truncate(stream, end));
    assert_int_equal(fclose(stream), 0);
    assert_holds("long", "kept\n");
    assert_true(carom_os_remove(path_of("long")));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 1000 };

typedef struct counter {
    carom_os_mutex mutex;
    carom_os_condition changed;
    int sum, ended;
} counter;

static void count(void *argument) {
    counter *c = argument;
    for (int i = 0; i < ROUNDS; ++i) {
        carom_os_mutex_lock(&c->mutex);
        ++c->sum;
        carom_os_mutex_unlock(&c->mutex);
    }
    carom_os_mutex_lock(&c->mutex);
    ++c->ended;
    carom_os_condition_wake_all(&c->changed);
    carom_os_mutex_unlock(&c->mutex);
}

static void threads_wait_for_each_other(void **state) {
    (void)state;
    counter c = {.sum = 0};
    carom_os_thread threads[THREADS];
    carom_os_mutex_create(&c.mutex);
    carom_os_condition_create(&c.changed);
    for (int i = 0; i < THREADS; ++i) assert_true(carom_os_thread_start(&threads[i], count, &c));
    carom_os_mutex_lock(&c.mutex);
    while (c.ended < THREADS) carom_os_condition_wait_for(&c.changed, &c.mutex, 1);
    carom_os_mutex_unlock(&c.mutex);
    for (int i = 0; i < THREADS; ++i) carom_os_thread_join(&threads[i]);
    assert_int_equal(c.sum, THREADS * ROUNDS);
    carom_os_condition_destroy(&c.changed);
    carom_os_mutex_destroy(&c.mutex);
    assert_true(carom_os_processors() >= 1);
}

static int ran;

static void run(void) {
    ++ran;
}

static void once_is_once(void **state) {
    (void)state;
    static carom_os_once once = CAROM_OS_ONCE_INIT;
    for (int i = 0; i < 3; ++i) carom_os_run_once(&once, run);
    assert_int_equal(ran, 1);
}

/* ---- byte order ------------------------------------------------------------------------------ */

static void numbers_are_reversed(void **state) {
    (void)state;
    unsigned char bytes[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const unsigned char fours[10] = {3, 2, 1, 0, 7, 6, 5, 4, 8, 9};
    carom_reverse_numbers(bytes, 10, 4);
    assert_memory_equal(bytes, fours, 10);
    carom_reverse_numbers(bytes, 10, 4);
    carom_reverse_numbers(bytes, 8, 8);
    assert_true(bytes[0] == 7 && bytes[7] == 0 && bytes[8] == 8);
    const uint32_t number = 0x01020304;
    memcpy(bytes, &number, 4);
    assert_int_equal(bytes[0] == 4, carom_is_little_endian());
}

/* Every format in memory: the bytes are the golden ones, and loading gives the same again. A tree:
 * what was loaded is saved as it was. */
static void saved_bytes_are_golden(void **state) {
    (void)state;
    static const carom_mesh_format formats[] = {CAROM_MESH_FORMAT_OBJ,       CAROM_MESH_FORMAT_PLY,
                                                CAROM_MESH_FORMAT_PLY_BIG,   CAROM_MESH_FORMAT_STL,
                                                CAROM_MESH_FORMAT_PLY_ASCII, CAROM_MESH_FORMAT_OFF};
    carom_context *context = test_context(2);
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_SPHERE, .detail = 3};
    carom_mesh *mesh = shape_mesh(context, &def, &view);
    carom_bytes bytes = {0}, again = {0};
    for (size_t i = 0; i < COUNT_OF(formats); ++i) {
        carom_mesh *loaded;
        carom_mesh_view read;
        def.scalar = formats[i] == CAROM_MESH_FORMAT_STL ? CAROM_SCALAR_FLOAT32 : 0;
        carom_mesh *one = shape_mesh(context, &def, &read);
        assert_ok(context, carom_mesh_save_memory(context, &read, formats[i], &bytes));
        carom_mesh_destroy(one);
        test_golden("saved.txt", carom_mesh_format_name(formats[i]),
                    test_hash(bytes.data, bytes.count, 0));
        assert_ok(context, carom_mesh_load_memory(context, bytes.data, bytes.count, formats[i],
                                                  "saved", &loaded));
        assert_ok(context, carom_mesh_get_view(loaded, &read));
        assert_ok(context, carom_mesh_save_memory(context, &read, formats[i], &again));
        assert_int_equal(again.count, bytes.count);
        assert_memory_equal(again.data, bytes.data, bytes.count);
        carom_mesh_destroy(loaded);
    }
    carom_packing *packing;
    carom_tree *tree, *loaded;
    carom_mesh *box = shape_mesh(context, &(carom_shape_def){.shape = CAROM_SHAPE_BOX}, &view);
    carom_packing_def goals = {.mesh = &view, .count = 20};
    assert_ok(context, carom_packing_create(context, &goals, &packing));
    assert_ok(context, carom_tree_create(
                           context, &(carom_tree_def){.packing = packing, .mesh = &view}, &tree));
    assert_ok(context, carom_tree_save_memory(context, tree, CAROM_TREE_FORMAT_GUESS, &bytes));
    assert_ok(context, carom_tree_load_memory(context, bytes.data, bytes.count,
                                              CAROM_TREE_FORMAT_GUESS, "saved", &loaded));
    assert_ok(context, carom_tree_save_memory(context, loaded, CAROM_TREE_FORMAT_GUESS, &again));
    assert_int_equal(again.count, bytes.count);
    assert_memory_equal(again.data, bytes.data, bytes.count);
    assert_ok(context, carom_tree_save(context, tree, CAROM_TREE_FORMAT_GUESS, path_of("tree")));
    carom_tree_destroy(loaded);
    assert_ok(context, carom_tree_load(context, path_of("tree"), CAROM_TREE_FORMAT_GUESS, &loaded));
    carom_tree_destroy(loaded);
    assert_true(carom_os_remove(path_of("tree")));
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_bytes_free(&bytes);
    carom_bytes_free(&again);
    carom_mesh_destroy(box);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_utf8),
        cmocka_unit_test(folders_are_known),
        cmocka_unit_test(paths_end_in_names),
        cmocka_unit_test(streams_end_in_memory),
        cmocka_unit_test(streams_are_truncated),
        cmocka_unit_test(once_is_once),
        cmocka_unit_test(threads_wait_for_each_other),
        cmocka_unit_test(numbers_are_reversed),
        cmocka_unit_test(saved_bytes_are_golden),
    };
    if (!platform_make_temporary_folder(folder, sizeof(folder) - 64)) return 1;
    int failed = cmocka_run_group_tests_name("platform", tests, NULL, NULL);
    return platform_remove_folder(folder) ? failed : 1;
}
