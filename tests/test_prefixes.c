/* SPDX-License-Identifier: MIT */
/* Files that were cut short: every prefix of a valid file of every format that is read is refused
 * with a message that names the file and the position, or is complete by the format's own rule,
 * which docs/formats.md gives. The rules here are written anew, from that page. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gas_files.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static char message[1024];

/* ---- Rules ----------------------------------------------------------------------------------- */

typedef enum rule {
    RULE_SIZE,     /* the size is known: nothing but the whole is complete */
    RULE_ROWS,     /* rows are counted; only the last word of the last row may be shorter */
    RULE_ROOT,     /* up to the end tag of the root */
    RULE_ENDSOLID, /* from the word endsolid on */
    RULE_LINES     /* no end mark: lines until there are no more */
} rule;

typedef carom_status read_fn(const char *bytes, size_t size, const char *name);

#define MOST_UNITS 4

/* A file made of units, such as frames: it is complete where a unit is. */
typedef struct sample {
    const char *name;
    read_fn *read;
    rule rule;
    size_t units[MOST_UNITS]; /* where each ends; 0: none */
    const char *bytes;
    size_t size;
} sample;

/* The smallest prefix that ends a unit. */
static size_t first_complete(const sample *s, size_t end) {
    size_t n = end;
    while (n > 0 && s->rule != RULE_SIZE && isspace((unsigned char)s->bytes[n - 1])) --n;
    if (s->rule == RULE_ROWS) {
        while (n > 0 && !isspace((unsigned char)s->bytes[n - 1])) --n;
        return n + 1;
    }
    if (s->rule == RULE_ENDSOLID) {
        while (n > 0 && strncmp(s->bytes + n, "endsolid", 8) != 0) --n;
        return n + 8;
    }
    return n;
}

static bool is_complete(const sample *s, size_t n) {
    if (s->rule == RULE_LINES) return true;
    for (size_t i = 0; i < MOST_UNITS && s->units[i] != 0; ++i) {
        size_t end = s->units[i];
        while (s->rule != RULE_SIZE && end < s->size && isspace((unsigned char)s->bytes[end]))
            ++end;
        if (first_complete(s, s->units[i]) <= n && n <= end) return true;
    }
    return false;
}

/* FILE:12, line 12 or byte 12; or that there is nothing to point at. */
static bool has_position(const char *name) {
    const char *at = strstr(message, name);
    if (at == NULL) return false;
    at += strlen(name);
    if (at[0] == ':' && isdigit((unsigned char)at[1])) return true;
    static const char *const words[] = {"line ", "byte "};
    for (size_t i = 0; i < COUNT_OF(words); ++i) {
        const char *found = strstr(at, words[i]);
        if (found != NULL && isdigit((unsigned char)found[strlen(words[i])])) return true;
    }
    return strstr(at, "is empty") != NULL || strstr(at, "has no spheres") != NULL ||
           strstr(at, "neither name nor content") != NULL ||
           strstr(at, "is neither extended XYZ") != NULL || strstr(at, "assimp says") != NULL;
}

static void check_prefix(const sample *s, size_t n) {
    char *exact = malloc(n != 0 ? n : 1); /* so that sanitizers see a read past the end */
    assert_non_null(exact);
    memcpy(exact, s->bytes, n);
    message[0] = '\0';
    carom_status status = s->read(exact, n, s->name);
    free(exact);
    if (status == CAROM_OK && !is_complete(s, n) && n != s->size)
        fail_msg("%s: the first %zu of %zu bytes are accepted", s->name, n, s->size);
    if (status != CAROM_OK && n == s->size)
        fail_msg("%s: whole, and refused: %s", s->name, message);
    if (status != CAROM_OK && !has_position(s->name))
        fail_msg("%s: the first %zu of %zu bytes: no position in \"%s\"", s->name, n, s->size,
                 message);
}

#define EVERY 6000 /* bytes up to which every prefix is tried */

