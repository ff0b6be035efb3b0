/* SPDX-License-Identifier: MIT */
/* Search: carom_index, made by docs.py, has [title, page, text] for each heading and each public name. An entry is found
 * when every word of the query begins a word of it; those with the words in their titles come first. */
(function () {
    "use strict";
    var MOST = 30; /* entries that are shown */
    var AROUND = 60; /* characters of text before and after a word */
    var root = document.body.getAttribute("data-root");
    var input = document.getElementById("search");
    var list = document.getElementById("found");
    var folded = carom_index.map(function (entry) {
        return [entry[0].toLowerCase(), entry[2].toLowerCase()];
    });

    function begins(text, word) { /* where a word of the text begins with it, or -1 */
        var at = text.indexOf(word);
        while (at > 0 && /[a-z0-9]/.test(text[at - 1])) at = text.indexOf(word, at + 1);
        return at;
    }

    function score(entry, words, query) {
        var sum = 0;
        for (var i = 0; i < words.length; ++i) {
            if (begins(entry[0], words[i]) >= 0) sum += 10;
            else if (begins(entry[1], words[i]) >= 0) sum += 1;
            else return 0;
        }
        if (entry[0] === query) sum += 1000;
        else if (begins(entry[0], query) >= 0) sum += 50;
        return sum - entry[0].length / 1000;
    }

    function show(text) {
        var query = text.trim().toLowerCase();
        var words = query.split(/\s+/).filter(Boolean);
        var found = [];
        list.textContent = "";
        if (words.length > 0)
            folded.forEach(function (entry, i) {
                var value = score(entry, words, query);
                if (value > 0) found.push([value, i]);
            });
        found.sort(function (a, b) { return b[0] - a[0] || a[1] - b[1]; });
        found.slice(0, MOST).forEach(function (hit) {
            var entry = carom_index[hit[1]];
            var item = document.createElement("li");
            var link = document.createElement("a");
            var note = document.createElement("small");
            var at = Math.max(0, begins(folded[hit[1]][1], words[0]));
            link.href = root + entry[1];
            link.textContent = entry[0];
            note.textContent = (at > AROUND ? "… " : "") +
                entry[2].slice(Math.max(0, at - AROUND), at + 2 * AROUND);
            link.appendChild(note);
            item.appendChild(link);
            list.appendChild(item);
        });
        if (words.length > 0 && found.length === 0) {
            var none = document.createElement("li");
            none.textContent = "nothing found";
            list.appendChild(none);
        }
        list.hidden = words.length === 0;
    }

    input.addEventListener("input", function () { show(input.value); });
    input.addEventListener("keydown", function (event) {
        var first = list.querySelector("a");
        if (event.key === "Enter" && first) location.href = first.href;
        if (event.key === "Escape") { input.value = ""; show(""); }
    });
    document.addEventListener("click", function (event) {
        if (!list.contains(event.target) && event.target !== input) list.hidden = true;
    });
    document.addEventListener("keydown", function (event) {
        if (event.key === "/" && document.activeElement !== input) { input.focus(); event.preventDefault(); }
    });
    var wanted = /[?#&]q=([^&]*)/.exec(location.href); /* page.html#q=words */
    if (wanted) {
        input.value = decodeURIComponent(wanted[1]);
        show(input.value);
    }
})();
