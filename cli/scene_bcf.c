/* SPDX-License-Identifier: MIT */
/* Clash reports as BCF 3.0 (BIM Collaboration Format, buildingSMART): a ZIP archive with one topic
 * per clash, a viewpoint that looks at it, and a picture. Files are stored without compression. The
 * GUID of a topic is that of the clash, so that the next report names it the same. Parts are known
 * by their IFC GUIDs where their names have one, as exporters of IFC write it, else by their names.
 * Parts that only touch are no topics unless that is asked for: where things stand on each other,
 * they must. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/encode.h"
#include "cli/interrupt.h"
#include "cli/paint.h"
#include "cli/platform.h"
#include "cli/scene_report.h"
#include "cli/text.h"

/* ---- ZIP ------------------------------------------------------------------------------------- */

typedef struct zip_entry {
    char name[96];
    uint32_t check, size;
    uint64_t offset;
} zip_entry;

typedef struct zip {
    FILE *out;
    uint64_t offset; /* bytes written so far */
    zip_entry *entries;
    uint64_t count, capacity;
} zip;

static void put(zip *z, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) putc((int)(value >> (8 * i) & 0xFF), z->out);
    z->offset += (uint64_t)bytes;
}

static void put_bytes(zip *z, const char *bytes, size_t size) {
    (void)fwrite(bytes, 1, size, z->out);
    z->offset += size;
}

#define ZIP_DATE 0x21u /* 1 January 1980, the first that ZIP knows */

/* The fields that local header and directory share. */
static void put_fields(zip *z, const zip_entry *e) {
    put(z, 20, 2);       /* version needed */
    put(z, 1u << 11, 2); /* names are UTF-8 */
    put(z, 0, 2);        /* stored */
    put(z, 0, 2);
    put(z, ZIP_DATE, 2);
    put(z, e->check, 4);
    put(z, e->size, 4);
    put(z, e->size, 4);
    put(z, strlen(e->name), 2);
    put(z, 0, 2);
}

static bool zip_add(zip *z, const char *name, const char *bytes, size_t size) {
    if (z->count == z->capacity) {
        uint64_t capacity = 2 * z->capacity + 64;
        zip_entry *entries = realloc(z->entries, (size_t)capacity * sizeof(*entries));
        if (entries == NULL) return false;
        z->entries = entries;
        z->capacity = capacity;
    }
    zip_entry *e = &z->entries[z->count++];
    *e = (zip_entry){
        .check = encode_crc32(0, bytes, size), .size = (uint32_t)size, .offset = z->offset};
    snprintf(e->name, sizeof(e->name), "%s", name);
    put(z, UINT32_C(0x04034B50), 4);
    put_fields(z, e);
    put_bytes(z, e->name, strlen(e->name));
    put_bytes(z, bytes, size);
    return true;
}

static void zip_end(zip *z) {
    uint64_t start = z->offset;
    for (uint64_t i = 0; i < z->count; ++i) {
        const zip_entry *e = &z->entries[i];
        put(z, UINT32_C(0x02014B50), 4);
        put(z, 20, 2); /* version made by */
        put_fields(z, e);
        put(z, 0, 2); /* comment */
        put(z, 0, 2); /* disk */
        put(z, 0, 2);
        put(z, 0, 4); /* attributes */
        put(z, e->offset, 4);
        put_bytes(z, e->name, strlen(e->name));
    }
    uint64_t size = z->offset - start;
    put(z, UINT32_C(0x06054B50), 4);
    put(z, 0, 4); /* disks */
    put(z, z->count, 2);
    put(z, z->count, 2);
    put(z, size, 4);
    put(z, start, 4);
    put(z, 0, 2);
    free(z->entries);
}

/* ---- Topics ---------------------------------------------------------------------------------- */

/* More topics do not fit the 16 bits that count the files of an archive, three per topic. */
#define MOST_TOPICS 21800u

/* The namespace of viewpoints and comments, drawn at random once. */
static const unsigned char view_space[16] = {0xd2, 0x44, 0x7b, 0x19, 0x0a, 0xe8, 0x47, 0x35,
                                             0xb1, 0x6f, 0x58, 0x93, 0x2c, 0xd0, 0x74, 0xaf};