/* Of larger files: both ends, and seeded cuts. */
static void check(sample s) {
    carom_random random = {s.size};
    if (s.units[0] == 0) s.units[0] = s.size;
    check_prefix(&s, s.size);
    if (s.size <= EVERY / CAROM_TEST_SHARE) {
        for (size_t n = 0; n < s.size; ++n) check_prefix(&s, n);
        return;
    }
    for (size_t n = 0; n < 300; ++n) {
        check_prefix(&s, n % s.size);
        check_prefix(&s, s.size - 1 - n % s.size);
    }
    for (int i = 0; i < TEST_CASES(1000); ++i)
        check_prefix(&s, (size_t)(carom_random_next(&random) % s.size));
}

static void check_text(const char *name, read_fn *read, rule rule, const char *text) {
    check((sample){.name = name, .read = read, .rule = rule, .bytes = text, .size = strlen(text)});
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static carom_status keep_message(carom_status status) {
    snprintf(message, sizeof(message), "%s", carom_context_message(context));
    return status;
}

static carom_status read_mesh(const char *bytes, size_t size, const char *name) {
    carom_mesh *mesh;
    carom_status status = keep_message(
        carom_mesh_load_memory(context, bytes, size, CAROM_MESH_FORMAT_GUESS, name, &mesh));
    carom_mesh_destroy(mesh);
    return status;
}

static void meshes_are_whole(void **state) {
    (void)state;
    static const struct {
        const char *name;
        carom_mesh_format format;
        rule rule;
    } formats[] = {{"a.obj", CAROM_MESH_FORMAT_OBJ, RULE_LINES},
                   {"a.ply", CAROM_MESH_FORMAT_PLY, RULE_SIZE},
                   {"b.ply", CAROM_MESH_FORMAT_PLY_BIG, RULE_SIZE},
                   {"t.ply", CAROM_MESH_FORMAT_PLY_ASCII, RULE_ROWS},
                   {"a.stl", CAROM_MESH_FORMAT_STL, RULE_SIZE},
                   {"t.stl", CAROM_MESH_FORMAT_STL_ASCII, RULE_ENDSOLID},
                   {"a.off", CAROM_MESH_FORMAT_OFF, RULE_ROWS}};
    static const carom_shape shapes[] = {CAROM_SHAPE_BOX, CAROM_SHAPE_TORUS};
    for (size_t i = 0; i < COUNT_OF(formats); ++i)
        for (size_t k = 0; k < COUNT_OF(shapes); ++k) {
            carom_shape_def def = {.shape = shapes[k], .detail = k == 0 ? 0 : 12};
            carom_mesh_view view;
            carom_bytes bytes = {0};
            carom_mesh *mesh = shape_mesh(context, &def, &view);
            float *rounded = malloc(3 * view.vertex_count * sizeof(*rounded));
            for (uint64_t v = 0; v < 3 * view.vertex_count; ++v)
                rounded[v] = (float)((const double *)view.positions)[v];
            view.positions = rounded; /* binary STL has no other */
            view.scalar = CAROM_SCALAR_FLOAT32;
            view.stride = 0;
            assert_ok(context, carom_mesh_save_memory(context, &view, formats[i].format, &bytes));
            check((sample){.name = formats[i].name,
                           .read = read_mesh,
                           .rule = formats[i].rule,
                           .bytes = (const char *)bytes.data,
                           .size = bytes.count});
            carom_bytes_free(&bytes);
            free(rounded);
            carom_mesh_destroy(mesh);
        }
}

/* Two solids in a text file: it is complete after each. */
static void solids_are_units(void **state) {
    (void)state;
    static const char one[] = "solid one\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n"
                              "   vertex 1 0 0\n   vertex 0 1 0\n  endloop\n endfacet\n";
    char text[2048];
    int first = snprintf(text, sizeof(text), "%sendsolid one\n", one);
    int second = snprintf(text + first, sizeof(text) - (size_t)first, "%sendsolid two", one);
    check((sample){.name = "two.stl",
                   .read = read_mesh,
                   .rule = RULE_ENDSOLID,
                   .units = {(size_t)first, (size_t)(first + second)},
                   .bytes = text,
                   .size = (size_t)(first + second)});
    check_text("poly.ply", read_mesh, RULE_ROWS,
               "ply\nformat ascii 1.0\ncomment part 0 a\nelement vertex 4\nproperty float x\n"
               "property float y\nproperty float z\nelement face 2\n"
               "property list uchar int vertex_indices\nproperty int part\nend_header\n"
               "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2 0\n4 0 1 2 3 1\n");
    check_text("a.off", read_mesh, RULE_ROWS,
               "COFF\n# a comment\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2 255 0 0\n4 0 1 2 3");
}

static void compressed_meshes_are_whole(void **state) {
    (void)state;
    char path[] = "/tmp/carom_prefix_XXXXXX.off.gz";
    int file = mkstemps(path, 7);
    assert_true(file >= 0);
    close(file);
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 8};
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, &def, &view);
    carom_status status = carom_mesh_save(context, &view, CAROM_MESH_FORMAT_GUESS, path);
    carom_mesh_destroy(mesh);
    if (status == CAROM_OK) {
        char bytes[1 << 16];
        FILE *in = fopen(path, "rb");
        size_t size = fread(bytes, 1, sizeof(bytes), in);
        fclose(in);
        check((sample){.name = "a.off.gz", .read = read_mesh, .bytes = bytes, .size = size});
    }
    unlink(path);
    if (status == CAROM_UNSUPPORTED) skip();
    assert_int_equal(status, CAROM_OK);
}

