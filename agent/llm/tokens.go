package llm

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Overheads of the chat format in tokens, rounded up from OpenAI's documentation
// (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken).
const (
	tokensPerMessage = 4
	tokensPerCall    = 8
	tokensPerTool    = 12
	tokensPerRequest = 3
)

// pieceBytes is the size of the pieces in which texts are tokenized, so that hostile text can't make the tokenizer's
// pattern slow; a cut adds at most a token or two.
const pieceBytes = 8 << 10

// o200kCodec returns the vocabulary of OpenAI's current models, loaded on first use (6 ms, 6 MB).
var o200kCodec = sync.OnceValue(func() tokenizer.Codec {
	c, _ := tokenizer.Get(tokenizer.O200kBase) // part of the library
	return c
})

// CountTokens estimates the number of tokens of text. It uses OpenAI's o200k vocabulary; other models differ by about a
// fifth, so callers should leave a margin.
func CountTokens(text string) int {
	codec, n := o200kCodec(), 0
	for len(text) > 0 {
		piece := text[:min(len(text), pieceBytes)]
		text = text[len(piece):]
		k, err := codec.Count(piece)
		if err != nil {
			k = (len(piece)*10 + 35) / 36 // 3.6 bytes per token, between prose (4.3) and dense code (3)
		}
		n += k
	}
	return n
}

// Tokens estimates the tokens of m in a prompt, including opaque parts: those are usually encoded, at about four
// characters per token.
func (m Message) Tokens() int {
	n := tokensPerMessage + CountTokens(m.Content) + m.Opaque.bytes()/4
	for _, c := range m.ToolCalls {
		n += tokensPerCall + CountTokens(c.Name) + CountTokens(c.Arguments)
	}
	return n
}

// Tokens estimates the tokens of t in a prompt.
func (t ToolSpec) Tokens() int {
	return tokensPerTool + CountTokens(t.Name) + CountTokens(t.Description) + CountTokens(string(t.Parameters))
}

// Tokens estimates the tokens of r's prompt. It reads all messages; for a growing conversation, sum up [Message.Tokens]
// as messages are added.
func (r Request) Tokens() int {
	n := tokensPerRequest
	for _, m := range r.Messages {
		n += m.Tokens()
	}
	for _, t := range r.Tools {
		n += t.Tokens()
	}
	if r.Schema != nil {
		n += CountTokens(string(r.Schema.JSON))
	}
	return n
}
