/* SPDX-License-Identifier: MIT */
/* Outputs go by their endings in every command; displays as GLB, pages and pictures. One thread. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display_glb.h"
#include "cli/encode.h"
#include "cli/endings.h"
#include "cli/paint.h"
#include "tests/support/cli_run.h"

#ifdef CAROM_HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- Endings --------------------------------------------------------------------------------- */

ENDINGS(some, "csv", "html", "yml", "xyz");

static void endings_tell_formats(void **state) {
    (void)state;
    assert_string_equal(endings_format("a.csv", NULL, some), "csv");
    assert_string_equal(endings_format("a.b/c.CSV.gz", NULL, some), "csv");
    assert_string_equal(endings_format("a.htm", NULL, some), "html");
    assert_string_equal(endings_format("a.yaml", NULL, some), "yml");
    assert_string_equal(endings_format("a.extxyz.GZ", NULL, some), "xyz");
    assert_string_equal(endings_format("-", NULL, some), "csv");
    assert_string_equal(endings_format("/dev/null", NULL, some), "csv");
    assert_string_equal(endings_format("a.txt", "html", some), "html");
    assert_null(endings_format("a.csv", "txt", some));
    assert_null(endings_format("csv", NULL, some));
    assert_null(endings_format("a.csv/b", NULL, some));
    assert_null(endings_format("a.", NULL, some));
    assert_null(endings_format("", NULL, some));
    assert_null(endings_format("a.gz", NULL, some));
    char list[64];
    endings_list(some, list, sizeof(list));
    assert_string_equal(list, ".csv, .html, .yml or .xyz");
    char cut[8];
    endings_list(some, cut, sizeof(cut));
    assert_string_equal(cut, ".csv, .");
}

static bool has_option(const cli_command *command, const char *name) {
    for (size_t i = 0; i < command->option_count; ++i)
        if (strcmp(command->options[i].name, name) == 0) return true;
    return false;
}

/* Every output has a list; the main one has the same name everywhere, and where it has several
 * formats, --format. */
static void every_output_knows_its_endings(void **state) {
    (void)state;
    unsigned found = 0;
    for (size_t c = 0; cli_commands[c] != NULL; ++c) {
        const cli_command *command = cli_commands[c];
        if (command->outputs != 0) assert_non_null(command->endings);
        for (size_t i = 0; i < command->option_count; ++i) {
            const arg_option *option = &command->options[i];
            if (option->letter == 'o') assert_string_equal(option->name, "--output");
            if (option->kind != ARG_OUTPUT) continue;
            if (option->choice == NULL) fail_msg("%s %s", command->name, option->name);
            if (option->letter == 'o' && option->choice(1) != NULL &&
                !has_option(command, "--format"))
                fail_msg("%s has no --format", command->name);
            ++found;
        }
    }
    assert_true(found >= 16);
}

/* Refused before anything is read: there are no such inputs. */
static void other_endings_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"pairs no.obj --mark x.csv", "--mark x.csv: end the name in .ply, .html, .glb or .png\n"},
        {"pairs no.obj -o x.svg",
         "--output x.svg: end the name in .csv, .ply, .html, .glb or .png, or give --format\n"},
        {"pairs no.obj -o x.csv --format svg", "--format svg is not known here; it takes .csv, "},
        {"gas --gr g.html", "--gr g.html: end the name in .csv or .svg\n"},
        {"gas --events e.txt", "--events e.txt: end the name in .csv\n"},
        {"gas -o o.dump", "end the name in .xyz, .html, .glb, .png or .svg, or give --format\n"},
        {"kfree no.obj -o x", "--output x: end the name in .csv, .html, .glb or .png"},
        {"kfree no.obj --split 2 --split-to x.csv", "end the name in .obj, .ply, .stl, .off"},
        {"query no.obj no.ply -o x.csv", "end the name in .html, .glb or .png"},
        {"info no.obj -o x.csv", "end the name in .html, .glb or .png"},
        {"view no.obj -o x.csv", "end the name in .html, .glb or .png"},
        {"scene no.obj -o x.txt", "end the name in .csv, .json, .bcf, .html, .glb or .png"},
        {"toi no.obj no.ply -o x.json", "end the name in .csv, .html, .glb or .png"},
        {"pack no.obj -o x.foo", "end the name in .ply, .csv, .xyzr, .sph, .yml"},
        {"pack no.obj -o x.yml", "it needs --outer"},
        {"pack no.obj --cells x.txt", "--cells x.txt: end the name in .csv\n"},
        {"distance no.obj no.csv -o x.txt", "end the name in .csv, .html, .glb or .png, or give"},
        {"robot no.urdf -o x.json", "end the name in .csv, .html, .glb or .png, or give --format"},
        {"robot no.urdf --export x.html", "--export x.html: end the name in .csv\n"},
        {"robot no.urdf --save x.html", "--save x.html: end the name in .robot\n"},
        {"robot no.urdf --audit y.yml --picture x.svg", "end the name in .html, .glb or .png"},
        {"gas --save x.html", "--save x.html: end the name in .gas\n"},
        {"gas --save state", "--save state: end the name in .gas\n"},
        {"merge no.csv -o x.html", "--output x.html: end the name in .csv\n"},
        {"demo -o x.html", "-o takes a folder, in which index.html is written"},
        {"close no.obj -o x.csv", "end the name in .obj, .ply, .stl, .off, .html, .glb or .png"},
        {"toi no.obj --end no.ply --step -o x.csv", "--step is shown as .html, .glb or .png"},
        {"hulls no.obj -o x.xyz", "end the name in .obj, .ply, .stl, .off, .html, .glb or .png"},
        {"make torus -o x", "end the name in .obj, .ply, .stl, .off, .html, .glb or .png"},
        {"convert no.obj x.dae", "x.dae: end the name in .obj, .ply, .stl, .off"},
        {"pairs no.obj -o x.glb --open", "--open opens a page; give -o with a name"},
        {"info no.obj --open", "--open opens a page; give -o with a name"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        int code = carom(rows[i].line);
        if (code != CLI_USAGE) fail_msg("%s: code %d: %s", rows[i].line, code, said);
        assert_said(rows[i].words);
    }
}

