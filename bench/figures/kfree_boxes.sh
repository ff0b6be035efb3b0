#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: kfree_boxes.sh kfree.csv boxes.svg. From the lines of kfree_measure.sh: tables by set and by
# number of faces (Markdown, on the standard output), and Tukey box plots of k, as in Figure 6 of the
# kDet paper: quartiles, whiskers to the last model within one and a half times their distance, dots
# beyond.
set -euo pipefail
export LC_ALL=C
sort -t, -k3,3n "$1" | awk -F, -v svg="$2" '
# value[class, 1 .. n] ascending; between two neighbours by proportion
function quantile(class, share,   at, low) {
    at = 1 + share * (count[class] - 1); low = int(at)
    return low >= count[class] ? value[class, low] : value[class, low] + (at - low) * (value[class, low + 1] - value[class, low])
}
function root(x) { return x > 0 ? sqrt(x) : 0 }
function take(class,   n) {
    n = ++count[class]
    value[class, n] = $3; sum[class] += $3; squares[class] += $3 * $3
    mean[class] += $4; near[class] += $4 * $8; height[class] += $9; high[class] += $9 * $9
    faces[class] += $2
}
function row(name, class,   n, m, h) {
    n = count[class]
    if (n == 0) return
    m = sum[class] / n; h = height[class] / n
    printf "| %s | %d | %.0f | %.1f | %.1f | %.1f | %.0f | %.1f | %.0f | %.1f | %.1f | %.1f | %.1f |\n", name, n, faces[class] / n, m, root(squares[class] / n - m * m), quantile(class, 0.25), quantile(class, 0.5), quantile(class, 0.75), value[class, n], mean[class] / n, near[class] / n, h, root(high[class] / n - h * h)
}
function head(what) {
    print "| " what " | models | faces | mean k | deviation | quartile | median | quartile | largest | mean over faces | of these neighbours | height | deviation |"
    print "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
}
function x_of(i) { return 70 + (i + 0.5) * 640 / classes }
function y_of(k) { return 360 - 320 * log(k) / log(1000) }
function line(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style >svg
}
function label(x, y, anchor, text) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text >svg
}
function box(i,   n, q1, q2, q3, least, most, j, x) {
    n = count[i]
    if (n == 0) return
    x = x_of(i); q1 = quantile(i, 0.25); q2 = quantile(i, 0.5); q3 = quantile(i, 0.75)
    least = q3; most = q1
    for (j = 1; j <= n; ++j) {
        v = value[i, j]
        if (v < q1 - 1.5 * (q3 - q1) || v > q3 + 1.5 * (q3 - q1)) {
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"none\" stroke=\"#789\"/>\n", x, y_of(v) >svg
            continue
        }
        if (v < least) least = v
        if (v > most) most = v
    }
    line(x, y_of(least), x, y_of(q1), "stroke=\"#345\"")
    line(x, y_of(q3), x, y_of(most), "stroke=\"#345\"")
    line(x - 10, y_of(least), x + 10, y_of(least), "stroke=\"#345\"")
    line(x - 10, y_of(most), x + 10, y_of(most), "stroke=\"#345\"")
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"48\" height=\"%.1f\" fill=\"#cfe0f3\" stroke=\"#345\"/>\n", x - 24, y_of(q3), y_of(q1) - y_of(q3) >svg
    line(x - 24, y_of(q2), x + 24, y_of(q2), "stroke=\"#123\" stroke-width=\"2\"")
    label(x, 378, "middle", name[i])
    label(x, 393, "middle", n " models")
}
BEGIN {
    classes = split("32 100 320 1000 3200 10000 100000 1e99", limit, " ")
    split("under 32|32–100|100–320|320–1k|1k–3.2k|3.2k–10k|10k–100k|over 100k", names, "|")
    for (i = 0; i < classes; ++i) name[i] = names[i + 1]
}
$1 == "file" || $2 == 0 { next }
{
    for (i = 0; i < classes - 1 && $2 >= limit[i + 1]; ++i) ;
    take(i); take("all"); take($1 ~ /^stats/ ? "small" : "other")
}
END {
    head("set")
    row("statistics set", "small"); row("all others", "other"); row("together", "all")
    print ""
    head("faces")
    for (i = 0; i < classes; ++i) row(name[i], i)
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"730\" height=\"415\" viewBox=\"0 0 730 415\" font-family=\"sans-serif\" font-size=\"11\">" >svg
    print "<rect width=\"730\" height=\"415\" fill=\"#fff\"/>" >svg
    for (k = 1; k <= 1000; k *= 10) {
        line(70, y_of(k), 710, y_of(k), "stroke=\"#dde3ea\"")
        label(64, y_of(k) + 4, "end", k)
    }
    line(70, y_of(30.79), 710, y_of(30.79), "stroke=\"#c33\" stroke-dasharray=\"4 3\"")
    label(74, y_of(30.79) - 4, "start", "mean of the paper, 30.8")
    for (i = 0; i < classes; ++i) box(i)
    label(14, 30, "start", "k")
    label(390, 410, "middle", "number of faces")
    print "</svg>" >svg
}'
