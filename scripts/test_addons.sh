#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_addons.sh BUILD-FOLDER. Installs the archives of BUILD-FOLDER/addons (make addons) for a user who has nothing else,
# and calls their commands in FreeCAD and Blender without a window. What is not installed is skipped, with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
tests=$PWD/addons/tests
shared=$PWD/../shared
home=$(mktemp -d)
bad=0
export CAROM_RESULT=$home/result.json PYTHONDONTWRITEBYTECODE=1
unset CAROM_LIBRARY CAROM_TOOL
quiet() { tr '\r' '\n' | grep -vE '^\s*$|[0-9] %\)|\.\.\.\.\.\.|^ *#|^FreeCAD|Juergen|^(Info|Warning|Error): |Modules Installed' || true; }

display= server=
if command -v Xvfb >/dev/null; then
    Xvfb -displayfd 3 -screen 0 1280x800x24 3>"$home/display" >/dev/null 2>&1 &
    server=$!
    for _ in $(seq 100); do
        [ -s "$home/display" ] && break
        sleep 0.1
    done
    [ ! -s "$home/display" ] || display=:$(cat "$home/display")
fi
trap '[ -z "$server" ] || kill "$server"; rm -rf "$home"' EXIT

if command -v freecadcmd >/dev/null; then
    export FREECAD_USER_HOME=$home/freecad FREECAD_USER_DATA=$home/freecad/data
    mkdir -p "$FREECAD_USER_DATA/Mod"
    python3 -m zipfile -e "$build"/addons/carom-freecad-*.zip "$FREECAD_USER_DATA/Mod"
    export CAROM_SHARED=$shared
    freecadcmd "$tests/test_freecad.py" 2>&1 | quiet || bad=1
    if command -v freecad >/dev/null && [ -n "$display" ]; then
        echo 'import FreeCAD; FreeCAD.ParamGet("User parameter:BaseApp/Preferences/General").SetString("AutoloadModule",
"CaromWorkbench"); FreeCAD.saveParameter()' | tr '\n' ' ' >"$home/settings.py" # not the start page, which is a browser
        freecadcmd "$home/settings.py" >/dev/null 2>&1 || true
        DISPLAY=$display timeout 300 freecad "$tests/test_freecad_window.py" 2>&1 | quiet || bad=1
    else
        echo "skipped: FreeCAD's window: freecad or Xvfb is not installed (apt-get install xvfb)"
    fi
else
    echo "skipped: FreeCAD is not installed (apt-get install freecad)"
fi

if command -v blender >/dev/null; then
    export BLENDER_USER_RESOURCES=$home/blender BLENDER_USER_SCRIPTS=$home/blender/scripts \
        BLENDER_USER_CONFIG=$home/blender/config
    blender -b --factory-startup -noaudio --python-exit-code 1 --python "$tests/test_blender.py" -- \
        "$build"/addons/carom-blender-*.zip "$build/carom" 2>&1 | quiet || bad=1
    if command -v xdotool >/dev/null && [ -n "$display" ]; then
        rm -f "$CAROM_RESULT"
        DISPLAY=$display LIBGL_ALWAYS_SOFTWARE=1 timeout 300 blender --factory-startup -noaudio --window-geometry 0 0 1280 800 \
            --python "$tests/test_blender_window.py" -- "$build"/addons/carom-blender-*.zip 2>&1 | quiet || bad=1
    else
        echo "skipped: Blender's window: Xvfb or xdotool is not installed (apt-get install xvfb xdotool)"
    fi
else
    echo "skipped: Blender is not installed (apt-get install blender)"
fi
exit $bad
