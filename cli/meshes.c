/* SPDX-License-Identifier: MIT */
/* Reads and writes mesh files, and converts what a format cannot hold. */
#include "cli/meshes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/display.h"
#include "cli/endings.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/platform.h"

const char *meshes_from_choice(int index) {
    return index < CAROM_MESH_FORMAT_COUNT ? carom_mesh_format_name((carom_mesh_format)index)
                                           : NULL;
}

static const char *const shown_formats[] = {"html", "glb", "png", NULL};

const char *meshes_format_choice(int index) {
    return index < CAROM_MESH_FORMAT_OTHER ? meshes_from_choice(index)
                                           : shown_formats[index - CAROM_MESH_FORMAT_OTHER];
}

const char *meshes_endings(int index) {
    static const char *const list[] = {"obj", "ply", "stl", "off", "html", "glb", "png", NULL};
    return list[index];
}

int meshes_format(const char *path, int choice) {
    if (choice >= CAROM_MESH_FORMAT_OTHER) return MESHES_HTML + choice - CAROM_MESH_FORMAT_OTHER;
    if (choice != CAROM_MESH_FORMAT_GUESS) return choice;
    if (output_is_standard(path)) return CAROM_MESH_FORMAT_GUESS;
    const char *format = endings_format(path, NULL, meshes_endings);
    for (int i = 0; shown_formats[i] != NULL; ++i)
        if (endings_is(format, shown_formats[i])) return MESHES_HTML + i;
    return (int)carom_mesh_format_guess(path, NULL, 0);
}

bool meshes_can_write(int format) {
    return format != CAROM_MESH_FORMAT_GUESS && format != CAROM_MESH_FORMAT_OTHER;
}

int meshes_refuse(cli *cli) {
    return cli_fail_with(cli, CAROM_UNSUPPORTED,
                         "the standard output has no name to tell the format; give --format");
}

bool meshes_is_plain(int format) {
    return format == CAROM_MESH_FORMAT_STL;
}

typedef carom_status weld_fn(carom_context *context, const carom_mesh_view *view,
                             carom_mesh **mesh);

static carom_status weld_with(cli *cli, weld_fn *weld, carom_mesh **mesh) {
    carom_mesh *apart = *mesh;
    carom_mesh_view view;
    *mesh = NULL;
    carom_status status = carom_mesh_get_view(apart, &view);
    if (status == CAROM_OK) status = weld(cli->context, &view, mesh);
    carom_mesh_destroy(apart);
    return status;
}

carom_status meshes_weld(cli *cli, carom_mesh **mesh) {
    return weld_with(cli, carom_mesh_weld, mesh);
}

carom_status meshes_weld_parts(cli *cli, carom_mesh **mesh) {
    return weld_with(cli, carom_mesh_weld_parts, mesh);
}

/* ---- Standard input and output --------------------------------------------------------------- */

#define STANDARD_INPUT  "standard input"
#define STANDARD_OUTPUT "standard output"
#define PIECE           ((size_t)1 << 16) /* bytes read at a time */
#define WAIT            50                /* milliseconds between two checks for a signal */

typedef struct bytes {
    char *data;
    size_t size, capacity;
} bytes;

static carom_status fail_file(cli *cli, const char *name, const char *what) {
    snprintf(cli->message, sizeof(cli->message), "%.300s: cannot be %s: %.100s", name, what,
             strerror(errno));
    return CAROM_IO;
}

