/* SPDX-License-Identifier: MIT */
/* Windows of time in which several threads advance one gas, event for event as one thread would.
 *
 * An event is a function of the bodies of its spheres alone (gas_item.h), so two events without a
 * common sphere may be computed in any order. The cells are divided into regions, one per thread.
 * In the first pass of a window each thread handles what is due deep inside its region, in the
 * order of time, and keeps what is near the end of it, or would meet what was kept. The next pass
 * has the regions shifted by half their width, so that most of what was kept is deep inside; the
 * last pass handles the rest on one thread.
 *
 * A later pass goes back in time: it handles events at times before those that an earlier one has
 * handled. What it changes must not have met any of that. So each body that is rewritten is kept as
 * a version, and each search for a sphere's next event also looks whether the sphere meets a
 * version of a candidate before that ended. If so, the window is undone, all its bodies are as they
 * were, and one thread handles it in order. Windows are so short that this is rare: it would
 * have to meet one that was not to be met when the window began, and that one another, within some
 * hundredths of the time between two collisions.
 *
 * Invariants, proved in docs/gas.md:
 * - a home that a sphere gets within a window is valid in all of the window, as no body moves by
 *   more than half the skin in it (`fastest`);
 * - of two spheres in neighbouring homes, with their present bodies, one is due no later than they
 *   meet, whatever the order in which both were handled;
 * - no thread reads what another writes (gas_regions.c). */
#include "gas/gas_windows.h"

#include <math.h>
#include <string.h>

#include "gas/gas_levels.h"
#include "gas/gas_queue.h"
#include "gas/gas_trajectory.h"

#define LEAST_GAIN   1.2  /* carom_gas_regions_choose, for windows to be used */
#define SPEED_MARGIN 1.25 /* of the fastest body: collisions rarely make one faster */
#define SKIN_SHARE   0.5  /* by which a body moves in a window at most */
/* Entries per region: of the first window, at most (cancellation is checked between windows), and
 * below which a window is not worth its synchronisation, some ten microseconds per pass. */
#define FIRST_WINDOW_ENTRIES 2500.0
#define MOST_WINDOW_ENTRIES  20000.0
#define LEAST_WINDOW_ENTRIES 100.0
#define FIRST_SHARE          0.02 /* of the spheres: of a hundred such windows few are undone */
/* A window that is undone costs as many windows as there are threads. Its span is halved then, and
 * grows by a tenth after so many windows per thread that were not. */
#define SPAN_GROWTH       1.1
#define WINDOWS_TO_GROW   4
#define LEAST_FIRST       0x1p-12                       /* of the longest: see first_span */
#define MOST_SPAN         0x1p58                        /* ticks */
#define LANE_OVERFLOW     (8 * CAROM_GAS_STEP_OVERFLOW) /* cells dealt to a region at least */
#define OVERFLOW_PER_CELL 64 /* spheres per overflow cell that is dealt */

/* Adds the time since `from` to a phase; the time now. */
static double end_phase(carom_gas *gas, carom_gas_phase phase, double from) {
    double now = carom_time_seconds();
    gas->counts.seconds[phase] += now - from;
    return now;
}

/* ---- Overflow cells -------------------------------------------------------------------------- */

static void move_free_cells(carom_gas_cells *from, carom_gas_cells *to, uint64_t count) {
    for (; count > 0; --count) {
        uint32_t moved = from->free_overflow;
        carom_gas_cell *cell = &from->cells[from->count + moved];
        from->free_overflow = cell->entry[0];
        --from->free_count;
        cell->entry[0] = to->free_overflow;
        to->free_overflow = moved;
        ++to->free_count;
    }
}

/* The present cells with the copy's own free ones. */
static void share_grid(carom_gas_cells *copy, const carom_gas_cells *cells) {
    uint32_t first = copy->free_overflow, count = copy->free_count;
    *copy = *cells;
    copy->free_overflow = first;
    copy->free_count = count;
}

/* The same for all levels. */
static void share_cells(carom_gas *copy, const carom_gas *gas) {
    share_grid(&copy->cells, &gas->cells);
    for (uint32_t k = 1; k < gas->levels.count; ++k) {
        carom_gas_level *level = &copy->levels.level[k];
        carom_gas_cells own = level->cells;
        *level = gas->levels.level[k];
        level->cells = own;
        share_grid(&level->cells, &gas->levels.level[k].cells);
    }
    if (gas->levels.count != 0) copy->levels.level[0] = gas->levels.level[0];
}

/* Grids of cells of a gas: one, or one per level. */
static uint32_t grid_count(const carom_gas *gas) {
    return CAROM_MAX(gas->levels.count, 1);
}

static void hand_free_cells(carom_gas *to, const carom_gas *from) {
    for (uint32_t k = 0; k < grid_count(from); ++k) {
        carom_gas_cells *cells = carom_gas_cells_of(to, k);
        const carom_gas_cells *own = carom_gas_cells_seen(from, k);
        cells->free_overflow = own->free_overflow;
        cells->free_count = own->free_count;
    }
}

static void collect_free_cells(carom_gas *gas, carom_gas_windows *windows) {
    for (uint32_t lane = 0; lane < windows->lanes; ++lane) {
        carom_gas *copy = &windows->gases[lane];
        share_cells(copy, gas);
        for (uint32_t k = 0; k < grid_count(gas); ++k) {
            carom_gas_cells *cells = carom_gas_cells_of(copy, k);
            move_free_cells(cells, carom_gas_cells_of(gas, k), cells->free_count);
        }
    }
}

/* Gives each region free overflow cells; false when there is no memory. */
static bool deal_free_cells(carom_gas *gas, carom_gas_windows *windows) {
    uint64_t each = LANE_OVERFLOW + gas->count / OVERFLOW_PER_CELL / windows->lanes;
    collect_free_cells(gas, windows);
    for (uint32_t k = 0; k < grid_count(gas); ++k)
        if (!carom_gas_cells_reserve_many(gas, carom_gas_cells_of(gas, k),
                                          (windows->lanes + 1) * each))
            return false;
    for (uint32_t lane = 0; lane < windows->lanes; ++lane) {
        carom_gas *copy = &windows->gases[lane];
        share_cells(copy, gas);
        for (uint32_t k = 0; k < grid_count(gas); ++k)
            move_free_cells(carom_gas_cells_of(gas, k), carom_gas_cells_of(copy, k), each);
    }
    return true;
}

