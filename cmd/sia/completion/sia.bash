# Completion of sia's commands, flags and values for bash. Load it with
#   source <(sia completion bash)
# or write it to ~/.local/share/bash-completion/completions/sia.
_sia() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			compopt -o default 2> /dev/null
		else
			COMPREPLY+=("${line%%$'\t'*}")
		fi
	done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _sia sia
