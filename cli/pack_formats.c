/* SPDX-License-Identifier: MIT */
/* Files of covers: numbers have all digits and a point (YAML readers take 1e-05 for text), so that
 * what is read back is what was proved. docs/formats.md lists who reads them. */
#include "cli/pack_formats.h"

#include <math.h>
#include <string.h>

#include "cli/endings.h"
#include "cli/text.h"
#include "robot/robot_xml.h"

static const char *const names[] = {"curobo", "xrdf", "urdf", "foam", "morphit", "liggghts",
                                    "yade",   "dem",  "html", "glb",  "png"};

const char *pack_format_choice(int index) {
    if (index < CAROM_PACKING_FORMAT_COUNT)
        return carom_packing_format_name((carom_packing_format)index);
    return index < PACK_FORMAT_COUNT ? names[index - CAROM_PACKING_FORMAT_COUNT] : NULL;
}

static const struct {
    const char *ending;
    int format;
} by_ending[] = {{"ply", CAROM_PACKING_FORMAT_PLY},
                 {"csv", CAROM_PACKING_FORMAT_CSV},
                 {"xyzr", CAROM_PACKING_FORMAT_XYZR},
                 {"sph", CAROM_PACKING_FORMAT_SPH},
                 {"yml", PACK_FORMAT_CUROBO},
                 {"xrdf", PACK_FORMAT_XRDF},
                 {"urdf", PACK_FORMAT_URDF},
                 {"json", PACK_FORMAT_FOAM},
                 {"html", PACK_FORMAT_HTML},
                 {"glb", PACK_FORMAT_GLB},
                 {"png", PACK_FORMAT_PNG}};
#define ENDING_COUNT (sizeof(by_ending) / sizeof(by_ending[0]))

const char *pack_endings(int index) {
    return (size_t)index < ENDING_COUNT ? by_ending[index].ending : NULL;
}

int pack_format_of(const char *path, int choice) {
    if (choice != CAROM_PACKING_FORMAT_GUESS) return choice;
    const char *ending = endings_format(path, NULL, pack_endings);
    for (size_t i = 0; i < ENDING_COUNT; ++i)
        if (ending == by_ending[i].ending) return by_ending[i].format;
    return CAROM_PACKING_FORMAT_PLY;
}

bool pack_format_is_single(int format) {
    return format == PACK_FORMAT_MORPHIT || format == PACK_FORMAT_LIGGGHTS ||
           format == PACK_FORMAT_DEM;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* A number with a point: 1 becomes 1.0, and 1e-05 becomes 1.0e-05. */
static void put_number(FILE *file, double value) {
    char text[40];
    snprintf(text, sizeof(text), "%.17g", value);
    char *exponent = strchr(text, 'e');
    if (strchr(text, '.') != NULL)
        fputs(text, file);
    else if (exponent == NULL)
        fprintf(file, "%s.0", text);
    else
        fprintf(file, "%.*s.0%s", (int)(exponent - text), text, exponent);
}

static void put_three(FILE *file, carom_vec3 v, const char *between) {
    put_number(file, v.x);
    fputs(between, file);
    put_number(file, v.y);
    fputs(between, file);
    put_number(file, v.z);
}

/* ---- Robots ---------------------------------------------------------------------------------- */

static void put_yaml_sets(FILE *file, const pack_set *sets, uint64_t count, const char *indent) {
    for (uint64_t i = 0; i < count; ++i) {
        fputs(indent, file);
        text_put_yaml(file, sets[i].written);
        fputs(sets[i].count == 0 ? ": []\n" : ":\n", file);
        for (uint64_t k = 0; k < sets[i].count; ++k) {
            fprintf(file, "%s  - {center: [", indent);
            put_three(file, sets[i].data[k].centre, ", ");
            fputs("], radius: ", file);
            put_number(file, sets[i].data[k].radius);
            fputs("}\n", file);
        }
    }
}

static void write_xrdf(FILE *file, const pack_set *sets, uint64_t count) {
    fputs("format: xrdf\nformat_version: 1.0\ngeometry:\n  carom_spheres:\n    spheres:\n", file);
    put_yaml_sets(file, sets, count, "      ");
    fputs("collision:\n  geometry: carom_spheres\n", file);
}

static void put_collisions(FILE *file, const pack_set *set) {
    for (uint64_t k = 0; k < set->count; ++k) {
        fputs("    <collision>\n      <origin xyz=\"", file);
        put_three(file, set->data[k].centre, " ");
        fputs("\" rpy=\"0 0 0\"/>\n      <geometry><sphere radius=\"", file);
        put_number(file, set->data[k].radius);
        fputs("\"/></geometry>\n    </collision>\n", file);
    }
}

static void write_new_urdf(FILE *file, const pack_file *what) {
    const pack_set *sets = what->sets;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<robot name=\"carom\">\n  <link name=\"",
          file);
    text_put_xml(file, what->root);
    fputs("\"/>\n", file);
    for (uint64_t i = 0; i < what->count; ++i) {
        fputs("  <link name=\"", file);
        text_put_xml(file, sets[i].written);
        fputs("\">\n", file);
        put_collisions(file, &sets[i]);
        fprintf(file, "  </link>\n  <joint name=\"joint_%llu\" type=\"fixed\">\n",
                (unsigned long long)i);
        fputs("    <parent link=\"", file);
        text_put_xml(file, what->root);
        fputs("\"/>\n    <child link=\"", file);
        text_put_xml(file, sets[i].written);
        fputs("\"/>\n  </joint>\n", file);
    }
    fputs("</robot>\n", file);
}