static bool lacks_free_cells(const carom_gas_windows *windows) {
    for (uint32_t lane = 0; lane < windows->lanes; ++lane)
        if (carom_gas_least_free(&windows->gases[lane]) < LANE_OVERFLOW / 2) return true;
    return false;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint32_t part_count(const carom_gas_windows *windows) {
    return windows->passes * windows->lanes + 1;
}

static carom_gas_part *last_part(const carom_gas_windows *windows) {
    return &windows->parts[windows->passes * windows->lanes];
}

/* The copy in which a part works. */
static carom_gas *copy_of(const carom_gas_windows *windows, const carom_gas_part *part) {
    if (part->region == NULL) return &windows->gases[2 * windows->lanes];
    return &windows->gases[(part->index < windows->lanes ? 0 : windows->lanes) + part->lane];
}

/* Makes a copy ready for a part: the gas as it is, with a calendar and free cells of its own. */
static void prepare_copy(const carom_gas_windows *windows, const carom_gas *gas,
                         carom_gas_part *part, int64_t until) {
    carom_gas *copy = copy_of(windows, part);
    carom_gas_calendar calendar = copy->calendar;
    carom_gas_level *levels = copy->levels.level;
    share_cells(copy, gas);
    if (part->region == NULL) hand_free_cells(copy, gas);
    carom_gas_cells cells = copy->cells;
    *copy = *gas;
    copy->calendar = calendar;
    copy->cells = cells;
    copy->levels.level = levels;
    for (uint32_t k = 0; k < grid_count(gas) && gas->method == CAROM_GAS_METHOD_CENTRE; ++k)
        for (int axis = 0; axis < 3; ++axis)
            carom_gas_cells_of(copy, k)->ahead[axis] *= 1.0 - SKIN_SHARE;
    copy->part = part;
    if (part->index >= windows->lanes) copy->homes_until = until;
    copy->crossings = copy->predictions = copy->waits = 0;
    part->until = until;
    part->failed = part->no_memory = false;
    part->is_run = true;
    part->steps = 0;
}

/* Adds what a part has counted to the gas. */
static void add_part_counts(const carom_gas_windows *windows, carom_gas *gas,
                            const carom_gas_part *part, uint64_t fast) {
    const carom_gas *copy = copy_of(windows, part);
    gas->crossings += copy->crossings;
    gas->predictions += copy->predictions;
    gas->waits += copy->waits;
    gas->trajectories.fast += copy->trajectories.fast - fast;
    gas->counts.steps += part->steps;
}

/* An empty calendar that takes what is due up to `until`, and `spheres` of it at least. */
static bool begin_calendar(carom_gas *copy, uint64_t spheres, int64_t until) {
    carom_gas_calendar *calendar = &copy->calendar;
    if (spheres + CAROM_GAS_STEP_ENTRIES > calendar->window_capacity) {
        void *window = carom_array_grow(&copy->allocator, calendar->window, 0,
                                        2 * (spheres + CAROM_GAS_STEP_ENTRIES),
                                        sizeof(*calendar->window), &calendar->window_capacity);
        if (window == NULL) return false;
        calendar->window = window;
    }
    calendar->shift = 0;
    calendar->base = until + 1;
    calendar->next_look = INT64_MAX;
    calendar->free_chunk = CAROM_GAS_EMPTY;
    calendar->free_count = UINT32_MAX;
    calendar->window_head = calendar->window_tail = calendar->looked = 0;
    memset(calendar->pending, 0xFF, sizeof(calendar->pending));
    return true;
}

static void put_in_window(carom_gas *copy, uint32_t slot) {
    carom_gas_calendar *calendar = &copy->calendar;
    carom_gas_prediction *prediction = &copy->records[slot].prediction;
    CAROM_ASSERT(calendar->window_tail < calendar->window_capacity);
    prediction->current = 1;
    calendar->window[calendar->window_tail].time = carom_gas_due(prediction);
    calendar->window[calendar->window_tail++].slot = slot;
}

static void sort_window(carom_gas *copy) {
    carom_gas_queue_sort(copy->calendar.window, copy->calendar.window_tail);
}

/* Takes what the parts of the pass before have kept in the region of this part. */
static bool take_kept(carom_gas *copy, const carom_gas_windows *windows) {
    const carom_gas_part *part = copy->part;
    uint32_t pass = part->index / windows->lanes;
    const carom_gas_part *before = &windows->parts[(pass - 1) * windows->lanes];
    uint64_t count = 0;
    for (uint32_t lane = 0; lane < windows->lanes; ++lane) count += before[lane].kept.count;
    if (!begin_calendar(copy, count, part->until)) return false;
    for (uint32_t lane = 0; lane < windows->lanes; ++lane)
        for (uint64_t i = 0; i < before[lane].kept.count; ++i)
            if (carom_gas_owns(copy, before[lane].kept.data[i]))
                put_in_window(copy, before[lane].kept.data[i]);
    sort_window(copy);
    return true;
}

/* Enters in the calendar of a region the spheres that parts without a calendar have left. */
static bool take_done(carom_gas *copy, const carom_gas_windows *windows) {
    for (uint32_t k = windows->lanes; k < part_count(windows); ++k)
        for (uint64_t i = 0; i < windows->parts[k].done.count; ++i) {
            uint32_t slot = windows->parts[k].done.data[i];
            if (!carom_gas_owns(copy, slot)) continue;
            if (!carom_gas_queue_room(copy)) return false;
            carom_gas_calendar_put(copy, slot);
        }
    return true;
}

/* Ends of the events of each part after each logged window, and the events in order. */
typedef struct event_stream {
    carom_gas_slots ends;
    uint64_t windows, events;
    carom_gas_happenings order[2];
} event_stream;

typedef struct pass_work {
    carom_context *context;
    carom_gas *gas;
    carom_gas_windows *windows;
    event_stream *stream;
    const carom_gas_observer *observer;
    uint32_t pass;
    int64_t until;
} pass_work;

static carom_status run_lane(void *argument, carom_range range) {
    const pass_work *w = argument;
    carom_gas_windows *windows = w->windows;
    for (uint64_t lane = range.begin; lane < range.end; ++lane) {
        carom_gas_part *part = &windows->parts[w->pass * windows->lanes + lane];
        carom_gas *copy = copy_of(windows, part), *own = &windows->gases[lane];
        uint32_t culprit = 0;
        hand_free_cells(copy, own);
        prepare_copy(windows, w->gas, part, w->until);
        if (w->pass == 0 ? take_done(copy, windows) : take_kept(copy, windows)) {
            if (CAROM_CPU_CALL(w->context, carom_gas_run_part)(copy, &culprit) !=
                CAROM_GAS_STOP_TIME)
                part->failed = true;
        } else {
            part->failed = part->no_memory = true;
        }
        for (uint64_t i = 0; i < part->marked.count; ++i)
            windows->held[part->marked.data[i]] = CAROM_GAS_HELD_FREE;
        part->marked.count = 0;
    }
    return CAROM_OK;
}

/* Runs one pass; *failed when the window must be undone. */
static carom_status run_pass(pass_work *work, uint32_t pass, int64_t until, bool *failed) {
    carom_gas_windows *windows = work->windows;
    const uint64_t fast = work->gas->trajectories.fast;
    const uint32_t lanes = windows->lanes;
    carom_gas_part *parts = &windows->parts[pass * lanes];
    work->pass = pass;
    work->until = until;
    for (uint32_t lane = 0; lane < lanes; ++lane) parts[lane].is_run = false;
    double begin = carom_time_seconds();
    carom_status status = carom_parallel_for(work->context, lanes, 1, run_lane, work);
    (void)end_phase(work->gas, pass == 0 ? CAROM_GAS_PHASE_FIRST : CAROM_GAS_PHASE_LATER, begin);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        carom_gas *own = &windows->gases[lane], *copy = copy_of(windows, &parts[lane]);
        if (!parts[lane].is_run) continue; /* it was cancelled before */
        hand_free_cells(own, copy);
        add_part_counts(windows, work->gas, &parts[lane], fast);
        if (pass == 0) work->gas->counts.kept += parts[lane].kept.count;
        *failed = *failed || parts[lane].failed;
    }
    for (uint32_t lane = 0; lane < lanes && pass > 0 && !*failed; ++lane)
        windows->parts[(pass - 1) * lanes + lane].kept.count = 0; /* all taken */
    for (uint32_t k = 0; k < part_count(windows) && pass == 0; ++k)
        if (status == CAROM_OK) windows->parts[k].done.count = 0;
    return status;
}

