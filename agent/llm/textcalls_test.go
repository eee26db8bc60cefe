package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

// textTools are the tools of these tests.
var textTools = []ToolSpec{{Name: "read", Parameters: json.RawMessage(
	`{"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}`)}, {Name: "list"}}

// readText reads the calls of a text.
func readText(said string, cut bool) (a *answer, left, unread string) {
	a = &answer{}
	m := Message{Content: said}
	unread = a.readTextCalls(&m, textTools, cut)
	return a, m.Content, unread
}

// A call in each of the observed text forms is parsed as a call, and is not part of the prose.
func TestTextForms(t *testing.T) {
	const object = `{"name": "read", "arguments": {"path": "a.go"}}`
	for _, c := range []struct{ source, said string }{
		{"https://github.com/ggml-org/llama.cpp/issues/20198", "<tool_call>" + object + "</tool_call>"},
		{"https://github.com/NousResearch/hermes-agent/issues/5315", "<tool_call>\n" + object + "}\n</tool_call>"},
		{"https://github.com/NousResearch/hermes-agent/issues/5315",
			"<tool_call>\n" + strings.TrimSuffix(object, "}") + "\n</tool_call>"},
		{"https://github.com/vllm-project/vllm/issues/32931", "<tools>\n" + object + "\n</tools>"},
		{"https://github.com/vllm-project/vllm/issues/32926", "```json\n" + object + "\n```"},
		{"https://github.com/jundot/omlx/issues/2565", object},
		{"https://github.com/ollama/ollama/issues/12174", "[" + object + "]"},
		{"https://github.com/QwenLM/Qwen3-Coder", "<function=read>\n<parameter=path>\na.go\n</parameter>\n</function>"},
		{"https://github.com/vllm-project/vllm/issues/23099",
			"<tool_call>\n<function=read>\n<parameter=lines>\n3\n<parameter=path>\na.go\n</function>\n</tool_call>"},
		{"https://github.com/ikawrakow/ik_llama.cpp/pull/958",
			"<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>\n</tool_call>"},
		{"https://github.com/TokenRhythm/opensquilla/issues/985", "<｜DSML｜invoke name=\"read\">\n" +
			"<｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter>\n</｜DSML｜invoke>"},
		{"https://github.com/NousResearch/hermes-agent/issues/24534", "<|tool_call_begin|>functions.read:0" +
			`<|tool_call_argument_begin|>{"path": "a.go"}<|tool_call_end|>`},
		{"https://github.com/vllm-project/vllm/issues/26897", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n" +
			"```json\n{\"path\": \"a.go\"}\n```<｜tool▁call▁end｜>"},
		{"https://github.com/lablup/mlxcel/issues/654", `<|channel|>commentary to=functions.read <|constrain|>json` +
			`<|message|>{"path": "a.go"}<|call|>`},
		{"https://github.com/lablup/mlxcel/issues/654", "to=functions.read json\n" + `{"path": "a.go"}`},
		{"https://github.com/openai/harmony", `<|start|>assistant<|channel|>commentary to=read code` +
			`<|message|>{"path": "a.go"}`},
		{"https://github.com/openai/harmony/blob/main/docs/format.md", `<|start|>assistant to=functions.read` +
			`<|channel|>commentary <|constrain|>json<|message|>{"path": "a.go"}<|call|>`},
		{"https://github.com/openai/harmony/blob/main/docs/format.md", `<|channel|>analysis to=functions.read ` +
			`<|constrain|>json<|message|>{"path": "a.go"}<|call|>`},
		{"https://docs.vllm.ai/en/v0.22.1/api/vllm/tool_parsers/lfm2_tool_parser/",
			`<|tool_call_start|>[read(path="a.go")]<|tool_call_end|>`},
		{"https://github.com/ollama/ollama/blob/main/model/parsers/deepseek3_test.go", "<｜tool▁calls▁begin｜>" +
			`<｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path":"a.go"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`},
		{"https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/797", `[TOOL_CALLS]read[ARGS]{"path": "a.go"}`},
		{"https://docs.vllm.ai/en/latest/features/tool_calling.html", "<|tool_call|>[" + object + "]"},
		{"https://github.com/ollama/ollama/pull/6849", "<TOOLCALL>[" + object + "]</TOOLCALL>"},
		{"https://github.com/NousResearch/hermes-agent/pull/7449",
			`<|tool_call>call:read{path:<|"|>a.go<|"|>}<tool_call|>`},
		{"https://www.philschmid.de/gemma-function-calling",
			"```tool_code\nprint(default_api.read(path='a.go', lines=3))\n```"},
		{"https://github.com/vllm-project/vllm/issues/22917", `[read(path="a.go")]`},
		{"https://github.com/vllm-project/vllm/issues/22917", `<|python_start|>[read(path='a.go')]<|python_end|>`},
		{"https://github.com/vllm-project/vllm/issues/16214", "<|python_start|>" +
			`{"name": "read", "parameters": {"path": "a.go"}}<|python_end|>`},
		{"https://github.com/vllm-project/vllm/issues/16214",
			`<|python_tag|>{"type": "function", "name": "read", "parameters": {"path": "a.go"}}`},
	} {
		a, left, unread := readText(c.said, false)
		if len(a.calls) != 1 || left != "" || unread != "" {
			t.Errorf("%s: %q has %d calls, and this is left: %q; %s", c.source, c.said, len(a.calls), left, unread)
			continue
		}
		call, args := a.calls[0], struct{ Path string }{}
		err := json.Unmarshal([]byte(call.args.String()), &args)
		if err != nil || call.name != "read" || args.Path != "a.go" {
			t.Errorf("%s: %q is %s(%s)", c.source, c.said, call.name, call.args.String())
		}
	}
}

