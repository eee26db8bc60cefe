package sia

import (
	"slices"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// Settings add to what is protected, and take nothing away.
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