static carom_status read_all(cli *cli, int file, const char *name, bytes *b) {
    for (;;) {
        if (b->capacity - b->size < PIECE) {
            size_t capacity = b->capacity + b->capacity / 2 + PIECE;
            char *data = realloc(b->data, capacity);
            if (data == NULL) return CAROM_NO_MEMORY;
            b->data = data;
            b->capacity = capacity;
        }
        /* A signal between the check of the flag and the read would go unnoticed until the next
         * byte; waiting ends in time. */
        bool found = carom_os_wait_input(file, WAIT);
        if (interrupt_seen()) return CAROM_CANCELLED;
        if (!found) continue;
        int64_t got = carom_os_read(file, b->data + b->size, PIECE);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_file(cli, name, "read");
        if (got == 0) return CAROM_OK;
        b->size += (size_t)got;
        if (b->size > cli->limit_input) {
            char reason[256];
            input_say_limit(cli->limit_input, reason, sizeof(reason));
            snprintf(cli->message, sizeof(cli->message), "%.200s: %s", name, reason);
            return CAROM_TOO_LARGE;
        }
    }
}

/* Reads the bytes of a file or of the standard input in the requested format. */
static carom_status read_as(cli *cli, const char *path, const char *name, carom_mesh_format format,
                            carom_mesh **mesh) {
    bytes b = {0};
    char reason[256];
    bool standard = output_is_standard(path);
    int file = standard ? PLATFORM_STDIN : carom_os_open_input(path);
    if (file < 0) return fail_file(cli, name, "opened");
    bool allowed = input_allows(file, standard, cli->limit_input, reason, sizeof(reason));
    if (!allowed) snprintf(cli->message, sizeof(cli->message), "%.200s: %s", name, reason);
    carom_status status = allowed ? read_all(cli, file, name, &b) : CAROM_IO;
    if (!standard) (void)carom_os_close(file);
    if (status == CAROM_OK)
        status = carom_mesh_load_memory(cli->context, b.data, b.size, format, name, mesh);
    free(b.data);
    return status;
}