/* What assimp reads, where it is installed. */
static void other_meshes_are_whole(void **state) {
    (void)state;
    static const char dae[] =
        "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
        "version=\"1.4.1\"><asset><unit meter=\"1\"/><up_axis>Z_UP</up_axis></asset>"
        "<library_geometries><geometry id=\"g\"><mesh><source id=\"p\"><float_array id=\"pa\" "
        "count=\"12\">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common><accessor "
        "source=\"#pa\" count=\"4\" stride=\"3\"><param name=\"X\" type=\"float\"/><param "
        "name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
        "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" "
        "source=\"#p\"/></vertices><triangles count=\"2\"><input semantic=\"VERTEX\" "
        "source=\"#v\" offset=\"0\"/><p>0 1 2 0 2 3</p></triangles></mesh></geometry>"
        "</library_geometries><library_visual_scenes><visual_scene id=\"s\"><node id=\"n\">"
        "<instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes><scene>"
        "<instance_visual_scene url=\"#s\"/></scene></COLLADA>\n";
    if (read_mesh(dae, sizeof(dae) - 1, "a.dae") == CAROM_UNSUPPORTED) skip();
    check_text("a.dae", read_mesh, RULE_ROOT, dae);
}

/* ---- Packings, trees, gases ------------------------------------------------------------------ */

static carom_status read_packing(const char *bytes, size_t size, const char *name) {
    carom_packing *packing;
    carom_status status = keep_message(carom_packing_load_memory(
        context, bytes, size, CAROM_PACKING_FORMAT_GUESS, name, &packing));
    carom_packing_destroy(packing);
    return status;
}

static carom_status read_tree(const char *bytes, size_t size, const char *name) {
    carom_tree *tree;
    carom_status status = keep_message(
        carom_tree_load_memory(context, bytes, size, CAROM_TREE_FORMAT_GUESS, name, &tree));
    carom_tree_destroy(tree);
    return status;
}

static void packings_and_trees_are_whole(void **state) {
    (void)state;
    carom_packing *packing;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CONE, .detail = 9};
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view, .count = 20};
    carom_bytes bytes = {0};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_packing_create(context, &def, &packing));
    assert_ok(context,
              carom_packing_save_memory(context, packing, CAROM_PACKING_FORMAT_PLY, &bytes));
    check((sample){.name = "p.ply",
                   .read = read_packing,
                   .rule = RULE_ROWS,
                   .bytes = (const char *)bytes.data,
                   .size = bytes.count});
    carom_bytes_free(&bytes);
    carom_tree_def tree_def = {.packing = packing, .mesh = &view};
    carom_tree *tree;
    assert_ok(context, carom_tree_create(context, &tree_def, &tree));
    assert_ok(context, carom_tree_save_memory(context, tree, CAROM_TREE_FORMAT_GUESS, &bytes));
    check((sample){.name = "a.tree",
                   .read = read_tree,
                   .bytes = (const char *)bytes.data,
                   .size = bytes.count});
    carom_bytes_free(&bytes);
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
}

static char gas_path[] = "/tmp/carom_prefix_XXXXXX.gas";