/* Runs the last part, whose calendar holds what is due. */
static carom_gas_stop run_last(const pass_work *work, uint32_t *culprit) {
    carom_gas_part *part = last_part(work->windows);
    carom_gas *copy = copy_of(work->windows, part), *gas = work->gas;
    const uint64_t fast = gas->trajectories.fast;
    carom_gas_stop stop = CAROM_CPU_CALL(work->context, carom_gas_run_part)(copy, culprit);
    add_part_counts(work->windows, gas, part, fast);
    gas->counts.serial += part->steps;
    hand_free_cells(gas, copy);
    for (uint32_t k = 0; k < grid_count(gas); ++k) {
        carom_gas_cells *cells = carom_gas_cells_of(gas, k);
        cells->cells = carom_gas_cells_seen(copy, k)->cells;
        cells->overflow_capacity = carom_gas_cells_seen(copy, k)->overflow_capacity;
    }
    return stop;
}

/* ---- The order of events --------------------------------------------------------------------- */

/* The parts log their events, each in order. Many windows later the logs are merged, a window at a
 * time on each thread, and the events counted in the order of the stream: the virial is a sum that
 * depends on it.
 *
 * At one tick one thread takes the first of those due by (kind, a, b). Of two that are due in two
 * parts the first comes first; one that follows from another is in the same part after it, or the
 * window is undone (keep_version in gas_run_cpu.c). */

static bool comes_first(const carom_gas_happening *x, const carom_gas_happening *y) {
    if (x->time != y->time) return x->time < y->time;
    if (x->kind != y->kind) return x->kind < y->kind;
    return x->a != y->a ? x->a < y->a : x->b <= y->b;
}

static void merge_two(const carom_gas_happening *a, uint64_t n, const carom_gas_happening *b,
                      uint64_t m, carom_gas_happening *to) {
    while (n > 0 && m > 0) {
        bool first = comes_first(a, b);
        *to++ = *(first ? a : b);
        a += first, n -= first, b += !first, m -= !first;
    }
    memcpy(to, a, n * sizeof(*a));
    memcpy(to + n, b, m * sizeof(*b));
}

#define STREAM_EVENTS (UINT64_C(1) << 17) /* that are logged before they are merged: some MiB */

typedef struct merge_work {
    const carom_gas_windows *windows;
    event_stream *stream;
} merge_work;

static uint64_t end_of_events(const merge_work *w, uint64_t window, uint32_t part) {
    if (window == 0) return 0;
    return w->stream->ends.data[(window - 1) * part_count(w->windows) + part];
}

/* Merges the runs of one window; each range is a window. */
static carom_status merge_window(void *argument, carom_range range) {
    const merge_work *w = argument;
    uint64_t ends[CAROM_GAS_MOST_PASSES * CAROM_GAS_MOST_REGIONS + 1], begin = 0;
    uint32_t runs = part_count(w->windows);
    for (uint32_t k = 0; k < runs; ++k) begin += end_of_events(w, range.begin, k);
    carom_gas_happening *from = w->stream->order[0].data, *to = w->stream->order[1].data;
    uint64_t end = begin;
    for (uint32_t k = 0; k < runs; ++k) {
        const carom_gas_happening *run = w->windows->parts[k].happenings.data;
        uint64_t last = end_of_events(w, range.begin + 1, k);
        for (uint64_t i = end_of_events(w, range.begin, k); i < last; ++i) from[end++] = run[i];
        ends[k] = end;
    }
    for (; runs > 1; runs = (runs + 1) / 2) {
        for (uint32_t k = 0; k < runs; k += 2) {
            uint64_t start = k == 0 ? begin : ends[k - 1], middle = ends[k];
            uint64_t stop = k + 1 < runs ? ends[k + 1] : middle;
            merge_two(from + start, middle - start, from + middle, stop - middle, to + start);
        }
        for (uint32_t k = 0; k < runs; k += 2) ends[k / 2] = k + 1 < runs ? ends[k + 1] : ends[k];
        carom_gas_happening *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != w->stream->order[0].data)
        memcpy(&w->stream->order[0].data[begin], from + begin, (ends[0] - begin) * sizeof(*from));
    return CAROM_OK;
}

