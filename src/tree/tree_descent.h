/* SPDX-License-Identifier: MIT */
/* tree_descent.h: branch and bound for the least distance of two trees. tree_cpu.c includes this
 * file for spheres, tree_surface_cpu.c for triangles, and each defines beforehand:
 *
 *   DESCENT(x)                              x with the prefix of the search
 *   DESCENT(search)                         its type, with `budget` and `found`
 *   DESCENT(piece)                          a node or a primitive in the fixed tree's frame, with
 *                                           its `radius`
 *   DESCENT(lanes)                          the children of a node, with lower `bounds`
 *   DESCENT(is_primitive)(piece)            whether it has no children
 *   DESCENT(has_answer)(search)             whether some pair was measured
 *   DESCENT(bound)(search, whole, other, of_moving, lanes)
 *                                           fills the lanes; returns those that may have the answer
 *   DESCENT(is_open)(search, lanes, lane)   whether a lane may still have it
 *   DESCENT(defer)(search, lanes, lane)     notes the bound of a lane that is not opened
 *   DESCENT(child)(search, whole, of_moving, lanes, lane)
 *   DESCENT(measure)(search, fixed, moving) two primitives; sets `found` where all is decided
 *
 * Of two pieces the larger one is replaced by its children, nearest first. Invariant: every pair of
 * primitives was measured, is still below a pair on the stack, is not nearer than the nearest so
 * far, or its bound was noted. */

static void DESCENT(approach)(DESCENT(search) * s, const DESCENT(piece) * fixed,
                              const DESCENT(piece) * moving);

/* Replaces one of two pieces by its children. */
static void DESCENT(expand)(DESCENT(search) * s, const DESCENT(piece) * fixed,
                            const DESCENT(piece) * moving, bool of_moving) {
    const DESCENT(piece) *whole = of_moving ? moving : fixed, *other = of_moving ? fixed : moving;
    DESCENT(lanes) children;
    ++s->budget.visits;
    CAROM_ASSERT(!DESCENT(has_answer)(s) || s->budget.visits <= s->budget.most_visits);
    carom_lanes set = DESCENT(bound)(s, whole, other, of_moving, &children);
    while (set != 0) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        for (carom_lanes rest = set & (set - 1); rest != 0; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(rest);
            if (children.bounds[i] < children.bounds[lane]) lane = i;
        }
        set &= ~(1u << lane);
        if (!DESCENT(is_open)(s, &children, lane)) continue;
        /* Without an answer there is nothing to return: the first is found whatever it takes. */
        if (DESCENT(has_answer)(s) && (s->budget.stopped || carom_tree_must_stop(&s->budget))) {
            DESCENT(defer)(s, &children, lane);
            continue;
        }
        DESCENT(piece) child = DESCENT(child)(s, whole, of_moving, &children, lane);
        DESCENT(approach)(s, of_moving ? fixed : &child, of_moving ? &child : moving);
        if (s->found) return;
    }
}

static void DESCENT(approach)(DESCENT(search) * s, const DESCENT(piece) * fixed,
                              const DESCENT(piece) * moving) {
    bool ends = DESCENT(is_primitive)(fixed), other_ends = DESCENT(is_primitive)(moving);
    bool of_moving = ends || (!other_ends && moving->radius > fixed->radius);
    CAROM_ASSERT(!s->found);
    if (ends && other_ends)
        DESCENT(measure)(s, fixed, moving);
    else
        DESCENT(expand)(s, fixed, moving, of_moving);
}

#undef DESCENT
