/* SPDX-License-Identifier: MIT */
/* carom pack --outer: every format is read back by a strict reader, which takes nothing but what
 * the format says, and gives the same spheres, bit for bit; one set per part and per link. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cli_run.h"

#define MOST_BALLS 256
#define MOST_TEXT  (1 << 18)

typedef struct spheres {
    carom_ball data[MOST_BALLS];
    int set[MOST_BALLS]; /* of each */
    char names[8][64];   /* of the sets, where the format has them */
    int count, sets;
} spheres;

/* ---- A strict reader ------------------------------------------------------------------------- */

static char text[MOST_TEXT];
static const char *at;

static void open_text(const char *name) {
    read_file(name, text, sizeof(text));
    at = text;
}

static bool try_take(const char *words) {
    size_t size = strlen(words);
    if (strncmp(at, words, size) != 0) return false;
    at += size;
    return true;
}

static void take(const char *words) {
    if (!try_take(words)) fail_msg("'%.40s' is not '%s'", at, words);
}

/* A number with a point, as YAML, JSON and XML readers all take it for one. */
static double take_number(void) {
    const char *from = at;
    if (*at == '-') ++at;
    assert_true(*at >= '0' && *at <= '9');
    while (*at >= '0' && *at <= '9') ++at;
    take(".");
    assert_true(*at >= '0' && *at <= '9');
    while (*at >= '0' && *at <= '9') ++at;
    if (try_take("e")) {
        assert_true(*at == '-' || *at == '+');
        ++at;
        assert_true(*at >= '0' && *at <= '9');
        while (*at >= '0' && *at <= '9') ++at;
    }
    double value = strtod(from, NULL);
    assert_true(isfinite(value));
    return value;
}

static int take_count(void) {
    char *end;
    long count = strtol(at, &end, 10);
    at = end;
    return (int)count;
}

static carom_vec3 take_three(const char *between) {
    carom_vec3 v;
    v.x = take_number();
    take(between);
    v.y = take_number();
    take(between);
    v.z = take_number();
    return v;
}

static void take_name(char *name, const char *end) {
    size_t size = strcspn(at, end);
    assert_true(size > 0 && size < 64);
    memcpy(name, at, size);
    name[size] = '\0';
    at += size;
}

static void add(spheres *s, carom_ball ball, int set) {
    assert_true(s->count < MOST_BALLS && ball.radius > 0.0);
    s->set[s->count] = set;
    s->data[s->count++] = ball;
}

/* Collision spheres of cuRobo and XRDF: names and lists, indented. */
static void read_yaml_sets(spheres *s, const char *indent) {
    char item[32];
    snprintf(item, sizeof(item), "%s  - {center: [", indent);
    while (*at != '\0' && strncmp(at, indent, strlen(indent)) == 0) {
        take(indent);
        take_name(s->names[s->sets], ":\n");
        take(":\n");
        while (try_take(item)) {
            carom_ball b;
            b.centre = take_three(", ");
            take("], radius: ");
            b.radius = take_number();
            take("}\n");
            add(s, b, s->sets);
        }
        ++s->sets;
    }
}

static void read_curobo(spheres *s) {
    take("collision_spheres:\n");
    read_yaml_sets(s, "  ");
    take("");
    assert_int_equal(*at, '\0');
}

static void read_xrdf(spheres *s) {
    take("format: xrdf\nformat_version: 1.0\ngeometry:\n  carom_spheres:\n    spheres:\n");
    read_yaml_sets(s, "      ");
    take("collision:\n  geometry: carom_spheres\n");
    assert_int_equal(*at, '\0');
}

/* Spheres as elements for collision, each with its origin, in links; all else is skipped. */
static void read_urdf(spheres *s) {
    bool in_link = false;
    while (*at != '\0') {
        if (try_take("<link name=\"")) {
            take_name(s->names[s->sets], "\"");
            take("\"");
            in_link = !try_take("/>");
        } else if (try_take("</link>")) {
            assert_true(in_link);
            in_link = false;
            ++s->sets;
        } else if (try_take("<collision>\n      <origin xyz=\"")) {
            carom_ball b;
            assert_true(in_link);
            b.centre = take_three(" ");
            take("\" rpy=\"0 0 0\"/>\n      <geometry><sphere radius=\"");
            b.radius = take_number();
            take("\"/></geometry>\n    </collision>\n");
            add(s, b, s->sets);
        } else {
            assert_true(strncmp(at, "<collision", 10) != 0);
            ++at;
        }
    }
}

