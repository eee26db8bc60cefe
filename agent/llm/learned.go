package llm

import (
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemaMode is how structured output is asked for.
type schemaMode int

// The modes, from the strictest to one that every endpoint knows.
const (
	modeSchema schemaMode = iota // the endpoint holds the answer to the schema
	modeObject                   // the endpoint holds it to JSON, the schema stands in the prompt
	modePlain                    // the schema stands in the prompt
)

// Learned is what a model at an endpoint was found to want or to refuse, in its own words.
// It is data, so that it can be kept.
type Learned struct {
	Protocol       Protocol   `json:"protocol,omitempty"` // that was found to be the right one; "": the one suggested
	Schema         schemaMode `json:"schema,omitempty"`
	OldMax         bool       `json:"old_max,omitempty"`         // wants max_tokens, knows no max_completion_tokens
	MostOutput     int        `json:"most_output,omitempty"`     // tokens of an answer that it allows
	NoStream       bool       `json:"no_stream,omitempty"`       // does not stream
	NineIDs        bool       `json:"nine_ids,omitempty"`        // refuses even its own ids of calls
	WantsReasoning bool       `json:"wants_reasoning,omitempty"` // wants reasoning_content of every answer
	WantsSignature bool       `json:"wants_signature,omitempty"` // wants a thought signature of every answer
	Marks          bool       `json:"marks,omitempty"`           // is a gateway that passes cache marks on
	Without        []string   `json:"without,omitempty"`         // parameters and fields that it refuses
	Weaker         []string   `json:"weaker,omitempty"`          // what the model works without, for people
}

// takes reports whether the endpoint was not found to refuse a parameter or field.
func (l Learned) takes(name string) bool { return !slices.Contains(l.Without, name) }

func (l Learned) clone() Learned {
	l.Without, l.Weaker = slices.Clone(l.Without), slices.Clone(l.Weaker)
	return l
}

// Memory is what was learned of models, shared by their clients. It is safe for concurrent
// use. The zero Memory knows nothing and forgets with the process.
type Memory struct {
	mu    sync.Mutex
	known map[string]Learned
	save  func(map[string]Learned)
}

// NewMemory begins with what is known and calls save, one call at a time, with all that is
// known whenever something was learned. Keys are of [Client.Key].
func NewMemory(known map[string]Learned, save func(map[string]Learned)) *Memory {
	return &Memory{known: maps.Clone(known), save: save}
}

func (m *Memory) of(key string) Learned {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key].clone()
}

// learn puts next in the place of what was known before, unless that has changed meanwhile.
func (m *Memory) learn(key string, before, next Learned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.known[key]
	if !reflect.DeepEqual(now.clone(), before.clone()) || reflect.DeepEqual(before, next) {
		return
	}
	if m.known == nil {
		m.known = map[string]Learned{}
	}
	m.known[key] = next.clone()
	if m.save != nil {
		m.save(maps.Clone(m.known))
	}
}

// lesson is one thing that an endpoint's words teach.
type lesson struct {
	in      []Protocol // dialects in which it can be learned; none: each
	pattern string     // of the words, in lower case
	learn   func(t *trial, words string) bool
	source  string
}

// trial is a request on its way to a form that the endpoint accepts.
type trial struct {
	req     Request
	asked   int // tokens that the answer may have
	effort  string
	dialect Protocol
	auto    bool       // another dialect may be tried
	tried   []Protocol // that were given up for another
	guessed bool       // the dialect is a guess, because nothing is at the address of the one before
	l       Learned
	// what holds for this conversation and teaches nothing about others
	noThinking, noOpaque bool
}

// without drops a parameter or field once.
func (t *trial) without(name, weaker string) bool {
	if !t.l.takes(name) {
		return false
	}
	t.l.Without = append(t.l.Without, name)
	if weaker != "" {
		t.l.Weaker = append(t.l.Weaker, weaker)
	}
	return true
}

// use changes to another dialect.
func (t *trial) use(p Protocol) bool {
	if !t.auto || t.dialect == p || slices.Contains(t.tried, p) {
		return false
	}
	t.tried = append(t.tried, t.dialect)
	t.dialect, t.l.Protocol = p, p
	return true
}

// drops makes a lesson's learn of the name of what is dropped.
func drops(name, weaker string) func(*trial, string) bool {
	return func(t *trial, _ string) bool { return t.without(name, weaker) }
}