/* Logs a window that is complete; false when there is no memory, and nothing has changed. */
static bool log_window(const pass_work *work) {
    event_stream *stream = work->stream;
    const carom_gas_windows *windows = work->windows;
    const carom_allocator *allocator = &work->gas->allocator;
    uint64_t total = 0, logged = stream->ends.count;
    for (uint32_t k = 0; k < part_count(windows); ++k) total += windows->parts[k].happenings.count;
    for (int i = 0; i < 2; ++i)
        if (!carom_gas_happenings_reserve(&stream->order[i], allocator, total + 1)) return false;
    if (!carom_gas_slots_reserve(&stream->ends, allocator, logged + part_count(windows)))
        return false;
    for (uint32_t k = 0; k < part_count(windows); ++k)
        stream->ends.data[logged + k] = (uint32_t)windows->parts[k].happenings.count;
    stream->ends.count += part_count(windows);
    stream->events = total;
    ++stream->windows;
    return true;
}

/* Forgets the events of a window that is not logged. */
static void cut_stream(const pass_work *work) {
    merge_work merge = {work->windows, work->stream};
    for (uint32_t k = 0; k < part_count(work->windows); ++k)
        work->windows->parts[k].happenings.count = end_of_events(&merge, work->stream->windows, k);
}

static void count_happening(carom_gas *gas, const carom_gas_happening *event) {
    bool pair = event->kind == CAROM_GAS_PREDICTION_PAIR;
    gas->collisions += pair;
    gas->wall_hits += !pair;
    if (pair) carom_gas_total_add(&gas->virial, event->virial);
    ++gas->events;
}

static void count_happenings(carom_gas *gas, const carom_gas_happening *events, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_ASSERT(i == 0 || events[i - 1].time <= events[i].time);
        count_happening(gas, &events[i]);
    }
}

static void clear_stream(const pass_work *work) {
    for (uint32_t k = 0; k < part_count(work->windows); ++k)
        work->windows->parts[k].happenings.count = 0;
    work->stream->windows = work->stream->events = work->stream->ends.count = 0;
}

/* Counts all logged events in the order of the stream, also when the work is cancelled: they have
 * happened. */
static carom_status flush_stream(const pass_work *work) {
    carom_gas *gas = work->gas;
    event_stream *stream = work->stream;
    merge_work merge = {work->windows, stream};
    if (stream->events == 0) return CAROM_OK;
    double begin = carom_time_seconds();
    carom_status status =
        carom_parallel_for(work->context, stream->windows, 1, merge_window, &merge);
    for (uint64_t k = 0; k < stream->windows && status != CAROM_OK; ++k)
        (void)merge_window(&merge, (carom_range){k, k + 1, 0});
    count_happenings(gas, stream->order[0].data, stream->events);
    clear_stream(work);
    (void)end_phase(gas, CAROM_GAS_PHASE_STREAM, begin);
    return status;
}

/* Forgets the versions of a window. */
static void end_window(carom_gas_windows *windows) {
    for (uint32_t k = 0; k < part_count(windows); ++k) windows->parts[k].versions.count = 0;
    windows->number += UINT64_C(1) << 32;
}

/* ---- Undoing --------------------------------------------------------------------------------- */

/* Makes the sphere ready to be predicted now, with an earlier body than its last one. The box is
 * that of its present home, which is valid in all of the window. */
static void predict_anew(carom_gas *gas, uint32_t slot) {
    carom_gas_body *body = &gas->bodies[slot];
    carom_gas_record *record = &gas->records[slot];
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, carom_gas_level_at(gas, slot));
    double x[3], v[3];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis];
        double near = gas->method == CAROM_GAS_METHOD_NEIGHBOURS
                          ? (double)record->centre[axis]
                          : (record->home.at[axis] + 0.5) * cells->edge[axis];
        body->wraps[axis] =
            (int8_t)(gas->rules.periodic[axis] ? floor((x[axis] - near) / edge + 0.5) : 0.0);
    }
    carom_gas_trajectory_set(gas, slot);
    record->prediction.physical = gas->now;
    record->prediction.crossing = CAROM_GAS_NEVER;
    record->prediction.kind = CAROM_GAS_PREDICTION_UNRESOLVED;
    record->next_best = 0.0f;
}

static void restore_body(carom_gas *gas, const carom_gas_version *version) {
    gas->bodies[version->slot] = version->body;
    gas->records[version->slot].prediction.repeats = version->repeats;
    predict_anew(gas, version->slot);
}

/* Undoes a window. What was rewritten in it is predicted again at its beginning; all other
 * predictions hold, or are stale. Lists in `kept` of the last part all that has no entry in a
 * calendar now; false when there is no memory. */
static bool undo_window(const pass_work *work) {
    carom_gas *gas = work->gas;
    carom_gas_windows *windows = work->windows;
    carom_gas_slots *loose = &last_part(windows)->kept;
    bool good = true;
    gas->homes_until = work->until;
    for (uint32_t k = 0; k < part_count(windows); ++k) {
        carom_gas_part *part = &windows->parts[k];
        for (uint64_t i = 0; i < part->versions.count; ++i) {
            const carom_gas_version *version = &part->versions.data[i];
            if (version->before != 0) continue;
            uint32_t follower = gas->records[version->slot].follower;
            gas->records[version->slot].follower = CAROM_GAS_NO_SLOT;
            restore_body(gas, version);
            good = good && carom_gas_slots_push(loose, &gas->allocator, version->slot);
            if (follower != CAROM_GAS_NO_SLOT)
                good = good && carom_gas_slots_push(loose, &gas->allocator, follower);
        }
        carom_gas_slots *lists[2] = {&part->done, part->region != NULL ? &part->kept : NULL};
        for (int n = 0; n < 2; ++n) {
            for (uint64_t i = 0; lists[n] != NULL && i < lists[n]->count; ++i)
                good = good && carom_gas_slots_push(loose, &gas->allocator, lists[n]->data[i]);
            if (lists[n] != NULL) lists[n]->count = 0;
        }
    }
    cut_stream(work);
    end_window(windows);
    return good;
}

