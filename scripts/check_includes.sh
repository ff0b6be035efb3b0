#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The include rule: a file in src/ may include its own folder and those to its left in
#   base, geom, mesh, {bvh, grid}, {soup, spheres}, engines, scene, robot
# Every folder of src/ that is not named here is an engine. No engine includes another, but parts includes kfree; scene
# includes all but robot, and robot includes all.
# A soup is triangles prepared for searches, on which solid, kfree, impacts and repair are built. All folders but its
# own see only what it shows: soup_view.h, soup_posed_pair.h and soup_near.h, which include nothing else of soup; and
# kernels soup_view_cuda.h.
# cli, examples, bench and scenes see include/carom, scenes and each other's headers as listed; cli/platform.h extends
# src/base/platform.h, and cli/pack_formats.c rewrites the text of a robot with the library's reader of XML.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$(ls src)

scripts/sources.sh '\.c' '\.h' '\.cu' '\.cpp' | xargs grep -nE "^ *# *include *(\"|<($(tr '\n' '|' <<<"$modules")cli|bench|scenes)/)" /dev/null | tr '<>' '""' | awk -F '"' -v modules="$(echo $modules)" '
    BEGIN {
        allowed["base"] = "base"
        allowed["geom"] = "base geom"
        allowed["mesh"] = "base geom mesh"
        allowed["bvh"]  = "base geom mesh bvh"
        allowed["grid"] = "base geom mesh grid"
        shared = "base geom mesh bvh grid soup spheres"
        allowed["soup"] = "base geom mesh bvh grid soup"
        allowed["spheres"] = "base geom mesh bvh grid spheres"
        allowed["robot"] = modules
        allowed["scene"] = modules
        sub(/ ?robot/, "", allowed["scene"])
        allowed["parts"] = shared " kfree parts" # counts of faces add up over parts: kfree_part.h
        split(modules, names, " ")
        for (i in names)
            if (!(names[i] in allowed)) allowed[names[i]] = shared " " names[i]

        # Outside src/: which folders a folder may name. bench/bench_base.c, bench_geom.c and
        # bench_distance.c measure tools that have no public face, bench_gas_threads.c the windows of a gas.
        outside["cli"] = "cli scenes"
        outside["examples"] = ""
        outside["bench"] = "bench cli scenes"
        outside["scenes"] = "scenes"
        outside["mpi"] = "mpi base parts cli" # a search in parts and commands whose shards are ranks
        # Scenes compute with base/math.h, so that a seed is the same start with every C library.
        inside["cli/platform.h"] = "base"
        inside["cli/pack_formats.c"] = "robot" # robot_xml.h: it rewrites the text of a robot
        inside["bench/bench_convex.c"] = "base geom convex"
        inside["scenes/gas.c"] = "base"
        inside["scenes/paths.c"] = "base"
        inside["scenes/breaking.c"] = "base"
        inside["scenes/boxes.c"] = "base"
        inside["scenes/robots.c"] = "base"
        inside["scenes/cloth.c"] = "base geom"
        inside["scenes/figure.c"] = "base geom"
        inside["scenes/sequence.c"] = "geom"
        inside["scenes/sequence_mesh.c"] = "base geom"
        inside["scenes/sequence_scenes.c"] = "base geom"
        inside["bench/bench_base.c"] = "base"
        inside["bench/bench_gas_threads.c"] = "gas"
        inside["bench/bench_geom.c"] = "base geom"
        inside["bench/bench_distance.c"] = "base geom"
    }
    {
        split($1, at, ":"); file = at[1]; line = at[2]; target = $2
        if (target ~ /^carom\// || target !~ /\//) next # public, or made by the build
        split(target, to, "/"); folder = to[1]
        split(file, from, "/")
        if (from[1] == "src") {
            may = allowed[from[2]]
            if (folder == "soup" && (from[2] != "soup" || file ~ /\/soup_(view|posed_pair|near)\.h$/) &&
                target !~ /\/soup_(view|view_cuda|posed_pair|near)\.h$/) {
                print file ":" line ": may include soup_view.h, soup_posed_pair.h and soup_near.h only, not \"" target "\""
                bad = 1
            }
        } else if (from[1] in outside) {
            may = outside[from[1]] " " inside[file]
        } else if (from[1] == "include") {
            may = ""
        } else next # tests and fuzz see everything
        if (index(" " may " ", " " folder " ") == 0) {
            print file ":" line ": may not include \"" target "\""
            bad = 1
        }
    }
    END {
        if (NR == 0) { print "no includes found"; bad = 1 }
        exit bad
    }'