/* It is that of an output, in every command that has it. */
static void format_without_an_output_is_refused(void **state) {
    (void)state;
    unsigned found = 0;
    for (size_t c = 0; cli_commands[c] != NULL; ++c) {
        const cli_command *command = cli_commands[c];
        char line[256];
        if (!has_option(command, "--format") || command->outputs != 0) continue;
        snprintf(line, sizeof(line), "%s --format glb%s%s", command->name,
                 command->fewest > 0 ? " no.obj" : "", command->fewest > 1 ? " no.ply" : "");
        if (carom(line) != CLI_USAGE) fail_msg("%s: %s", line, said);
        assert_said("--format is that of -o FILE, which is missing");
        ++found;
    }
    assert_true(found >= 12);
}

static void format_overrides_the_name(void **state) {
    (void)state;
    char head[8] = "";
    assert_int_equal(carom("make torus -o t.obj --detail 8"), 0);
    assert_int_equal(carom("pairs t.obj --format glb -o x.csv"), 0);
    read_file("x.csv", head, 5);
    assert_memory_equal(head, "glTF", 4);
    assert_int_equal(carom("view t.obj --format PNG -o -"), 0);
    assert_memory_equal(said + 1, "PNG", 3);
    assert_int_equal(carom("make torus --format glb -o y.obj --detail 8"), 0);
    read_file("y.obj", head, 5);
    assert_memory_equal(head, "glTF", 4);
    assert_int_equal(carom("convert t.obj z.foo --format html"), 0);
    assert_int_equal(shell("grep -q carom-scene z.foo"), 0);
}

/* ---- GLB ------------------------------------------------------------------------------------- */

/* A GLB file in memory: its JSON, ended by 0, and its binary part. */
typedef struct glb_file {
    char *bytes, *json;
    const char *bin;
    size_t size;
} glb_file;

static uint32_t word_at(const char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Lengths must agree. */
static glb_file open_glb(char *bytes, size_t size) {
    glb_file f = {.bytes = bytes, .size = size};
    assert_true(size >= 20);
    assert_memory_equal(bytes, "glTF", 4);
    assert_int_equal(word_at(bytes + 4), 2);
    assert_int_equal(word_at(bytes + 8), size);
    uint32_t length = word_at(bytes + 12);
    assert_true(length % 4 == 0 && 20 + (size_t)length <= size);
    assert_memory_equal(bytes + 16, "JSON", 4);
    f.json = calloc(length + 1, 1);
    memcpy(f.json, bytes + 20, length);
    if (20 + length < size) {
        assert_int_equal(word_at(bytes + 20 + length) + 28 + length, size);
        assert_memory_equal(bytes + 24 + length, "BIN", 4);
        f.bin = bytes + 28 + length;
    }
    return f;
}

static glb_file write_glb(const display *d, bool for_page) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    assert_int_equal(display_write_glb(d, for_page, out), CAROM_OK);
    assert_int_equal(fclose(out), 0);
    return open_glb(bytes, size);
}

static void close_glb(glb_file *f) {
    free(f->bytes);
    free(f->json);
}

static cli test_cli = {.name = "view"};

