/* SPDX-License-Identifier: MIT */
/* Saving and loading. All predictions are functions of the bodies, so a file holds the bodies, the
 * rules, the clock and the measures, and nothing of cells, lists or queue. Numbers are
 * little-endian words of 64 bits, the same on every machine.
 *
 * Invariant: a file is accepted only if carom_gas_save could have written it. Then every guarantee
 * of a gas holds for it. Any other content is reported as damage. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"
#include "gas/gas.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_writer.h"

#define GAS_SAVE_MAGIC UINT64_C(0x0153414752414301) /* "\1CARGAS\1" */
#define SPHERE_WORDS   11                           /* put_spheres */
#define HEAD_WORDS     34                           /* put_head */
#define SPARE_WORDS    4                            /* at the end of the head, zero */
#define MOST_BOXES     (CAROM_GAS_MOST_DRIFT + 2.0) /* drift of a body, with a rounding margin */
#define FEW_LABELS     (UINT64_C(1) << 20)          /* ids that need no padding: 4 MiB of memory */
#define MOST_CHURN     1024 /* ids given out per sphere present and per word of padding */
#define MOST_NOW       (4 * CAROM_GAS_EPOCH) /* ticks: a run goes three epochs at most */
#define MOST_COUNT     (UINT64_C(1) << 62)   /* of events: no run is that long */
/* Tolerance for the tick in a file: for rounding, and spheres that were removed. */
#define TICK_LEEWAY               16.0
#define GAS_SAVE_UNITS_PER_SPHERE 4 /* units of progress: reading, checking, filing, predicting */

CAROM_ENUM_NAMES(carom_gas_format, CAROM_GAS_FORMAT_COUNT, "guess", "carom");

/* ---- Words of 64 bits ------------------------------------------------------------------------ */

typedef struct stream {
    const uint8_t *at, *end;
    bool broken;
} stream;

static void gas_save_put(carom_writer *writer, uint64_t entry) {
    char *at = carom_writer_reserve(writer);
    for (int i = 0; i < 8; ++i) at[i] = (char)(unsigned char)(entry >> (8 * i));
    carom_writer_advance(writer, at + 8);
}

static uint64_t get(stream *s) {
    unsigned char bytes[8] = {0};
    uint64_t entry = 0;
    if (s->end - s->at >= 8) {
        memcpy(bytes, s->at, 8);
        s->at += 8;
    } else {
        s->broken = true;
    }
    for (int i = 0; i < 8; ++i) entry |= (uint64_t)bytes[i] << (8 * i);
    return entry;
}

static void put_double(carom_writer *s, double value) {
    uint64_t entry;
    memcpy(&entry, &value, sizeof(entry));
    gas_save_put(s, entry);
}

static double get_double(stream *s) {
    uint64_t entry = get(s);
    double value;
    memcpy(&value, &entry, sizeof(value));
    return value;
}

static void gas_save_put_vec(carom_writer *s, carom_vec3 v) {
    put_double(s, v.x);
    put_double(s, v.y);
    put_double(s, v.z);
}

static carom_vec3 get_vec(stream *s) {
    carom_vec3 v;
    v.x = get_double(s);
    v.y = get_double(s);
    v.z = get_double(s);
    return v;
}

/* Words of zero at the end of a file. Every id ever given out takes memory, including removed ones,
 * so a file that declares many ids must be long. Where few spheres are present, padding makes it
 * long enough. */
