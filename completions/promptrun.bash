# bash completion for promptrun
#   eval "$(promptrun completion bash)"

_promptrun() {
  local candidate
  COMPREPLY=()
  # Candidates arrive quoted. They are added one by one, because `compgen -W` would expand them.
  while IFS= read -r candidate; do
    [[ -n $candidate ]] && COMPREPLY+=("$candidate")
  done <<<"$(command promptrun __complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)"
}

# Since bash 4.4, candidates may keep their order: runs are offered newest first.
complete -o nospace -o nosort -F _promptrun promptrun 2>/dev/null || complete -o nospace -F _promptrun promptrun