// calledIn returns the calls on one line.
func calledIn(a *answer) string {
	var b strings.Builder
	for _, c := range a.calls {
		b.WriteString(c.name + c.args.String() + ";")
	}
	return b.String()
}

// The calls in a text, and the remaining prose.
func TestTextCalls(t *testing.T) {
	const object = `{"name": "read", "arguments": {"path": "a"}}`
	const fence = "```json\n" + object + "\n```"
	const read = `read{"path":"a"};`
	for name, c := range map[string]struct{ said, calls, left string }{
		"prose before":         {"I will do it.\n\n" + object, read, "I will do it."},
		"prose around a fence": {"First:\n" + fence + "\nThis shows it.", read, "First:\n\nThis shows it."},
		"calls at the end":     {"So:\n" + fence + "\n" + object + "\n\n" + fence, read + read + read, "So:"},
		"a call at the end, another before": {"Not " + object + " and not\n" + fence + "\nbut\n" + fence, read,
			"Not " + object + " and not\n" + fence + "\nbut"},
		"Llama's several": {`<|python_tag|>` + object + `; {"name": "list", "arguments": {}}`, read + "list{};", ""},
		"an end mark within a string": {`<tool_call>{"name": "read", "arguments": {"path": "</tool_call>"}}</tool_call> Go.`,
			`read{"path":"</tool_call>"};`, "Go."},
		"line ends within a string": {"<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\nb\"}}</tool_call>",
			`read{"path":"a\nb"};`, ""},
		"marks within a value": {"<tool_call><function=read><parameter=path>\n</tool_call>\n</function>\n</parameter>" +
			"</function></tool_call>", `read{"path":"</tool_call>\n</function>"};`, ""},
		"the last argument has no end, and another call follows": {"<function=read><parameter=path>a</function> and " +
			"<function=read><parameter=path>b</parameter></function>", `read{"path":"a"};read{"path":"b"};`, "and"},
		"gpt-oss says what it will do": {"<|channel|>commentary<|message|>I read it.<|end|><|start|>assistant" +
			"<|channel|>commentary to=functions.read<|constrain|>json<|message|>{\"path\": \"a\"}<|call|>", read, "I read it."},
		"no arguments":     {"<function=list>\n</function>", "list{};", ""},
		"Python's several": {`[read(path="a"), list()]`, read + "list{};", ""},

		"quoted": {"It would be `<tool_call>" + object + "</tool_call>`. I won't.", "",
			"It would be `<tool_call>" + object + "</tool_call>`. I won't."},
		"quoted in another language": {"```xml\n<tool_call>" + object + "</tool_call>\n```\n```python\n" + object + "\n```",
			"", "```xml\n<tool_call>" + object + "</tool_call>\n```\n```python\n" + object + "\n```"},
		"quoted, then called": {"Not `<tools>` but\n<tools>" + object + "</tools>", read, "Not `<tools>` but"},
		"a tool and no call": {`<tools>{"name": "read", "description": "Reads.", "parameters": {}}</tools>`, "",
			`<tools>{"name": "read", "description": "Reads.", "parameters": {}}</tools>`},
		"another object with a name": {"```json\n{\"name\": \"read\", \"version\": \"1.0\"}\n```", "",
			"```json\n{\"name\": \"read\", \"version\": \"1.0\"}\n```"},
		"within another object": {"{\"calls\": [\n" + object + "\n]}", "", "{\"calls\": [\n" + object + "\n]}"},
		"a word that ends so":   {"goto=functions.read {}", "", "goto=functions.read {}"},
		"a link":                {"[read(this)](https://example.com)", "", "[read(this)](https://example.com)"},
	} {
		a, left, _ := readText(c.said, false)
		if got := calledIn(a); got != c.calls || left != c.left {
			t.Errorf("%s: %q, left %q\nwant %q, left %q", name, got, left, c.calls, c.left)
		}
	}
}