static carom_status read_gas(const char *bytes, size_t size, const char *name) {
    carom_gas *gas;
    FILE *out = fopen(name, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    carom_status status =
        keep_message(carom_gas_load(context, name, CAROM_GAS_FORMAT_GUESS, NULL, &gas));
    carom_gas_destroy(gas);
    return status;
}

static void gases_are_whole(void **state) {
    (void)state;
    carom_gas_sphere spheres[3] = {{.position = {1, 1, 1}, .velocity = {1, 0, 0}, .radius = 0.5},
                                   {.position = {3, 1, 1}, .velocity = {0, 1, 0}, .radius = 0.5},
                                   {.position = {1, 3, 1}, .velocity = {0, 0, 1}, .radius = 0.5}};
    for (int i = 0; i < 3; ++i) spheres[i].mass = 1.0;
    carom_gas_def def = {.spheres = spheres, .sphere_count = 3, .edges = {5, 5, 5}};
    carom_gas *gas;
    int file = mkstemps(gas_path, 4);
    assert_true(file >= 0);
    close(file);
    assert_ok(context, carom_gas_create(context, &def, &gas));
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, gas_path));
    carom_gas_destroy(gas);
    char bytes[4096];
    FILE *in = fopen(gas_path, "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), in);
    fclose(in);
    check((sample){.name = gas_path, .read = read_gas, .bytes = bytes, .size = size});
    unlink(gas_path);
}

/* ---- Spheres of other programs --------------------------------------------------------------- */

static carom_status read_spheres(const char *bytes, size_t size, const char *name) {
    gas_file file;
    gas_file_def def = {.path = name,
                        .bytes = bytes,
                        .byte_count = size,
                        .frame = GAS_LAST_FRAME,
                        .message = message,
                        .message_size = sizeof(message)};
    carom_status status = gas_file_read(&def, &file);
    gas_file_free(&file);
    return status;
}

/* Several units in one text. */
static void check_units(const char *name, const char *const units[MOST_UNITS]) {
    char text[8192];
    sample s = {.name = name, .read = read_spheres, .rule = RULE_ROWS, .bytes = text};
    for (size_t i = 0; i < MOST_UNITS && units[i] != NULL; ++i) {
        memcpy(text + s.size, units[i], strlen(units[i]));
        s.size += strlen(units[i]);
        s.units[i] = s.size;
    }
    check(s);
}

static void spheres_are_whole(void **state) {
    (void)state;
    static const char xyz[] =
        "2\nLattice=\"10 0 0 0 10 0 0 0 10\" Origin=\"0 0 0\" pbc=\"T T F\" Time=12.5 "
        "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:mass:R:1:id:I:1\n"
        "A 1.25 1.5 1.75 0.5 -0.5 0.25 0.5 1.5 10\nB 3 3.5 4e0 0 1 2 0.25 1 12\n";
    static const char edmd[] = "2\n10.5 11.5 12.5\na 1.25 1.5 1.75 0.5\n# x\nb 3 3.5 4 0.25\n";
    static const char dump[] =
        "ITEM: TIMESTEP\n1200\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n0 10\n0 10\n"
        "0 10.5\nITEM: ATOMS id type x y z vx vy vz radius\n12 1 1 1 1 0 0 1 0.25\n"
        "10 2 3 3 3.5 0 1 1 0.125\n";
    static const char data[] =
        "LAMMPS data file\n\n2 atoms\n12 bonds\n2 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10.5 "
        "zlo "
        "zhi\n\nMasses\n\n1 1.5\n2 2.5\n\nBonds\n\n1 1 1 2\n2 1 1 2\n3 1 1 2\n4 1 1 2\n5 1 1 2\n"
        "6 1 1 2\n7 1 1 2\n8 1 1 2\n9 1 1 2\n10 1 1 2\n11 1 1 2\n12 1 1 2\n\nAtoms # atomic\n\n"
        "1 1 1 1 1.5 0 0 0\n2 2 3 3 3.25 0 0 -1\n";
    static const char velocities[] = "\nVelocities\n\n1 1 0 0.5\n2 0 1 0.25\n";
    static const char bonds[] =
        "LAMMPS data file\n\n1 atoms\n3 bonds\n1 atom types\n1 bond types\n\n"
        "Bond Coeffs\n\n1 2.5 1\n\nAtoms # sphere\n\n1 1 0.5 1.5 0 0 0.25\n\n"
        "Velocities\n\n1 0 0 1\n\nBonds\n\n1 1 1 2\n2 1 2 3\n3 1 3 40\n";
    check_units("a.xyz", (const char *const[MOST_UNITS]){xyz, xyz, xyz});
    check_units("a.sph", (const char *const[MOST_UNITS]){edmd, edmd});
    check_units("a.dump", (const char *const[MOST_UNITS]){dump, dump, dump});
    check_units("a.data", (const char *const[MOST_UNITS]){data, velocities});
    check_units("b.data", (const char *const[MOST_UNITS]){bonds});
}