static uint64_t padding_words(uint64_t labels, uint64_t count) {
    uint64_t wanted = labels < FEW_LABELS ? 0 : labels / MOST_CHURN;
    return wanted > count ? wanted - count : 0;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

/* Epochs that have passed since the one in the gas. When it moves on depends on the threads; a file
 * does not. */
static int64_t late_epochs(const carom_gas *gas) {
    return gas->now >= 2 * CAROM_GAS_EPOCH ? gas->now / CAROM_GAS_EPOCH - 1 : 0;
}

static void put_head(carom_writer *s, const carom_gas *gas) {
    const carom_gas_def *def = &gas->def;
    gas_save_put(s, GAS_SAVE_MAGIC);
    gas_save_put_vec(s, def->edges);
    for (int axis = 0; axis < 3; ++axis) gas_save_put(s, def->periodic[axis]);
    gas_save_put_vec(s, def->acceleration);
    put_double(s, def->loss);
    put_double(s, def->wall_loss);
    put_double(s, def->elastic_below);
    gas_save_put(s, (uint64_t)def->method);
    gas_save_put(s, (uint64_t)def->queue);
    put_double(s, def->cell_edge);
    put_double(s, def->cutoff);
    put_double(s, gas->rules.tick);
    gas_save_put(s, (uint64_t)(gas->now - late_epochs(gas) * CAROM_GAS_EPOCH));
    gas_save_put(s, gas->epochs + (uint64_t)late_epochs(gas));
    gas_save_put(s, gas->events);
    gas_save_put(s, gas->collisions);
    gas_save_put(s, gas->wall_hits);
    gas_save_put(s, gas->crossings);
    gas_save_put(s, gas->predictions);
    put_double(s, gas->measured_from);
    put_double(s, gas->virial.sum);
    put_double(s, gas->virial.rest);
    gas_save_put(s, gas->labels);
    gas_save_put(s, gas->count);
    for (int spare = 0; spare < SPARE_WORDS; ++spare) gas_save_put(s, 0);
}

static void put_spheres(carom_writer *s, const carom_gas *gas) {
    for (uint64_t label = 0; label < gas->labels && s->status == CAROM_OK; ++label) {
        uint32_t slot = gas->slot_of[label];
        if (slot == CAROM_GAS_NO_SLOT) continue;
        const carom_gas_body *body = &gas->bodies[slot];
        gas_save_put(s, label | (uint64_t)gas->records[slot].prediction.repeats << 32);
        for (int axis = 0; axis < 3; ++axis) put_double(s, body->x[axis]);
        for (int axis = 0; axis < 3; ++axis) put_double(s, body->v[axis]);
        gas_save_put(s, (uint64_t)(body->t - late_epochs(gas) * CAROM_GAS_EPOCH));
        gas_save_put(s, 0); /* spare */
        put_double(s, carom_gas_radius(gas, slot));
        put_double(s, carom_gas_mass(gas, slot));
    }
}

/* After a cancellation the writer leaves the message to the end of the phase. */
static carom_status end_writing(carom_context *context, carom_status status) {
    return status == CAROM_CANCELLED ? carom_progress_end(context)
                                     : carom_progress_finish(context, status);
}

/* Begins the phase, which ends before a file gets its final name: a cancelled one never does. */
static void begin_writing(carom_context *context, const carom_gas *gas) {
    uint64_t entries =
        HEAD_WORDS + gas->count * SPHERE_WORDS + padding_words(gas->labels, gas->count);
    carom_progress_begin(context, "writing a gas", 8 * entries);
}

static carom_status put_gas(carom_writer *writer, const carom_gas *gas) {
    put_head(writer, gas);
    put_spheres(writer, gas);
    uint64_t left = padding_words(gas->labels, gas->count);
    for (; left > 0 && writer->status == CAROM_OK; --left) gas_save_put(writer, 0);
    carom_writer_flush(writer);
    return end_writing(writer->context, writer->status);
}

carom_status carom_gas_save(carom_context *context, const carom_gas *gas, carom_gas_format format,
                            const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_KNOWN(format, CAROM_GAS_FORMAT_COUNT, "format");
    CAROM_REQUIRE_INPUT(path, "path");
    if (carom_name_is_gzip(path))
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "%s: gases are not saved compressed; leave the .gz off", path);
    begin_writing(context, gas);
    carom_writer_file file;
    carom_status status = carom_writer_open_file(context, path, false, &file);
    if (status != CAROM_OK) return end_writing(context, status);
    return carom_writer_close_file(&file, put_gas(&file.writer, gas));
}

carom_status carom_gas_save_memory(carom_context *context, const carom_gas *gas,
                                   carom_gas_format format, carom_bytes *bytes) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_KNOWN(format, CAROM_GAS_FORMAT_COUNT, "format");
    CAROM_REQUIRE_RESULT(bytes, "bytes");
    begin_writing(context, gas);
    carom_writer writer;
    carom_status status = carom_writer_open_memory(context, bytes, &writer);
    if (status != CAROM_OK) return end_writing(context, status);
    return carom_writer_close_memory(&writer, put_gas(&writer, gas));
}

/* ---- Loading --------------------------------------------------------------------------------- */

typedef struct gas_save_head {
    carom_gas_def def;
    double tick, measured_from;
    int64_t now;
    uint64_t epochs, events, collisions, wall_hits, crossings, predictions, labels, count;
    carom_gas_total virial;
} gas_save_head;

