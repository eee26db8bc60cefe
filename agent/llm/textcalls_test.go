package llm

import (
	"encoding/json"
	"testing"
)

// A call in each of the forms in which models were seen to write one as text is taken for a call, and is no prose.
func TestTextForms(t *testing.T) {
	for source, said := range map[string]string{
		"https://github.com/ggml-org/llama.cpp/issues/20198": `<tool_call>{"name": "read", "arguments": ` +
			`{"path": "a.go"}}</tool_call>`,
		"https://github.com/QwenLM/Qwen3-Coder": "<function=read>\n<parameter=path>\na.go\n</parameter>\n</function>",
		"https://github.com/TokenRhythm/opensquilla/issues/985": "<｜DSML｜invoke name=\"read\">\n" +
			"<｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter>\n</｜DSML｜invoke>",
		"https://github.com/NousResearch/hermes-agent/issues/24534": "<|tool_call_begin|>functions.read:0" +
			`<|tool_call_argument_begin|>{"path": "a.go"}<|tool_call_end|>`,
		"https://github.com/vllm-project/vllm/issues/26897": "<｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n" +
			"```json\n{\"path\": \"a.go\"}\n```<｜tool▁call▁end｜>",
		"https://github.com/lablup/mlxcel/issues/654": `<|channel|>commentary to=functions.read <|constrain|>json` +
			`<|message|>{"path": "a.go"}<|call|>`,
		"https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/797": `[TOOL_CALLS]read[ARGS]{"path": "a.go"}`,
		"https://docs.vllm.ai/en/latest/features/tool_calling.html": `<|tool_call|>[{"name": "read", "arguments": ` +
			`{"path": "a.go"}}]`,
		"https://github.com/ollama/ollama/pull/6849": `<TOOLCALL>[{"name": "read", "arguments": ` +
			`{"path": "a.go"}}]</TOOLCALL>`,
		"https://github.com/NousResearch/hermes-agent/pull/7449": `<|tool_call>call:read{path:<|"|>a.go<|"|>}<tool_call|>`,
	} {
		a, m := answer{}, Message{Content: said}
		a.readTextCalls(&m, []ToolSpec{{Name: "read", Parameters: json.RawMessage(
			`{"type": "object", "properties": {"path": {"type": "string"}}}`)}})
		if len(a.calls) != 1 || m.Content != "" {
			t.Errorf("%s: %q has %d calls, and this is left: %q", source, said, len(a.calls), m.Content)
			continue
		}
		call, args := a.calls[0], struct{ Path string }{}
		err := json.Unmarshal([]byte(call.args.String()), &args)
		if err != nil || call.name != "read" || args.Path != "a.go" {
			t.Errorf("%s: %q is %s(%s)", source, said, call.name, call.args.String())
		}
	}
}
