# SPDX-License-Identifier: MIT
# Usage: zsh -f ask.zsh FOLDER <TEXTS. Prints TEXT|WORD for each word that zsh would complete a text with, by the
# scripts in the folder: a second zsh in a terminal of its own gets the text and a key that completes it, and its
# compadd, through which all completions go, says what it is given. The next text is typed when the key has said that
# it has finished, so that no completion is cut short by what is typed ahead.
zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal "PS1= RPS1= fpath=(${(q)1} \$fpath); unsetopt beep; bindkey -e; autoload -Uz compinit; compinit -u -D"
zpty -w terminal 'compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    local -a hits
    local hit
    builtin compadd -A hits "$@"
    for hit in $hits; do print -r -- "HIT:$hit:TIH"; done
    [[ -n $hits ]]
}'
zpty -w terminal 'number=0; ask() { zle complete-word; BUFFER=; print -r -- "END:$(( ++number )):" }; zle -N ask; bindkey "^T" ask'
zpty -w terminal "print E''ND:0:"
zpty -r terminal answer "*END:0:*" # it is ready
number=0
while IFS= read -r text; do
    (( ++number ))
    zpty -w -n terminal "$text"$'\C-t'
    answer=
    zpty -r terminal answer "*END:$number:*"
    for line in ${(f)answer}; do
        if [[ $line = *HIT:*:TIH* ]]; then
            word=${${line##*HIT:}%%:TIH*}
            print -r -- "$text|${word%=}"
        fi
    done
done
zpty -d terminal