static bool get_head(stream *s, gas_save_head *h) {
    *h = (gas_save_head){0};
    if (get(s) != GAS_SAVE_MAGIC) return false;
    h->def.edges = get_vec(s);
    for (int axis = 0; axis < 3; ++axis) h->def.periodic[axis] = get(s) == 1;
    h->def.acceleration = get_vec(s);
    h->def.loss = get_double(s);
    h->def.wall_loss = get_double(s);
    h->def.elastic_below = get_double(s);
    uint64_t method = get(s), queue = get(s);
    h->def.method =
        method < CAROM_GAS_METHOD_COUNT ? (carom_gas_method)method : CAROM_GAS_METHOD_AUTO;
    h->def.queue =
        queue < CAROM_GAS_QUEUE_COUNT ? (carom_gas_queue)queue : CAROM_GAS_QUEUE_CALENDAR;
    h->def.cell_edge = get_double(s);
    h->def.cutoff = get_double(s);
    h->tick = h->def.tick = get_double(s);
    h->now = (int64_t)get(s);
    h->epochs = get(s);
    h->events = get(s);
    h->collisions = get(s);
    h->wall_hits = get(s);
    h->crossings = get(s);
    h->predictions = get(s);
    h->measured_from = get_double(s);
    h->virial.sum = get_double(s);
    h->virial.rest = get_double(s);
    h->labels = get(s);
    h->count = get(s);
    for (int spare = 0; spare < SPARE_WORDS; ++spare) (void)get(s);
    int exponent;
    const carom_vec3 a = h->def.acceleration;
    if (!(fabs(a.x) <= CAROM_GAS_MOST_ACCELERATION && fabs(a.y) <= CAROM_GAS_MOST_ACCELERATION &&
          fabs(a.z) <= CAROM_GAS_MOST_ACCELERATION))
        return false;
    bool sound = !s->broken && frexp(h->tick, &exponent) == 0.5; /* a power of two */
    double time = carom_gas_epoch_time(h->epochs, h->now, h->tick);
    const uint64_t counts[] = {h->events, h->collisions, h->wall_hits, h->crossings,
                               h->predictions};
    for (int i = 0; i < 5; ++i) sound = sound && counts[i] < MOST_COUNT;
    return sound && h->now >= 0 && h->now <= MOST_NOW && h->epochs <= CAROM_GAS_MOST_EPOCHS &&
           isfinite(time) && h->measured_from >= 0.0 && h->measured_from <= time &&
           isfinite(h->virial.sum) && isfinite(h->virial.rest) && h->labels < UINT32_MAX &&
           h->count <= h->labels;
}

/* Reads one sphere and checks it as far as possible on its own. */
static bool gas_save_get_sphere(stream *s, carom_gas *gas, uint32_t slot) {
    carom_gas_body *body = &gas->bodies[slot];
    uint64_t label = get(s);
    memset(body, 0, sizeof(*body));
    for (int axis = 0; axis < 3; ++axis) body->x[axis] = get_double(s);
    for (int axis = 0; axis < 3; ++axis) body->v[axis] = get_double(s);
    body->t = (int64_t)get(s);
    (void)get(s);
    gas->radius[slot] = get_double(s);
    gas->mass[slot] = get_double(s);
    gas->records[slot].prediction.repeats = (uint16_t)(label >> 32);
    gas->records[slot].prediction.current = 0;
    gas->records[slot].label = (uint32_t)label;
    gas->records[slot].follower = CAROM_GAS_NO_SLOT;
    if (s->broken || (uint32_t)label >= gas->labels ||
        gas->slot_of[(uint32_t)label] != CAROM_GAS_NO_SLOT)
        return false;
    gas->slot_of[(uint32_t)label] = slot;
    if (body->t > gas->now || body->t < gas->now - 2 * CAROM_GAS_HORIZON) return false;
    double x[3], v[3], least = carom_gas_least_periodic(gas, gas->radius[slot]);
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis)
        if (!(gas->rules.edge[axis] >=
              (gas->rules.periodic[axis] ? least : 2.0 * gas->radius[slot])) ||
            !(fabs(x[axis]) < MOST_BOXES * gas->rules.edge[axis]) || !isfinite(v[axis]) ||
            !(fabs(body->x[axis]) < 2.0 * gas->rules.edge[axis]) || !isfinite(body->v[axis]))
            return false;
    return gas->radius[slot] >= CAROM_GAS_LEAST_LENGTH &&
           gas->longest <= CAROM_GAS_MOST_WIDTH * gas->radius[slot] &&
           gas->mass[slot] >= CAROM_GAS_LEAST_MASS && gas->mass[slot] <= CAROM_GAS_MOST_MASS;
}

static carom_status get_spheres(carom_context *context, stream *s, const char *path,
                                const gas_save_head *h, carom_gas *gas) {
    CAROM_TRY(carom_gas_reserve(context, gas, h->count, h->labels));
    gas->rules.tick = h->tick;
    gas->rules.ticks_per_unit = 1.0 / h->tick;
    gas->now = h->now;
    gas->epochs = h->epochs;
    gas->labels = h->labels;
    if (gas->labels != 0) memset(gas->slot_of, 0xFF, gas->labels * sizeof(*gas->slot_of));
    for (uint64_t i = 0; i < h->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 1));
        if (!gas_save_get_sphere(s, gas, (uint32_t)i))
            return carom_fail(context, CAROM_BAD_FILE, "%s: sphere %llu is damaged", path,
                              (unsigned long long)i);
        ++gas->count;
    }
    CAROM_TRY(carom_gas_check(context, gas, TICK_LEEWAY));
    CAROM_TRY(carom_gas_rebuild(context, gas, 1));
    for (uint64_t i = 0; i < gas->count; ++i)
        if (gas->records[i].prediction.physical < gas->now)
            return carom_fail(context, CAROM_BAD_FILE,
                              "%s: sphere %u should have met something before the time of the file",
                              path, gas->records[i].label);
    return CAROM_OK;
}