/* A tetrahedron far away, with one name that is markup. */
static void positions_are_kept(void **state) {
    (void)state;
    static const double scales[] = {1.0, 1e-100, 1e100, 1e-30, 3e37};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); ++s)
        for (int far = 0; far < 2; ++far)
            for (int page = 0; page < 2; ++page) {
                display d;
                display_begin(&d, &test_cli, "</script><img src=x onerror=alert(1)>");
                display_item *item = display_add(&d, DISPLAY_PART, "=1+1\xff\xfe<b>");
                carom_vec3 p[3] = {{0.1, 0, 0}, {1, 0, 0}, {0, 1, 0.3}};
                for (int k = 0; k < 3; ++k) {
                    if (far != 0) p[k].x += 1e6;
                    p[k] = (carom_vec3){scales[s] * p[k].x, scales[s] * p[k].y, scales[s] * p[k].z};
                }
                display_add_triangle(&d, item, p, 7);
                glb_file f = write_glb(&d, page != 0);
                double t[3] = {0, 0, 0}, u[3] = {1, 1, 1};
                const char *at = strstr(f.json, "\"translation\": ");
                if (at != NULL)
                    assert_int_equal(sscanf(at,
                                            "\"translation\": [%lf, %lf, %lf], \"scale\": "
                                            "[%lf, %lf, %lf]",
                                            &t[0], &t[1], &t[2], &u[0], &u[1], &u[2]),
                                     6);
                assert_true(at != NULL || page == 0);
                for (int k = 0; k < 3; ++k) {
                    const double *want = &p[k].x;
                    for (int axis = 0; axis < 3; ++axis) {
                        float stored = 0.0f;
                        uint16_t step = 0;
                        if (page != 0)
                            memcpy(&step, f.bin + 8 * k + 2 * axis, sizeof(step));
                        else
                            memcpy(&stored, f.bin + 12 * k + 4 * axis, sizeof(stored));
                        double x = t[axis] + u[axis] * (page != 0 ? (double)step : (double)stored);
                        double error = fabs(x - want[axis]) / scales[s];
                        if (!(error <= (page != 0 ? 1.0 / 65535.0 : 1e-7)))
                            fail_msg("scale %g, far %d, page %d: %.17g is %.17g", scales[s], far,
                                     page, want[axis], x);
                    }
                }
                assert_true((strstr(f.json, "KHR_mesh_quantization") != NULL) == (page != 0));
                assert_non_null(strstr(f.json, "\"name\": \"=1+1\xEF\xBF\xBD\xEF\xBF\xBD<b>\""));
                close_glb(&f);
                display_free(&d);
            }
}

/* Without memory nothing is written, whatever is called. */
static void no_memory_is_kept_in_mind(void **state) {
    (void)state;
    display d;
    display_begin(&d, &test_cli, "x");
    display_item *part = display_add(&d, DISPLAY_PART, "part");
    d.no_memory = true;
    display_item *item = display_add(&d, DISPLAY_CURVE, "lost");
    assert_true(item != part);
    display_add_segment(&d, item, (carom_vec3){0}, (carom_vec3){1, 0, 0});
    display_add_triangle(&d, item, (carom_vec3[3]){{0}}, 0);
    display_tell(&d, &item->numbers, "length", 1.0, "m");
    display_add_row(&d, display_add_list(&d, "list", NULL, 0), NULL, NULL, (carom_vec3){0}, 0);
    display_add_series(&d, display_add_plot(&d, "t", "x", "y"), "n", NULL, NULL, 0);
    assert_int_equal(item->point_count, 0);
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    assert_int_equal(display_write_glb(&d, false, out), CAROM_NO_MEMORY);
    uint8_t rgb[3 * 4 * 4];
    assert_int_equal(paint(&d, NULL, 4, 4, rgb), CAROM_NO_MEMORY);
    assert_int_equal(fclose(out), 0);
    free(bytes);
    display_free(&d);
}

/* ---- Encoders -------------------------------------------------------------------------------- */

static void bytes_are_encoded(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"}}; /* RFC 4648 */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        encode_base64(out, rows[i][0], strlen(rows[i][0]));
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
    assert_int_equal(encode_crc32(0, "123456789", 9), 0xCBF43926); /* the usual check value */
    assert_int_equal(encode_crc32(encode_crc32(0, "1234", 4), "56789", 5), 0xCBF43926);
}

#ifdef CAROM_HAVE_ZLIB
/* What zlib makes of a PNG of noise is the noise. */
static void pictures_are_whole(void **state) {
    (void)state;
    enum { WIDTH = 61, HEIGHT = 47, ROW = 3 * WIDTH };
    static uint8_t rgb[HEIGHT * ROW], rows[HEIGHT * (ROW + 1)];
    carom_random random = {5};
    for (size_t i = 0; i < sizeof(rgb); ++i)
        rgb[i] = i % ROW < 90 ? (uint8_t)(i / 7) : (uint8_t)carom_random_next(&random);
    char *png = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&png, &size);
    assert_true(encode_png(out, rgb, WIDTH, HEIGHT));
    assert_int_equal(fclose(out), 0);
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x3d\0\0\0\x2f\x08\x02", 26);
    unsigned char *at = (unsigned char *)png + 33;
    size_t length = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    assert_memory_equal(at + 4, "IDAT", 4);
    uLongf unpacked = sizeof(rows);
    assert_int_equal(uncompress(rows, &unpacked, at + 8, (uLong)length), Z_OK);
    assert_int_equal(unpacked, sizeof(rows));
    for (size_t y = 0; y < HEIGHT; ++y) {
        uint8_t *row = rows + y * (ROW + 1) + 1;
        for (size_t x = 0; x < ROW; ++x) {
            if (row[-1] == 1 && x >= 3) row[x] = (uint8_t)(row[x] + row[x - 3]);
            if (row[-1] == 2 && y > 0) row[x] = (uint8_t)(row[x] + rgb[(y - 1) * ROW + x]);
        }
        assert_memory_equal(row, rgb + y * ROW, ROW);
    }
    assert_memory_equal(png + size - 8, "IEND\xae\x42\x60\x82", 8);
    free(png);
}
#endif

/* ---- The painter ----------------------------------------------------------------------------- */

