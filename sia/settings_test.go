package sia

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Settings add protected files, and never remove any.
func TestGuarded(t *testing.T) {
	guarded := ChecksSettings{Protected: []string{"schema/**"}}.Guarded()
	for _, path := range []string{
		".github/CODEOWNERS", ".github/workflows/ci.yml", "CODEOWNERS", "docs/CODEOWNERS", ".sia/config.yml",
		".sia/techniques/x.md", "AGENTS.md", "web/AGENTS.md", "CLAUDE.md", ".claude/settings.json", ".mcp.json",
		".vscode/tasks.json", ".devcontainer/devcontainer.json", ".husky/pre-commit", ".npmrc", "web/.npmrc", ".envrc",
		".gitattributes", ".gitmodules", ".mvn/maven.config", ".cargo/config.toml", "schema/users.sql",
	} {
		if !slices.ContainsFunc(guarded, func(g string) bool { return doublestar.MatchUnvalidated(g, path) }) {
			t.Errorf("%s is not protected", path)
		}
	}
	for _, path := range []string{"main.go", "docs/agents.txt", "vscode/tasks.json", "README.md"} {
		if slices.ContainsFunc(guarded, func(g string) bool { return doublestar.MatchUnvalidated(g, path) }) {
			t.Errorf("%s is protected", path)
		}
	}
	for _, g := range guarded {
		if !doublestar.ValidatePattern(g) {
			t.Errorf("%s is no glob", g)
		}
	}
}

// A setting that an old record lacks has its default, so that an update turns nothing off. A setting that
// was recorded as off stays off.
func TestOldSettings(t *testing.T) {
	for record, want := range map[string]func(*LearningSettings){
		`{"learning":{}}`: func(*LearningSettings) {},
		`{"learning":{"lessons_in_prompt":3,"min_confidence":0.7,"share":"none"}}`: func(l *LearningSettings) {
			l.LessonsInPrompt, l.MinConfidence = 3, 0.7
		},
		`{"learning":{"enabled":false,"lessons_per_day":0,"heartbeat":"1h0m0s"}}`: func(l *LearningSettings) {
			l.Enabled, l.LessonsPerDay, l.Heartbeat = false, 0, Duration(time.Hour)
		},
	} {
		s, wanted := Settings{}, DefaultSettings().Learning
		want(&wanted)
		if err := json.Unmarshal([]byte(record), &s); err != nil || s.Learning != wanted {
			t.Errorf("%s: %+v, %v", record, s.Learning, err)
		}
	}
	for record, want := range map[string]bool{`{}`: true, `{"label":"x"}`: true, `{"welcome":false}`: false} {
		s := Settings{}
		if err := json.Unmarshal([]byte(record), &s); err != nil || s.Welcome != want {
			t.Errorf("%s: welcome %t, %v", record, s.Welcome, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"learning":{"enabled":"yes"}}`), &Settings{}); err == nil {
		t.Error("what can't be read is read")
	}
}

// GitHub's logins are case-insensitive.
func TestBotsByAnyCase(t *testing.T) {
	access := AccessSettings{Bots: []string{"Renovate[bot]"}}
	if !access.Obeys("renovate[bot]") || access.Obeys("renovate") {
		t.Error("renovate[bot] is not obeyed, or another is")
	}
}
