package llm

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// lesson maps an error message of endpoints to a change of the request.
type lesson struct {
	in      []Protocol // dialects in which it applies; none: all
	pattern string     // of the message, in lower case
	form    string     // form to use, or
	learn   func(t *trial, words string) bool
	weaker  string // feature that the model then works without; "": none
}

// The dialects of most lessons.
var (
	inChat      = []Protocol{ProtocolChat}
	inResponses = []Protocol{ProtocolResponses}
	inMessages  = []Protocol{ProtocolMessages}
)

// lessons are tried in this order; the first that changes something is used. The URL above each shows its message.
var lessons = []lesson{
	// https://github.com/openai/openai-openapi/issues/541
	{in: inChat, pattern: `v1/responses|responses api|not a chat model`, learn: learnProtocol(ProtocolResponses)},
	// https://docs.anthropic.com/en/api/openai-sdk
	{in: []Protocol{ProtocolChat, ProtocolResponses}, pattern: `v1/messages`, learn: learnProtocol(ProtocolMessages)},
	// https://github.com/openai/openai-openapi/issues/541
	{in: []Protocol{ProtocolResponses, ProtocolMessages}, pattern: `chat/completions`, learn: learnProtocol(ProtocolChat)},

	// https://github.com/anomalyco/opencode/issues/1680
	{pattern: `must be a-z, a-z, 0-9, with a length of 9|tool.?call.?id.{0,40}(?:length|pattern|invalid|match)`,
		form: formNineIDs},
	// https://github.com/earendil-works/pi/issues/3636
	{in: inChat, pattern: `reasoning_content.{0,80}(?:must be passed back|missing|required)`, form: formReasoning},
	// https://github.com/openai/openai-python/issues/2758
	{in: inChat, pattern: `missing a .?thought_signature`, form: formSignature},
	// https://github.com/langflow-ai/langflow/issues/9437
	{in: inChat, pattern: `function_response.{0,4}name|name.{0,40}(?:tool message|role .?tool)`, form: formToolNames},
	// https://github.com/QuantumNous/new-api/issues/5982
	{in: inChat, pattern: `expected a string, but got an array`, form: "without cache_control",
		weaker: noCacheMarks},
	// https://github.com/pydantic/pydantic-ai/issues/5206
	{in: inChat, pattern: `content type: <nil>|content.{0,4} to be a string|` +
		`content.{0,40}(?:must be a string|got null|none is not|null)|at least one content element|` +
		`content is empty|should be a valid string`,
		learn: func(t *trial, _ string) bool {
			return t.adopt(formEmptyContent, "") || t.adopt(formSomeContent, "") ||
				t.adopt("without cache_control", noCacheMarks)
		},
	},
	// https://github.com/aaif-goose/goose/issues/5998
	{pattern: `unexpected role .?user.? after role .?tool|roles must alternate|` +
		`tool result blocks cannot be provided in the same turn`, form: formMergedTurns},
	// https://github.com/mudler/LocalAI/pull/10256
	{in: inChat, pattern: `item pairs from a mapping`, form: formObjects},
	// https://github.com/unslothai/unsloth/pull/7426
	{in: inChat, pattern: `single tool.calls at once`, form: formOneCall},
	// https://github.com/huggingface/chat-ui/issues/1386
	{in: inChat, pattern: `system role not supported|invalid message role: system|unexpected role .?system|` +
		`role.{0,4} does not support .?system|only user,? (?:and )?assistant roles`,
		form: formSystemAsUser},
	// https://github.com/openclaw/openclaw/issues/6514
	{in: inChat, pattern: `cannot pass both content and thinking`, form: formTextOrThought},
	// https://github.com/openswarm-ai/openswarm/issues/24
	{pattern: refusedKeyword.String(), learn: (*trial).learnKeywords},

	// https://github.com/pydantic/pydantic-ai/issues/2075
	{in: inMessages, pattern: `expected .?thinking.? or .?redacted_thinking|content\[\]\.thinking`,
		learn: func(t *trial, _ string) bool {
			was := t.noThinking
			t.noThinking = true
			return !was
		}},
	// https://github.com/openai/openai-agents-js/issues/546
	{pattern: `invalid .?signature|signature.{0,40}invalid|encrypted.content.{0,80}(?:verif|decrypt|pars)|` +
		`without its required|items are not persisted|item_id.{0,20}mismatch|` +
		`corrupted thought signature|blocks .{0,40}cannot be modified`,
		learn: func(t *trial, _ string) bool { return t.dropOpaque(t.req.Messages) }},

	// https://github.com/avante-corp/avante.nvim/issues/2347
	{in: inChat, pattern: `stream_options|include_usage`, form: "without stream_options"},
	// https://github.com/BerriAI/litellm/issues/4433
	{pattern: `max_(?:completion_|output_)?tokens`, learn: (*trial).learnMaxOutput},
	// https://github.com/editor-code-assistant/eca/issues/231
	{in: inChat, pattern: `max_completion_tokens`, form: formNewMaxTokens},
	// https://github.com/RayBytes/ChatMock/issues/103
	{in: inResponses, pattern: `max_output_tokens`, form: "without max_output_tokens"},
	// https://github.com/openstory-so/openstory/issues/1317
	{in: inChat, pattern: `can handle the requested parameters`, learn: func(t *trial, words string) bool {
		return t.learnSchema(words) || t.learnEffort(words)
	}},
	// https://api-docs.deepseek.com/guides/json_mode
	{pattern: `response_format|json_schema|json_object|structured output|json mode|schema|` +
		`output_config|output_format|text\.format|failed to (?:initialize samplers|parse grammar)`,
		learn: (*trial).learnSchema},
	// https://github.com/OpenHands/software-agent-sdk/pull/1208
	{in: inResponses, pattern: `encrypted.content|\binclude\b.{0,60}(?:unknown|support|permitted|recogni|valid)|` +
		`(?:unknown|unrecogni\w+|extra|not supported).{0,60}\binclude\b`, form: "without include",
		weaker: "reasoning is not given back: the endpoint does not hand it out"},
	// https://developers.openai.com/api/docs/guides/prompt-caching
	{in: inResponses, pattern: `prompt_cache_key`, form: "without prompt_cache_key"},
	// https://github.com/pydantic/pydantic-ai/pull/5229
	{in: inResponses, pattern: `\bphase\b`, form: "without phase", weaker: "the phases of answers are not given back"},
	// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
	{in: inResponses, pattern: `\bstrict\b`, form: "without strict"},
	// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
	{in: inResponses, pattern: `\bstore\b`, form: "without store"},
	// https://github.com/Wei-Shaw/sub2api/issues/2150
	{in: inResponses, pattern: `cannot determine type of .?item`, form: formTypedItems},
	// https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking
	{in: inMessages, pattern: `adaptive`, form: "without adaptive"},
	// https://docs.anthropic.com/en/docs/build-with-claude/effort
	{in: inMessages, pattern: `output_config|\beffort\b`, learn: (*trial).learnEffort},
	// https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
	{in: inMessages, pattern: `thinking`, form: "without thinking", weaker: "it does not think before it answers"},
	// https://github.com/DotHarness/dotcraft/pull/282
	{in: inMessages, pattern: `eager_input_streaming`, form: "without eager_input_streaming"},
	// https://github.com/BerriAI/litellm/issues/7790
	{pattern: `cache_control`, form: "without cache_control", weaker: noCacheMarks},
	// https://github.com/charmbracelet/crush/issues/1590
	{in: inChat, pattern: `reasoning_content`, form: "without reasoning_content", weaker: reasoningNotReturned},
	// https://openrouter.ai/docs/use-cases/reasoning-tokens
	{in: inChat, pattern: `reasoning_details`, form: "without reasoning_details", weaker: reasoningNotReturned},
	// https://docs.litellm.ai/docs/reasoning_content
	{in: inChat, pattern: `thinking_blocks`, form: "without thinking_blocks", weaker: reasoningNotReturned},
	// https://ai.google.dev/gemini-api/docs/thought-signatures
	{in: inChat, pattern: `extra_content`, form: "without extra_content",
		weaker: "thought signatures are not given back"},
	// https://docs.litellm.ai/docs/reasoning_content
	{in: inChat, pattern: `provider_specific_fields`, form: "without provider_specific_fields"},
	// https://github.com/livekit/agents/issues/5084
	{in: inChat, pattern: `reasoning.?(?:effort|value)|\bthink(?:ing)?(?:\b|_)`, learn: (*trial).learnEffort},
	// https://github.com/nguyenphutrong/quotio/issues/287
	{pattern: `\blevel .?\w+.? not supported`, learn: (*trial).learnEffort},
	// https://github.com/earendil-works/pi/issues/8381
	{in: inResponses, pattern: `reasoning`, learn: (*trial).learnEffort},
	// https://console.groq.com/docs/reasoning
	{in: inChat, pattern: `property .?reasoning.? is unsupported|\breasoning\b.{0,60}(?:extra|not permitted|unsupported)`,
		form: "without reasoning", weaker: reasoningNotReturned},
	// https://docs.litellm.ai/docs/completion/stream
	{pattern: `stream\w*.{0,60}(?:not (?:be )?(?:support|allow|available|enabled|permitted)|` +
		`unsupported|disabled|must be false)|` +
		`(?:not support\w*|unsupported|cannot|verified to) .{0,40}stream`, form: formNoStream},
}

