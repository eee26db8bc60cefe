package stuck

import (
	"encoding/json"
	"path"
	"strings"
)

// pollWords are names of tools, commands and subcommands that wait for something that runs.
var pollWords = wordsOf("sleep wait watch poll status ps pgrep jobs healthcheck wait_for logs BashOutput")

// pollers are the programs for which a subcommand in pollWords, such as status, counts as waiting.
var pollers = wordsOf("kubectl oc helm docker docker-compose podman systemctl service supervisorctl pm2 gh aws " +
	"gcloud az")

// beforeCommands are words that may precede a command's name, as options, numbers and variables may.
var beforeCommands = wordsOf("do then else while until if ! { time timeout sudo exec command nohup bash sh")

func wordsOf(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// maxPoll is the maximum length of the arguments of a poll, in bytes.
const maxPoll = 4096

// isPoll reports whether an action waits for something that runs. An error never
// counts as waiting, and neither do commands behind a pipe, which only filter
// output, or words such as status in the arguments of other commands and tools.
func isPoll(a Action) bool {
	if a.Error || len(a.Args) > maxPoll {
		return false
	}
	if pollWords[a.Tool] {
		return true
	}
	line := a.Args
	if json.Valid([]byte(line)) {
		var args struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal([]byte(line), &args) // only an object has a command
		line = args.Command
	}
	line = strings.ReplaceAll(line, "||", ";")
	for _, piped := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&\n", r) }) {
		first, _, _ := strings.Cut(piped, "|")
		if waits(strings.Fields(first)) {
			return true
		}
	}
	return false
}

// waits reports whether a command, given as words, waits for something that runs.
func waits(words []string) bool {
	for i, w := range words {
		w = strings.Trim(w, `"'()`)
		if w == "" || beforeCommands[w] || strings.ContainsRune("-0123456789", rune(w[0])) || strings.Contains(w, "=") {
			continue
		}
		program := path.Base(w)
		name, _, _ := strings.Cut(program, ".")
		if start, _, _ := strings.Cut(name, "-"); pollWords[start] {
			return true
		}
		for _, word := range words[i+1:] {
			if pollers[program] && pollWords[word] || program == "tail" && (word == "-f" || word == "-F") {
				return true
			}
		}
		return false
	}
	return false
}
