/** The shells that completion is offered for, with the script of each. The scripts leave all thinking to the program. */
export const COMPLETION_SCRIPTS = {
  bash: `# bash completion for promptrun
#   source <(promptrun completion bash)

_promptrun() {
  local candidate
  COMPREPLY=()
  # Candidates arrive quoted. They are filled in one by one, since compgen -W would expand them.
  while IFS= read -r candidate; do
    [[ -n $candidate ]] && COMPREPLY+=("$candidate")
  done <<<"$(command promptrun __complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)"
}

complete -o nospace -F _promptrun promptrun
`,
  zsh: `#compdef promptrun
# zsh completion for promptrun
#   source <(promptrun completion zsh)
# or save it as _promptrun in a directory of $fpath.

_promptrun() {
  local line
  local -a parts done_words done_shown open_words open_shown
  for line in "\${(@f)$(command promptrun __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}"; do
    parts=("\${(@ps:\\t:)line}")
    [[ -n $parts[2] ]] || continue
    if [[ $parts[1] == open ]]; then
      open_words+=("$parts[2]")
      open_shown+=("$parts[2]\${parts[3]:+  -- $parts[3]}")
    else
      done_words+=("$parts[2]")
      done_shown+=("$parts[2]\${parts[3]:+  -- $parts[3]}")
    fi
  done
  (( $#done_words )) && compadd -l -d done_shown -a -- done_words
  (( $#open_words )) && compadd -l -S '' -d open_shown -a -- open_words
  (( $#done_words + $#open_words ))
}

if [[ $funcstack[1] == _promptrun ]]; then
  _promptrun "$@"
else
  # A shell that nothing has set up to complete yet.
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _promptrun promptrun
fi
`,
  fish: `# fish completion for promptrun
#   promptrun completion fish | source

function __promptrun_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command promptrun __complete fish -- $words[2..-1] "$current" 2>/dev/null </dev/null
end

complete -c promptrun -f -a '(__promptrun_complete)'
`,
  powershell: `# PowerShell completion for promptrun
#   promptrun completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName promptrun -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @(
        $commandAst.CommandElements |
            Select-Object -Skip 1 |
            Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
            ForEach-Object {
                if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
                else { $_.Extent.Text }
            }
    )
    if ($wordToComplete -eq '') { $words += '' }
    $json = ConvertTo-Json -Compress -InputObject @($words)
    $line = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($json))
    promptrun __complete powershell -- $line 2>$null | ForEach-Object {
        $word, $shown, $description = $_ -split "\`t", 3
        [System.Management.Automation.CompletionResult]::new($word, $shown, 'ParameterValue', $description)
    }
}
`,
} as const;

export type CompletionShell = keyof typeof COMPLETION_SCRIPTS;