const (
	reasoningNotReturned = "reasoning is not given back: the endpoint refuses it"
	noCacheMarks         = "nothing is marked for the endpoint's cache"
)

// lessonPatterns are the patterns of lessons, in the same order.
var lessonPatterns = patternsOf(lessons, func(l lesson) string { return l.pattern })

// trial is a request while it is adapted to an endpoint.
type trial struct {
	req     Request
	asked   int        // maximum tokens of the answer
	tokens  func() int // estimated tokens of the prompt; a function, since counting is slow and rarely needed
	window  int        // configured tokens
	effort  string
	dialect Protocol
	auto    bool       // other dialects may be tried
	tried   []Protocol // dialects that were given up
	guessed bool       // the dialect is a guess, since the previous one has no endpoint
	l       Learned
	restrictions
}

// learn changes the form of the request according to an error. It reports false if err has another cause.
func (t *trial) learn(err *Error) bool {
	words := err.allText
	switch err.Kind {
	case KindBadRequest, KindDialect, KindUnknownModel, KindNoTools:
	case KindContextLength:
		return t.learnWindow(words)
	case KindOverloaded: // some servers fail with 5xx because of the form of a request
		if err.Status != http.StatusInternalServerError && err.Status != http.StatusNotImplemented {
			return false
		}
	default:
		return false
	}
	for i, l := range lessons {
		if l.in != nil && !slices.Contains(l.in, t.dialect) || !lessonPatterns[i].MatchString(words) {
			continue
		}
		if l.form != "" && t.adopt(l.form, l.weaker) || l.learn != nil && l.learn(t, words) {
			return true
		}
	}
	// The endpoint does not serve this dialect, or not for this model.
	if t.auto && (err.isNotServed() || err.Kind == KindDialect) {
		for _, p := range []Protocol{ProtocolChat, ProtocolResponses, ProtocolMessages} {
			if t.switchTo(p) {
				t.guessed = true
				return true
			}
		}
	}
	return false
}