static void read_foam(spheres *s) {
    take("[{\"mean\": ");
    double mean = take_number();
    take(", \"best\": ");
    double best = take_number();
    take(", \"worst\": ");
    double worst = take_number();
    assert_true(mean <= worst && best <= worst);
    take(", \"spheres\": [\n");
    do {
        carom_ball b;
        take("{\"origin\": [");
        b.centre = take_three(", ");
        take("], \"radius\": ");
        b.radius = take_number();
        take("}");
        add(s, b, 0);
    } while (try_take(",\n"));
    take("\n]}]\n");
    assert_int_equal(*at, '\0');
}

static void read_morphit(spheres *s) {
    int count = 0;
    carom_vec3 centres[MOST_BALLS];
    take("{\"centers\": [\n");
    do {
        take("[");
        centres[count++] = take_three(", ");
        take("]");
    } while (try_take(",\n"));
    take("\n], \"radii\": [\n");
    for (int i = 0; i < count; ++i) {
        if (i > 0) take(",\n");
        add(s, (carom_ball){centres[i], take_number()}, 0);
    }
    take("\n], \"mesh_path\": \"two.obj\"}\n");
    assert_int_equal(*at, '\0');
}

/* Lines of four numbers, or five where sets are numbered. */
static void read_lines(spheres *s, const char *head, const char *between, bool numbered) {
    take(head);
    while (*at != '\0') {
        carom_ball b;
        int set = 0;
        b.centre = take_three(between);
        take(between);
        b.radius = take_number();
        if (numbered) {
            take(between);
            set = take_count();
        }
        take("\n");
        add(s, b, set);
    }
}

