/* SPDX-License-Identifier: MIT */
/* What sections of the demo share: a scene on the page, and shapes for displays. */
#include <stdlib.h>

#include "cli/demo.h"
#include "cli/paint.h"
#include "cli/text.h"

/* Pixels of the picture that stands for a scene until it is drawn, or where it cannot be. */
#define STILL_WIDTH  960u
#define STILL_HEIGHT 600u

carom_status demo_show(demo *demo, const display *d, const char *alt) {
    FILE *out = demo->page.out;
    fputs("<figure class=\"scene\"", out);
    if (d->still != 0 && d->still < d->time_count)
        fprintf(out, " data-time=\"%.9g\"", d->times[d->still]);
    fputs("><div class=\"stage\"><img alt=\"", out);
    text_put_xml(out, alt);
    fprintf(out, "\" width=\"%u\" height=\"%u\" src=\"data:image/png;base64,", STILL_WIDTH,
            STILL_HEIGHT);
    carom_status status = paint_base64(d, NULL, STILL_WIDTH, STILL_HEIGHT, out);
    fputs("\"></div><figcaption>", out);
    text_put_xml(out, d->title);
    fputs("</figcaption><p class=\"picked\" aria-live=\"polite\"></p><div class=\"beside\"></div>"
          "<script type=\"application/octet-stream\">",
          out);
    if (status == CAROM_OK) status = display_write_scene(d, out);
    fputs("</script></figure>\n", out);
    return status;
}

void demo_tell_time(display *d, double seconds) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%.3g", 1e3 * seconds);
    display_tell(d, &d->answers, "time, ms", strtod(digits, NULL), NULL);
}

carom_status demo_shape_open(demo *demo, const carom_shape_def *def, const carom_pose *pose,
                             demo_shape *shape) {
    carom_status status = carom_shape_make(demo->cli->context, def, &shape->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(shape->mesh, &shape->view);
    if (status == CAROM_OK)
        status = display_mesh_open(demo->cli, &shape->view, false, pose, &shape->shown);
    return status;
}

void demo_shape_close(demo_shape *shape) {
    display_mesh_close(&shape->shown);
    carom_mesh_destroy(shape->mesh);
    *shape = (demo_shape){0};
}

display_item *demo_shape_add(display *d, demo_shape *shape, const char *name) {
    display_add_mesh(d, &shape->shown, name);
    return display_mesh_part(&shape->shown, 0);
}