/* Lists all that is due up to `until` in the calendars of the regions. */
static bool empty_calendars(carom_gas *gas, carom_gas_windows *windows, int64_t until) {
    carom_gas_slots *loose = &last_part(windows)->kept;
    for (uint32_t lane = 0; lane < windows->lanes; ++lane) {
        carom_gas *copy = &windows->gases[lane];
        carom_gas_calendar *calendar = &copy->calendar;
        for (;;) {
            for (; calendar->window_head < calendar->window_tail; ++calendar->window_head) {
                const carom_gas_queue_entry *entry = &calendar->window[calendar->window_head];
                if (!carom_gas_queue_entry_alive(copy, *entry)) continue;
                if (entry->time > until) break;
                if (!carom_gas_slots_push(loose, &gas->allocator, entry->slot)) return false;
            }
            if (calendar->window_head < calendar->window_tail) break;
            if (calendar->base > until >> calendar->shift) break;
            if (!carom_gas_calendar_load(copy, until)) return false;
        }
    }
    return true;
}

/* ---- Showing events -------------------------------------------------------------------------- */

/* The caller's function sees the events of a window when this is complete, in the order of the
 * stream, and after each of them the state that one thread would have then. So all bodies first
 * become those of the beginning of the window, and each event gives its spheres the bodies that
 * they had after it: the versions are turned, so that each holds the body after its end. When the
 * function stops at an event, what comes after it is undone. */

/* Gives a sphere the body that it had at the beginning of the window. */
static void turn_versions(carom_gas *gas, const carom_gas_windows *windows, uint32_t slot) {
    uint16_t *repeats = &gas->records[slot].prediction.repeats;
    uint32_t after = 0;
    for (uint32_t code = carom_gas_latest(windows, slot), next; code != 0; code = next) {
        carom_gas_version *version = carom_gas_version_of(windows, code);
        carom_gas_body body = gas->bodies[slot];
        uint16_t its = *repeats;
        gas->bodies[slot] = version->body;
        version->body = body;
        *repeats = version->repeats;
        version->repeats = its;
        next = version->before;
        version->before = after;
        version->is_turned = true;
        after = code;
    }
    windows->version_codes[slot] = windows->number | after;
}

static void turn_all(carom_gas *gas, const carom_gas_windows *windows) {
    for (uint32_t k = 0; k < part_count(windows); ++k)
        for (uint64_t i = 0; i < windows->parts[k].versions.count; ++i)
            if (!windows->parts[k].versions.data[i].is_turned)
                turn_versions(gas, windows, windows->parts[k].versions.data[i].slot);
}

/* Gives a sphere the next of its bodies; false when it has the last one. */
static bool show_next_body(carom_gas *gas, const carom_gas_windows *windows, uint32_t slot) {
    uint32_t code = carom_gas_latest(windows, slot);
    if (code == 0) return false;
    const carom_gas_version *version = carom_gas_version_of(windows, code);
    gas->bodies[slot] = version->body;
    gas->records[slot].prediction.repeats = version->repeats;
    windows->version_codes[slot] = windows->number | version->before;
    return true;
}

/* After all events have been shown: an event that has failed may have left a version. */
static void show_last_bodies(carom_gas *gas, const carom_gas_windows *windows) {
    for (uint32_t k = 0; k < part_count(windows); ++k)
        for (uint64_t i = 0; i < windows->parts[k].versions.count; ++i)
            while (show_next_body(gas, windows, windows->parts[k].versions.data[i].slot)) {
            }
}

/* Undoes what has not been shown. What else was predicted in the window holds, or is stale. */
static void undo_rest(carom_gas *gas, const carom_gas_windows *windows) {
    for (uint32_t k = 0; k < part_count(windows); ++k)
        for (uint64_t i = 0; i < windows->parts[k].versions.count; ++i) {
            uint32_t slot = windows->parts[k].versions.data[i].slot;
            if (carom_gas_latest(windows, slot) == 0) continue;
            windows->version_codes[slot] = windows->number;
            predict_anew(gas, slot);
        }
}

/* Shows one event; true when the caller's function stops at it. */
static bool show_event(const pass_work *work, const carom_gas_happening *happening) {
    carom_gas *gas = work->gas;
    const carom_gas_windows *windows = work->windows;
    gas->now = happening->time;
    (void)show_next_body(gas, windows, gas->slot_of[happening->a]);
    if (happening->kind == CAROM_GAS_PREDICTION_REFRESH) return false;
    bool pair = happening->kind == CAROM_GAS_PREDICTION_PAIR;
    if (pair) (void)show_next_body(gas, windows, gas->slot_of[happening->b]);
    CAROM_ASSERT(gas->bodies[gas->slot_of[happening->a]].t == gas->now);
    CAROM_ASSERT(!pair || gas->bodies[gas->slot_of[happening->b]].t == gas->now);
    carom_gas_event event = {.time = carom_gas_time_of(gas, gas->now),
                             .kind = pair ? CAROM_GAS_EVENT_KIND_PAIR : CAROM_GAS_EVENT_KIND_WALL,
                             .a = happening->a,
                             .b = happening->b,
                             .index = gas->events};
    count_happening(gas, happening);
    return work->observer->on_event(work->observer->user, &event);
}

#define SHOWN_PER_LOOK 64 /* events between checks for cancellation: the function may be slow */

/* Shows the events of a window that reached the tick `end` and ended with `stop`; what it ends with
 * now. The clock is then at `end`, or at the event where the function stopped. */