// isNotServed reports whether the endpoint serves nothing at the requested path.
func (e *Error) isNotServed() bool {
	return e.Kind == KindBadRequest && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed)
}

// adopt uses a form from now on; it reports false if it was used already.
func (t *trial) adopt(form, weaker string) bool {
	if t.l.uses(form) {
		return false
	}
	t.l.Forms = append(t.l.Forms, form)
	if weaker != "" {
		t.l.Weaker = append(t.l.Weaker, weaker)
	}
	return true
}

// switchTo changes the dialect, and reports whether it did.
func (t *trial) switchTo(p Protocol) bool {
	if !t.auto || t.dialect == p || slices.Contains(t.tried, p) {
		return false
	}
	t.tried = append(t.tried, t.dialect)
	t.dialect, t.l.Protocol = p, p
	return true
}

// learnProtocol returns a lesson that changes the dialect.
func learnProtocol(p Protocol) func(*trial, string) bool {
	return func(t *trial, _ string) bool { return t.switchTo(p) }
}

// statedMaxOutput matches the maximum length of an answer in an endpoint's message.
var statedMaxOutput = lazyregexp.New(
	`(?:at most|up to|maximum\D{0,60}|less than or equal to|lower than|<=|≤|> |limit\D{0,20}|` +
		`between 1 and|\[1,|exceeds?) ?\W?(\d{1,3}(?:,\d{3})+\b|\d{3,})`)

// tooLong matches a message that the requested length is too long.
var tooLong = lazyregexp.New(`too (?:large|big|high|long|many)|less than|at most|exceed|maximum|<=`)

