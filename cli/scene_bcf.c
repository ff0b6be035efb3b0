/* SPDX-License-Identifier: MIT */
/* Clash reports as BCF 3.0 (BIM Collaboration Format, buildingSMART): a ZIP archive with one topic
 * per clash and a viewpoint that looks at it. Files are stored without compression. GUIDs are
 * hashes of the parts' names and numbers, so that the same clash has the same GUID in the next
 * report. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* CRC-32 of ISO 3309, bit by bit: files are small. */
static uint32_t checksum(const char *bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; ++i) {
        crc ^= (unsigned char)bytes[i];
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

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
    *e = (zip_entry){.check = checksum(bytes, size), .size = (uint32_t)size, .offset = z->offset};
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

/* More topics do not fit the 16 bits that count the files of an archive, two per topic. */
#define MOST_TOPICS 32000u

static uint64_t mix(uint64_t hash, uint64_t value) {
    carom_random random = {hash ^ value};
    return carom_random_next(&random);
}

static uint64_t hash_part(uint64_t hash, const scene_part *part) {
    for (const char *at = part->name; *at != '\0'; ++at) hash = mix(hash, (unsigned char)*at);
    return mix(hash, part->number);
}

/* A GUID from the two parts; `salt` tells topics and viewpoints apart. */
static void make_guid(const scene_part *a, const scene_part *b, uint64_t salt, char guid[37]) {
    carom_random random = {hash_part(hash_part(mix(0, salt), a), b)};
    uint64_t x = carom_random_next(&random), y = carom_random_next(&random);
    x = (x & ~UINT64_C(0xF000)) | UINT64_C(0x4000); /* version 4 */
    y = (y & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62;
    snprintf(guid, 37, "%08llx-%04llx-%04llx-%04llx-%012llx", (unsigned long long)(x >> 32),
             (unsigned long long)(x >> 16 & 0xFFFF), (unsigned long long)(x & 0xFFFF),
             (unsigned long long)(y >> 48), (unsigned long long)(y & 0xFFFFFFFFFFFF));
}

/* Now, or what SOURCE_DATE_EPOCH says, for reports that can be compared. */
static void make_date(char date[32]) {
    const char *given = getenv("SOURCE_DATE_EPOCH");
    time_t now = given != NULL ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    struct tm *utc = gmtime(&now);
    if (utc == NULL || strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", utc) == 0)
        snprintf(date, 32, "1970-01-01T00:00:00Z");
}

static void put_point(FILE *out, const char *name, carom_vec3 p) {
    fprintf(out, "<%s><X>%.9g</X><Y>%.9g</Y><Z>%.9g</Z></%s>", name, p.x, p.y, p.z, name);
}

static void put_component(FILE *out, const scene_part *part) {
    fputs("<Component><OriginatingSystem>carom</OriginatingSystem><AuthoringToolId>", out);
    text_put_xml(out, part->title);
    fputs("</AuthoringToolId></Component>", out);
}

typedef struct topic {
    const scene_report *report;
    const scene_clash *clash;
    const scene_part *a, *b;
    uint64_t number;
    const char *date;
    char guid[37], view_guid[37];
} topic;

static void put_markup(const topic *t, FILE *out) {
    const carom_scene_contact *c = &t->clash->contact;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Markup><Topic Guid=\"%s\" "
            "TopicType=\"Clash\" TopicStatus=\"Open\"><Title>",
            t->guid);
    text_put_xml(out, t->a->title);
    fputs(", ", out);
    text_put_xml(out, t->b->title);
    fprintf(out,
            "</Title><Index>%llu</Index><CreationDate>%s</CreationDate>"
            "<CreationAuthor>carom</CreationAuthor><Description>%s",
            (unsigned long long)t->number, t->date, scene_relation_name(t->clash->relation));
    if (t->clash->relation == SCENE_CLOSE) fprintf(out, ", distance %.9g", c->distance);
    if (t->clash->has_volume) fprintf(out, ", volume %.9g", c->volume);
    if (c->depth > 0.0) fprintf(out, ", depth %.9g", c->depth);
    fprintf(out,
            "</Description><Viewpoints><ViewPoint Guid=\"%s\"><Viewpoint>viewpoint.bcfv"
            "</Viewpoint></ViewPoint></Viewpoints></Topic></Markup>\n",
            t->view_guid);
}

/* A camera in front of, right of and above the clash, in metres. */
static void put_viewpoint(const topic *t, FILE *out) {
    double metres = t->report->parts->metres > 0.0 ? t->report->parts->metres : 1.0;
    const carom_scene_contact *c = &t->clash->contact;
    carom_vec3 p = scene_clash_point(t->report, t->clash);
    double size = cbrt(fabs(c->volume)) + c->depth + c->distance;
    for (uint32_t i = 1; i < c->point_count; ++i) {
        carom_vec3 q = c->points[i].point_a;
        size = fmax(size, hypot(hypot(q.x - p.x, q.y - p.y), q.z - p.z));
    }
    double far = (size > 0.0 ? 4.0 * size : 1.0) * metres;
    static const double across = 0.57735026918962576; /* 1 / sqrt 3 */
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
    fputs("</Selection><Visibility DefaultVisibility=\"true\"/></Components><PerspectiveCamera>",
          out);
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
    char path[96], *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return false;
    write(t, memory);
    bool good = fclose(memory) == 0;
    snprintf(path, sizeof(path), "%s/%s", t->guid, name);
    good = good && zip_add(z, path, text, size);
    free(text);
    return good;
}

carom_status scene_write_bcf(const scene_report *report, FILE *out) {
    static const char version[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                  "<Version VersionId=\"3.0\"/>\n";
    static const char extensions[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<Extensions><TopicTypes><TopicType>Clash</TopicType></TopicTypes>"
        "<TopicStatuses><TopicStatus>Open</TopicStatus></TopicStatuses></Extensions>\n";
    char date[32];
    zip z = {.out = out};
    make_date(date);
    if (report->count > MOST_TOPICS) return CAROM_TOO_LARGE;
    bool good = zip_add(&z, "bcf.version", version, sizeof(version) - 1) &&
                zip_add(&z, "extensions.xml", extensions, sizeof(extensions) - 1);
    for (uint64_t i = 0; i < report->count && good; ++i) {
        const scene_clash *clash = &report->clashes[i];
        topic t = {.report = report,
                   .clash = clash,
                   .a = &report->parts->data[clash->a],
                   .b = &report->parts->data[clash->b],
                   .number = i,
                   .date = date};
        make_guid(t.a, t.b, 1, t.guid);
        make_guid(t.a, t.b, 2, t.view_guid);
        good = add_file(&z, &t, "markup.bcf", put_markup) &&
               add_file(&z, &t, "viewpoint.bcfv", put_viewpoint);
    }
    zip_end(&z);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}