/* Writes only complete meshes: they are built in memory first, so that a failure writes nothing. */
static carom_status save_standard_output(cli *cli, const carom_mesh_view *view,
                                         carom_mesh_format format) {
    carom_bytes made = {0};
    carom_status status = carom_mesh_save_memory(cli->context, view, format, &made);
    for (uint64_t at = 0; status == CAROM_OK && at < made.count;) {
        size_t size = made.count - at < PIECE ? (size_t)(made.count - at) : PIECE;
        size_t written = fwrite(made.data + at, 1, size, stdout);
        at += written;
        if (interrupt_seen()) status = CAROM_CANCELLED;
        if (written != size) break; /* cli_main reports a standard output that has failed */
    }
    carom_bytes_free(&made);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* OBJ and what assimp reads are y-up by custom; files of scanners, printers and CAD are z-up. */
static void keep_origin(cli *cli, const carom_mesh_origin *origin) {
    if (cli->up != 0) return;
    cli->up = origin->format == CAROM_MESH_FORMAT_OBJ || origin->format == CAROM_MESH_FORMAT_OTHER
                  ? 'y'
                  : 'z';
    cli->metres = origin->metres;
}

carom_status meshes_read(cli *cli, const char *path, int from, carom_mesh **mesh) {
    carom_mesh_format format = (carom_mesh_format)from;
    carom_mesh_origin origin;
    carom_status status;
    const char *name = output_is_standard(path) ? STANDARD_INPUT : path;
    cli->message[0] = '\0';
    if (*path == '\0') {
        snprintf(cli->message, sizeof(cli->message), "the name of a mesh file is empty");
        return CAROM_IO;
    }
    if (!files_add(&cli->files, path, false)) return CAROM_NO_MEMORY;
    if (format != CAROM_MESH_FORMAT_GUESS || output_is_standard(path))
        status = read_as(cli, path, name, format, mesh);
    else
        status = carom_mesh_load(cli->context, path, CAROM_MESH_FORMAT_GUESS, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_origin(*mesh, &origin);
    if (status == CAROM_OK) keep_origin(cli, &origin);
    if (status == CAROM_OK && origin.skipped_faces != 0)
        fprintf(stderr, "carom: %s: %llu face%s with fewer than three corners left out\n", name,
                (unsigned long long)origin.skipped_faces, origin.skipped_faces == 1 ? "" : "s");
    return status;
}

carom_status meshes_load(cli *cli, const char *path, int from, bool no_weld, carom_mesh **mesh) {
    carom_status status = meshes_read(cli, path, from, mesh);
    return status != CAROM_OK || no_weld ? status : meshes_weld(cli, mesh);
}

carom_status meshes_triangulate(cli *cli, bool fan, carom_mesh **mesh) {
    carom_mesh_triangulate_def def = {.fan = fan};
    carom_mesh *polygons = *mesh;
    carom_mesh_view view;
    carom_status status = carom_mesh_get_view(polygons, &view);
    if (status != CAROM_OK || view.offsets == NULL) return status;
    *mesh = NULL;
    status = carom_mesh_triangulate(cli->context, &view, &def, mesh, NULL);
    carom_mesh_destroy(polygons);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static carom_status save(cli *cli, const carom_mesh_view *view, int as, const char *path) {
    carom_mesh_format format = (carom_mesh_format)as;
    if (output_is_standard(path)) return save_standard_output(cli, view, format);
    interrupt_hold(); /* the library removes its draft itself */
    carom_status status = carom_mesh_save(cli->context, view, format, path);
    interrupt_release();
    return status;
}

/* Saves with positions rounded to float32. */
static carom_status save_rounded(cli *cli, carom_mesh_view view, int format, const char *path) {
    const double *from = view.positions;
    uint64_t count = 3 * view.vertex_count, rounded = 0;
    float *to = malloc((count != 0 ? count : 1) * sizeof(*to));
    if (to == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < count; ++i) {
        to[i] = (float)from[i];
        rounded += (double)to[i] != from[i];
    }
    if (rounded != 0 && !cli->quiet)
        fprintf(stderr, "carom: %s: %llu of %llu coordinates were rounded to float32\n",
                output_is_standard(path) ? STANDARD_OUTPUT : path, (unsigned long long)rounded,
                (unsigned long long)count);
    view.positions = to;
    view.scalar = CAROM_SCALAR_FLOAT32;
    view.stride = 0;
    carom_status status = save(cli, &view, format, path);
    free(to);
    return status;
}

const char *meshes_shown_format(int format) {
    return format >= MESHES_HTML ? shown_formats[format - MESHES_HTML] : NULL;
}

static carom_status save_shown(cli *cli, const carom_mesh_view *view, int format,
                               const char *path) {
    display d;
    display_mesh shown = {0};
    /* what was read is what is shown; what was made has the name of the page alone */
    const char *name = cli->input_count != 0 ? cli->inputs[0] : path;
    display_begin(&d, cli, carom_os_file_name(name));
    carom_status status = display_mesh_open(cli, view, false, NULL, &shown);
    if (status == CAROM_OK) {
        display_add_mesh(&d, &shown, name);
        display_tell_count(&d, &d.answers, "faces", view->face_count);
        if (!display_save(&d, path, shown_formats[format - MESHES_HTML])) {
            snprintf(cli->message, sizeof(cli->message), "%.300s: cannot be written", path);
            status = CAROM_IO; /* which was reported */
        }
    }
    display_mesh_close(&shown);
    display_free(&d);
    return status;
}

carom_status meshes_save(cli *cli, carom_mesh **mesh, int format, bool float32, const char *path) {
    carom_mesh_view view;
    carom_status status = CAROM_OK;
    if (format >= MESHES_HTML) {
        status = carom_mesh_get_view(*mesh, &view);
        return status == CAROM_OK ? save_shown(cli, &view, format, path) : status;
    }
    if (format == CAROM_MESH_FORMAT_STL || format == CAROM_MESH_FORMAT_STL_ASCII)
        status = meshes_triangulate(cli, false, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status != CAROM_OK) return status;
    if (view.scalar == CAROM_SCALAR_FLOAT64 && (float32 || meshes_is_plain(format)))
        return save_rounded(cli, view, format, path);
    return save(cli, &view, format, path);
}
