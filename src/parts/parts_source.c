/* SPDX-License-Identifier: MIT */
/* What an input is: where its vertices and its faces lie. Only the beginning of a file is read
 * here; parts_reader.c reads the rest by offset. A file is not mapped, as a mapping would crash if
 * it were truncated meanwhile, and its pages would count as memory. */
#include <inttypes.h>

#include "base/byte_order.h"
#include "base/file.h"
#include "base/item.h"
#include "base/platform.h"
#include "base/progress.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_gzip.h"
#include "parts/parts.h"

#define PARTS_HEAD ((uint64_t)4 << 20) /* bytes that hold the header of a PLY file */

#define PARTS_STL_HEADER UINT64_C(84) /* bytes */
#define PARTS_STL_FACET  UINT64_C(50)

static carom_status parts_refuse(parts_job *job, const char *name, const char *why) {
    return carom_fail(
        job->context, CAROM_UNSUPPORTED,
        "%s: %s, which cannot be read in parts; convert it to binary PLY first (carom "
        "convert), or search it in memory",
        name, why);
}

/* ---- PLY ------------------------------------------------------------------------------------- */

static const char *parts_take_vertices(const carom_ply *ply, const carom_ply_element *element,
                                       parts_input *input) {
    uint64_t at = 0;
    bool floats = true;
    if (element->has_list) return "its vertices have lists";
    for (uint32_t p = element->begin; p < element->end; ++p) {
        const carom_ply_property *property = &ply->properties[p];
        if (property->role >= CAROM_PLY_X && property->role <= CAROM_PLY_Z) {
            int axis = (int)property->role - CAROM_PLY_X;
            input->at[axis] = at;
            input->types[axis] = property->type;
            floats = floats && property->type == CAROM_PLY_FLOAT32;
        }
        at += carom_ply_size(property->type);
    }
    input->scalar = floats ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64;
    input->stride = element->fixed_bytes;
    input->vertex_count = element->count;
    return NULL;
}

static const char *parts_take_faces(const carom_ply *ply, const carom_ply_element *element,
                                    parts_input *input) {
    bool found = false;
    for (uint32_t p = element->begin; p < element->end; ++p) {
        const carom_ply_property *property = &ply->properties[p];
        if (property->list && property->role != CAROM_PLY_CORNERS)
            return "its faces have a list beside that of their corners";
        if (property->list) {
            found = true;
            input->count_type = property->count_type;
            input->corner_type = property->type;
        } else if (found) {
            input->after += carom_ply_size(property->type);
        } else {
            input->before += carom_ply_size(property->type);
        }
    }
    input->list_count = found ? element->count : 0;
    return NULL;
}

/* The offsets of vertices and faces. Elements without lists may stand before and between; after the
 * faces there is nothing. */
static const char *parts_take_elements(const carom_ply *ply, uint64_t offset, parts_input *input) {
    const char *why = NULL;
    bool ended = false;
    for (uint32_t e = 0; e < ply->element_count && why == NULL; ++e) {
        const carom_ply_element *element = &ply->elements[e];
        if (element->begin == element->end || element->count == 0) continue;
        if (ended) return "elements follow its faces";
        if (element->kind == CAROM_PLY_TRISTRIPS) return "it has triangle strips";
        if (element->kind == CAROM_PLY_VERTEX) {
            input->vertex_offset = offset;
            why = parts_take_vertices(ply, element, input);
        } else if (element->kind == CAROM_PLY_FACE) {
            input->list_offset = offset;
            why = parts_take_faces(ply, element, input);
            ended = true;
        } else if (element->has_list) {
            return "an element before its faces has lists";
        }
        offset += element->count * element->fixed_bytes;
    }
    return why;
}

static carom_status parts_open_ply(parts_job *job, const uint8_t *head, uint64_t size,
                                   parts_input *input) {
    carom_builder builder = {.context = job->inner, .name = input->name};
    carom_text text = carom_text_of(job->inner, input->name, head, size);
    text.beyond = input->file.size - size;
    carom_ply *ply = carom_allocate(job->allocator, 1, sizeof(*ply));
    if (ply == NULL) return carom_parts_fail_memory(job, sizeof(*ply), "a header of PLY");
    memset(ply, 0, sizeof(*ply));
    const char *why = NULL;
    carom_status status = carom_ply_read_header(&text, ply, &builder);
    if (status != CAROM_OK)
        status = carom_parts_fail_inner(job, status);
    else if (ply->format == CAROM_MESH_FORMAT_PLY_ASCII)
        why = "it is text";
    else
        why = parts_take_elements(ply, (uint64_t)(text.at - head), input);
    if (why != NULL) status = parts_refuse(job, input->name, why);
    input->kind = PARTS_LISTS;
    input->swap = carom_is_little_endian() != (ply->format == CAROM_MESH_FORMAT_PLY);
    input->list_end = input->file.size;
    carom_builder_release(&builder);
    carom_release(job->allocator, ply);
    return status;
}

