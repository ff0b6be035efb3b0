/* SPDX-License-Identifier: MIT */
/* A clash report as words, CSV and JSON. Each column and key has one meaning: the distance is that
 * of parts that are apart, the depth that of parts that overlap, and the direction is the one in
 * which b is to be moved by the depth, or in which b is, seen from a. What is not known is left
 * out: an empty cell, null, or -. */
#include <math.h>
#include <string.h>

#include "cli/rows.h"
#include "cli/scene_report.h"
#include "cli/text.h"

#define SHOWN 40u /* lines of the report in words; files have all */
/* Of a unit vector: what is written as an axis is off by at most that. */
#define ALONG_AXIS 1e-6

void scene_put_direction(carom_vec3 n, char text[SCENE_DIRECTION_SIZE]) {
    const double xyz[3] = {n.x, n.y, n.z};
    for (int k = 0; k < 3; ++k)
        if (fabs(xyz[k]) >= 1.0 - ALONG_AXIS) {
            snprintf(text, SCENE_DIRECTION_SIZE, "%c%c", xyz[k] > 0.0 ? '+' : '-', "xyz"[k]);
            return;
        }
    snprintf(text, SCENE_DIRECTION_SIZE, "%.3g, %.3g, %.3g", n.x + 0.0, n.y + 0.0, n.z + 0.0);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const char csv_heading[] =
    "part_a,part_b,relation,triangle_pairs,volume,distance,depth,x,y,z,name_a,name_b,"
    "direction_x,direction_y,direction_z,depth_is_least,group,guid,status,change,note\n";

/* The cells of a clash before its group, and those after it. */
static void write_left(const scene_report *report, const scene_clash *c, FILE *out) {
    const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
    carom_vec3 p = scene_clash_point(report, c), n = c->contact.normal;
    fprintf(out, "%llu,%llu,%s,%llu,", (unsigned long long)a->number, (unsigned long long)b->number,
            scene_relation_name(c->relation), (unsigned long long)c->contact.triangle_pairs);
    if (c->has_volume) fprintf(out, "%.17g", c->contact.volume);
    fprintf(out, ",%.17g,", c->contact.distance);
    if (scene_has_depth(c)) fprintf(out, "%.17g", c->contact.depth);
    fprintf(out, ",%.17g,%.17g,%.17g,", p.x, p.y, p.z);
    text_put_csv(out, a->title);
    putc(',', out);
    text_put_csv(out, b->title);
    if (scene_has_direction(c))
        fprintf(out, ",%.17g,%.17g,%.17g,", n.x, n.y, n.z);
    else
        fputs(",,,,", out);
    if (scene_has_depth(c)) fputs(scene_depth_is_least(c) ? "true" : "false", out);
    putc(',', out);
}

static void write_right(const scene_clash *c, FILE *out) {
    const char *change = scene_change_name(c->change);
    fprintf(out, ",%s,%s,%s,", c->guid, scene_status_name(c->status), change != NULL ? change : "");
    if (c->note != NULL) text_put_csv(out, c->note);
    putc('\n', out);
}

void scene_write_csv(const scene_report *report, FILE *out) {
    fputs(csv_heading, out);
    for (uint64_t i = 0; i < report->count; ++i) {
        const scene_clash *c = &report->clashes[i];
        write_left(report, c, out);
        fprintf(out, "%llu", (unsigned long long)c->group);
        write_right(c, out);
    }
}

carom_status scene_write_rows(cli *cli, const scene_report *report, const shard_head *head,
                              output *out) {
    rows_writer rows;
    bool good = rows_begin(&rows, head, csv_heading, out);
    for (uint64_t i = 0; i < report->count && good; ++i) {
        const scene_clash *c = &report->clashes[i];
        carom_bounds box = scene_common_box(report, c);
        write_left(report, c, rows.text);
        rows_group(&rows);
        write_right(c, rows.text);
        rows_put(&rows, c->a, c->b, &box);
    }
    if (rows_end(&rows)) return CAROM_OK;
    snprintf(cli->message, sizeof(cli->message), "a temporary file cannot be written");
    return CAROM_IO;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A number, or null where it is not known. */
static void put_known(json *j, const char *key, bool known, double value) {
    json_number(j, key, known ? value : (double)NAN);
}

static void put_clash(const scene_report *report, const scene_clash *c, json *j) {
    const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
    const carom_scene_contact *contact = &c->contact;
    bool deep = scene_has_depth(c);
    json_begin_object(j, NULL);
    json_text(j, "guid", c->guid);
    json_count(j, "a", a->number);
    json_text(j, "name_a", a->title);
    json_count(j, "b", b->number);
    json_text(j, "name_b", b->title);
    json_text(j, "relation", scene_relation_name(c->relation));
    json_text(j, "status", scene_status_name(c->status));
    json_text(j, "change", scene_change_name(c->change));
    json_text(j, "note", c->note);
    json_text(j, "method", carom_scene_contact_method_name(contact->method));
    json_count(j, "triangle_pairs", contact->triangle_pairs);
    put_known(j, "volume", c->has_volume, contact->volume);
    put_known(j, "volume_error", c->has_volume, contact->volume_error);
    json_number(j, "distance", contact->distance);
    put_known(j, "depth", deep, contact->depth);
    put_known(j, "depth_bound", deep, contact->depth_bound);
    if (deep)
        json_bool(j, "depth_is_least", scene_depth_is_least(c));
    else
        json_null(j, "depth_is_least");
    if (scene_has_direction(c))
        json_vector(j, "direction", contact->normal);
    else
        json_null(j, "direction");
    json_number(j, "error", contact->error);
    json_vector(j, "point", scene_clash_point(report, c));
    json_count(j, "group", c->group);
    json_count(j, "alike", c->alike);
    json_end_object(j);
}

static void put_solved(const scene_solved *s, json *j) {
    json_begin_object(j, NULL);
    json_text(j, "guid", s->guid);
    json_text(j, "name_a", s->name_a);
    json_text(j, "name_b", s->name_b);
    json_text(j, "relation", s->relation);
    json_text(j, "status", scene_status_name(s->status));
    json_text(j, "change", "solved");
    json_text(j, "note", s->note);
    json_number(j, "volume", s->volume);
    json_number(j, "distance", s->distance);
    json_number(j, "depth", s->depth);
    json_end_object(j);
}

static void put_objects(const scene_report *report, json *j) {
    json_begin_array(j, "objects");
    for (uint64_t i = 0; i < report->parts->count; ++i) {
        const scene_part *part = &report->parts->data[i];
        json_begin_object(j, NULL);
        json_count(j, "part", part->number);
        json_text(j, "name", part->name);
        json_text(j, "file", part->file);
        bool made = part->mesh == NULL || part->solid != NULL || part->soup != NULL;
        json_text(j, "kind", made ? carom_scene_object_kind_name(part->object.kind) : NULL);
        json_count(j, "triangles", part->triangles);
        if (part->tree != NULL) json_count(j, "spheres", part->spheres);
        json_text(j, "written", part->title);
        json_end_object(j);
    }
    json_end_array(j);
}

void scene_put_json(const scene_report *report, bool with_times, json *j) {
    json_text(j, "date", report->date);
    put_known(j, "metres", report->parts->metres > 0.0, report->parts->metres);
    json_begin_object(j, "settings");
    json_number(j, "clearance", report->clearance);
    json_bool(j, "depth", report->depth);
    json_bool(j, "touching", !report->no_touching);
    json_text(j, "baseline", report->baseline);
    json_text(j, "ignore", report->ignore);
    json_end_object(j);
    put_objects(report, j);
    json_count(j, "pairs", report->pairs);
    json_number(j, "clearance", report->clearance);
    json_begin_array(j, "clashes");
    for (uint64_t i = 0; i < report->count; ++i) put_clash(report, &report->clashes[i], j);
    json_end_array(j);
    json_begin_array(j, "solved");
    for (uint64_t i = 0; i < report->solved_count; ++i) put_solved(&report->solved[i], j);
    json_end_array(j);
    json_count(j, "ignored", report->ignored);
    if (!with_times) return;
    json_number(j, "prepare_s", report->prepare_s);
    json_number(j, "query_s", report->query_s);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void print_counts(const scene_report *report, FILE *out) {
    uint64_t closed = 0, triangles = 0;
    for (uint64_t i = 0; i < report->parts->count; ++i) {
        const scene_part *part = &report->parts->data[i];
        closed += part->mesh == NULL || part->solid != NULL;
        triangles += part->triangles;
    }
    fprintf(out, "%llu parts", (unsigned long long)report->parts->count);
    if (!report->parts->later) fprintf(out, " (%llu closed)", (unsigned long long)closed);
    fprintf(out, ", %llu triangles: ", (unsigned long long)triangles);
    fprintf(out, "%llu clash%s", (unsigned long long)report->count, report->count == 1 ? "" : "es");
    bool first = true;
    for (int r = 0; r < SCENE_RELATIONS; ++r) {
        if (report->counts[r] == 0) continue;
        fprintf(out, "%s%llu %s", first ? ": " : ", ", (unsigned long long)report->counts[r],
                scene_relation_name((scene_relation)r));
        first = false;
    }
    putc('\n', out);
    if (report->baseline != NULL)
        fprintf(out, "since %s: %llu new, %llu still there, %llu solved\n", report->baseline,
                (unsigned long long)report->changes[SCENE_CAME],
                (unsigned long long)report->changes[SCENE_STAYED],
                (unsigned long long)report->solved_count);
    if (report->ignore != NULL)
        fprintf(out, "%s leaves out %llu more\n", report->ignore,
                (unsigned long long)report->ignored);
}

static const char *say(char text[32], bool known, double value) {
    snprintf(text, 32, "%.6g", value);
    return known ? text : "-";
}

static void print_clash(const scene_report *report, const scene_clash *c, bool far, FILE *out) {
    const scene_part *a = &report->parts->data[c->a], *b = &report->parts->data[c->b];
    const carom_scene_contact *contact = &c->contact;
    char text[32], direction[SCENE_DIRECTION_SIZE] = "-";
    fprintf(out, "  %-10s %10llu", scene_relation_name(c->relation),
            (unsigned long long)contact->triangle_pairs);
    fprintf(out, " %12s", say(text, c->has_volume && contact->volume != 0.0, contact->volume));
    if (report->depth) {
        fprintf(out, " %12s%c", say(text, scene_has_depth(c), contact->depth),
                scene_depth_is_least(c) ? '*' : ' ');
    }
    if (far) fprintf(out, " %12s", say(text, c->relation == SCENE_CLOSE, contact->distance));
    if (scene_has_direction(c)) scene_put_direction(contact->normal, direction);
    if (report->depth || far) fprintf(out, "  %-24s", direction);
    fputs("  ", out);
    text_put(out, a->title);
    fputs(", ", out);
    text_put(out, b->title);
    putc('\n', out);
}

void scene_write_words(const scene_report *report, const char *output, FILE *out) {
    bool far = report->clearance > 0.0, least = false;
    print_counts(report, out);
    if (report->count != 0) {
        fprintf(out, "  %-10s %10s %12s", "relation", "triangles", "volume");
        if (report->depth) fprintf(out, " %12s ", "depth");
        if (far) fprintf(out, " %12s", "distance");
        if (report->depth || far) fprintf(out, "  %-24s", "direction");
        fputs("  parts\n", out);
    }
    for (uint64_t i = 0; i < report->count && i < SHOWN; ++i) {
        print_clash(report, &report->clashes[i], far, out);
        least = least || scene_depth_is_least(&report->clashes[i]);
    }
    if (report->count > SHOWN)
        fprintf(out, "  ... and %llu more%s\n", (unsigned long long)(report->count - SHOWN),
                output == NULL ? "; -o FILE writes them all" : "");
    if (least) fputs("* no other way is shorter\n", out);
    fprintf(out, "prepared in %.2f ms, found in %.2f ms among %llu pairs of boxes\n",
            1e3 * report->prepare_s, 1e3 * report->query_s, (unsigned long long)report->pairs);
    if (out == stdout && output != NULL) fprintf(out, "written to %s\n", output);
}