/* ---- Robots ---------------------------------------------------------------------------------- */

static const char robot_text[] =
    "<?xml version=\"1.0\"?>\n<!-- a <robot> -->\n<!DOCTYPE robot [ <!ATTLIST a \"]>\"> ]>\n"
    "<robot name=\"r\">\n <link name=\"base\"><collision name='a'><origin xyz=\"0 0 1\" "
    "rpy=\"0.5 0 0\"/>\n <geometry><box size=\"1 1 1\"/></geometry><material name=\"\"><color "
    "rgba=\"1 1 1 1\"/></material></collision></link>\n <link name=\"arm\"/><link name=\"hand\">"
    "<collision><geometry><mesh filename=\"a&amp;b.obj\" scale=\"2 2 2\"/></geometry></collision>"
    "</link>\n<![CDATA[ </robot> ]]>\n <joint name=\"j\" type=\"revolute\"><parent link=\"base\"/>"
    "<child link=\"arm\"/><axis xyz=\"0 1 0\"/></joint>\n <joint name=\"k\" type=\"prismatic\">"
    "<parent link=\"arm\"/><child link=\"hand\"/><mimic joint=\"j\" multiplier=\"2\"/></joint>\n"
    "</robot >\n<!-- end -->";

static carom_status read_urdf(const char *bytes, size_t size, const char *name) {
    carom_urdf *robot;
    carom_status status = carom_urdf_load_memory(context, bytes, size, name, NULL, &robot);
    snprintf(message, sizeof(message), "%s",
             status == CAROM_OK ? "" : carom_context_message(context));
    carom_urdf_destroy(robot);
    return status;
}

static carom_status read_srdf(const char *bytes, size_t size, const char *name) {
    carom_urdf *robot;
    carom_urdf_view view;
    assert_int_equal(
        carom_urdf_load_memory(context, robot_text, sizeof(robot_text) - 1, "r.urdf", NULL, &robot),
        CAROM_OK);
    carom_status status = carom_urdf_load_srdf_memory(context, robot, bytes, size, name);
    snprintf(message, sizeof(message), "%s",
             status == CAROM_OK ? "" : carom_context_message(context));
    assert_int_equal(carom_urdf_get_view(robot, &view), CAROM_OK);
    assert_int_equal(view.disabled_count, status == CAROM_OK ? 2 : 0);
    carom_urdf_destroy(robot);
    return status;
}

static void robots_are_whole(void **state) {
    (void)state;
    /* The comment after the root is not part of what must be there, but must be whole. */
    size_t root = (size_t)(strstr(robot_text, "</robot >") - robot_text) + strlen("</robot >");
    check((sample){.name = "r.urdf",
                   .read = read_urdf,
                   .rule = RULE_ROOT,
                   .units = {root, sizeof(robot_text) - 1},
                   .bytes = robot_text,
                   .size = sizeof(robot_text) - 1});
    check_text("r.srdf", read_srdf, RULE_ROOT,
               "\xEF\xBB\xBF<robot name=\"r\"><group name=\"g\"/>\n<disable_collisions "
               "link1=\"base\" link2=\"hand\" reason=\"x\"/><disable_collisions link1='arm' "
               "link2='hand'></disable_collisions></robot>\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_are_whole),
        cmocka_unit_test(solids_are_units),
        cmocka_unit_test(compressed_meshes_are_whole),
        cmocka_unit_test(other_meshes_are_whole),
        cmocka_unit_test(packings_and_trees_are_whole),
        cmocka_unit_test(gases_are_whole),
        cmocka_unit_test(spheres_are_whole),
        cmocka_unit_test(robots_are_whole),
    };
    return cmocka_run_group_tests_name("prefixes", tests, set_up, tear_down);
}
