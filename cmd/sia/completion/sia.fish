# Completion of sia's commands, flags and values for fish. Load it with
#   sia completion fish | source
# or write it to ~/.config/fish/completions/sia.fish.
function __sia_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c sia -f -a '(__sia_complete)'
