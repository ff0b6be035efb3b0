/* SPDX-License-Identifier: MIT */
/* A display as a page, and the choice of its format. The page is the viewer (viewer/, joined by the
 * build), for clash reports with a panel of their own, with the scene in it as base64 of GLB,
 * gzipped where the tool has zlib, and a picture for browsers without WebGL. Base64 holds no
 * character of markup, and the title is escaped: nothing that comes from a file can end the element
 * it is in. */
#include <stdlib.h>
#include <string.h>

#include "cli/display_glb.h"
#include "cli/encode.h"
#include "cli/endings.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/paint.h"
#include "cli/platform.h"
#include "cli/text.h"

extern const unsigned char cli_viewer_page[], cli_report_page[];
extern const size_t cli_viewer_page_size, cli_report_page_size;

/* Pixels of pictures: those of files, and those of pages, which few will see. */
#define PICTURE_WIDTH  1280u
#define PICTURE_HEIGHT 960u
#define STILL_WIDTH    800u
#define STILL_HEIGHT   600u

typedef carom_status put_fn(const display *d, FILE *out);

static carom_status put_title(const display *d, FILE *out) {
    text_put_xml(out, d->title);
    return CAROM_OK;
}

/* The JSON of a report. A < stands in texts only, and is written so that it ends no element. */
static carom_status put_report(const display *d, FILE *out) {
    if (d->report == NULL) return CAROM_OK;
    fputs("<script type=\"application/json\" id=\"carom-report\">", out);
    for (const char *at = d->report; *at != '\0'; ++at)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            putc(*at, out);
    fputs("</script>\n", out);
    return CAROM_OK;
}

static carom_status put_still(const display *d, FILE *out) {
    return paint_base64(d, NULL, STILL_WIDTH, STILL_HEIGHT, out);
}

carom_status display_write_scene(const display *d, FILE *out) {
    platform_memory glb;
    char *packed = NULL;
    size_t packed_size = 0;
    if (!platform_open_memory(&glb)) return CAROM_NO_MEMORY;
    carom_status status = CAROM_OK;
    if (d->glb == NULL)
        status = display_write_glb(d, true, glb.file);
    else
        (void)fwrite(d->glb, 1, d->glb_size, glb.file);
    if (!platform_close_memory(&glb)) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK && encode_gzip(glb.bytes, glb.size, &packed, &packed_size))
        encode_base64(out, packed, packed_size);
    else if (status == CAROM_OK)
        encode_base64(out, glb.bytes, glb.size);
    free(packed);
    free(glb.bytes);
    return status;
}

/* The places of the viewer's page that are filled in. */
static const struct {
    const char *name;
    put_fn *put;
} markers[] = {{"@CAROM_TITLE@", put_title},
               {"@CAROM_EXTRA_HEAD@", put_report},
               {"@CAROM_FALLBACK@", put_still},
               {"@CAROM_SCENE@", display_write_scene}};

static carom_status write_html(const display *d, FILE *out) {
    bool report = d->report != NULL;
    const char *at = (const char *)(report ? cli_report_page : cli_viewer_page);
    const char *end = at + (report ? cli_report_page_size : cli_viewer_page_size);
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && at < end) {
        const char *mark = memchr(at, '@', (size_t)(end - at));
        if (mark == NULL) mark = end;
        (void)fwrite(at, 1, (size_t)(mark - at), out);
        at = mark;
        put_fn *put = NULL;
        size_t length = 1;
        for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]) && at < end; ++i)
            if (strncmp(at, markers[i].name, strlen(markers[i].name)) == 0) {
                put = markers[i].put;
                length = strlen(markers[i].name);
            }
        if (at == end) break;
        if (put != NULL)
            status = put(d, out);
        else
            putc('@', out);
        at += length;
        if (interrupt_seen()) status = CAROM_CANCELLED;
    }
    return status;
}

bool display_has_format(const char *format) {
    return endings_is(format, "html") || endings_is(format, "glb") || endings_is(format, "png");
}

bool display_save(display *d, const char *path, const char *format) {
    output out = {0};
    if (!output_open(d->cli, path, &out)) return false;
    carom_status status = d->no_memory                 ? CAROM_NO_MEMORY
                          : endings_is(format, "html") ? write_html(d, out.file)
                          : endings_is(format, "svg")  ? display_write_svg(d, out.file)
                          : endings_is(format, "glb")
                              ? display_write_glb(d, false, out.file)
                              : paint_png(d, NULL, PICTURE_WIDTH, PICTURE_HEIGHT, out.file);
    if (status == CAROM_OK && interrupt_seen()) status = CAROM_CANCELLED;
    bool written = output_close(&out, status == CAROM_OK);
    if (status == CAROM_TOO_LARGE)
        (void)cli_fail_with(d->cli, status, "the result is too large for a GLB file");
    else if (status == CAROM_NO_MEMORY)
        (void)cli_fail_with(d->cli, status, "no memory for what is to be shown");
    else if (status != CAROM_OK)
        (void)cli_fail(d->cli, status);
    if (status == CAROM_OK && written && endings_is(format, "html")) d->cli->page = path;
    return status == CAROM_OK && written;
}
