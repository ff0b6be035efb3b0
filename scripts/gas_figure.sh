#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: gas_figure.sh bench.txt figure.svg. From what `carom bench gas` said: figure 1 of Kim, Guibas
# and Shin (1997), processor time for one unit of simulated time against the number of spheres, both
# axes logarithmic, with the events in that time beside it.
set -euo pipefail
awk -v svg="$2" '
/figure 1, [0-9]+ spheres: / {
    for (i = 1; i <= NF; ++i) {
        if ($i == "spheres:") n[++count] = $(i - 1) + 0
        if ($i == "wall,") seconds[count] = $(i + 1) + 0
        if ($i == "events;") events[count] = $(i - 1) + 0
    }
}
function line(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style >svg
}
function text(x, y, anchor, what) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what >svg
}
function x_of(v) { return 70 + 500 * (log(v) - log(800)) / (log(250000) - log(800)) }
function y_of(v) { return 340 - 320 * (log(v) - low) / (high - low) }
function draw(values, colour, name,   i) {
    for (i = 1; i <= count; ++i) {
        if (i > 1) line(x_of(n[i - 1]), y_of(values[i - 1]), x_of(n[i]), y_of(values[i]), "stroke=\"" colour "\" stroke-width=\"1.5\"")
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x_of(n[i]), y_of(values[i]), colour >svg
    }
    text(x_of(n[count]) - 10, y_of(values[count]) + 4, "end", name)
}
END {
    if (count < 2) {
        print "gas_figure.sh: the file has no figure 1" >"/dev/stderr"
        exit 1
    }
    for (i = 1; i <= count; ++i) micro[i] = 1e6 * seconds[i] / events[i]
    least = seconds[1] < 1e-9 ? 1e-9 : seconds[1]
    most = seconds[count] > micro[1] ? seconds[count] : micro[1]
    low = log(10) * int(log(least) / log(10) - 1)
    high = log(10) * int(log(most) / log(10) + 1)
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"390\" viewBox=\"0 0 600 390\" font-family=\"sans-serif\" font-size=\"11\">" >svg
    print "<rect width=\"600\" height=\"390\" fill=\"#fff\"/>" >svg
    for (v = low; v < high + 0.1; v += log(10)) {
        y = y_of(exp(v))
        line(70, y, 570, y, "stroke=\"#ddd\"")
        text(64, y + 4, "end", sprintf("%g", exp(v)))
    }
    split("1000 10000 100000 200000", marks, " ")
    for (i = 1; i in marks; ++i) {
        line(x_of(marks[i]), 20, x_of(marks[i]), 340, "stroke=\"#ddd\"")
        text(x_of(marks[i]), 355, "middle", marks[i])
    }
    line(x_of(n[1]), y_of(seconds[1]), x_of(n[count]), y_of(seconds[1] * n[count] / n[1]), "stroke=\"#999\" stroke-dasharray=\"4 4\"")
    text(x_of(n[count]), y_of(seconds[1] * n[count] / n[1]) + 16, "end", "linear")
    draw(seconds, "#246", "seconds for a unit of time")
    draw(micro, "#c60", "microseconds an event")
    text(320, 375, "middle", "spheres of radius 1.5, mean speed 10 sqrt(3), in a box of 200 with walls")
    print "</svg>" >svg
}' "$1"
