#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command, every option of every command and the names that values take are completed in bash, and in zsh and
# fish where these are installed: the shells are asked, as the Tab key does.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
scripts=$build/completions
bad=0
commands=$("$build/carom" --help | awk '/^options/ {exit} /^  [a-z]/ {print $1}')
[ -n "$commands" ] || { echo "carom --help names no command"; exit 1; }
options_of() { "$build/carom" "$1" --help | grep -oE '^ +(-[a-z], )?--[a-z][a-z0-9-]*' | grep -oE -- '--?[a-z][a-z0-9-]*'; }
check() { # SHELL SAID: each case is among the lines that the shell said
    local missing
    missing=$(grep -vxFf <(echo "$2") <<<"$cases" || true)
    [ -z "$missing" ] || { echo "$1 does not complete (text|word):"; echo "$missing"; bad=1; }
    echo "$1: $(wc -l <<<"$cases") words"
}
cases=$( # TEXT WORD: what the Tab key must give
    for command in $commands; do
        echo "carom |$command"
        for option in $(options_of "$command"); do echo "carom $command -|$option"; done
    done
    printf '%s\n' 'carom make |torus' 'carom help |pairs' 'carom pairs --isa |avx2' 'carom pairs --isa av|avx512' \
        'carom pairs --device |cuda' 'carom --|--version' 'carom-bench -|--json' 'carom bench |soup'
)
asked() { cut -d '|' -f 1 <<<"$cases" | sort -u; }

# ---- bash: the function with the variables that bash sets
in_bash() {
    PATH=$build:$PATH bash --norc -c '
        . "$1/carom"; . "$1/carom-bench"
        while IFS= read -r text; do
            COMP_WORDS=(${text//=/ = })
            case $text in *" ") COMP_WORDS+=("") ;; esac
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            function=_carom
            [ "${COMP_WORDS[0]}" = carom-bench ] && function=_carom_bench
            COMPREPLY=()
            $function
            printf "$text|%s\n" "${COMPREPLY[@]}"
        done' bash "$scripts" 2>&1
}
check bash "$(asked | in_bash)"
[ "$(in_bash <<<'carom pairs --isa=avx5')" = 'carom pairs --isa=avx5|avx512' ] || { echo "bash: no --isa=avx512"; bad=1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder/a part.stl"
[ "$(in_bash <<<"carom info $folder/")" = "carom info $folder/|$folder/a part.stl" ] || { echo "bash: no file"; bad=1; }
[ "$(in_bash <<<"carom pairs x -o $folder/")" = "carom pairs x -o $folder/|$folder/a part.stl" ] || { echo "bash: no file after -o"; bad=1; }
[ "$(in_bash <<<'carom pairs --threads ')" = 'carom pairs --threads |' ] || { echo "bash: a number is completed"; bad=1; }

# ---- fish: it says what it would complete
if command -v fish >/dev/null; then
    check fish "$(asked | HOME=$folder PATH=$build:$PATH fish --no-config -c '
        source $argv[1]/carom.fish; source $argv[1]/carom-bench.fish
        while read -l text; for word in (complete -C "$text"); echo "$text|"(string split -f 1 \t -- $word); end; end' "$scripts")"
else
    echo "no fish on this machine: not asked"
fi

# ---- zsh: in a terminal
if command -v zsh >/dev/null; then
    check zsh "$(asked | HOME=$folder PATH=$build:$PATH zsh -f tests/completion/ask.zsh "$scripts")"
else
    echo "no zsh on this machine: not asked"
fi
exit $bad