/* ---- STL ------------------------------------------------------------------------------------- */

static carom_status parts_open_stl(parts_job *job, const uint8_t *head, uint64_t size,
                                   parts_input *input) {
    uint64_t whole = input->file.size, count = 0;
    if (size >= PARTS_STL_HEADER)
        count = carom_ply_load_u32(head + PARTS_STL_HEADER - 4, !carom_is_little_endian());
    /* A file of another size may be text, or have padding after its facets. */
    if (size < PARTS_STL_HEADER || whole != PARTS_STL_HEADER + count * PARTS_STL_FACET)
        return parts_refuse(job, input->name,
                            "it is text, or binary STL of another size than it says");
    input->kind = PARTS_FACETS;
    input->scalar = CAROM_SCALAR_FLOAT32;
    input->swap = !carom_is_little_endian();
    input->list_count = count;
    input->list_offset = PARTS_STL_HEADER;
    input->list_end = whole;
    return CAROM_OK;
}

/* ---- Any input ------------------------------------------------------------------------------- */

static carom_status parts_open_format(parts_job *job, const uint8_t *head, uint64_t size,
                                      parts_input *input) {
    if (carom_is_gzip(head, size)) return parts_refuse(job, input->name, "it is compressed");
    /* Only the beginning is there, so binary STL is not known by its size. */
    carom_mesh_format format = carom_mesh_format_guess(input->name, head, size);
    switch (format) {
    case CAROM_MESH_FORMAT_PLY:
    case CAROM_MESH_FORMAT_PLY_BIG:
    case CAROM_MESH_FORMAT_PLY_ASCII:
        return parts_open_ply(job, head, size, input);
    case CAROM_MESH_FORMAT_STL:
    case CAROM_MESH_FORMAT_STL_ASCII:
        return parts_open_stl(job, head, size, input);
    case CAROM_MESH_FORMAT_OBJ:
        return carom_parts_read_obj(job, input);
    default:
        return parts_refuse(job, input->name, "it is neither PLY nor STL nor OBJ");
    }
}

static carom_status parts_open_path(parts_job *job, const char *path, parts_input *input) {
    carom_file file;
    CAROM_TRY(carom_file_open(job->context, path, &file));
    input->name = path;
    input->file = (parts_file){
        .context = job->context, .name = path, .descriptor = file.descriptor, .size = file.size};
    if (!file.is_regular) return parts_refuse(job, path, "it is a pipe");
    uint64_t size = CAROM_MIN(file.size, PARTS_HEAD);
    uint8_t *head = carom_allocate(job->allocator, size, 1);
    if (head == NULL) return carom_parts_fail_memory(job, size, "the beginning of a file");
    carom_status status = carom_parts_read_at(&input->file, 0, head, size);
    if (status == CAROM_OK) status = parts_open_format(job, head, size, input);
    carom_release(job->allocator, head);
    return status;
}

carom_status carom_parts_fail_faces(parts_job *job, const char *name) {
    return carom_fail(job->context, CAROM_TOO_LARGE,
                      "%s: more than %" PRIu32
                      " faces; their numbers have 32 bits. Divide the mesh "
                      "into several files",
                      name, PARTS_MOST_FACES);
}

/* Too many faces are refused before any is read. */
carom_status carom_parts_open(parts_job *job, const carom_parts_input *from, parts_input *input) {
    if (from->path != NULL) {
        CAROM_TRY(parts_open_path(job, from->path, input));
        return input->list_count <= PARTS_MOST_FACES ? CAROM_OK
                                                     : carom_parts_fail_faces(job, input->name);
    }
    input->name = "mesh";
    if (from->mesh == NULL) return CAROM_OK;
    if (from->mesh->face_count > PARTS_MOST_FACES) return carom_parts_fail_faces(job, input->name);
    CAROM_TRY(carom_mesh_check(job->context, from->mesh));
    input->kind = PARTS_VIEW;
    input->view = from->mesh;
    input->scalar = from->mesh->scalar;
    input->vertex_count = from->mesh->vertex_count;
    input->list_count = from->mesh->face_count;
    return CAROM_OK;
}