// lessons are looked through in this order; the first that teaches something new holds.
var lessons = []lesson{
	{[]Protocol{ProtocolChat}, `v1/responses|responses api`,
		func(t *trial, _ string) bool { return t.use(ProtocolResponses) },
		"https://github.com/openai/openai-openapi/issues/541"},
	{[]Protocol{ProtocolChat, ProtocolResponses}, `v1/messages`,
		func(t *trial, _ string) bool { return t.use(ProtocolMessages) },
		"https://docs.anthropic.com/en/api/openai-sdk"},
	{[]Protocol{ProtocolResponses, ProtocolMessages}, `chat/completions`,
		func(t *trial, _ string) bool { return t.use(ProtocolChat) },
		"https://github.com/openai/openai-openapi/issues/541"},

	{nil, `must be a-z, a-z, 0-9, with a length of 9|tool.?call.?id.{0,40}(?:length|pattern|invalid|match)`,
		func(t *trial, _ string) bool { was := t.l.NineIDs; t.l.NineIDs = true; return !was },
		"https://github.com/anomalyco/opencode/issues/1680"},
	{[]Protocol{ProtocolChat}, `reasoning_content.{0,80}(?:must be passed back|missing|required)`,
		func(t *trial, _ string) bool { was := t.l.WantsReasoning; t.l.WantsReasoning = true; return !was },
		"https://github.com/earendil-works/pi/issues/3636"},
	{[]Protocol{ProtocolChat}, `missing a .?thought_signature`,
		func(t *trial, _ string) bool { was := t.l.WantsSignature; t.l.WantsSignature = true; return !was },
		"https://github.com/openai/openai-python/issues/2758"},

	{[]Protocol{ProtocolMessages}, `expected .?thinking.? or .?redacted_thinking|content\[\]\.thinking`,
		func(t *trial, _ string) bool { was := t.noThinking; t.noThinking = true; return !was },
		"https://github.com/pydantic/pydantic-ai/issues/2075"},
	{nil, `invalid .?signature|signature.{0,40}invalid|encrypted.content.{0,80}(?:verif|decrypt|pars)|` +
		`without its required|items are not persisted`,
		func(t *trial, _ string) bool { was := t.noOpaque; t.noOpaque = true; return !was },
		"https://github.com/openai/openai-agents-js/issues/546"},

	{[]Protocol{ProtocolChat}, `stream_options|include_usage`, drops("stream_options", ""),
		"https://github.com/vllm-project/vllm/issues/5135"},
	{nil, `max_(?:completion_|output_)?tokens`, (*trial).learnMost,
		"https://github.com/BerriAI/litellm/issues/4433"},
	{[]Protocol{ProtocolChat}, `max_completion_tokens`,
		func(t *trial, _ string) bool { was := t.l.OldMax; t.l.OldMax = true; return !was },
		"https://docs.mistral.ai/api/"},
	{nil, `response_format|json_schema|json_object|structured output|json mode|schema|output_config\.format|text\.format`,
		(*trial).learnSchema, "https://api-docs.deepseek.com/guides/json_mode"},
	{[]Protocol{ProtocolResponses}, `encrypted.content|\binclude\b.{0,60}(?:unknown|support|permitted|recogni|valid)|` +
		`(?:unknown|unrecogni\w+).{0,60}\binclude\b`,
		drops("include", "reasoning is not given back: the endpoint does not hand it out"),
		"https://github.com/OpenHands/software-agent-sdk/pull/1208"},
	{[]Protocol{ProtocolResponses}, `prompt_cache_key`, drops("prompt_cache_key", ""),
		"https://developers.openai.com/api/docs/guides/prompt-caching"},
	{[]Protocol{ProtocolResponses}, `\bstore\b`, drops("store", ""),
		"https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"},
	{[]Protocol{ProtocolMessages}, `adaptive`, drops("adaptive", ""),
		"https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking"},
	{[]Protocol{ProtocolMessages}, `output_config|\beffort\b`, drops("effort", "the effort is the model's default"),
		"https://docs.anthropic.com/en/docs/build-with-claude/effort"},
	{[]Protocol{ProtocolMessages}, `thinking`, drops("thinking", "it does not think before it answers"),
		"https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking"},
	{nil, `cache_control`, drops("cache_control", "nothing is marked for the endpoint's cache"),
		"https://github.com/BerriAI/litellm/issues/7790"},
	{[]Protocol{ProtocolChat}, `reasoning_content`, drops("reasoning_content", "reasoning is not given back"),
		"https://api-docs.deepseek.com/guides/reasoning_model"},
	{[]Protocol{ProtocolChat}, `reasoning_details`, drops("reasoning_details", "reasoning is not given back"),
		"https://openrouter.ai/docs/use-cases/reasoning-tokens"},
	{[]Protocol{ProtocolChat}, `thinking_blocks`, drops("thinking_blocks", "reasoning is not given back"),
		"https://docs.litellm.ai/docs/reasoning_content"},
	{[]Protocol{ProtocolChat}, `extra_content`, drops("extra_content", "thought signatures are not given back"),
		"https://ai.google.dev/gemini-api/docs/thought-signatures"},
	{[]Protocol{ProtocolChat}, `provider_specific_fields`, drops("provider_specific_fields", ""),
		"https://docs.litellm.ai/docs/reasoning_content"},
	{[]Protocol{ProtocolChat}, `reasoning_effort`, (*trial).learnEffort,
		"https://github.com/livekit/agents/issues/5084"},
	{[]Protocol{ProtocolResponses}, `reasoning`, (*trial).learnEffort,
		"https://developers.openai.com/api/docs/guides/reasoning"},
	{[]Protocol{ProtocolChat},
		`property .?reasoning.? is unsupported|\breasoning\b.{0,60}(?:extra|not permitted|unsupported)`,
		drops("reasoning", "reasoning is not given back"), "https://console.groq.com/docs/reasoning"},
	{nil, `\bstream(?:ing|ed)?\b`,
		func(t *trial, _ string) bool { was := t.l.NoStream; t.l.NoStream = true; return !was },
		"https://docs.litellm.ai/docs/completion/stream"},
}

