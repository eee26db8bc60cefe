package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// longCall is a call with arguments of 512 KiB.
var longCall = `{"path":"a.go","content":"` + strings.Repeat("x", 512<<10) + `"}`

// longCalls are streams of that call in each dialect, in pieces of four bytes.
var longCalls = []struct {
	name               string
	before, piece, end string // piece has verbs for its number and its text
	reader             func() answerReader
}{
	{"chat", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":` +
		`{"name":"write","arguments":""}}]}}]}` + "\n\n",
		`data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1764000000,` +
			`"model":"gpt-5.4-2026-03-05","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,` +
			`"delta":{"tool_calls":[{"index":0,"function":{"arguments":%[2]q}}]},"logprobs":null,"finish_reason":null}],` +
			`"usage":null,"obfuscation":"aBc"}` + "\n\n",
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
		func() answerReader { return &chatReader{} }},
	{"responses",
		"event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":0,"item":` +
			`{"type":"function_call","call_id":"call_1","name":"write","arguments":""}}` + "\n\n",
		"event: response.function_call_arguments.delta\n" + `data: {"type":"response.function_call_arguments.delta",` +
			`"sequence_number":%d,"item_id":"fc_0123456789abcdef0123456789abcdef0123456789abcdef","output_index":0,` +
			`"delta":%q,"obfuscation":"AbCdEfGhI"}` + "\n\n",
		fmt.Sprintf("event: response.output_item.done\n"+`data: {"type":"response.output_item.done","output_index":0,"item":`+
			`%[1]s}`+"\n\nevent: response.completed\n"+`data: {"type":"response.completed","response":{"status":"completed",`+
			`"output":[%[1]s]}}`+"\n\n", fmt.Sprintf(
			`{"type":"function_call","call_id":"call_1","name":"write","arguments":%q}`, longCall)),
		func() answerReader { return &responsesReader{} }},
	{"messages", "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":` +
		`{"type":"tool_use","id":"toolu_1","name":"write","input":{}}}` + "\n\n",
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta",` +
			`"partial_json":%[2]q}}` + "\n\n",
		`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"message_delta","delta":{"stop_reason":` +
			`"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
		func() answerReader { return &messagesReader{} }},
}

// streamOf returns the stream of one of longCalls.
func streamOf(before, piece, end string) []byte {
	var b bytes.Buffer
	b.WriteString(before)
	for i := 0; i < len(longCall); i += 4 {
		fmt.Fprintf(&b, piece, i, longCall[i:min(i+4, len(longCall))])
	}
	b.WriteString(end)
	return b.Bytes()
}

// BenchmarkArguments reads a call of 512 KiB in pieces of four bytes; the limits are 50 ms and 4 MiB.
func BenchmarkArguments(b *testing.B) {
	for _, c := range longCalls {
		stream := streamOf(c.before, c.piece, c.end)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				if err := readAnswer(bufio.NewReaderSize(bytes.NewReader(stream), 64<<10), c.reader()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Allocations for a call in small pieces are linear in its size, and bounded.
func TestArgumentsAllocateLittle(t *testing.T) {
	for _, c := range longCalls {
		stream := streamOf(c.before, c.piece, c.end)
		var before, after runtime.MemStats
		r := c.reader()
		in := bufio.NewReaderSize(bytes.NewReader(stream), 64<<10)
		runtime.ReadMemStats(&before)
		err := readAnswer(in, r)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > 4<<20 {
			t.Errorf("%s: %d bytes are allocated, want at most 4 MiB: %v", c.name, got, err)
		}
		if got := r.partial().calls[0].args.String(); got != longCall {
			t.Errorf("%s: %d bytes of arguments, want %d", c.name, len(got), len(longCall))
		}
	}
}

// Reasoning is kept even if it was cut off, and is sent back unchanged: a block without a signature gets none.
func TestThoughtsAsTheyCame(t *testing.T) {
	for name, c := range map[string]struct {
		r            answerReader
		events, want string
	}{
		"cut off, in the words": {&chatReader{}, `data: {"choices":[{"delta":{"content":"<think>\nSo "}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n", `"<think>\nSo "`},
		"without a signature": {&messagesReader{}, `data: {"type":"content_block_start","index":0,"content_block":` +
			`{"type":"thinking","thinking":""}}` + "\n\n" + `data: {"type":"content_block_delta","index":0,"delta":` +
			`{"type":"thinking_delta","thinking":"Hm."}}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" + `data: {"type":"message_stop"}` +
			"\n\n", `{"thinking":"Hm.","type":"thinking"}`},
	} {
		err := readAnswer(bufio.NewReader(strings.NewReader(c.events)), c.r)
		a := c.r.partial()
		if err != nil || a.text.Len() > 0 || len(a.opaque) != 1 || a.opaque[0].Raw != c.want {
			t.Errorf("%s: %v, text %q, opaque %+v", name, err, a.text.String(), a.opaque)
		}
	}
}

// The details of reasoning are untrusted JSON: their index may have any type.
func TestDetailsOfAnyKind(t *testing.T) {
	for _, which := range []string{`"type":"t","index":[1]`, `"type":{"a":1},"index":{"b":2}`} {
		r := &chatReader{}
		err := readAnswer(bufio.NewReader(strings.NewReader(fmt.Sprintf(`{"choices":[{"message":{"content":"hi",`+
			`"reasoning_details":[{%[1]s,"text":"so "},null,{%[1]s,"text":"then"},{"type":"u","index":1}]}}]}`, which))), r)
		if err != nil || len(r.opaque) != 1 || !strings.Contains(r.opaque[0].Raw, `"so then"`) {
			t.Errorf("%s: %v, %+v", which, err, r.opaque)
		}
	}
}

// The arguments of a call that is not streamed are the content of the string, including quotes at its ends.
func TestArgumentsThatComeWhole(t *testing.T) {
	for wire, want := range map[string]string{
		`"{\"p\":1}"`: `{"p":1}`, `{"p":1}`: `{"p":1}`, `"\"{\\\"p\\\":1}\""`: `"{\"p\":1}"`, `"{\"p\":\""`: `{"p":"`,
		`""`: "", `null`: "",
	} {
		r := &responsesReader{}
		err := readAnswer(bufio.NewReader(strings.NewReader(`{"status":"completed","output":[{"type":"function_call",`+
			`"call_id":"c","name":"read","arguments":`+wire+`}]}`)), r)
		if err != nil || len(r.calls) != 1 || r.calls[0].args.String() != want {
			t.Errorf("%s: %v, %q, want %q", wire, err, r.calls[0].args.String(), want)
		}
	}
}

// A longer timeout includes a longer time until the start of the answer.
func TestTimeToBegin(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: DefaultFirst, time.Minute: time.Minute,
		5 * time.Minute: DefaultFirst, 30 * time.Minute: 9 * time.Minute} {
		c, err := New(Config{Model: "m", Timeout: timeout})
		if err != nil || c.cfg.First != want {
			t.Errorf("of %s to answer it has %s to begin, want %s (%v)", timeout, c.cfg.First, want, err)
		}
	}
}

// Answers beyond the limits are refused, and reading stops there.
func TestBounds(t *testing.T) {
	chunk := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + "]}}]}\n\n"
	}
	var many, long strings.Builder
	for i := range 100_000 {
		many.WriteString(chunk(fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"read","arguments":"{}"}}`, i, i)))
	}
	piece := strings.Repeat("y", 64<<10)
	for range 10 * maxCallBytes / len(piece) {
		long.WriteString(chunk(`{"index":0,"function":{"name":"write","arguments":"` + piece + `"}}`))
	}
	words := strings.Repeat(`data: {"choices":[{"delta":{"content":"`+piece+`"}}]}`+"\n\n", 10*maxTextBytes/len(piece))
	thoughts := strings.Repeat(`data: {"choices":[{"delta":{"reasoning_content":"`+piece+`"}}]}`+"\n\n",
		10*maxTextBytes/len(piece))
	for name, c := range map[string]struct {
		body string
		r    answerReader
		want error
	}{
		"100,000 calls":      {many.String(), &chatReader{}, errLimitExceeded},
		"a call of 40 MiB":   {long.String(), &chatReader{}, errLimitExceeded},
		"text of 80 MiB":     {words, &chatReader{}, errLimitExceeded},
		"thoughts of 80 MiB": {thoughts, &chatReader{}, errLimitExceeded},
		"a line of 160 MiB": {"data: {" + strings.Repeat(" ", 10*maxEventBytes), &chatReader{},
			errAnswerTooLarge},
		"garbage of 640 KiB":  {strings.Repeat("lorem ipsum\n", 10*maxGarbageBytes/12), &chatReader{}, errGarbage},
		"garbage in one line": {strings.Repeat("lorem ipsum ", 10*maxGarbageBytes/12), &chatReader{}, errGarbage},
		"deeper than it may be": {`{"choices":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
			&chatReader{}, errNotProtocol},
		"an answer of 64 MiB":    {`{"choices":[` + strings.Repeat(" ", 2*maxAnswerBytes), &chatReader{}, errAnswerTooLarge},
		"640 calls of Responses": {responsesCalls(10 * maxAnswerCalls), &responsesReader{}, errLimitExceeded},
		"640 calls of Messages":  {messagesCalls(10 * maxAnswerCalls), &messagesReader{}, errLimitExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			err := readAnswer(bufio.NewReader(strings.NewReader(c.body)), c.r)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n := len(c.r.partial().calls); n > maxBegunCalls {
				t.Errorf("%d calls were kept", n)
			}
		})
	}
}

// Of too many calls in an answer, the first ones are used.
func TestTooManyCalls(t *testing.T) {
	const n = 2 * maxAnswerCalls
	var chat strings.Builder
	for i := range n {
		fmt.Fprintf(&chat, `data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"read",`+
			`"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`+"\n\n", i, i)
	}
	for name, c := range map[string]struct {
		body string
		r    answerReader
	}{
		"chat": {chat.String(), &chatReader{}},
		"responses": {responsesCalls(n) + `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
			&responsesReader{}},
		"messages": {messagesCalls(n) + `data: {"type":"message_stop"}` + "\n\n", &messagesReader{}},
	} {
		if err := readAnswer(bufio.NewReader(strings.NewReader(c.body)), c.r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		a := c.r.partial()
		a.splitArguments()
		if len(a.calls) != maxAnswerCalls {
			t.Errorf("%s: %d calls", name, len(a.calls))
		}
	}
}

func responsesCalls(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `data: {"type":"response.output_item.done","output_index":%d,"item":{"type":"function_call",`+
			`"call_id":"c%d","name":"read","arguments":"{}"}}`+"\n\n", i, i)
	}
	return b.String()
}

func messagesCalls(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t%d",`+
			`"name":"read","input":{}}}`+"\n\n", i, i)
	}
	return b.String()
}

// Strings are decoded as by encoding/json, and no event makes a reader panic.
func FuzzReaders(f *testing.F) {
	for _, s := range []string{
		`{"a":"b\"\\\n\u00e9\ud83d\ude00","c":[1,{"d":null}]}`, `{"a":`, `[[[`, `"\u12`, `{"a" "b"}`,
		`{"choices":[{"delta":{"content":"\ud800"}}]}`, "{}", `{"a":1,}`, `"x\ud83d\ude00\t\/"`,
		`{"choices":[{"delta":{"content":["a",{"text":"b"},{"thinking":[{"text":"c"}]}],"tool_calls":[{"index":-1}]}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got wireText
		var want string
		if utf8.Valid(b) && json.Unmarshal(b, &want) == nil && json.Unmarshal(b, &got) == nil &&
			joinSurrogates(string(got)) != want {
			t.Errorf("%q is %q, want %q", b, got, want)
		}
		for _, r := range []answerReader{&chatReader{}, &responsesReader{}, &messagesReader{}} {
			_, _ = r.event(b)
			_ = r.whole(b)
		}
	})
}