// A call that can't be parsed is not carried out, and its error is returned. Text about calls is not a call.
func TestUnreadTextCalls(t *testing.T) {
	for _, c := range []struct {
		said   string
		cut    bool
		unread string
	}{
		{`<tool_call>{"name": "read" "arguments": {}}</tool_call>`, false, "what follows <tool_call> is no call: " +
			`a comma or } is missing, at byte 16, before "\"arguments\": {}}</t…"`},
		{`<tool_call>{"name": "read", "arguments": {"path": "a}}</tool_call>`, false,
			"what follows <tool_call> is no call: a string has no end, at byte 39, before"},
		{"<function=read>path: a</function>", false,
			"what follows <function= is no call: neither an argument nor the end of the call follows the name read"},
		{`<tool_call>{"name": "fly", "arguments": {}}</tool_call>`, false,
			`what follows <tool_call> is no call: there is no tool "fly"`},
		{`<tool_call>{"arguments": {}}</tool_call>`, false, "what follows <tool_call> is no call: it names no tool"},
		{"<tool_call>\nI should read a.go", false, "what follows <tool_call> is no call: no object of a call is there"},
		{"<function=read><parameter=path>a", true,
			"what follows <function= is no call: the argument path of read has no end"},
		{"<function=read><parameter=path>a</parameter>", true,
			"what follows <function= is no call: the call of read breaks off"},
		{`<tool_call>{"name": "read", "arguments": {"path": "a"}`, true,
			"what follows <tool_call> is no call: a comma or } is missing, at byte 43, at its end"},
		{`{"name": "read", "arguments": {"path": "a" "b"}}`, false,
			`the call of read is none: a comma or } is missing, at byte 43, before "\"b\"}}"`},
		{"```tool_code\nread('a')\n```", false, `the call of read is none: a colon is missing, at byte 8`},
		{`I call {"name": "read", "arguments": {"path": "a"}} now.`, false, "the call of read does not begin a line"},
		{"```\n{\"name\": \"list\", \"arguments\": {}}\n```\nor\n```\n{\"name\": \"list\", \"arguments\": {}}\n```\nWhich?",
			false, "calls stand at several places and none at the end, so that it is not clear which are meant"},

		{"The parser takes <tool_call> for a mark.", false, ""},
		{"It says `{\"name\": \"read\", \"arguments\": {}}` there.", false, ""},
		{"```yaml\n<tool_call>{\n```", false, ""},
		{"{\n \"name\": \"fly\" \"x\"\n}", false, ""},
	} {
		a, left, unread := readText(c.said, c.cut)
		if len(a.calls) > 0 || left != c.said || !strings.HasPrefix(unread, c.unread) || (unread == "") != (c.unread == "") {
			t.Errorf("%q: %d calls, left %q, unread\n%s, want\n%s", c.said, len(a.calls), left, unread, c.unread)
		}
	}
	const one = `<tool_call>{"name": "list"}</tool_call>`
	if a, _, unread := readText(one+"<tool_call>{</tool_call>", false); len(a.calls) != 1 || unread == "" {
		t.Errorf("%d calls beside one that can't be read: %q", len(a.calls), unread)
	}
	if a, _, _ := readText(strings.Repeat(one, 10*maxAnswerCalls), false); len(a.calls) != maxAnswerCalls {
		t.Errorf("%d calls", len(a.calls))
	}
	for _, long := range []string{`<tool_call>{"name": "read", "arguments": {"path": "%"}}`,
		"<function=read><parameter=path>%</parameter>"} {
		said := strings.Replace(long, "%", strings.Repeat("x", maxCallBytes+1), 1)
		if a, _, unread := readText(said, false); len(a.calls) != 0 || !strings.Contains(unread, "over 4096 KiB") {
			t.Errorf("%d calls of over 4 MiB: %q", len(a.calls), unread)
		}
	}
}