#define EDGE      96
#define TRIANGLES 40

static double area_of(carom_vec3 a, carom_vec3 b, double x, double y) {
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/* Slow and obvious: the nearest triangle at a point, seen from above; TRIANGLES: none. */
static int nearest_at(carom_vec3 (*t)[3], double x, double y) {
    double best = -HUGE_VAL;
    int found = TRIANGLES;
    for (int i = 0; i < TRIANGLES; ++i) {
        double w[3], whole = area_of(t[i][0], t[i][1], t[i][2].x, t[i][2].y), z = 0.0;
        bool inside = true;
        for (int k = 0; k < 3; ++k) {
            w[k] = area_of(t[i][(k + 1) % 3], t[i][(k + 2) % 3], x, y) / whole;
            inside = inside && w[k] >= 0.0;
            z += w[k] * t[i][k].z;
        }
        if (!inside || z <= best) continue;
        best = z;
        found = i;
    }
    return found;
}

/* Of many triangles, each pixel away from edges shows the nearest. */
static void the_nearest_is_seen(void **state) {
    (void)state;
    static uint8_t rgb[3 * EDGE * EDGE];
    static const display_colour colours[3] = {{200, 0, 0, 255}, {0, 200, 0, 255}, {0, 0, 200, 255}};
    for (uint64_t seed = 0; seed < TEST_CASES(12); ++seed) {
        carom_random random = {seed + 1};
        carom_vec3 t[TRIANGLES][3];
        display d;
        display_begin(&d, &test_cli, "x");
        d.up = 'y';
        display_item *item = display_add(&d, DISPLAY_PART, "x");
        for (int i = 0; i < TRIANGLES; ++i) {
            for (int k = 0; k < 3; ++k) {
                double v[3];
                for (int axis = 0; axis < 3; ++axis)
                    v[axis] = (double)(carom_random_next(&random) >> 12) * 0x1p-51 - 1.0;
                t[i][k] = (carom_vec3){v[0], v[1], v[2]};
            }
            display_add_triangle(&d, item, t[i], 0);
            display_add_colour(&d, item, colours[i % 3]);
        }
        paint_view view = {.radius = 1.0, .towards = {0, 0, 1}};
        assert_int_equal(paint(&d, &view, EDGE, EDGE, rgb), CAROM_OK);
        unsigned checked = 0;
        double step = 2.0 * 1.06 / EDGE; /* the margin of the painter */
        for (int y = 0; y < EDGE; ++y)
            for (int x = 0; x < EDGE; ++x) {
                double px = (x + 0.5 - 0.5 * EDGE) * step, py = (0.5 * EDGE - y - 0.5) * step;
                int want = nearest_at(t, px, py);
                bool sure = true;
                for (int k = 0; k < 9; ++k) /* the samples of a small picture's pixel */
                    sure = sure && nearest_at(t, px + step / 3.0 * (k % 3 - 1),
                                              py + step / 3.0 * (k / 3 - 1)) == want;
                if (!sure) continue;
                const uint8_t *c = rgb + 3 * (y * EDGE + x);
                ++checked;
                for (int k = 0; k < 3; ++k) {
                    if ((c[k] > 20) != (want == TRIANGLES || want % 3 == k))
                        fail_msg("seed %llu, pixel %d %d: %d %d %d", (unsigned long long)seed, x, y,
                                 c[0], c[1], c[2]);
                }
            }
        assert_true(checked > EDGE * EDGE / 2);
        display_free(&d);
    }
}

/* A ball covers pi r^2, is brighter than black, and a ghost lets it through. */
static void balls_are_round(void **state) {
    (void)state;
    static uint8_t rgb[3 * EDGE * EDGE];
    for (int ghost = 0; ghost < 2; ++ghost) {
        display d;
        display_begin(&d, &test_cli, "x");
        display_item *item = display_add(&d, DISPLAY_SPHERES, "x");
        display_add_sphere(&d, item, (carom_vec3){1e3, 2, 3}, 0.5);
        item->colour = (display_colour){220, 40, 40, 255};
        item->ghost = ghost != 0;
        paint_view view = {.at = {1e3, 2, 3}, .radius = 1.0};
        assert_int_equal(paint(&d, &view, EDGE, EDGE, rgb), CAROM_OK);
        double covered = 0.0;
        for (int i = 0; i < EDGE * EDGE; ++i) covered += rgb[3 * i + 1] < 248;
        double radius = 0.5 * EDGE / (2.0 * 1.06);
        assert_true(fabs(covered - 3.14159265 * radius * radius) < 4.0 * radius);
        const uint8_t *middle = rgb + 3 * (EDGE / 2 * EDGE + EDGE / 2);
        assert_true(middle[0] > 120 && (middle[1] > 150) == (ghost != 0));
        display_free(&d);
    }
}

/* Nothing, one point, and extreme sizes end, and show something where there is something. */
static void extreme_pictures_end(void **state) {
    (void)state;
    static uint8_t rgb[3 * EDGE * EDGE];
    static const double scales[] = {0.0, 1e-150, 1e-30, 1.0, 1e30, 1e150};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); ++s) {
        display d;
        carom_vec3 p[3] = {{0, 0, 0}, {scales[s], 0, 0}, {0, scales[s], scales[s]}};
        display_begin(&d, &test_cli, "x");
        if (s > 0) display_add_triangle(&d, display_add(&d, DISPLAY_PART, "x"), p, 0);
        display_add_point(&d, display_add(&d, DISPLAY_POINTS, "p"), p[0]);
        display_add_arrow(&d, "a", p[0], p[1], "m");
        assert_int_equal(paint(&d, NULL, EDGE, EDGE, rgb), CAROM_OK);
        unsigned dark = 0;
        for (int i = 0; i < EDGE * EDGE; ++i) dark += rgb[3 * i + 1] < 240; /* green */
        assert_true(dark > (s > 0 ? 500u : 0u));
        display_free(&d);
    }
    display empty;
    display_begin(&empty, &test_cli, "x");
    assert_int_equal(paint(&empty, NULL, EDGE, EDGE, rgb), CAROM_OK);
    glb_file f = write_glb(&empty, true);
    close_glb(&f);
    display_free(&empty);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void read_glb(const char *name, glb_file *f) {
    static char bytes[1 << 22];
    char command[128];
    snprintf(command, sizeof(command), "wc -c < %s", name);
    assert_int_equal(shell(command), 0);
    size_t size = (size_t)strtoull(said, NULL, 10);
    assert_true(size > 0 && size < sizeof(bytes));
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    char *copy = malloc(size);
    assert_true(in != NULL && copy != NULL && fread(copy, 1, size, in) == size);
    fclose(in);
    *f = open_glb(copy, size);
}