/* A GUID of something that belongs to a clash. */
static void make_guid(const scene_clash *clash, char what, char guid[GUID_SIZE]) {
    char key[GUID_SIZE + 1];
    memcpy(key, clash->guid, GUID_SIZE - 1);
    key[GUID_SIZE - 1] = what;
    guid_make(view_space, key, GUID_SIZE, guid);
}

#define IFC_GUID 22u /* letters of a GUID of IFC, in its own base 64 */

/* The GUID of IFC in a name, the last of its words that looks like one; NULL: none. */
static const char *find_ifc_guid(const char *name) {
    static const char letters[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$";
    const char *found = NULL;
    while (*name != '\0') {
        size_t length = strspn(name, letters);
        if (length == IFC_GUID && *name <= '3') found = name; /* 128 bits: the first has two */
        name += length;
        name += strcspn(name, letters);
    }
    return found;
}

static void put_point(FILE *out, const char *name, carom_vec3 p) {
    fprintf(out, "<%s><X>%.9g</X><Y>%.9g</Y><Z>%.9g</Z></%s>", name, p.x, p.y, p.z, name);
}

static void put_component(FILE *out, const scene_part *part) {
    const char *ifc = find_ifc_guid(part->name);
    fputs("<Component", out);
    if (ifc != NULL) fprintf(out, " IfcGuid=\"%.*s\"", (int)IFC_GUID, ifc);
    fputs("><OriginatingSystem>carom</OriginatingSystem><AuthoringToolId>", out);
    text_put_xml(out, part->title);
    fputs("</AuthoringToolId></Component>", out);
}

typedef struct topic {
    const scene_report *report;
    const scene_clash *clash;
    const scene_part *a, *b;
    uint64_t number;
    const char *const *inputs; /* files */
    size_t input_count;
    char view_guid[GUID_SIZE];
} topic;

#define SEEN       3.0 /* radius of a picture, in sizes of the clash */
#define LEAST_SEEN 0.1 /* size of a clash at least, of the reach of the smaller part */

/* How far the farthest corner of a box is from a point. */
static double reach_of(const carom_bounds *b, carom_vec3 p) {
    double x = fmax(p.x - b->low.x, b->high.x - p.x), y = fmax(p.y - b->low.y, b->high.y - p.y);
    return hypot(hypot(x, y), fmax(p.z - b->low.z, b->high.z - p.z));
}

/* How far around the clash there is something to see: where the way out is longer than the parts,
 * no more than these; where it is tiny, some of the smaller one. */
static double size_of(const topic *t) {
    const carom_scene_contact *c = &t->clash->contact;
    carom_vec3 p = scene_clash_point(t->report, t->clash);
    double size = cbrt(fabs(c->volume)) + c->depth + c->distance;
    for (uint32_t i = 1; i < c->point_count; ++i) {
        carom_vec3 q = c->points[i].point_a;
        size = fmax(size, hypot(hypot(q.x - p.x, q.y - p.y), q.z - p.z));
    }
    double a = reach_of(&t->a->box, p), b = reach_of(&t->b->box, p);
    return fmin(fmax(size, LEAST_SEEN * fmin(a, b)), fmax(a, b) / SEEN);
}

/* What, how deep, which way. */
static void put_description(const topic *t, FILE *out) {
    const carom_scene_contact *c = &t->clash->contact;
    char direction[SCENE_DIRECTION_SIZE];
    fputs(scene_relation_name(t->clash->relation), out);
    if (t->clash->relation == SCENE_CLOSE) fprintf(out, ", distance %.9g", c->distance);
    if (t->clash->has_volume) fprintf(out, ", volume %.9g", c->volume);
    if (scene_has_depth(t->clash)) fprintf(out, ", depth %.9g", c->depth);
    if (!scene_has_direction(t->clash)) return;
    scene_put_direction(c->normal, direction);
    fprintf(out,
            scene_has_depth(t->clash) ? ": move the second part along %s"
                                      : ": the second part is along %s",
            direction);
    if (scene_depth_is_least(t->clash)) fputs("; no other way is shorter", out);
}

static bool is_blank(const char *text) {
    return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

static void put_header(const topic *t, FILE *out) {
    fputs("<Header><Files>", out);
    for (size_t i = 0; i < t->input_count; ++i) {
        if (is_blank(t->inputs[i])) continue;
        fputs("<File><Filename>", out);
        text_put_xml(out, carom_os_file_name(t->inputs[i]));
        fprintf(out, "</Filename><Date>%s</Date></File>", t->report->date);
    }
    fputs("</Files></Header>", out);
}

static void put_markup(const topic *t, FILE *out) {
    const char *change = scene_change_name(t->clash->change);
    char guid[GUID_SIZE];
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Markup>", out);
    put_header(t, out);
    fprintf(out, "<Topic Guid=\"%s\" TopicType=\"Clash\" TopicStatus=\"%s\"><Title>",
            t->clash->guid, scene_status_name(t->clash->status));
    text_put_xml(out, t->a->title);
    fputs(", ", out);
    text_put_xml(out, t->b->title);
    fprintf(out, "</Title><Index>%llu</Index><Labels><Label>%s</Label>",
            (unsigned long long)t->number, scene_relation_name(t->clash->relation));
    if (change != NULL) fprintf(out, "<Label>%s</Label>", change);
    fprintf(out,
            "</Labels><CreationDate>%s</CreationDate><CreationAuthor>carom</CreationAuthor>"
            "<Description>",
            t->report->date);
    put_description(t, out);
    fputs("</Description>", out);
    if (!is_blank(t->clash->note)) {
        make_guid(t->clash, 'c', guid);
        fprintf(out,
                "<Comments><Comment Guid=\"%s\"><Date>%s</Date><Author>carom</Author><Comment>",
                guid, t->report->date);
        text_put_xml(out, t->clash->note);
        fprintf(out, "</Comment><Viewpoint Guid=\"%s\"/></Comment></Comments>", t->view_guid);
    }
    fprintf(out,
            "<Viewpoints><ViewPoint Guid=\"%s\"><Viewpoint>viewpoint.bcfv</Viewpoint>"
            "<Snapshot>snapshot.png</Snapshot></ViewPoint></Viewpoints></Topic></Markup>\n",
            t->view_guid);
}

static const double across = 0.57735026918962576; /* 1 / sqrt 3 */

/* A camera in front of, right of and above the clash, in metres. */
static void put_viewpoint(const topic *t, FILE *out) {
    double metres = t->report->parts->metres > 0.0 ? t->report->parts->metres : 1.0;
    carom_vec3 p = scene_clash_point(t->report, t->clash);
    double size = size_of(t), far = (size > 0.0 ? 4.0 * size : 1.0) * metres;
    carom_vec3 direction = {-across, across, -across};
    carom_vec3 up = {-0.40824829046386302, 0.40824829046386302, 0.81649658092772603};
    carom_vec3 at = {p.x * metres - far * direction.x, p.y * metres - far * direction.y,
                     p.z * metres - far * direction.z};
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VisualizationInfo Guid=\"%s\">"
            "<Components><Selection>",
            t->view_guid);
    put_component(out, t->a);
    put_component(out, t->b);
    fputs("</Selection><Visibility DefaultVisibility=\"true\"/><Coloring>"
          "<Color Color=\"5C94D6\"><Components>",
          out);
    put_component(out, t->a);
    fputs("</Components></Color><Color Color=\"EDA84D\"><Components>", out);
    put_component(out, t->b);
    fputs("</Components></Color></Coloring></Components><PerspectiveCamera>", out);
    put_point(out, "CameraViewPoint", at);
    put_point(out, "CameraDirection", direction);
    put_point(out, "CameraUpVector", up);
    fputs("<FieldOfView>60</FieldOfView><AspectRatio>1.3333333333333333</AspectRatio>"
          "</PerspectiveCamera></VisualizationInfo>\n",
          out);
}

typedef void put_fn(const topic *t, FILE *out);

/* Adds the file that `write` writes to the folder of a topic. */
static bool add_file(zip *z, const topic *t, const char *name, put_fn *write) {
    char path[96];
    platform_memory text;
    if (!platform_open_memory(&text)) return false;
    write(t, text.file);
    bool good = platform_close_memory(&text);
    snprintf(path, sizeof(path), "%s/%s", t->clash->guid, name);
    good = good && zip_add(z, path, text.bytes, text.size);
    free(text.bytes);
    return good;
}

#define SNAPSHOT_WIDTH  400u /* pixels; some 20 ms and 20 KB each */
#define SNAPSHOT_HEIGHT 300u

/* Adds a picture of the two parts from where the viewpoint is. */
static carom_status add_snapshot(cli *cli, zip *z, const topic *t) {
    char path[96];
    platform_memory png;
    display d = {0};
    double seen = size_of(t);
    paint_view view = {.at = scene_clash_point(t->report, t->clash),
                       .radius = SEEN * seen, /* 0: everything */
                       .towards = {across, -across, across}};
    if (!platform_open_memory(&png)) return CAROM_NO_MEMORY;
    carom_status status = scene_show_clash(cli, t->report, t->clash, &d);
    if (status == CAROM_OK)
        status = paint_png(&d, &view, SNAPSHOT_WIDTH, SNAPSHOT_HEIGHT, png.file);
    if (!platform_close_memory(&png)) status = CAROM_NO_MEMORY;
    snprintf(path, sizeof(path), "%s/snapshot.png", t->clash->guid);
    if (status == CAROM_OK && !zip_add(z, path, png.bytes, png.size)) status = CAROM_NO_MEMORY;
    display_free(&d);
    free(png.bytes);
    return status == CAROM_OK && interrupt_seen() ? CAROM_CANCELLED : status;
}

/* The files that all topics share. */
static bool add_common(zip *z) {
    static const char version[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                  "<Version VersionId=\"3.0\"/>\n";
    platform_memory text;
    if (!platform_open_memory(&text)) return false;
    FILE *memory = text.file;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Extensions><TopicTypes>"
          "<TopicType>Clash</TopicType></TopicTypes><TopicStatuses>",
          memory);
    for (int i = 0; i < SCENE_STATUSES; ++i)
        fprintf(memory, "<TopicStatus>%s</TopicStatus>", scene_status_name((scene_status)i));
    fputs("</TopicStatuses><TopicLabels>", memory);
    for (int i = 0; i < SCENE_RELATIONS; ++i)
        fprintf(memory, "<TopicLabel>%s</TopicLabel>", scene_relation_name((scene_relation)i));
    for (int i = SCENE_CAME; i < SCENE_CHANGES; ++i)
        fprintf(memory, "<TopicLabel>%s</TopicLabel>", scene_change_name((scene_change)i));
    fputs("</TopicLabels></Extensions>\n", memory);
    bool good = platform_close_memory(&text) &&
                zip_add(z, "bcf.version", version, sizeof(version) - 1) &&
                zip_add(z, "extensions.xml", text.bytes, text.size);
    free(text.bytes);
    return good;
}

carom_status scene_write_bcf(cli *cli, const scene_report *report, FILE *out) {
    zip z = {.out = out};
    uint64_t number = 0;
    carom_status status = CAROM_OK;
    if (report->count > MOST_TOPICS) {
        snprintf(cli->message, sizeof(cli->message),
                 "BCF files hold at most %u clashes, there are %llu: leave some out (--ignore)",
                 MOST_TOPICS, (unsigned long long)report->count);
        return CAROM_TOO_LARGE;
    }
    bool good = add_common(&z);
    for (uint64_t i = 0; i < report->count && good && status == CAROM_OK; ++i) {
        const scene_clash *clash = &report->clashes[i];
        if (clash->relation == SCENE_TOUCHING && !report->touching) continue;
        topic t = {.report = report,
                   .clash = clash,
                   .a = &report->parts->data[clash->a],
                   .b = &report->parts->data[clash->b],
                   .number = number++,
                   .inputs = (const char *const *)cli->inputs,
                   .input_count = cli->input_count};
        make_guid(clash, 'v', t.view_guid);
        good = add_file(&z, &t, "markup.bcf", put_markup) &&
               add_file(&z, &t, "viewpoint.bcfv", put_viewpoint);
        if (good) status = add_snapshot(cli, &z, &t);
    }
    zip_end(&z);
    return good ? status : CAROM_NO_MEMORY;
}