// A number or a boolean in quotes is converted if the schema requires that, and stays a string otherwise.
func TestTypedArguments(t *testing.T) {
	const schema = `{"properties": {"n": {"type": "integer"}, "f": {"type": "number"}, "all": {"type": "boolean"},
		"or": {"type": ["integer", "null"]}, "text": {"type": "string"}, "either": {"type": ["string", "integer"]},
		"list": {"type": "array"}}}`
	for args, want := range map[string]string{
		`{"n": "5", "all": "true", "text": "5 < 6"}`: `{"all":true,"n":5,"text":"5 < 6"}`,
		`{"n": "-5", "f": "1.5e3", "or": "0"}`:       `{"f":1.5e3,"n":-5,"or":0}`,
		`{"f": "5", "all": "false"}`:                 `{"all":false,"f":5}`,
		`{"n": "5.5"}`:                               "", `{"n": "05"}`: "", `{"n": " 5"}`: "",
		`{"n": "five"}`: "", `{"n": ""}`: "",
		`{"n": "true"}`: "", `{"all": "5"}`: "", `{"all": "null"}`: "", `{"f": "NaN"}`: "", `{"or": "null"}`: "",
		`{"text": "5"}`: "", `{"either": "5"}`: "", `{"other": "5"}`: "", `{"list": "5"}`: "", `{"n": 5}`: "",
		`{"n": "5"`: "", `["5"]`: "", "": "",
	} {
		if want == "" {
			want = args
		}
		if got := typedArguments(args, json.RawMessage(schema)); got != want {
			t.Errorf("%s is %s, want %s", args, got, want)
		}
	}
	if args := `{"n": "5"}`; typedArguments(args, nil) != args {
		t.Error("a tool without a schema")
	}
}

// Texts full of possible calls take time linear in their length.
func TestTextCallsAreLinear(t *testing.T) {
	for _, said := range []string{
		"<tool_call>x</tool_call><function=", `<tool_call>{"name": "read", "arguments": {"path": "`, "<function=read>",
		"<parameter=path>", "<function=fly><parameter=path>", "{\"name\": \"read\", \"arguments\": {\"path\": \"\n",
		"[read(path='\n", "[[[[[\n", "`", "```\n{\n", "``` `` `<tool_call>", "<tool_call>read<arg_key>",
		`{"name": "list", "arguments": x `,
		"```tool_code\nread(\n", "to=functions.read {", "\n",
	} {
		text := strings.Repeat(said, 1<<20/len(said))
		if a, left, _ := readText(text, false); len(a.calls) != 0 || left != text {
			t.Errorf("%q: %d calls, %d bytes left of %d", said, len(a.calls), len(left), len(text))
		}
	}
}

// A parsed call is of an offered tool, and has JSON arguments; other text is unchanged.
func FuzzTextCalls(f *testing.F) {
	for _, form := range textForms {
		f.Add(form.begin+`{"name": "read", "arguments": {"path": "a"}}`+form.end+" x", false)
		f.Add("`"+form.begin+"read{}", true)
	}
	f.Add("<function=read><parameter=path>a<parameter=lines>3</function>", false)
	f.Add("```tool_code\nprint(read(path='''a'''))\n```\n[list(), list()]\n"+
		"```json\n{\"name\":\"list\",\"arguments\":{}}\n", true)
	f.Fuzz(func(t *testing.T, said string, cut bool) {
		a, left, _ := readText(said, cut)
		for _, c := range a.calls {
			if args := c.args.String(); c.name != "read" && c.name != "list" || args != "" && !json.Valid([]byte(args)) {
				t.Errorf("%q is %s(%s)", said, c.name, args)
			}
		}
		if len(a.calls) == 0 && left != said || len(a.calls) > maxAnswerCalls {
			t.Errorf("%q: %d calls, left %q", said, len(a.calls), left)
		}
	})
}
