/* SPDX-License-Identifier: MIT */
/* scene_report.h: a clash report, what people say of it, and the files it is written to. */
#ifndef CAROM_CLI_SCENE_REPORT_H
#define CAROM_CLI_SCENE_REPORT_H

#include "cli/display.h"
#include "cli/guid.h"
#include "cli/output.h"
#include "cli/scene_parts.h"
#include "cli/shard.h"

/* How two parts clash. */
typedef enum scene_relation {
    SCENE_TOUCHING = 0, /* they touch, without overlapping */
    SCENE_CROSSING,     /* faces cross, and one of the two is open: there is no volume */
    SCENE_PROTRUDING,   /* both are closed, and a part of each is in the other */
    SCENE_ENCLOSED,     /* one is inside the other */
    SCENE_DUPLICATE,    /* the same triangles in the same place */
    SCENE_CLOSE,        /* apart, but closer than the clearance */
    SCENE_POSSIBLE,     /* of a packing, whose spheres are too few to decide */
    SCENE_RELATIONS
} scene_relation;

const char *scene_relation_name(scene_relation relation);

/* What people decided about a clash. */
typedef enum scene_status {
    SCENE_NEW = 0,
    SCENE_ACTIVE,
    SCENE_REVIEWED,
    SCENE_APPROVED,
    SCENE_RESOLVED,
    SCENE_STATUSES
} scene_status;

const char *scene_status_name(scene_status status);

/* How a clash compares with the earlier report. */
typedef enum scene_change {
    SCENE_NO_BASELINE = 0, /* there is none */
    SCENE_CAME,            /* the earlier one does not have it */
    SCENE_STAYED,
    SCENE_CHANGES
} scene_change;

/* "new", "still there"; NULL for SCENE_NO_BASELINE. */
const char *scene_change_name(scene_change change);

typedef struct scene_clash {
    uint64_t a, b; /* indices of parts */
    scene_relation relation;
    carom_scene_contact contact;
    bool has_volume;
    char guid[GUID_SIZE]; /* of the names of both parts (scene_identity.c) */
    uint64_t group;       /* of clashes that are neighbours, from 1 */
    uint64_t alike;       /* of clashes between equal parts, from 1 */
    scene_status status;
    scene_change change;
    char *note; /* NULL: none */
} scene_clash;

/* A clash of the earlier report that is no more. */
typedef struct scene_solved {
    char guid[GUID_SIZE];
    char *name_a, *name_b, *relation, *note; /* each may be NULL */
    scene_status status;
    double volume, distance, depth; /* NaN: not known */
} scene_solved;

typedef struct scene_report {
    const scene_parts *parts;
    scene_clash *clashes; /* sorted by the numbers of the parts */
    uint64_t count;
    uint64_t counts[SCENE_RELATIONS], changes[SCENE_CHANGES];
    uint64_t group_count, alike_count;
    scene_solved *solved;
    uint64_t solved_count;
    uint64_t ignored; /* clashes that --ignore left out */
    uint64_t pairs;   /* of boxes that overlap */
    double clearance;
    bool depth;                    /* was searched */
    bool no_touching;              /* parts that only touch are left out */
    bool touching;                 /* they are topics of BCF */
    const char *baseline, *ignore; /* files; or NULL */
    char date[32];
    double prepare_s, query_s;
} scene_report;

void scene_report_free(scene_report *report);

/* Where a clash is: its first point, or the middle of the part that is inside. */
carom_vec3 scene_clash_point(const scene_report *report, const scene_clash *clash);

/* Whether a depth is known, and whether no other way is shorter by more than a hundredth. */
bool scene_has_depth(const scene_clash *clash);
bool scene_depth_is_least(const scene_clash *clash);
/* Whether there is a direction: that of the depth or, of parts that are apart, from a to b. */
bool scene_has_direction(const scene_clash *clash);

/* "+x", "-z", or "0.6, 0, 0.8". */
#define SCENE_DIRECTION_SIZE 64
void scene_put_direction(carom_vec3 direction, char text[SCENE_DIRECTION_SIZE]);

/* Makes the GUIDs; numbers the groups. */
carom_status scene_identify(scene_report *report);
carom_status scene_group(scene_report *report);

/* The box that the parts of a clash have in common, and the groups of clashes that are neighbours:
 * of one part, with boxes that meet. Clashes are sorted; groups are numbered from 1, in their
 * order. */
carom_bounds scene_common_box(const scene_report *report, const scene_clash *clash);
typedef struct scene_group_item {
    uint64_t a, b; /* parts */
    carom_bounds box;
} scene_group_item;
bool scene_group_items(const scene_group_item *items, uint64_t count, uint64_t *groups,
                       uint64_t *group_count);

/* Takes status and notes from an earlier report, a page or JSON, and lists what is solved.
 * `left_out` are clashes that --ignore left out; they are not solved. */
carom_status scene_compare(cli *cli, const char *path, const scene_clash *left_out,
                           uint64_t left_out_count, scene_report *report);

/* Moves the clashes that the rules of a file leave out behind the others; report->ignored is their
 * number. */
typedef struct scene_rules scene_rules;
carom_status scene_rules_read(cli *cli, const char *path, scene_rules **rules);
bool scene_rules_need_depth(const scene_rules *rules);
carom_status scene_rules_apply(const scene_rules *rules, scene_report *report);
void scene_rules_free(scene_rules *rules);

/* Each writes the whole report to an open file. */
void scene_write_csv(const scene_report *report, FILE *out);
carom_status scene_write_rows(cli *cli, const scene_report *report, const shard_head *head,
                              output *out); /* of a shard: rows.h */
void scene_write_words(const scene_report *report, const char *output, FILE *out);
carom_status scene_write_bcf(cli *cli, const scene_report *report, FILE *out);

/* The keys of the report in an open JSON object; times change from call to call, and pages have
 * none. */
void scene_put_json(const scene_report *report, bool with_times, json *j);

/* Fills a display: all parts, the faces of each clash lit, and a list of the clashes. display_free
 * is due also after a failure. */
carom_status scene_show(cli *cli, const scene_report *report, display *d);

/* The same for one clash: its two parts alone. */
carom_status scene_show_clash(cli *cli, const scene_report *report, const scene_clash *clash,
                              display *d);

#endif