static void read_ply(spheres *s) {
    take("ply\nformat ascii 1.0\ncomment spheres that cover a solid, by carom\nelement vertex ");
    int count = take_count();
    take("\nproperty double x\nproperty double y\nproperty double z\nproperty double radius\n");
    read_lines(s, "property int part\nend_header\n", " ", true);
    assert_int_equal(s->count, count);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Two boxes, as parts of a mesh. */
static const char two[] = "o left\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\n"
                          "v 1 1 1\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n"
                          "f 2 4 8 6\no right\nv 3 0 0\nv 5 0 0\nv 3 1 0\nv 5 1 0\nv 3 0 1\n"
                          "v 5 0 1\nv 3 1 1\nv 5 1 1\nf 9 11 12 10\nf 13 14 16 15\nf 9 10 14 13\n"
                          "f 11 15 16 12\nf 9 13 15 11\nf 10 12 16 14\n";

static spheres truth;

static void assert_equal_spheres(const spheres *s, bool sets) {
    assert_int_equal(s->count, truth.count);
    for (int i = 0; i < s->count; ++i) {
        assert_memory_equal(&s->data[i], &truth.data[i], sizeof(carom_ball));
        if (sets) assert_int_equal(s->set[i], truth.set[i]);
    }
}

static void assert_names(const spheres *s, const char *first, const char *second) {
    assert_int_equal(s->sets, 2);
    assert_string_equal(s->names[0], first);
    assert_string_equal(s->names[1], second);
}

static void each_format_is_read_back(void **state) {
    (void)state;
    write_file("two.obj", two);
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.ply --cells cells.csv"), 0);
    assert_said("10 spheres cover 2 parts");
    assert_said("left");
    memset(&truth, 0, sizeof(truth));
    open_text("a.ply");
    read_ply(&truth);
    assert_int_equal(truth.count, 10);
    spheres s = {0};
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.yml"), 0);
    open_text("a.yml");
    read_curobo(&s);
    assert_equal_spheres(&s, true);
    assert_names(&s, "left", "right");
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.xrdf"), 0);
    open_text("a.xrdf");
    read_xrdf(&s);
    assert_equal_spheres(&s, true);
    assert_names(&s, "left", "right");
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.urdf"), 0);
    open_text("a.urdf");
    read_urdf(&s);
    assert_equal_spheres(&s, true);
    assert_names(&s, "left", "right");
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.json"), 0);
    open_text("a.json");
    read_foam(&s);
    assert_equal_spheres(&s, false);
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.csv"), 0);
    open_text("a.csv");
    read_lines(&s, "x,y,z,radius,part\n", ",", true);
    assert_equal_spheres(&s, true);
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 -o a.txt"), 0);
    open_text("a.txt");
    read_lines(&s, "", " ", false);
    assert_equal_spheres(&s, false);
    memset(&s, 0, sizeof(s));
    assert_int_equal(carom("pack two.obj --outer -n 5 --format yade -o a.yade"), 0);
    open_text("a.yade");
    read_lines(&s, "", " ", true);
    assert_equal_spheres(&s, true);
}

/* Formats of one set have a file per part. */
static void files_per_part(void **state) {
    (void)state;
    static const char *const names[2] = {"left", "right"};
    write_file("two.obj", two);
    assert_int_equal(carom("pack two.obj --outer -n 5 --format morphit -o m.json"), 0);
    assert_int_equal(carom("pack two.obj --outer -n 5 --format liggghts -o l.txt"), 0);
    assert_int_equal(carom("pack two.obj --outer -n 5 --format dem -o d.csv"), 0);
    for (int i = 0, first = 0; i < 2; ++i) {
        char name[64];
        spheres s[3];
        memset(s, 0, sizeof(s));
        snprintf(name, sizeof(name), "m_%s.json", names[i]);
        open_text(name);
        read_morphit(&s[0]);
        snprintf(name, sizeof(name), "l_%s.txt", names[i]);
        open_text(name);
        read_lines(&s[1], "", " ", false);
        snprintf(name, sizeof(name), "d_%s.csv", names[i]);
        open_text(name);
        read_lines(&s[2], "x,y,z,r\n", ",", false);
        assert_int_equal(s[0].count, s[1].count);
        assert_int_equal(s[0].count, s[2].count);
        /* In DEM's frame distances are the same, and the centroid is the origin. */
        carom_vec3 centre = {i == 0 ? 0.5 : 4.0, 0.5, 0.5};
        for (int k = 0; k < s[0].count; ++k) {
            assert_memory_equal(&s[0].data[k], &truth.data[first + k], sizeof(carom_ball));
            assert_memory_equal(&s[1].data[k], &truth.data[first + k], sizeof(carom_ball));
            carom_vec3 a = s[0].data[k].centre, b = s[2].data[k].centre;
            double from = hypot(hypot(a.x - centre.x, a.y - centre.y), a.z - centre.z);
            assert_true(fabs(from - hypot(hypot(b.x, b.y), b.z)) < 1e-12);
            assert_true(s[0].data[k].radius == s[2].data[k].radius);
        }
        first += s[0].count;
    }
}

static void links_of_a_robot(void **state) {
    (void)state;
    write_file("two.obj", two);
    write_file("r.urdf",
               "<robot name=\"r\">\n  <link name=\"arm\">\n"
               "    <visual><geometry><box size=\"1 1 1\"/></geometry></visual>\n"
               "    <collision><origin xyz=\"0 0 2\"/><geometry><mesh filename=\"two.obj\"/>"
               "</geometry></collision>\n"
               "    <collision><geometry><cylinder radius=\"0.5\" length=\"2\"/></geometry>"
               "</collision>\n  </link>\n"
               "  <link name=\"hand\"><collision><origin xyz=\"1 2 3\"/><geometry>"
               "<sphere radius=\"0.25\"/></geometry></collision></link>\n  <link name=\"tip\"/>\n"
               "  <joint name=\"j\" type=\"fixed\"><parent link=\"arm\"/><child link=\"hand\"/>"
               "</joint>\n</robot>\n");
    assert_int_equal(carom("pack r.urdf --outer -n 6 -o r.yml"), 0);
    memset(&truth, 0, sizeof(truth));
    open_text("r.yml");
    read_curobo(&truth);
    assert_names(&truth, "arm", "hand");
    const carom_ball *hand = &truth.data[truth.count - 1];
    assert_true(hand->centre.x == 1.0 && hand->centre.y == 2.0 && hand->centre.z == 3.0);
    assert_true(hand->radius == 0.25);
    assert_int_equal(carom("pack r.urdf --outer -n 6 -o s.urdf"), 0);
    spheres s = {0};
    open_text("s.urdf");
    read_urdf(&s);
    assert_equal_spheres(&s, true);
    assert_true(strstr(text, "<visual><geometry><box size=\"1 1 1\"/></geometry></visual>") !=
                NULL);
    assert_true(strstr(text, "<link name=\"tip\"/>") != NULL);
    assert_true(strstr(text, "cylinder") == NULL && strstr(text, "two.obj") == NULL);
    /* What we write, we read: spheres stay as they are. */
    assert_int_equal(carom("pack s.urdf --outer -o t.yml"), 0);
    memset(&s, 0, sizeof(s));
    open_text("t.yml");
    read_curobo(&s);
    assert_equal_spheres(&s, true);
}

static void distance_margin_and_json(void **state) {
    (void)state;
    write_file("two.obj", two);
    assert_int_equal(carom("pack two.obj --outer --distance 0.4 --margin 0.1 --json"), 0);
    assert_said("\"margin\": 0.1");
    assert_said("\"parts\": [{\"name\": \"left\", ");
    assert_int_equal(carom("pack two.obj --outer --whole -n 4 --json"), 0);
    assert_said("\"parts\": [{\"name\": \"\", \"spheres\": 4");
}

/* The goals, what was reached and why it stopped: in words, in JSON, and by --check. */
static void goals_are_told(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *goal, *stop, *reason;
        int code;
    } cases[] = {
        {"--outer --distance 0.001 -n 4", "--distance 0.001: NOT reached, 0.", "count",
         "the number of spheres was reached", 1},
        {"--outer --distance 0.9 -n 60", "--count 60: not needed, ", "distance",
         "no sphere reaches out farther", 0},
        {"--outer -n 3", "--count 3: reached, 3", "count", "the number of spheres was reached", 0},
        {"-n 7", "--count 7: reached, 7", "count", "the number of spheres was reached", 0},
        {"-n 100000 --voxels 8", "--count 100000: NOT reached, ", "space",
         "there is no space for more", 1},
        {"--fill 0.3", "--fill 0.3: reached, 0.", "fill", "the share was filled", 0},
        {"--fill 0.3 -n 20", "--count 20: not needed, 1", "fill", "the share was filled", 0},
        {"--fill 0.9 -n 20", "--fill 0.9: NOT reached, 0.", "count",
         "the number of spheres was reached", 1},
        {"--fill 0.99 --voxels 8", "--fill 0.99: NOT reached, 0.", "space",
         "there is no space for more", 1},
        {"--radius 0.1", "--radius 0.1: reached, 0.", "radius", "no ball of the least radius fits",
         0},
        {"--radius 0.1 -n 3", "--radius 0.1: reached, 0.", "count",
         "the number of spheres was reached", 0},
        {"--radius 0.1 --voxels 8", "--radius 0.1: NOT reached, 0.", "space",
         "there is no space for more", 1},
        {"--error 0.5", "--error 0.5: reached, 0.", "error", "overlaps are as close", 0},
        {"--error 1e-9 --fill 0.55", "--error 1e-09: NOT reached, 0.", "fill",
         "the share was filled", 1},
        {"--error 1e-9 --radius 0.1", "--error 1e-09: NOT reached, 0.", "radius",
         "no ball of the least radius fits", 1},
    };
    assert_int_equal(carom("make box --size 0.5 -o box.obj"), 0);
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        char line[256], stop[64];
        snprintf(line, sizeof(line), "pack box.obj %s -q --check", cases[i].arguments);
        if (carom(line) != cases[i].code) fail_msg("%s: %s", line, said);
        assert_said(cases[i].goal);
        assert_said(cases[i].reason);
        if (i % 4 != 0) continue; /* the same in JSON takes as long */
        strcat(line, " --json");
        assert_int_equal(carom(line), cases[i].code);
        snprintf(stop, sizeof(stop), "\"reached\": %s, \"stopped\": \"%s\"",
                 cases[i].code == 0 ? "true" : "false", cases[i].stop);
        assert_said(stop);
        assert_said("\"goals\": [{\"option\": \"--");
    }
    assert_int_equal(carom("pack box.obj --outer --distance 0.001 -n 2"), 0);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    write_file("two.obj", two);
    write_file("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_int_equal(carom("pack two.obj --outer --fill 0.5"), 2);
    assert_int_equal(carom("pack two.obj --margin 0.5"), 2);
    assert_int_equal(carom("pack two.obj --format curobo -o x.yml"), 2);
    assert_int_equal(carom("pack two.obj --outer --format sph -o x.sph"), 2);
    assert_int_equal(carom("pack two.obj --outer -n 100000"), 3);
    assert_int_equal(carom("pack open.obj --outer -n 3"), 3);
    assert_said("open edges");
    assert_int_equal(carom("pack open.obj --outer -n 3 --allow-open"), 0);
    assert_int_equal(carom("pack two.obj --outer -n 3 --format dem -o -"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_is_read_back), cmocka_unit_test(files_per_part),
        cmocka_unit_test(links_of_a_robot),         cmocka_unit_test(distance_margin_and_json),
        cmocka_unit_test(goals_are_told),           cmocka_unit_test(what_does_not_fit_is_refused),
    };
    if (!cli_run_begin("outer")) return 1;
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
