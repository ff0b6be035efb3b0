#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Words that were retired stay retired: identifiers and phrases that nobody could look up, each with
# what stands for it now. docs/glossary.md explains the few coined words that are left. Parts of identifiers are
# those of check_words.py; here are words that are retired in prose as well, and whole identifiers.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
retired() { # PATTERN NOW: an extended regular expression of whole words, and what to write instead
    local found
    found=$(git grep -nIwE -e "$1" -- . ':!docs/*.svg' ':!docs/figures.md' ':!docs/from-0.1.md' ':!fuzz/corpus' \
        ':!bench/results' ':!tests/golden' ':!tests/api' ':!tests/outside/from-0.1' ':!scripts/from-0.1.sed' \
        ':!scripts/check_words.*' || true)
    [ -z "$found" ] && return
    printf 'retired, write "%s":\n%s\n' "$2" "$found"
    status=1
}
git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a git checkout"; exit 77; }
retired 'carom_(context|thread)_sentence|sentences?' 'message'
retired 'askers?|guests?|tally|tallies|[Ss]ettle[sd]?|settling' 'query, accumulator, finish, resolve, commit'
retired 'placings?|put off|[Cc]rowd|crowds|crowding' 'posed pair, deferred, density, dense'
retired 'carom_twofold[a-z_]*|twofold' 'double-double, carom_dd'
retired 'carom_wide_[a-z0-9_]+|CAROM_WIDE_[A-Z]+' 'big_integer.h: carom_limbs_'
retired 'carom_sink[a-z_]*|sink' 'writer'
retired 'carom_gas_(card|plan|flights?|flight_[a-z]+|nears?)' 'record, prediction, trajectory, candidate'
retired 'near ones|nears' 'candidate'
retired 'rough (plan|pair|prediction)s?|CAROM_GAS_(ROUGH|AGAIN)' 'provisional, unresolved'
retired 'carom_moved_(side|orient)|carom_first_of_(normal|product)' 'solid_perturbation.h'
retired 'carom_solid_(knot|chips?|pieces|order|add_below)' 'intersection, surface triangle, surface, spanning tree'
retired 'hangs? on|speaks? for|spoken_for' 'descendant, represents'
retired '[A-Z]+_A_(RANGE|GROUP|TRIANGLE|POLYGON)' '..._PER_...'
retired 'include law|no room of the house|[Tt]he house|stop of the tour' 'include rule, module, architecture, section'
retired 'CAROM_(FLOAT32|FLOAT64|ON_HOST|ON_DEVICE|OWNED_BY_CAROM|OWNED_BY_CALLER)' 'CAROM_<TYPE>_<NAME>'
retired 'carom_soup_(distance|each_pair|bound)|each_pair' 'carom_soup_cross_distance, _self_each, _cross_bound'
retired 'carom_gas_(f4|f8|i8|lanes|roots|least|least_lane|transpose)|(doubles|masks|numbers)4|entries[48]' 'base/simd.h: carom_f32x4 ...'
retired 'leeway|grant_leeway|most_wild|way_come|link_walk' 'skin, uncertainty, tolerance, cursor'
retired 'CAROM_GAS_(STOP_ROOM|MOST_NUMBER|MOST_PULL)|carom_gas_(cells|calendar)_room' '..._MEMORY, _COORDINATE, _ACCELERATION, _reserve'
command -v python3 >/dev/null || { echo "no python3 on this machine: names are not checked"; exit $((status ? 1 : 77)); }
python3 scripts/check_words.py || status=1
exit $status