// lessonPatterns are the patterns of lessons, in their order.
var lessonPatterns = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(lessons))
	for i, l := range lessons {
		list[i] = regexp.MustCompile(l.pattern)
	}
	return list
}()

// learn takes from an error what it teaches about the form of the request. It reports
// false when err is about something else.
func (t *trial) learn(err *Error) bool {
	words := strings.ToLower(err.Message + " " + err.Code + " " + err.param)
	switch err.Kind {
	case KindBadRequest, KindDialect, KindUnknownModel:
	case KindOverloaded: // servers that fail over the form of a request
		if err.Status != http.StatusInternalServerError && err.Status != http.StatusNotImplemented {
			return false
		}
	default:
		return false
	}
	for i, l := range lessons {
		if (l.in == nil || slices.Contains(l.in, t.dialect)) && lessonPatterns[i].MatchString(words) &&
			l.learn(t, words) {
			return true
		}
	}
	// There is nothing at the address of this dialect.
	if t.auto && err.Kind == KindBadRequest && (err.Status == http.StatusNotFound ||
		err.Status == http.StatusMethodNotAllowed) {
		for _, p := range []Protocol{ProtocolChat, ProtocolResponses, ProtocolMessages} {
			if t.use(p) {
				t.guessed = true
				return true
			}
		}
	}
	return false
}

// aNumber is one of more than two digits.
var aNumber = regexp.MustCompile(`\d{3,}`)

// learnMost learns how long an answer may be, where the endpoint says that what was asked
// for is too long.
func (t *trial) learnMost(words string) bool {
	most := 0
	for _, digits := range aNumber.FindAllString(strings.ReplaceAll(words, ",", ""), 16) {
		if n, err := strconv.Atoi(digits); err == nil && n < t.asked && n >= minMostOutput {
			most = max(most, n)
		}
	}
	if most == 0 || t.l.MostOutput != 0 && t.l.MostOutput <= most {
		return false
	}
	t.l.MostOutput = most
	t.l.Weaker = append(t.l.Weaker, "answers have at most "+strconv.Itoa(most)+" tokens: the endpoint allows no more")
	return true
}

// minMostOutput is the smallest number of tokens that is taken for a bound of answers.
const minMostOutput = 256

func (t *trial) learnSchema(string) bool {
	if t.req.Schema == nil || t.l.Schema >= modePlain {
		return false
	}
	t.l.Schema++
	if t.dialect == ProtocolMessages {
		t.l.Schema = modePlain
	}
	return true
}

// learnEffort leaves the effort to the model's default.
func (t *trial) learnEffort(string) bool {
	name := "reasoning_effort"
	if t.dialect == ProtocolResponses {
		name = "reasoning"
	}
	if t.effort == "" {
		return false
	}
	return t.without(name, "the reasoning effort "+t.effort+" is refused; the model's default holds")
}