static unsigned count_of(const char *text, const char *words) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at += strlen(words)) ++count;
    return count;
}

/* Two boxes that cross, and one that crosses nothing: one contact of all faces that meet. */
static void contacts_are_components(void **state) {
    (void)state;
    glb_file f;
    assert_int_equal(carom("make box -o a.obj"), 0);
    assert_int_equal(carom("pairs a.obj a.obj --pose 1.5,0.25,0.25,1,0,0,0 -o two.glb"), 0);
    read_glb("two.glb", &f);
    assert_int_equal(count_of(f.json, "\"kind\": \"part\""), 2);
    assert_int_equal(count_of(f.json, "\"kind\": \"patch\""), 2); /* of each part */
    assert_int_equal(count_of(f.json, "\"kind\": \"curve\""), 1);
    assert_non_null(strstr(f.json, "{\"label\": \"contacts\", \"value\": 1}"));
    assert_non_null(strstr(f.json, "\"nodes\": [3, 4, 5]"));
    assert_null(strstr(f.json, "extensionsRequired"));
    close_glb(&f);
    assert_int_equal(carom("make chain --parts 3 --detail 24 -o chain.obj"), 0);
    assert_int_equal(carom("pairs chain.obj --within 0.5 -o near.glb"), 0);
    read_glb("near.glb", &f);
    assert_non_null(strstr(f.json, "{\"label\": \"contacts\", \"value\": "));
    close_glb(&f);
    assert_int_equal(carom("pairs chain.obj -o none.glb"), 0);
    read_glb("none.glb", &f);
    assert_non_null(strstr(f.json, "{\"label\": \"contacts\", \"value\": 0}"));
    assert_non_null(strstr(f.json, "0 pairs of faces meet"));
    close_glb(&f);
}

/* The area that the regions of a GLB file tell, and that of their triangles with its bounds. */
typedef struct shown_region {
    double told, area;
    carom_bounds box;
    unsigned count;
} shown_region;

static double axis_of(carom_vec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static void add_shown_triangle(shown_region *r, const carom_vec3 t[3]) {
    double a[3], b[3], n[3];
    for (int k = 0; k < 3; ++k) {
        r->box.low = (carom_vec3){fmin(r->box.low.x, t[k].x), fmin(r->box.low.y, t[k].y),
                                  fmin(r->box.low.z, t[k].z)};
        r->box.high = (carom_vec3){fmax(r->box.high.x, t[k].x), fmax(r->box.high.y, t[k].y),
                                   fmax(r->box.high.z, t[k].z)};
        a[k] = axis_of(t[1], k) - axis_of(t[0], k);
        b[k] = axis_of(t[2], k) - axis_of(t[0], k);
    }
    for (int k = 0; k < 3; ++k)
        n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    r->area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static shown_region read_region(const char *name) {
    static const char mark[] = "\"kind\": \"region\"",
                      number[] = "{\"label\": \"area\", \"value\": ";
    shown_region r = {.box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}}};
    glb_file f;
    read_glb(name, &f);
    for (const char *at = f.json; (at = strstr(at, mark)) != NULL; at += strlen(mark), ++r.count) {
        const char *told = strstr(at, number);
        assert_non_null(told);
        r.told += strtod(told + strlen(number), NULL);
    }
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    assert_int_equal(carom_context_create(NULL, &context), CAROM_OK);
    assert_int_equal(
        carom_mesh_load_memory(context, f.bytes, f.size, CAROM_MESH_FORMAT_OTHER, name, &mesh),
        CAROM_OK);
    assert_int_equal(carom_mesh_get_view(mesh, &view), CAROM_OK);
    display_mesh shown;
    cli reader = {.name = "view", .context = context};
    assert_int_equal(display_mesh_open(&reader, &view, false, NULL, &shown), CAROM_OK);
    for (uint64_t i = 0; i < shown.view.face_count; ++i) {
        if (strcmp(shown.view.part_names[shown.view.parts[i]], "overlap") != 0) continue;
        carom_vec3 t[3];
        for (uint64_t k = 0; k < 3; ++k)
            t[k] = display_mesh_point(&shown, shown.view.corners[3 * i + k]);
        add_shown_triangle(&r, t);
    }
    display_mesh_close(&shown);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    close_glb(&f);
    return r;
}

