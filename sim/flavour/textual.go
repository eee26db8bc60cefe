package flavour

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// each writes every argument in a format with its key and value.
func each(args, form string) string {
	var all map[string]any
	if err := json.Unmarshal([]byte(args), &all); err != nil {
		return ""
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(all)) {
		v := all[k]
		text, is := v.(string)
		if !is {
			raw, err := json.Marshal(v)
			if err != nil {
				return ""
			}
			text = string(raw)
		}
		fmt.Fprintf(&b, form, k, text)
	}
	return b.String()
}

// textual are models on servers that leave tool calls in the text of the answer.
var textual = []Flavour{
	{Name: "Qwen: a call is text", Source: "https://github.com/ggml-org/llama.cpp/issues/20198",
		Message: asText(func(name, args string) string {
			return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, args)
		})},
	{Name: "Qwen Coder: a call is marked up", Source: "https://github.com/QwenLM/Qwen3-Coder",
		Message: asText(func(name, args string) string {
			return "<tool_call>\n<function=" + name + ">\n" + each(args, "<parameter=%s>\n%s\n</parameter>\n") +
				"</function>\n</tool_call>"
		})},
	{Name: "Llama: a call is a function", Source: "https://github.com/groq/groq-typescript/issues/28",
		Message: asText(func(name, args string) string { return "<function=" + name + ">" + args + "</function>" })},
	{Name: "GLM: a call is keys and values", Source: "https://github.com/ikawrakow/ik_llama.cpp/pull/958",
		Message: asText(func(name, args string) string {
			return "<tool_call>" + name + "\n" + each(args, "<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n") +
				"</tool_call>"
		})},
	{Name: "MiniMax: a call is an invocation", Source: "https://github.com/MiniMax-AI/MiniMax-M2",
		Message: asText(func(name, args string) string {
			return "<minimax:tool_call>\n<invoke name=\"" + name + "\">\n" +
				each(args, "<parameter name=\"%s\">%s</parameter>\n") + "</invoke>\n</minimax:tool_call>"
		})},
	{Name: "DeepSeek: a call is DSML", Source: "https://github.com/TokenRhythm/opensquilla/issues/985",
		Message: asText(func(name, args string) string {
			return "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"" + name + "\">\n" +
				each(args, "<｜DSML｜parameter name=\"%s\" string=\"true\">%s</｜DSML｜parameter>\n") +
				"</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
		})},
	{Name: "DeepSeek: a call is tokens", Source: "https://github.com/vllm-project/vllm/issues/26897",
		Message: asText(func(name, args string) string {
			return "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>" + name + "\n```json\n" + args +
				"\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
		})},
	{Name: "Kimi: a call is tokens", Source: "https://github.com/NousResearch/hermes-agent/issues/24534",
		Message: asText(func(name, args string) string {
			return "<|tool_calls_section_begin|><|tool_call_begin|>functions." + name + ":0<|tool_call_argument_begin|>" + args +
				"<|tool_call_end|><|tool_calls_section_end|>"
		})},
	{Name: "gpt-oss: a call is a channel", Source: "https://github.com/lablup/mlxcel/issues/654",
		Message: asText(func(name, args string) string {
			return "<|channel|>analysis<|message|>It has to be read.<|end|><|start|>assistant<|channel|>commentary " +
				"to=functions." +
				name + " <|constrain|>json<|message|>" + args + "<|call|>"
		})},
	{Name: "Mistral: a call is a token", Source: "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/797",
		Message: asText(func(name, args string) string { return "[TOOL_CALLS]" + name + "[ARGS]" + args })},
	{Name: "Granite: a call is a token and a list", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html",
		Message: asText(func(name, args string) string {
			return fmt.Sprintf(`<|tool_call|>[{"name": %q, "arguments": %s}]`, name, args)
		})},
	{Name: "Nemotron: a call is a tag and a list", Source: "https://github.com/ollama/ollama/pull/6849",
		Message: asText(func(name, args string) string {
			return fmt.Sprintf(`<TOOLCALL>[{"name": %q, "arguments": %s}]</TOOLCALL>`, name, args)
		})},
	{Name: "Gemma: a call is a call", Source: "https://github.com/NousResearch/hermes-agent/pull/7449",
		Message: asText(func(name, args string) string {
			return "<|tool_call>call:" + name + "{" + strings.TrimSuffix(each(args, `%s:<|"|>%s<|"|>,`), ",") + "}<tool_call|>"
		})},
	{Name: "Qwen Coder: an answer is nothing but a call", Source: "https://github.com/jundot/omlx/issues/2565",
		Message: func(m object) string {
			if m["tool_calls"] != nil {
				m["content"] = ""
			}
			if calls, _ := m["tool_calls"].([]any); len(calls) > 1 {
				m["tool_calls"] = calls[:1]
			}
			return asText(func(name, args string) string {
				return fmt.Sprintf("```json\n{\"name\": %q, \"arguments\": %s}\n```", name, args)
			})(m)
		}},
}