/* Reports invalid input found in a file as damage of the file. */
static carom_status name_file(carom_context *context, const char *path, carom_status status) {
    if (status != CAROM_BAD_INPUT) return status;
    char message[CAROM_MESSAGE_SIZE];
    snprintf(message, sizeof(message), "%s", carom_context_message(context));
    return carom_fail(context, CAROM_BAD_FILE, "%s: %s", path, message);
}

static carom_status read_gas(carom_context *context, stream *s, const char *path, uint64_t size,
                             const carom_gas_def *def, carom_gas **out) {
    gas_save_head h;
    if (size < 8 * HEAD_WORDS)
        return carom_fail(context, CAROM_BAD_FILE,
                          "%s: byte %llu: the file ends inside its head of %d bytes; it was cut "
                          "short, or is no saved gas",
                          path, (unsigned long long)size, 8 * HEAD_WORDS);
    if (!get_head(s, &h))
        return carom_fail(context, CAROM_BAD_FILE,
                          "%s is no saved gas, or damaged in its first %d bytes", path,
                          8 * HEAD_WORDS);
    if (def != NULL) {
        h.def.method = def->method;
        h.def.queue = def->queue;
        h.def.cell_edge = def->cell_edge;
        h.def.cutoff = def->cutoff;
        h.def.response = def->response;
        h.def.response_user = def->response_user;
    }
    uint64_t needed = 8 * (HEAD_WORDS + h.count * SPHERE_WORDS + padding_words(h.labels, h.count));
    if (size != needed)
        return carom_fail(
            context, CAROM_BAD_FILE,
            "%s: byte %llu: the file ends here, and its %llu spheres need %llu bytes; "
            "it was cut short or something was added",
            path, (unsigned long long)size, (unsigned long long)h.count,
            (unsigned long long)needed);
    CAROM_TRY(name_file(context, path, carom_gas_create(context, &h.def, out)));
    carom_gas *gas = *out;
    carom_progress_begin(context, "loading a gas", GAS_SAVE_UNITS_PER_SPHERE * h.count);
    carom_status status = name_file(context, path, get_spheres(context, s, path, &h, gas));
    CAROM_TRY(carom_progress_finish(context, status));
    gas->events = h.events;
    gas->collisions = h.collisions;
    gas->wall_hits = h.wall_hits;
    gas->crossings = h.crossings;
    gas->sort_after = gas->sort_after == UINT64_MAX ? UINT64_MAX : gas->sort_after + h.predictions;
    gas->predictions = h.predictions;
    gas->measured_from = h.measured_from;
    gas->virial = h.virial;
    return CAROM_OK;
}

static carom_status check_load(carom_context *context, carom_gas_format format,
                               const carom_gas_def *def, carom_gas **out) {
    CAROM_REQUIRE_OUTPUT(out, "gas");
    *out = NULL;
    CAROM_REQUIRE_KNOWN(format, CAROM_GAS_FORMAT_COUNT, "format");
    if (def != NULL) CAROM_REQUIRE_KNOWN(def->method, CAROM_GAS_METHOD_COUNT, "method");
    if (def != NULL) CAROM_REQUIRE_KNOWN(def->queue, CAROM_GAS_QUEUE_COUNT, "queue");
    return carom_context_require_cpu(context, "a gas");
}

static carom_status gas_save_load(carom_context *context, const void *bytes, uint64_t size,
                                  const char *name, const carom_gas_def *def, carom_gas **out) {
    stream s = {.at = bytes, .end = (const uint8_t *)bytes + size};
    carom_status status = read_gas(context, &s, name, size, def, out);
    if (status != CAROM_OK) {
        carom_gas_destroy(*out);
        *out = NULL;
    }
    return status;
}

carom_status carom_gas_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                   carom_gas_format format, const char *name,
                                   const carom_gas_def *def, carom_gas **out) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(bytes != NULL, CAROM_ARE_NULL("bytes"));
    CAROM_TRY(check_load(context, format, def, out));
    return gas_save_load(context, bytes, size, name != NULL ? name : "gas", def, out);
}

carom_status carom_gas_load(carom_context *context, const char *path, carom_gas_format format,
                            const carom_gas_def *def, carom_gas **out) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_TRY(check_load(context, format, def, out));
    uint8_t *bytes;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = gas_save_load(context, bytes, size, path, def, out);
    carom_release(&context->allocator, bytes);
    return status;
}