/* Two cubes overlap in a box: its surface is shown, of which each cube has three faces. */
static void the_overlap_of_cubes_is_a_box(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o a.obj"), 0);
    assert_int_equal(carom("query a.obj a.obj --pose 1.5,0.25,0.25,1,0,0,0 -o x.glb"), 0);
    shown_region r = read_region("x.glb");
    assert_int_equal(r.count, 2);
    assert_true(r.told == 9.625 && fabs(r.area - 9.625) <= 1e-6);
    assert_true(r.box.low.x == 0.5 && r.box.high.x == 1.0);
    assert_true(r.box.low.y == -0.75 && r.box.high.y == 1.0);
    assert_true(r.box.low.z == -0.75 && r.box.high.z == 1.0);
}

/* The regions have the area that the query has, whatever the meshes and how they lie. */
static void regions_have_the_area_of_the_overlap(void **state) {
    (void)state;
    static const char *const rows[] = {
        "knot.stl torus.stl --pose 1,0,0,1,0,0,0",
        "knot.stl knot.stl",                              /* all faces are coplanar */
        "box.obj box.obj --pose 1.5,0,0,1,0,0,0",         /* some are */
        "box.obj box.obj --pose 0,0,0,0.9238,0,0,0.3826", /* two are, turned */
        "box.obj cells.obj --pose 0.5,0,0,1,0,0,0",       /* one with many */
        "cells.obj cells.obj --pose 0.501,0.1,0,1,0,0,0.1",
        "out.obj box.obj --pose 1.5,0,0,1,0,0,0", /* A is inside out */
        "out.obj torus.stl --pose 0.5,0,0,0.9,0.1,0.2,0.3",
        "box.obj fine.ply --pose 0.9,0.9,0.9,1,0,0,0", /* a face has hundreds of segments */
        "box.obj fine.ply --pose 0,0,0,0.9,0.1,0.2,0.3",
        "quads.obj knot.stl --pose 0.3,0.2,0.1,0.9,0.1,0.3,0",
        "chain.obj torus.stl --pose 0.3,0.2,0.1,0.9,0.1,0.3,0",
        "tiny.obj tiny.obj --pose 1e-100,0,0,0.9,0.1,0.2,0.3",
        "huge.obj huge.obj --pose 1e100,0,0,0.9,0.1,0.2,0.3",
        "box.obj torus.stl --pose 0,0,0,0.9,0.1,0.2,0.3"};
    assert_int_equal(
        shell("\"$carom\" make knot -o knot.stl && \"$carom\" make torus -o torus.stl && "
              "\"$carom\" make box -o box.obj && \"$carom\" make chain -o chain.obj && "
              "\"$carom\" make sphere --detail 6 -o fine.ply && "
              "\"$carom\" make box --detail 12 -o cells.obj && "
              "\"$carom\" make torus --polygons -o quads.obj && "
              "\"$carom\" make torus --size 1e-100 -o tiny.obj && "
              "\"$carom\" make torus --size 1e100 -o huge.obj && "
              "awk '$1 == \"f\" {print $1, $4, $3, $2; next} 1' box.obj > out.obj"),
        0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char line[200];
        snprintf(line, sizeof(line), "query %s --json -o x.glb", rows[i]);
        assert_int_equal(carom(line), 0);
        const char *at = strstr(said, "\"area\": ");
        assert_non_null(at);
        double area = strtod(at + strlen("\"area\": "), NULL);
        shown_region r = read_region("x.glb");
        if (!(area > 0.0 && fabs(r.told - area) <= 1e-9 * area))
            fail_msg("%s: %.17g is shown, not %.17g", rows[i], r.told, area);
        if (area > 1e-100 && area < 1e100 && !(fabs(r.area - area) <= 1e-5 * area))
            fail_msg("%s: the triangles have %.17g, not %.17g", rows[i], r.area, area);
    }
}

/* A motion is stopped at the contact: at time 0.5 of a way of 6 the boxes, 2 wide, touch. */
static void motions_stop_at_the_contact(void **state) {
    (void)state;
    glb_file f;
    assert_int_equal(carom("make box -o a.obj"), 0);
    assert_int_equal(
        carom("toi a.obj a.obj --pose 5,0,0,1,0,0,0 --to -1,0,0,1,0,0,0 -o t.glb --json"), 0);
    read_glb("t.glb", &f);
    assert_int_equal(count_of(f.json, "\"path\": \"translation\""), 2); /* the box, and its face */
    const char *times = strstr(f.json, "\"frames\": {\"times\": [0, ");
    assert_non_null(times);
    double last = strtod(times + strlen("\"frames\": {\"times\": [0, "), NULL);
    assert_true(last > 0.499 && last <= 0.5);
    close_glb(&f);
    assert_int_equal(carom("toi a.obj a.obj --pose 5,0,0,1,0,0,0 -o t.csv"), CLI_USAGE);
}