/* Copies a robot; in each link spheres replace the elements for collision. */
static void write_urdf(FILE *file, const pack_file *what) {
    const pack_set *sets = what->sets;
    const char *text = what->urdf, *copied = text;
    size_t size = what->urdf_size;
    carom_xml x;
    const pack_set *link = NULL;
    bool in_link = false, in_collision = false;
    carom_xml_begin(&x, text, size);
    while (carom_xml_next(&x)) {
        const char *tag = x.name - (x.opens ? 1 : 2); /* its < */
        if (x.depth == 1 && carom_xml_is(&x, "link") && x.opens) {
            char name[256];
            link = NULL;
            for (uint64_t i = 0; i < what->count && carom_xml_get(&x, "name", name, sizeof(name));
                 ++i)
                if (strcmp(sets[i].name, name) == 0) link = &sets[i];
            in_link = !x.closes;
        } else if (x.depth == 1 && in_link && x.closes && carom_xml_is(&x, "link")) {
            if (link != NULL) {
                while (tag > copied && (tag[-1] == ' ' || tag[-1] == '\t')) --tag;
                fwrite(copied, 1, (size_t)(tag - copied), file);
                put_collisions(file, link);
                copied = tag;
            }
            in_link = false;
        } else if (in_link && x.depth == 2 && carom_xml_is(&x, "collision")) {
            if (x.opens && !in_collision) {
                while (tag > copied && (tag[-1] == ' ' || tag[-1] == '\t')) --tag;
                fwrite(copied, 1, (size_t)(tag - copied), file);
                in_collision = true;
            }
            if (x.closes) {
                copied = x.at;
                if (copied < text + size && *copied == '\n') ++copied;
                in_collision = false;
            }
        }
    }
    fwrite(copied, 1, (size_t)(text + size - copied), file);
}

static void write_foam(FILE *file, const pack_set *sets, uint64_t count) {
    double worst = 0.0, mean = 0.0, best = HUGE_VAL, area = 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_cover_measure *m = &sets[i].measure;
        worst = m->worst.value > worst ? m->worst.value : worst;
        best = m->worst.value < best ? m->worst.value : best;
        mean += m->mean * (double)sets[i].count;
        area += (double)sets[i].count;
    }
    fputs("[{\"mean\": ", file);
    put_number(file, area > 0.0 ? mean / area : 0.0);
    fputs(", \"best\": ", file);
    put_number(file, count != 0 ? best : 0.0);
    fputs(", \"worst\": ", file);
    put_number(file, worst);
    fputs(", \"spheres\": [", file);
    const char *comma = "\n";
    for (uint64_t i = 0; i < count; ++i)
        for (uint64_t k = 0; k < sets[i].count; ++k, comma = ",\n") {
            fprintf(file, "%s{\"origin\": [", comma);
            put_three(file, sets[i].data[k].centre, ", ");
            fputs("], \"radius\": ", file);
            put_number(file, sets[i].data[k].radius);
            fputs("}", file);
        }
    fputs("\n]}]\n", file);
}

