"""`headway completion`: tab completion for bash, zsh and fish. The shell asks `headway completion words -- ...` at each tab."""

import argparse

SUMMARY = "tab completion for bash, zsh and fish"
EXAMPLES = """\
examples:
  source <(headway completion bash)                       in ~/.bashrc
  source <(headway completion zsh)                        in ~/.zshrc, after compinit
  headway completion fish > ~/.config/fish/completions/headway.fish"""

SCRIPTS = {
    "bash": """\
_headway() {
    local IFS=$'\\n'
    COMPREPLY=($(headway completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _headway headway""",
    "zsh": """\
_headway() {
    local -a found
    found=("${(@f)$(headway completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _headway headway""",
    "fish": """\
function __headway_words
    set -l words (commandline -opc) (commandline -ct)
    headway completion words -- $words[2..-1] 2>/dev/null
end
complete -c headway -a '(__headway_words)'""",
}


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("shell", choices=[*SCRIPTS, "words"], help="which shell")
    p.add_argument("typed", nargs="*", help=argparse.SUPPRESS)


def run(a: argparse.Namespace) -> None:
    if a.shell != "words":
        print(SCRIPTS[a.shell])
        return
    from headway.verbs.parser import complete

    typed = a.typed[1:] if a.typed[:1] == ["--"] else a.typed
    print("\n".join(complete(typed)))