static carom_gas_stop show_events(const pass_work *work, const carom_gas_happening *events,
                                  uint64_t count, int64_t end, carom_gas_stop stop) {
    double begin = carom_time_seconds();
    uint64_t at = 0;
    bool ends = false, cancelled = false;
    turn_all(work->gas, work->windows);
    while (at < count && !ends && !cancelled) {
        ends = show_event(work, &events[at++]);
        cancelled = at % SHOWN_PER_LOOK == 0 && carom_progress_stop(work->context, 0);
    }
    if (ends && !(at == count && stop == CAROM_GAS_STOP_FAST)) {
        stop = CAROM_GAS_STOP_EVENT;
    } else if (cancelled && at < count) {
        stop = CAROM_GAS_STOP_STEPS;
    } else {
        show_last_bodies(work->gas, work->windows);
        work->gas->now = end;
    }
    undo_rest(work->gas, work->windows);
    work->gas->homes_until = work->until;
    (void)end_phase(work->gas, CAROM_GAS_PHASE_STREAM, begin);
    return stop;
}

/* Shows the events of a window that is complete and logged, the only one. */
static carom_gas_stop show_window(const pass_work *work, int64_t until) {
    merge_work merge = {work->windows, work->stream};
    (void)merge_window(&merge, (carom_range){0, 1, 0});
    carom_gas_stop stop = show_events(work, work->stream->order[0].data, work->stream->events,
                                      until, CAROM_GAS_STOP_TIME);
    clear_stream(work);
    return stop;
}

/* ---- Doing a window again -------------------------------------------------------------------- */

/* Counts all events, those of the redone window last, where there is no memory to log it. */
static void count_redone(const pass_work *work) {
    const merge_work merge = {work->windows, work->stream};
    const carom_gas_part *part = last_part(work->windows);
    uint64_t first = end_of_events(&merge, work->stream->windows, part->index);
    uint64_t count = part->happenings.count - first;
    (void)flush_stream(work); /* memory for this was reserved */
    if (count != 0) count_happenings(work->gas, &part->happenings.data[first], count);
    clear_stream(work);
}

/* Handles an undone window on one thread. */
static carom_gas_stop redo_window(const pass_work *work, int64_t until, uint32_t *culprit) {
    carom_gas_windows *windows = work->windows;
    carom_gas *gas = work->gas;
    carom_gas_part *part = last_part(windows);
    carom_gas *copy = copy_of(windows, part);
    if (!empty_calendars(gas, windows, until)) return CAROM_GAS_STOP_MEMORY;
    prepare_copy(windows, gas, part, until);
    part->checks = false;
    part->is_final = true;
    if (!begin_calendar(copy, part->kept.count, until)) return CAROM_GAS_STOP_MEMORY;
    for (uint64_t i = 0; i < part->kept.count; ++i) {
        uint32_t slot = part->kept.data[i];
        if (carom_gas_due(&gas->records[slot].prediction) <= until)
            put_in_window(copy, slot);
        else
            carom_gas_calendar_put(copy, slot); /* among those done */
    }
    part->kept.count = 0;
    sort_window(copy);
    carom_gas_stop stop = run_last(work, culprit);
    part->checks = true;
    part->is_final = false;
    if (part->no_memory) stop = CAROM_GAS_STOP_MEMORY;
    if (windows->is_shown) {
        stop = show_events(work, part->happenings.data, part->happenings.count, copy->now, stop);
        clear_stream(work);
        end_window(windows);
        return stop;
    }
    gas->now = copy->now;
    end_window(windows);
    if (log_window(work)) return stop;
    count_redone(work);
    return CAROM_GAS_STOP_MEMORY;
}

/* ---- A window -------------------------------------------------------------------------------- */

/* The last pass of a window: true when it is complete. */
static bool finish_passes(const pass_work *work, int64_t until) {
    carom_gas_windows *windows = work->windows;
    carom_gas_part *part = last_part(windows);
    uint32_t culprit = 0;
    prepare_copy(windows, work->gas, part, until);
    if (!take_kept(copy_of(windows, part), windows)) {
        part->failed = part->no_memory = true;
        return false;
    }
    bool complete = run_last(work, &culprit) == CAROM_GAS_STOP_TIME;
    for (uint32_t lane = 0; lane < windows->lanes && complete; ++lane)
        windows->parts[(windows->passes - 1) * windows->lanes + lane].kept.count = 0;
    return complete;
}

/* Runs all passes; *complete when the window holds. */
static carom_status run_passes(pass_work *work, int64_t until, bool *complete) {
    bool failed = false;
    *complete = false;
    for (uint32_t pass = 0; pass < work->windows->passes && !failed; ++pass)
        CAROM_TRY(run_pass(work, pass, until, &failed));
    double begin = carom_time_seconds();
    *complete = !failed && finish_passes(work, until);
    (void)end_phase(work->gas, CAROM_GAS_PHASE_LAST, begin);
    return CAROM_OK;
}

static bool lacks_memory(const carom_gas_windows *windows) {
    for (uint32_t k = 0; k < part_count(windows); ++k)
        if (windows->parts[k].no_memory) return true;
    return false;
}

/* Advances to `until`; *stop is CAROM_GAS_STOP_TIME when that is reached. */
static carom_status run_window(pass_work *work, int64_t until, carom_gas_stop *stop,
                               uint32_t *culprit, bool *undone) {
    carom_gas_windows *windows = work->windows;
    carom_gas *gas = work->gas;
    bool complete;
    *stop = CAROM_GAS_STOP_TIME;
    ++gas->counts.windows;
    carom_status status = run_passes(work, until, &complete);
    bool logged = status == CAROM_OK && complete && log_window(work);
    *undone = !logged;
    if (logged) {
        if (windows->is_shown)
            *stop = show_window(work, until);
        else
            gas->now = until;
        end_window(windows);
        return CAROM_OK;
    }
    ++gas->counts.undone;
    double begin = carom_time_seconds();
    bool good = undo_window(work) && !complete && !lacks_memory(windows);
    if (status != CAROM_OK) return status;
    *stop = good ? redo_window(work, until, culprit) : CAROM_GAS_STOP_MEMORY;
    (void)end_phase(gas, CAROM_GAS_PHASE_REDO, begin);
    return CAROM_OK;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* The speed along an axis that no body is expected to exceed before the trajectories end. */
static double find_fastest(const carom_gas *gas) {
    double most = 0.0;
    for (uint64_t i = 0; i < gas->count; ++i) {
        const carom_gas_body *body = &gas->bodies[i];
        double x[3], v[3];
        carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x,
                           v);
        for (int axis = 0; axis < 3; ++axis) most = fmax(most, fabs(v[axis]));
    }
    double span = carom_gas_span(&gas->rules, gas->trajectories.until - gas->now);
    return SPEED_MARGIN * (most + gas->most_acceleration * span);
}