static void write_morphit(FILE *file, const char *source, const pack_set *set) {
    fputs("{\"centers\": [", file);
    for (uint64_t k = 0; k < set->count; ++k) {
        fputs(k == 0 ? "\n[" : ",\n[", file);
        put_three(file, set->data[k].centre, ", ");
        fputs("]", file);
    }
    fputs("\n], \"radii\": [", file);
    for (uint64_t k = 0; k < set->count; ++k) {
        fputs(k == 0 ? "\n" : ",\n", file);
        put_number(file, set->data[k].radius);
    }
    fputs("\n], \"mesh_path\": ", file);
    json_put_text(file, source);
    fputs("}\n", file);
}

/* ---- Particles and plain lists --------------------------------------------------------------- */

static carom_vec3 to_principal(const carom_pose *pose, carom_vec3 p) {
    const carom_quat *q = &pose->q;
    double x = p.x - pose->t.x, y = p.y - pose->t.y, z = p.z - pose->t.z;
    double r[3][3] = {{1 - 2 * (q->y * q->y + q->z * q->z), 2 * (q->x * q->y - q->w * q->z),
                       2 * (q->x * q->z + q->w * q->y)},
                      {2 * (q->x * q->y + q->w * q->z), 1 - 2 * (q->x * q->x + q->z * q->z),
                       2 * (q->y * q->z - q->w * q->x)},
                      {2 * (q->x * q->z - q->w * q->y), 2 * (q->y * q->z + q->w * q->x),
                       1 - 2 * (q->x * q->x + q->y * q->y)}};
    return (carom_vec3){r[0][0] * x + r[1][0] * y + r[2][0] * z,
                        r[0][1] * x + r[1][1] * y + r[2][1] * z,
                        r[0][2] * x + r[1][2] * y + r[2][2] * z};
}

static void write_lines(FILE *file, int format, const pack_set *sets, uint64_t count) {
    const char *between =
        format == CAROM_PACKING_FORMAT_CSV || format == PACK_FORMAT_DEM ? "," : " ";
    for (uint64_t i = 0; i < count; ++i)
        for (uint64_t k = 0; k < sets[i].count; ++k) {
            carom_vec3 c = sets[i].data[k].centre;
            if (format == PACK_FORMAT_DEM) c = to_principal(&sets[i].principal, c);
            put_three(file, c, between);
            fputs(between, file);
            put_number(file, sets[i].data[k].radius);
            bool numbered = format == CAROM_PACKING_FORMAT_CSV ||
                            format == CAROM_PACKING_FORMAT_PLY ||
                            (format == PACK_FORMAT_YADE && count > 1);
            if (numbered) fprintf(file, "%s%llu", between, (unsigned long long)i);
            fputc('\n', file);
        }
}

static void write_ply(FILE *file, const pack_set *sets, uint64_t count) {
    uint64_t spheres = 0;
    for (uint64_t i = 0; i < count; ++i) spheres += sets[i].count;
    fputs("ply\nformat ascii 1.0\ncomment spheres that cover a solid, by carom\n", file);
    fprintf(file, "element vertex %llu\n", (unsigned long long)spheres);
    fputs("property double x\nproperty double y\nproperty double z\nproperty double radius\n"
          "property int part\nend_header\n",
          file);
    write_lines(file, CAROM_PACKING_FORMAT_PLY, sets, count);
}

bool pack_format_write(FILE *file, int format, const pack_file *what) {
    const pack_set *sets = what->sets;
    uint64_t count = what->count;
    switch (format) {
    case CAROM_PACKING_FORMAT_PLY:
        write_ply(file, sets, count);
        return true;
    case CAROM_PACKING_FORMAT_CSV:
        fputs("x,y,z,radius,part\n", file);
        write_lines(file, format, sets, count);
        return true;
    case PACK_FORMAT_CUROBO:
        fputs("collision_spheres:\n", file);
        put_yaml_sets(file, sets, count, "  ");
        return true;
    case PACK_FORMAT_XRDF:
        write_xrdf(file, sets, count);
        return true;
    case PACK_FORMAT_URDF:
        if (what->urdf != NULL)
            write_urdf(file, what);
        else
            write_new_urdf(file, what);
        return true;
    case PACK_FORMAT_FOAM:
        write_foam(file, sets, count);
        return true;
    case PACK_FORMAT_MORPHIT:
        write_morphit(file, what->source, sets);
        return true;
    case PACK_FORMAT_DEM:
        fputs("x,y,z,r\n", file); /* fall through */
    case CAROM_PACKING_FORMAT_XYZR:
    case PACK_FORMAT_LIGGGHTS:
    case PACK_FORMAT_YADE:
        write_lines(file, format, sets, count);
        return true;
    default:
        return false;
    }
}
