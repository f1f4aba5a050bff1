# fish completion for promptrun
#   promptrun completion fish | source

function __promptrun_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command promptrun __complete fish -- $words[2..-1] "$current" 2>/dev/null </dev/null
end

complete -c promptrun -f -k -a '(__promptrun_complete)'
