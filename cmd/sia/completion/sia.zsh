#compdef sia
# Completion of sia's commands, flags and values for zsh. Load it with
#   source <(sia completion zsh)
# after compinit, or write it as _sia to a folder of $fpath.
_sia() {
	local line files=
	local -a found
	for line in "${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
		case $line in
			'') ;;
			:files) files=1 ;;
			*$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
			*) found+=("${line//:/\\:}") ;;
		esac
	done
	if (( $#found )); then
		_describe -V sia found
	elif [[ -n $files ]]; then
		_files
	fi
}
if [[ $funcstack[1] == _sia ]]; then
	_sia "$@" # loaded by its name from $fpath
else
	compdef _sia sia
fi
