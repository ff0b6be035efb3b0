#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes a page and a GLB file of every command that shows its result, for tests in a browser and for
# eyes: pages.sh CAROM FOLDER. Each must be what its ending says, and the volumes of a GLB those of its input.
set -euo pipefail
carom=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

make() { "$carom" make "$@" -q >made.txt; }
make knot --detail 128 -o knot.stl
make torus -o torus.stl
make cloth --detail 40 -o cloth.obj
make sphere --detail 3 -o ball.obj
make chain --parts 3 --detail 16 -o chain.ply
awk '/^v /{$2 = -0.5 * $2} {print}' ball.obj >flat.obj
"$carom" pack torus.stl -n 100 -q -o spheres.ply >made.txt

bad=0
# show NAME COMMAND...: the command with -o NAME.html and NAME.glb.
show() {
    local name=$1 ending
    shift
    for ending in html glb; do
        "$carom" "$@" -q -o "$name.$ending" >"$name.txt" || { echo "$name.$ending: carom $*"; bad=1; }
    done
    [ "$(head -c 4 "$name.glb")" = glTF ] || { echo "$name.glb is no GLB"; bad=1; }
    [ "$(tail -c 8 "$name.html")" = "</html>" ] || { echo "$name.html is not whole"; bad=1; }
    ! grep -q '@CAROM_' "$name.html" || { echo "$name.html has an empty place"; bad=1; }
}

show view view chain.ply spheres.ply
show view_packing view spheres.ply
show info info cloth.obj
show pairs pairs cloth.obj
show pairs_two pairs knot.stl torus.stl --pose 1,0,0,1,0,0,0
show pairs_within pairs chain.ply --within 0.2
show pairs_none pairs torus.stl
show query query knot.stl torus.stl --pose 1,0,0,1,0,0,0
show query_apart query knot.stl torus.stl --pose 5,0,0,1,0,0,0
show query_tree query spheres.ply knot.stl --engine tree --spheres 100
show scene scene knot.stl chain.ply --depth
show pack pack torus.stl -n 200
show outer pack chain.ply --outer -n 8
show toi toi torus.stl knot.stl --pose 9,0,0,1,0,0,0 --to -9,0,0,1,1,0,0
show toi_end toi ball.obj --end flat.obj
show gas gas -n 64 --periodic --fraction 0.3 --time 2 --frames 20
show gas_mixture gas -n 64 --mixture 0.7:0.5,0.3:0.25 --time 2 --frames 20
show kfree kfree knot.stl
show hulls hulls knot.stl
show hulls_apart hulls knot.stl torus.stl --pose 5,0,0,1,0,0,0
show hulls_meet hulls knot.stl torus.stl --pose 2,0,0,1,0,0,0
"$carom" query knot.stl torus.stl -q -o query.png >made.txt
[ "$(head -c 4 query.png | tail -c 3)" = PNG ] || { echo "query.png is no PNG"; bad=1; }
"$carom" gas -n 64 --periodic --time 2 -q -o plots.svg --gr gr.svg >made.txt
grep -q '</svg>' plots.svg && grep -q '</svg>' gr.svg || { echo "no plots"; bad=1; }

# Volumes of a result, to 1e-6: one line each of the input's and the result's parts.
volume() { "$carom" info "$1" | awk '$1 == "volume" {print $2}'; }
if "$carom" convert knot.stl knot.glb -q >made.txt && "$carom" info knot.glb >made.txt 2>&1; then
    awk -v a="$(volume knot.stl)" -v b="$(volume knot.glb)" \
        'BEGIN {exit !(a != 0 && (a - b) ^ 2 <= (1e-6 * a) ^ 2)}' || { echo "the volume of knot.glb is another"; bad=1; }
fi
exit $bad