/* What is wrong with a mesh is marked, as often as info counts it. */
static void wrong_edges_are_marked(void **state) {
    (void)state;
    glb_file f;
    write_file("wrong.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nv 2 0 0\n"
                            "f 1 2 3\nf 1 2 4\nf 1 2 5\nf 1 2 6\n");
    assert_int_equal(carom("info wrong.obj -o wrong.glb --json"), 0);
    assert_said("\"open_edges\": 8, \"nonmanifold_edges\": 1, \"inconsistent_edges\": 1");
    assert_said("\"degenerate\": 1");
    read_glb("wrong.glb", &f);
    assert_non_null(strstr(f.json, "\"cells\": [\"open edges\", \"8\"]"));
    assert_non_null(strstr(f.json, "\"cells\": [\"non-manifold edges\", \"1\"]"));
    assert_non_null(strstr(f.json, "\"cells\": [\"inconsistent edges\", \"1\"]"));
    assert_non_null(strstr(f.json, "\"cells\": [\"degenerate faces\", \"1\"]"));
    close_glb(&f);
}

/* A run that is interrupted shows the frames that it has. */
static void an_interrupted_gas_is_shown(void **state) {
    (void)state;
    glb_file f;
    assert_int_equal(
        shell("CAROM_INTERRUPT_AT=200 \"$carom\" gas -n 8 --time 1000 --frames 500 -j 1 "
              "-o g.glb"),
        130);
    read_glb("g.glb", &f);
    const char *frames = strstr(f.json, "\"times\": [0, ");
    assert_non_null(frames);
    unsigned count = count_of(f.json, "\"type\": \"VEC3\"");
    assert_true(count > 2 && count < 500);
    close_glb(&f);
}

/* ---- Robots and distances -------------------------------------------------------------------- */

#define HOSTILE "&lt;img src=x onerror=alert(1)&gt;"

/* Two boxes and a ball on joints, whose names are no good will. */
static void write_robot(void) {
    write_file("r.urdf",
               "<robot name=\"r\"><link name=\"base\"><collision><geometry><box size=\"1 1 "
               "1\"/></geometry></collision></link><link name=\"" HOSTILE
               "\"><collision><geometry><box size=\"1 1 1\"/></geometry></collision></link>"
               "<link name=\"=1+1\"><collision><geometry><sphere radius=\"0.5\"/></geometry>"
               "</collision></link><joint name=\"x\" type=\"prismatic\"><parent link=\"base\"/>"
               "<child link=\"" HOSTILE "\"/><axis xyz=\"1 0 0\"/><limit lower=\"0\" "
               "upper=\"9\"/></joint><joint name=\"y\" type=\"prismatic\"><parent link=\"" HOSTILE
               "\"/><child link=\"=1+1\"/><origin xyz=\"0 4 0\"/><axis xyz=\"0 1 0\"/><limit "
               "lower=\"-9\" upper=\"9\"/></joint></robot>");
}

/* In configuration 1 the ball is in the base, in 2 in the box of the world; in 0 nothing collides.
 * Links stand in each configuration until the next one. */
static void robots_are_lit_where_they_collide(void **state) {
    (void)state;
    write_robot();
    write_file("q.csv", "5 0\n0.2,-4\n5,2\n");
    assert_int_equal(shell("\"$carom\" make box --size 0.5 -o w0.obj >o && awk '/^v /{$2+=5;$3+=6}"
                           "{print}' w0.obj > w.obj"),
                     0);
    assert_int_equal(carom("robot r.urdf --configs q.csv --world w.obj --spheres 3 -o r.csv"), 0);
    assert_int_equal(
        shell("grep -q '^0,free,,' r.csv && grep -q '1,colliding,\"base\",\"'\\''=1+1\",'"
              " r.csv && grep -q '2,colliding,\"'\\''=1+1\",\"w.obj\",' r.csv"),
        0);
    assert_int_equal(carom("robot r.urdf --configs q.csv --world w.obj --spheres 3 -o r.glb"), 0);
    glb_file f;
    read_glb("r.glb", &f);
    assert_int_equal(count_of(f.json, "\"lit\": [1, 2]"), 1); /* the base */
    assert_int_equal(count_of(f.json, "\"lit\": [1, 3]"), 1); /* the ball: to the end */
    assert_int_equal(count_of(f.json, "\"lit\": [2, 3]"), 1); /* the world */
    assert_int_equal(count_of(f.json, "\"lit\": "), 3);
    assert_int_equal(count_of(f.json, "\"interpolation\": \"STEP\""), 6);
    assert_non_null(strstr(f.json, "\"cells\": [\"2\", \"colliding\", \"=1+1\", \"w.obj\"]"));
    assert_non_null(strstr(f.json, "\"time\": 2}"));
    assert_non_null(strstr(f.json, "\"name\": \"<img src=x onerror=alert(1)>\""));
    close_glb(&f);
    assert_int_equal(carom("robot r.urdf --configs q.csv --world w.obj --spheres 3 -o r.html"), 0);
    assert_int_equal(shell("grep -q carom-scene r.html && ! grep -q 'img src=x' r.html"), 0);
    assert_int_equal(carom("robot r.urdf --configs q.csv --spheres 3 --format png -o r.img"), 0);
    assert_int_equal(shell("head -c 4 r.img | grep -q PNG"), 0);
    /* Without configurations it stands; a saved one is shown as its covers. */
    assert_int_equal(carom("robot r.urdf --spheres 3 --save r.robot -o r.glb"), 0);
    read_glb("r.glb", &f);
    assert_null(strstr(f.json, "animations"));
    close_glb(&f);
    assert_int_equal(carom("robot r.robot --configs q.csv -o s.glb"), 0);
    read_glb("s.glb", &f);
    assert_int_equal(count_of(f.json, "\"kind\": \"spheres\""), 3);
    close_glb(&f);
}