/* The longest span of a window, in ticks. */
static double longest_span(const carom_gas *gas, double fastest) {
    double skin = HUGE_VAL;
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        skin = gas->lists.skin / sqrt(3.0);
    else
        for (uint32_t k = 0; k < grid_count(gas); ++k)
            for (int axis = 0; axis < 3; ++axis)
                skin = fmin(skin, carom_gas_cells_seen(gas, k)->skin[axis]);
    return fmin(SKIN_SHARE * skin / fastest * gas->rules.ticks_per_unit, MOST_SPAN);
}

static void end_windows(carom_gas *gas, carom_gas_windows *windows) {
    if (windows->gases != NULL && windows->parts != NULL && windows->grids != NULL) {
        collect_free_cells(gas, windows);
        for (uint32_t k = 0; k < 2 * windows->lanes + 1; ++k)
            CAROM_RELEASE_ALL(&gas->allocator, windows->gases[k].calendar.chunks,
                              windows->gases[k].calendar.heads, windows->gases[k].calendar.window);
        for (uint32_t k = 0; k < part_count(windows); ++k) {
            carom_gas_part *part = &windows->parts[k];
            CAROM_RELEASE_ALL(&gas->allocator, part->versions.data, part->happenings.data,
                              part->kept.data, part->marked.data, part->done.data);
        }
    }
    CAROM_RELEASE_ALL(&gas->allocator, windows->gases, windows->grids, windows->parts,
                      windows->held, windows->changed, windows->version_codes);
    carom_gas_regions_release(gas, windows);
}

static bool allocate_windows(carom_gas *gas, carom_gas_windows *windows) {
    const uint32_t copies = 2 * windows->lanes + 1, parts = part_count(windows);
    const carom_allocator *a = &gas->allocator;
    const uint32_t levels = gas->levels.count;
    windows->gases = carom_allocate(a, copies, sizeof(*windows->gases));
    windows->parts = carom_allocate(a, parts, sizeof(*windows->parts));
    windows->held = carom_allocate(a, gas->count, 1);
    windows->changed = carom_allocate(a, gas->count, 1);
    windows->version_codes = carom_allocate(a, gas->count, sizeof(*windows->version_codes));
    windows->grids = carom_allocate(a, copies * grid_count(gas), sizeof(*windows->grids));
    bool good = windows->gases != NULL && windows->parts != NULL && windows->held != NULL &&
                windows->changed != NULL && windows->version_codes != NULL &&
                windows->grids != NULL;
    if (windows->gases != NULL) memset(windows->gases, 0, copies * sizeof(*windows->gases));
    if (windows->parts != NULL) memset(windows->parts, 0, parts * sizeof(*windows->parts));
    for (uint32_t k = 0; k < copies && windows->gases != NULL && windows->grids != NULL; ++k) {
        carom_gas *copy = &windows->gases[k];
        copy->levels = gas->levels;
        copy->levels.level = &windows->grids[k * grid_count(gas)];
        for (uint32_t level = 0; level < levels; ++level)
            copy->levels.level[level] = (carom_gas_level){.shift = 0};
        for (uint32_t level = 0; level < grid_count(gas); ++level)
            carom_gas_cells_of(copy, level)->free_overflow = CAROM_GAS_EMPTY;
    }
    return carom_gas_regions_create(gas, windows) && good;
}

static void begin_parts(carom_gas *gas, carom_gas_windows *windows) {
    memset(windows->held, 0, gas->count);
    memset(windows->changed, 0, gas->count);
    memset(windows->version_codes, 0, gas->count * sizeof(*windows->version_codes));
    windows->number = UINT64_C(1) << 32;
    for (uint32_t k = 0; k < part_count(windows); ++k) {
        carom_gas_part *part = &windows->parts[k];
        uint32_t pass = k / windows->lanes;
        *part = (carom_gas_part){.windows = windows,
                                 .index = k,
                                 .lane = (uint8_t)(k % windows->lanes),
                                 .checks = pass > 0,
                                 .spheres = gas->count / windows->lanes + 1};
        if (pass == windows->passes) continue;
        part->region = windows->region[pass];
        for (int axis = 0; axis < 3; ++axis) part->inside[axis] = windows->inside[pass][axis];
    }
}

static carom_status create_calendars(void *argument, carom_range range) {
    const pass_work *w = argument;
    for (uint64_t lane = range.begin; lane < range.end; ++lane) {
        prepare_copy(w->windows, w->gas, &w->windows->parts[lane], w->gas->now);
        carom_gas *copy = &w->windows->gases[lane];
        copy->calendar = (carom_gas_calendar){0};
        if (!carom_gas_calendar_create(w->context, range.worker, copy))
            return carom_progress_cancelled(w->context) ? CAROM_CANCELLED : CAROM_NO_MEMORY;
    }
    return CAROM_OK;
}

/* Of the first window: FIRST_WINDOW_ENTRIES per region, or FIRST_SHARE of the spheres. */
static double first_entries(const carom_gas *gas, const carom_gas_windows *windows) {
    return fmin(FIRST_WINDOW_ENTRIES * windows->lanes, FIRST_SHARE * (double)gas->count);
}

/* Buckets tell the time of an entry, unless most spheres were due at one tick when their width was
 * chosen. */
static double first_span(const carom_gas *gas, const carom_gas_windows *windows, double longest) {
    double per_entry = ldexp(1.0, gas->calendar.shift) / CAROM_GAS_BUCKET_TARGET;
    double span = fmax(first_entries(gas, windows) * per_entry, LEAST_FIRST * longest);
    return fmin(span, MOST_SPAN);
}

static carom_status begin_windows(pass_work *work) {
    carom_gas *gas = work->gas;
    carom_gas_windows *windows = work->windows;
    if (!allocate_windows(gas, windows)) return CAROM_NO_MEMORY;
    begin_parts(gas, windows);
    CAROM_TRY(carom_gas_regions_find(work->context, gas, windows));
    if (!deal_free_cells(gas, windows)) return CAROM_NO_MEMORY;
    carom_gas_queue_release(gas);
    return carom_parallel_for(work->context, windows->lanes, 1, create_calendars, work);
}