// learnMaxOutput learns the maximum length of an answer if the endpoint refuses the requested one. If the message does
// not state it (https://github.com/gpustack/gpustack/issues/3685), half is tried.
func (t *trial) learnMaxOutput(words string) bool {
	limit := 0
	for _, m := range statedMaxOutput.FindAllStringSubmatch(words, 16) {
		if n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil && n < t.asked && n >= minMaxOutput {
			limit = max(limit, n)
		}
	}
	if limit == 0 && t.asked >= 4*minMaxOutput && tooLong.MatchString(words) {
		limit = t.asked / 2
	}
	if limit == 0 || t.l.MostOutput != 0 && t.l.MostOutput <= limit {
		return false
	}
	t.l.MostOutput = limit
	t.l.Weaker = append(t.l.Weaker, "answers have at most "+strconv.Itoa(limit)+" tokens: the endpoint allows no more")
	return true
}

// minMaxOutput is the smallest number of tokens that is accepted as a maximum length of answers.
const minMaxOutput = 256

// statedWindow matches the size of the window in the messages of vLLM and OpenRouter, llama.cpp, Anthropic, Mistral,
// xAI, Gemini, Copilot, TensorRT-LLM, Kimi, Qwen, TGI and GitHub Models.
var statedWindow = lazyregexp.New(
	`(?:context (?:length|size|window|limit)(?: is| of|:| \()?(?: only)? ?(?:\d+ \+ \d+ > )?|` +
		`n_ctx\D{1,4}|tokens > |for model with |allowed input length of |prompt length is |tokens allowed \(|` +
		`limit of |maximum model length of |maximum (?:sequence|input) length \(|max_(?:seq_len|num_tokens) \(|` +
		`token limit: |input length should be \[1,? ?|must be <= |max size: )(\d{4,})`)

// learnWindow learns the size of the model's window if the message states it. It reports whether the request fits with
// a shorter answer.
func (t *trial) learnWindow(words string) bool {
	m := statedWindow.FindStringSubmatch(strings.ReplaceAll(words, ",", ""))
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1024 || n >= t.window || t.l.Window != 0 && t.l.Window <= n {
		return false
	}
	t.l.Window = n
	t.l.Weaker = append(t.l.Weaker, "its window has "+m[1]+" tokens, as the endpoint says: set context to that")
	return t.tokens()*5/4+minMaxOutput < n
}

// refusedKeyword matches the unknown keyword of a schema in the messages of Gemini and of gateways in front of it
// (https://github.com/adolfousier/opencrabs/issues/99).
var refusedKeyword = lazyregexp.New(
	`unknown name [^\w$]{0,3}([\w$]+)\W{1,3}at \W?[^ ]*(?:tools|function_declarations)|` +
		`(additional_?properties)`)

// learnKeywords learns which keywords the schemas of tools must not have.
func (t *trial) learnKeywords(words string) (new bool) {
	for _, m := range refusedKeyword.FindAllStringSubmatch(words, 64) {
		if t.adopt(formSchemaWithout+strings.ReplaceAll(m[1]+m[2], "_", ""), "") {
			new = true
		}
	}
	return new
}

// learnSchema uses a simpler way to request structured output.
func (t *trial) learnSchema(words string) bool {
	if t.req.Schema == nil || t.l.Schema >= modePlain || strings.Contains(words, "effort") {
		return false
	}
	t.l.Schema++
	if t.dialect == ProtocolMessages {
		t.l.Schema = modePlain
	}
	return true
}

// efforts are the names of reasoning efforts, lowest first.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// effortList matches the text before a list of valid efforts, which not all endpoints quote.
var effortList = lazyregexp.New(
	`\b(?:valid|supported|allowed) (?:\w+ )?(?:levels?|values?|efforts?|options?|types?)\b|\bone of\b|\bmust be\b`)

var (
	quotedWord = lazyregexp.New("[\"'`](\\w+)[\"'`]")
	plainWord  = lazyregexp.New(`\w+`)
)

// learnEffort requests the highest named effort below the refused one, or else the next higher one, or else the model's
// default. It changes only the refused effort.
func (t *trial) learnEffort(words string) bool {
	refused := t.l.effort(t.effort)
	if refused == "" {
		return false
	}
	var named []string
	for _, m := range quotedWord.FindAllStringSubmatch(words, 64) {
		named = append(named, m[1])
	}
	if at := effortList.FindStringIndex(words); at != nil {
		named = append(named, plainWord.FindAllString(words[at[1]:], 64)...)
	}
	at := slices.Index(efforts, refused) // -1: unknown
	instead := slices.Clone(efforts[:max(at, 0)])
	slices.Reverse(instead)
	for _, e := range append(instead, efforts[at+1:]...) {
		if slices.Contains(named, e) && t.adopt(formEffort+refused+formAs+e, "") {
			return true
		}
	}
	return t.adopt("without "+formEffort+refused, "")
}
