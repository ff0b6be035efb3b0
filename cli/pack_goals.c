/* SPDX-License-Identifier: MIT */
/* Goals of packings and covers in words and as JSON. */
#include "cli/pack_goals.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *reason;
} stops[PACK_STOPS] = {
    [PACK_STOP_COUNT] = {"count", "the number of spheres was reached"},
    [PACK_STOP_FILL] = {"fill", "the share was filled"},
    [PACK_STOP_RADIUS] = {"radius", "no ball of the least radius fits between the spheres"},
    [PACK_STOP_ERROR] = {"error", "overlaps are as close as the goal"},
    [PACK_STOP_DISTANCE] = {"distance", "no sphere reaches out farther than the goal"},
    [PACK_STOP_SPACE] = {"space", "there is no space for more that this method could find"},
    [PACK_STOP_LIMIT] = {"limit", "more spheres are not made this way"},
    [PACK_STOP_POSES] = {"poses", "no pose was found in which the solid overlaps a copy by 1 to "
                                  "10 %, so that the error cannot be measured"},
    [PACK_STOP_SEARCH] = {"search", "the search for a number of spheres that suffices has ended"},
    [PACK_STOP_COVERED] = {"covered", "further spheres would have nothing to cover"},
};

const char *pack_stop_name(pack_stop stop) {
    return stops[stop].name;
}

void pack_goals_add(pack_goals *goals, const char *option, double requested, double reached,
                    bool met) {
    goals->data[goals->count++] = (pack_goal){option, requested, reached, met};
}

bool pack_goals_met(const pack_goals *goals) {
    for (int i = 0; i < goals->count; ++i)
        if (!goals->data[i].met) return false;
    return true;
}

/* A limit on the number of spheres is also met where another goal was reached before. */
static const char *word_of(const pack_goal *g) {
    if (!g->met) return "NOT reached";
    return strcmp(g->option, "--count") == 0 && g->reached < g->requested ? "not needed"
                                                                          : "reached";
}

void pack_goals_print(const pack_goals *goals, FILE *out) {
    for (int i = 0; i < goals->count; ++i) {
        const pack_goal *g = &goals->data[i];
        fprintf(out, "  goal      %s %.9g: ", g->option, g->requested);
        if (isfinite(g->reached))
            fprintf(out, "%s, %.6g\n", word_of(g), g->reached);
        else
            fprintf(out, "NOT reached, as it could not be measured\n");
    }
    fprintf(out, "  stopped   %s\n", stops[goals->stop].reason);
}

void pack_goals_print_json(const pack_goals *goals, json *j) {
    json_begin_array(j, "goals");
    for (int i = 0; i < goals->count; ++i) {
        const pack_goal *g = &goals->data[i];
        json_begin_object(j, NULL);
        json_text(j, "option", g->option);
        json_number(j, "asked", g->requested);
        json_number(j, "reached", g->reached);
        json_bool(j, "met", g->met);
        json_end_object(j);
    }
    json_end_array(j);
    json_bool(j, "reached", pack_goals_met(goals));
    json_text(j, "stopped", pack_stop_name(goals->stop));
    json_text(j, "reason", stops[goals->stop].reason);
}