/* ---- Running --------------------------------------------------------------------------------- */

static void adapt_span(carom_gas *gas, const carom_gas_windows *windows, double longest,
                       uint64_t steps, bool undone, uint32_t *good) {
    double span = (double)gas->window_span, entries = (double)steps / windows->lanes;
    *good = undone ? 0 : *good + 1;
    if (undone) span *= 0.5;
    if (*good >= WINDOWS_TO_GROW * windows->lanes && entries < MOST_WINDOW_ENTRIES / SPAN_GROWTH) {
        span = fmax(span * SPAN_GROWTH, span + 1.0);
        *good = 0;
    }
    if (entries > MOST_WINDOW_ENTRIES) span *= MOST_WINDOW_ENTRIES / entries;
    gas->window_span = (uint64_t)fmax(fmin(span, longest), 1.0);
}

/* Something that is done between windows, by the caller. */
static bool is_due_elsewhere(carom_gas *gas) {
    return gas->now >= 2 * CAROM_GAS_EPOCH || carom_gas_is_unsorted(gas);
}

/* Runs windows until the goal; the calendars of the regions must exist. */
static carom_status run_all_windows(pass_work *work, int64_t goal, carom_gas_goal *shown,
                                    carom_gas_stop *stop, uint32_t *culprit) {
    carom_gas *gas = work->gas;
    carom_gas_windows *windows = work->windows;
    uint32_t good = 0;
    bool undone = true;
    double longest = 0.0;
    *stop = CAROM_GAS_STOP_STEPS;
    while (!is_due_elsewhere(gas)) {
        double begin = carom_time_seconds();
        if (gas->now >= gas->trajectories.until ||
            gas->trajectories.fast > gas->trajectories.most_fast) {
            CAROM_TRY(carom_gas_trajectories_renew(work->context, gas, true));
            undone = true;
        }
        if (undone) {
            windows->fastest = find_fastest(gas);
            longest = longest_span(gas, windows->fastest);
            gas->window_span = (uint64_t)fmin((double)gas->window_span, longest);
        }
        if (gas->now >= windows->near_until) carom_gas_regions_mark(gas, windows);
        if (lacks_free_cells(windows) && !deal_free_cells(gas, windows)) {
            *stop = CAROM_GAS_STOP_MEMORY;
            return CAROM_OK;
        }
        (void)end_phase(gas, CAROM_GAS_PHASE_RENEW, begin);
        int64_t until = gas->now + CAROM_MAX((int64_t)gas->window_span, 1);
        until = CAROM_MIN(until, CAROM_MIN(goal, gas->trajectories.until));
        until = CAROM_MAX(until, gas->now);
        uint64_t steps = gas->counts.steps;
        CAROM_TRY(run_window(work, until, stop, culprit, &undone));
        if (*stop != CAROM_GAS_STOP_TIME || until == goal) return CAROM_OK;
        if (work->stream->events >= STREAM_EVENTS) CAROM_TRY(flush_stream(work));
        *stop = CAROM_GAS_STOP_STEPS;
        adapt_span(gas, windows, longest, gas->counts.steps - steps, undone, &good);
        carom_gas_show_progress(work->context, gas, shown);
        CAROM_TRY(carom_progress_look(work->context));
    }
    return CAROM_OK;
}

/* Whether windows are of use, and how the cells are divided. */
static bool plan_windows(const carom_context *context, carom_gas *gas, carom_gas_windows *windows) {
    bool forced = gas->parallel_from < CAROM_GAS_PARALLEL_FROM;
    uint32_t threads = CAROM_MIN(context->threads, CAROM_GAS_MOST_REGIONS);
    double gain = carom_gas_regions_choose(gas, threads, windows);
    if (gain < (forced ? 0.0 : LEAST_GAIN)) return false;
    double longest = longest_span(gas, find_fastest(gas)),
           first = first_span(gas, windows, longest);
    if (!(longest >= 1.0)) return false;
    double per_region = first_entries(gas, windows) / windows->lanes;
    if (!forced && longest < first * (LEAST_WINDOW_ENTRIES / per_region)) return false;
    if (gas->window_span == 0) gas->window_span = (uint64_t)fmax(fmin(first, longest), 1.0);
    return gas->now < gas->trajectories.until;
}

carom_status carom_gas_run_windows(carom_context *context, carom_gas *gas, int64_t goal,
                                   const carom_gas_observer *observer, carom_gas_goal *shown,
                                   carom_gas_stop *stop, uint32_t *culprit, bool *ran) {
    carom_gas_windows windows = {.is_shown = observer->on_event != NULL};
    event_stream stream = {.events = 0};
    pass_work work = {context, gas, &windows, &stream, observer, 0, 0};
    *ran = !is_due_elsewhere(gas) && gas->now < goal && plan_windows(context, gas, &windows);
    if (!*ran) return CAROM_OK;
    gas->counts.threads = windows.lanes;
    double begin = carom_time_seconds();
    carom_status status = begin_windows(&work);
    (void)end_phase(gas, CAROM_GAS_PHASE_SETUP, begin);
    if (status == CAROM_OK)
        status = run_all_windows(&work, goal, shown, stop, culprit);
    else if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, gas->count * 16, "several threads");
    if (stream.events != 0) {
        carom_status counted = flush_stream(&work);
        status = status != CAROM_OK ? status : counted;
    }
    begin = carom_time_seconds();
    end_windows(gas, &windows);
    CAROM_RELEASE_ALL(&gas->allocator, stream.order[0].data, stream.order[1].data,
                      stream.ends.data);
    carom_gas_queue_release(gas);
    if (status == CAROM_CANCELLED) return status; /* the next run makes the queue */
    carom_status queued = carom_gas_queue_create(context, gas);
    if (queued != CAROM_OK && queued != CAROM_CANCELLED) gas->ready = false;
    (void)end_phase(gas, CAROM_GAS_PHASE_SETUP, begin);
    return status != CAROM_OK ? status : queued;
}
