/* SPDX-License-Identifier: MIT */
/* Pictures as PNG, in files and inside pages. */
#include <stdlib.h>

#include "cli/encode.h"
#include "cli/paint.h"
#include "cli/platform.h"

carom_status paint_png(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                       FILE *out) {
    uint8_t *rgb = malloc(3 * (size_t)width * height + 1);
    carom_status status = rgb != NULL ? paint(d, view, width, height, rgb) : CAROM_NO_MEMORY;
    if (status == CAROM_OK && !encode_png(out, rgb, width, height)) status = CAROM_NO_MEMORY;
    free(rgb);
    return status;
}

carom_status paint_base64(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                          FILE *out) {
    platform_memory png;
    if (!platform_open_memory(&png)) return CAROM_NO_MEMORY;
    carom_status status = paint_png(d, view, width, height, png.file);
    if (!platform_close_memory(&png)) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) encode_base64(out, png.bytes, png.size);
    free(png.bytes);
    return status;
}
