package agent

import (
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
)

// Preset describes a known coding agent.
type Preset struct {
	Name    string
	Program string // name in PATH
	Asks    string // gateway path of the protocol that it speaks, which the model's endpoint must support
	Install string // command for users

	argv func(model string) []string
	env  func(modelAccess) []string
	read func(line []byte) outputEvent // parses a line of its output; nil: lines are text
}

// modelAccess holds the URL, the API key and the name of the model for a command.
type modelAccess struct{ url, token, model string }

// Presets returns the known agents.
func Presets() []Preset {
	return []Preset{claudePreset, codexPreset, openCodePreset, aiderPreset}
}

func presetNamed(name string) (Preset, bool) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// env returns the environment variables that every command gets: those that common programs and libraries read.
func (a modelAccess) env() []string {
	return []string{
		"SIA_MODEL_URL=" + a.url + "/v1", "SIA_MODEL_KEY=" + a.token, "SIA_MODEL=" + a.model,
		"OPENAI_BASE_URL=" + a.url + "/v1", "OPENAI_API_BASE=" + a.url + "/v1", "OPENAI_API_KEY=" + a.token,
		"ANTHROPIC_BASE_URL=" + a.url, "ANTHROPIC_API_KEY=" + a.token,
		"NO_PROXY=localhost,127.0.0.1", "DO_NOT_TRACK=1",
	}
}

// https://docs.anthropic.com/en/docs/claude-code/cli-reference and …/settings
var claudePreset = Preset{
	Name: "claude-code", Program: "claude", Asks: "/v1/messages", Install: "npm install -g @anthropic-ai/claude-code",
	argv: func(model string) []string {
		return []string{"claude", "--print", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions",
			"--model", model}
	},
	env: func(a modelAccess) []string {
		return []string{"ANTHROPIC_MODEL=" + a.model, "ANTHROPIC_SMALL_FAST_MODEL=" + a.model,
			"ANTHROPIC_DEFAULT_HAIKU_MODEL=" + a.model, "CLAUDE_CODE_SUBAGENT_MODEL=" + a.model,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			"DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
	},
	read: readClaude,
}

// https://developers.openai.com/codex/cli/reference and …/config-reference
var codexPreset = Preset{
	Name: "codex", Program: "codex", Asks: "/v1/responses", Install: "npm install -g @openai/codex",
	argv: func(model string) []string {
		provider := `{name="sia",base_url="` + sandbox.ServiceURL + `/v1",env_key="SIA_MODEL_KEY",wire_api="responses"}`
		return []string{"codex", "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
			"-c", `model_provider="sia"`, "-c", "model_providers.sia=" + provider, "-c", `web_search="disabled"`, "-m", model,
			"-"}
	},
	read: readCodex,
}

// https://opencode.ai/docs/cli and …/config
var openCodePreset = Preset{
	Name: "opencode", Program: "opencode", Asks: "/v1/chat/completions", Install: "npm install -g opencode-ai",
	argv: func(model string) []string {
		return []string{"opencode", "run", "--format", "json", "--auto", "--pure", "--title", "task", "--model",
			"sia/" + model}
	},
	env: func(a modelAccess) []string {
		config, _ := json.Marshal(map[string]any{ // strings and booleans
			"autoupdate": false, "share": "disabled", "snapshot": false, "small_model": "sia/" + a.model,
			"enabled_providers": []string{"sia"},
			"provider": map[string]any{"sia": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "sia",
				"options": map[string]any{"baseURL": a.url + "/v1", "apiKey": a.token},
				"models":  map[string]any{a.model: map[string]any{"name": a.model}}}},
		})
		return []string{"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1",
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	},
	read: readOpenCode,
}

// https://aider.chat/docs/config/options.html. It reads no brief from its standard input, so a shell writes that to a
// file first.
var aiderPreset = Preset{
	Name: "aider", Program: "aider", Asks: "/v1/chat/completions", Install: "pipx install aider-chat",
	argv: func(model string) []string {
		return []string{"/bin/sh", "-c", `cat > /tmp/brief.md && exec aider "$@"`, "aider", "--model",
			"openai/" + strings.TrimPrefix(model, "openai/"), "--message-file", "/tmp/brief.md",
			"--yes-always", "--no-git", "--no-stream", "--no-pretty", "--no-analytics", "--no-check-update",
			"--no-show-model-warnings", "--no-show-release-notes",
			"--chat-history-file", "/tmp/aider.chat", "--input-history-file", "/tmp/aider.input", "--llm-history-file",
			"/tmp/aider.llm"}
	},
}
