package stuck

import (
	"encoding/json"
	"path"
	"strings"
)

// pollWords are names of tools, commands, and commands of programs, that wait for something that runs.
var pollWords = wordsOf("sleep wait watch poll status ps pgrep jobs healthcheck wait_for logs")

// pollers are the programs of which a command such as status says that the agent waits.
var pollers = wordsOf("kubectl oc helm docker docker-compose podman systemctl service supervisorctl pm2 gh aws " +
	"gcloud az")

// beforeCommands stand before a command's own name, as do options, numbers and variables.
var beforeCommands = wordsOf("do then else while until if ! { time timeout sudo exec command nohup bash sh")

func wordsOf(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// maxPoll is the length in bytes from which on arguments are more than a wait.
const maxPoll = 4096

// isPoll reports whether an action waits for something that runs. An error is
// never patience. Nor is what only shows a part of what a command prints, behind
// a pipe, or words such as status in what a command or another tool is about.
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
		_ = json.Unmarshal([]byte(line), &args) // what is no object has no command
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

// waits reports whether a command, by its words, waits for something that runs.
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
