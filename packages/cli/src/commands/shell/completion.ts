import type { Command } from '../command.ts';

// The scripts know nothing of the commands: they ask `orrery __complete`, so that they never grow old.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_orrery() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local IFS=$'\\n'
  local answers
  answers=$(orrery __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$answers" -- "$current"))
  if [ -z "$answers" ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _orrery orrery`,
  zsh: `#compdef orrery
_orrery() {
  local -a answers
  local line
  while IFS=$'\\t' read -r word about; do
    [[ -n "$word" ]] && answers+=("\${word//:/\\\\:}\${about:+:$about}")
  done < <(orrery __complete -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)
  if (( \${#answers} )); then _describe orrery answers; else _files; fi
}
compdef _orrery orrery`,
  fish: `function __orrery_complete
  set -l words (commandline -opc) (commandline -ct)
  orrery __complete -- $words[2..-1] 2>/dev/null
end
complete -c orrery -a '(__orrery_complete)'`,
};

/** `orrery completion`. */
export const completion: Command = async (context) => {
  const script = SCRIPTS[context.input.argument('shell') ?? ''] ?? '';
  return { result: { script }, text: script };
};