static void robots_move_up_to_the_contact(void **state) {
    (void)state;
    write_robot();
    write_file("m.csv", "5 0 5 1\n0 0 0 -4\n");
    assert_int_equal(carom("robot r.urdf --motions m.csv --spheres 3 -o m.glb"), 0);
    glb_file f;
    read_glb("m.glb", &f);
    assert_int_equal(count_of(f.json, "\"interpolation\": \"LINEAR\""), 6);
    assert_int_equal(count_of(f.json, "\"lit\": [1."), 2); /* at the end of the second */
    assert_non_null(strstr(f.json, "[\"1\", \"colliding\", \"base\", \"=1+1\", \"0.75"));
    close_glb(&f);
}

static void points_have_the_colours_of_their_distances(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o b.obj"), 0);
    write_file("p.csv", "0,0,0\n3,0,0\n1,0.25,0.5\n");
    assert_int_equal(carom("distance b.obj p.csv -o p.glb"), 0);
    glb_file f;
    read_glb("p.glb", &f);
    assert_non_null(strstr(f.json, "\"min\": -1, \"max\": 2, \"map\""));
    assert_non_null(strstr(f.json, "\"cells\": [\"0\", \"-1\", "));
    assert_int_equal(count_of(f.json, "\"kind\": \"curve\""), 3);
    assert_int_equal(count_of(f.json, "\"kind\": \"spheres\""), 1);
    close_glb(&f);
    assert_int_equal(carom("distance b.obj p.csv -o p.html"), 0);
    assert_int_equal(shell("grep -q carom-scene p.html"), 0);
    assert_int_equal(carom("distance b.obj p.csv --format png -o -"), 0);
    assert_memory_equal(said + 1, "PNG", 3);
    write_file("none.csv", "# none\n");
    assert_int_equal(carom("distance b.obj none.csv -o p.glb"), 0);
}

static void near_things_and_safe_steps_are_shown(void **state) {
    (void)state;
    assert_int_equal(carom("make cloth --detail 6 -o c.obj"), 0);
    assert_int_equal(carom("make cloth --detail 6 --phase 0.3 -o d.obj"), 0);
    assert_int_equal(carom("toi c.obj --near 0.1 -o n.glb"), 0);
    glb_file f;
    read_glb("n.glb", &f);
    assert_non_null(strstr(f.json, "\"title\": \"What is near\""));
    assert_true(count_of(f.json, "\"kind\": \"patch\"") > 0);
    close_glb(&f);
    assert_int_equal(carom("toi c.obj --end d.obj --step -o n.glb"), 0);
    read_glb("n.glb", &f);
    assert_non_null(strstr(f.json, "\"label\": \"safe step\""));
    close_glb(&f);
}

int main(void) {
    if (!cli_run_begin("cli_display")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endings_tell_formats),
        cmocka_unit_test(every_output_knows_its_endings),
        cmocka_unit_test(other_endings_are_refused),
        cmocka_unit_test(format_without_an_output_is_refused),
        cmocka_unit_test(format_overrides_the_name),
        cmocka_unit_test(positions_are_kept),
        cmocka_unit_test(no_memory_is_kept_in_mind),
        cmocka_unit_test(bytes_are_encoded),
#ifdef CAROM_HAVE_ZLIB
        cmocka_unit_test(pictures_are_whole),
#endif
        cmocka_unit_test(the_nearest_is_seen),
        cmocka_unit_test(balls_are_round),
        cmocka_unit_test(extreme_pictures_end),
        cmocka_unit_test(contacts_are_components),
        cmocka_unit_test(the_overlap_of_cubes_is_a_box),
        cmocka_unit_test(regions_have_the_area_of_the_overlap),
        cmocka_unit_test(motions_stop_at_the_contact),
        cmocka_unit_test(wrong_edges_are_marked),
        cmocka_unit_test(an_interrupted_gas_is_shown),
        cmocka_unit_test(robots_are_lit_where_they_collide),
        cmocka_unit_test(robots_move_up_to_the_contact),
        cmocka_unit_test(points_have_the_colours_of_their_distances),
        cmocka_unit_test(near_things_and_safe_steps_are_shown),
    };
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