void carom_parts_close_input(parts_input *input) {
    carom_parts_close(&input->file);
    carom_parts_close(&input->corners);
}

/* ---- Survey ---------------------------------------------------------------------------------- */

/* Widens the bounds by one vertex; false: it is not finite where its pose puts it. */
static bool parts_survey_point(parts_job *job, const parts_input *input, carom_vec3 p) {
    if (input->posed) p = carom_frame_apply(&input->frame, p);
    const double x[3] = {p.x, p.y, p.z};
    bool finite = true;
    for (int i = 0; i < 3; ++i) {
        finite = finite && x[i] - x[i] == 0.0;
        job->low[i] = CAROM_MIN(x[i], job->low[i]);
        job->high[i] = CAROM_MAX(x[i], job->high[i]);
    }
    return finite;
}

static carom_status parts_survey_fail(parts_job *job, const parts_input *input, carom_vec3 p,
                                      const char *what, uint64_t number) {
    if (p.x - p.x == 0.0 && p.y - p.y == 0.0 && p.z - p.z == 0.0)
        return carom_fail(job->context, CAROM_BAD_INPUT,
                          "%s: the pose moves %s %" PRIu64 " beyond the range of doubles",
                          input->name, what, number);
    return carom_fail(job->context, CAROM_BAD_FILE,
                      "%s: %s %" PRIu64 " has a coordinate that is not finite", input->name, what,
                      number);
}

static carom_status parts_survey_view(parts_job *job, const parts_input *input) {
    for (uint64_t i = 0; i < input->vertex_count; ++i) {
        carom_vec3 p = carom_mesh_position(input->view, i);
        uint64_t words[3];
        memcpy(words, &p, sizeof(words));
        for (int w = 0; w < 3; ++w) job->report.hash = carom_parts_hash(job->report.hash, words[w]);
        if (!parts_survey_point(job, input, p))
            return parts_survey_fail(job, input, p, "vertex", i);
        if (i % 65536 == 0) CAROM_TRY(carom_progress_look(job->context));
    }
    return CAROM_OK;
}

/* Vertices of a file, or corners of facets. */
static carom_status parts_survey_file(parts_job *job, const parts_input *input,
                                      parts_window *window) {
    bool facets = input->kind == PARTS_FACETS;
    uint64_t count = facets ? input->list_count : input->vertex_count;
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_TRY(carom_parts_window_need(window, facets ? PARTS_STL_FACET : input->stride));
        const uint8_t *at = window->bytes + window->at;
        for (uint64_t c = 0; c < (facets ? 3u : 1u); ++c) {
            double x[3];
            for (int a = 0; a < 3; ++a)
                x[a] = facets
                           ? carom_ply_load_number(at + 12 + 12 * c + 4 * (uint64_t)a,
                                                   CAROM_PLY_FLOAT32, input->swap)
                           : carom_ply_load_number(at + input->at[a], input->types[a], input->swap);
            carom_vec3 p = {x[0], x[1], x[2]};
            if (!parts_survey_point(job, input, p))
                return parts_survey_fail(job, input, p, facets ? "facet" : "vertex",
                                         input->first + i);
        }
        window->at += facets ? PARTS_STL_FACET : input->stride;
    }
    return CAROM_OK;
}

carom_status carom_parts_survey(parts_job *job, parts_input *input) {
    if (input->kind == PARTS_EMPTY) return CAROM_OK;
    if (input->kind == PARTS_VIEW) return parts_survey_view(job, input);
    bool facets = input->kind == PARTS_FACETS;
    uint64_t offset = facets ? input->list_offset : input->vertex_offset;
    parts_window window = {.file = &input->file,
                           .bytes = carom_allocate(job->allocator, PARTS_WINDOW, 1),
                           .offset = offset,
                           .end = facets ? input->list_end
                                         : offset + input->vertex_count * input->stride,
                           .hash = &job->report.hash,
                           .read = &job->report.bytes_read};
    if (window.bytes == NULL) return carom_parts_fail_memory(job, PARTS_WINDOW, "reading vertices");
    carom_status status = parts_survey_file(job, input, &window);
    carom_release(job->allocator, window.bytes);
    return status;
}
