package gate

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A green preview passes nothing while the workflows that run for pull requests have not started.
func TestUnstarted(t *testing.T) {
	const path = ".github/workflows/ci.yml"
	steps := "\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n      - run: make test\n"
	with := func(on string, change func(*Input)) Input {
		in := input(run(1, "Vercel Preview", "success")).with()
		in.BaseBranch, in.FilesKnown, in.Changed = "main", true, []string{"a.go"}
		in.Files = []File{ReadFile(path, []byte("on:\n  pull_request:"+on+steps))}
		in.BaseFiles = in.Files
		if change != nil {
			change(&in)
		}
		return in
	}
	pushed := func(on string, change func(*Input)) Input {
		return with("", func(in *Input) {
			in.Files = []File{ReadFile(path, []byte("on:\n  push:"+on+steps))}
			in.BaseFiles = in.Files
			if change != nil {
				change(in)
			}
		})
	}
	previews := [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}, {{Name: "Vercel Preview", App: "ci"}}}
	judgeAll(t, []row{
		{"one for every pull request", with("", nil), sia.VerdictBlocked, path + " did not appear within"},
		{"it is waited for", with("", func(in *Input) { in.Since = noon.Add(-time.Minute) }), sia.VerdictPending,
			path + " has not appeared yet; its file says that it runs for pull requests"},
		{"for this base", with("\n    branches: [main, 'release/**']", nil), sia.VerdictBlocked, path},
		{"for another base", with("\n    branches: [next]", nil), sia.VerdictGreen, ""},
		{"for these files", with("\n    paths: ['*.go']", nil), sia.VerdictBlocked, path},
		{"for other files", with("\n    paths: [docs/**]", nil), sia.VerdictGreen, ""},
		{"for every push", pushed("", nil), sia.VerdictBlocked, path + " did not appear within"},
		{"a push is waited for", pushed("", func(in *Input) { in.Since = noon.Add(-time.Minute) }), sia.VerdictPending,
			path + " has not appeared yet; its file says that it runs for pushes to all branches"},
		{"for pushes to a branch", pushed("\n    branches: [main]", nil), sia.VerdictGreen, ""},
		{"for pushes of tags", pushed("\n    tags: ['v*']", nil), sia.VerdictGreen, ""},
		{"for pushes of these files", pushed("\n    paths: ['*.go']", nil), sia.VerdictGreen, ""},
		{"for labels", with("\n    types: [labeled]", nil), sia.VerdictGreen, ""},
		{"one that runs nothing", with("", func(in *Input) {
			in.Files = []File{ReadFile(path, []byte("on: pull_request\njobs:\n  a:\n    steps:\n      - run: echo a\n"))}
		}), sia.VerdictGreen, ""},
		{"another workflow ran", with("", func(in *Input) {
			in.Workflows = []Workflow{workflow(7, "lint", "pull_request", "success")}
		}), sia.VerdictGreen, ""},
		{"GitHub's own ran", with("", func(in *Input) {
			in.Workflows = []Workflow{workflow(7, "codeql", "dynamic", "success")}
		}), sia.VerdictBlocked, path},
		{"merged pull requests show what reports", with("", func(in *Input) {
			in.History.Merged = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}}
		}), sia.VerdictGreen, ""},
		{"merged pull requests are not known", with("", func(in *Input) { in.History = History{} }), sia.VerdictGreen, ""},
		{"no workflow runs on the base", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			in.History.Base = previews
		}), sia.VerdictGreen, ""},
		{"no workflow runs on the base, and the branch adds one", pushed("\n    branches: [main]\n  pull_request:",
			func(in *Input) { in.BaseFiles, in.History.Base = nil, previews }), sia.VerdictBlocked, path},
		{"no workflow runs on the base, and the branch has it run there",
			pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
				in.BaseFiles, in.History.Base = []File{ReadFile(path, []byte("on: pull_request"+steps))}, previews
			}), sia.VerdictBlocked, path},
		{"no workflow runs on the base, and the branch deletes one of them", with("", func(in *Input) {
			in.BaseFiles = append(in.BaseFiles, ReadFile(workflowFolder+"old.yml", []byte("on: push"+steps)))
			in.History.Base = previews
		}), sia.VerdictGreen, ""},
		{"one that GitHub generates runs there", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			pages := sia.Reported{Name: "build", App: actionsApp, Workflow: "dynamic/pages/pages-build-deployment",
				Event: "dynamic"}
			in.History.Base = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}, {pages}}
		}), sia.VerdictGreen, ""},
		{"and GraphQL has no file of it", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			in.History.Base = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}, {{Name: "build", App: actionsApp,
				Event: "dynamic"}}}
		}), sia.VerdictGreen, ""},
		{"a single commit has no workflow", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			in.History.Base = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}, nil}
		}), sia.VerdictBlocked, path},
		{"one runs there", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			in.History.Base = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}},
				{{Name: "e2e", App: actionsApp, Workflow: ".github/workflows/e2e.yml", Event: "push"}}}
		}), sia.VerdictBlocked, path},
		{"nothing reports there", pushed("\n    branches: [main]\n  pull_request:", func(in *Input) {
			in.History.Base = [][]sia.Reported{nil, nil}
		}), sia.VerdictBlocked, path},
		{"by its file none has to run there", with("", func(in *Input) {
			in.History.Base = [][]sia.Reported{{{Name: "Vercel Preview", App: "ci"}}}
		}), sia.VerdictBlocked, path},
		{"an earlier commit shows which job reports", with("", func(in *Input) {
			in.Earlier = []sia.Reported{{Name: "test", App: actionsApp, Workflow: path, Event: "pull_request"}}
			in.Waived = []string{"test"}
		}), sia.VerdictGreen, ""},
		{"a rule names what is required", with("", nil).requiring("Vercel Preview"), sia.VerdictGreen, ""},
		{"a person waived it", with("", func(in *Input) { in.Waived = []string{path} }), sia.VerdictGreen, ""},
		{"workflow runs are hidden", with("", func(in *Input) { in.WorkflowsHidden = true }), sia.VerdictGreen, ""},
	})
}
