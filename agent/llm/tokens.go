package llm

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Overheads of the chat format in tokens, rounded up from what OpenAI documents
// for its models
// (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken).
const (
	tokensPerMessage = 4
	tokensPerCall    = 8
	tokensPerTool    = 12
	tokensPerRequest = 3
)

// pieceBytes bounds what is tokenised at once, so that a hostile text can't make
// the tokeniser's pattern walk far; a cut costs at most a token or two.
const pieceBytes = 8 << 10

// o200kCodec is the vocabulary of OpenAI's present models; it is loaded at first use
// (6 ms, 6 MB).
var o200kCodec = sync.OnceValue(func() tokenizer.Codec {
	c, _ := tokenizer.Get(tokenizer.O200kBase) // it is part of the library
	return c
})

// CountTokens estimates how many tokens text is. It counts with OpenAI's o200k
// vocabulary; other models differ by about a fifth, so leave room.
func CountTokens(text string) int {
	codec, n := o200kCodec(), 0
	for len(text) > 0 {
		piece := text[:min(len(text), pieceBytes)]
		text = text[len(piece):]
		k, err := codec.Count(piece)
		if err != nil {
			k = (len(piece)*10 + 35) / 36 // 3.6 bytes a token, between prose (4.3) and dense code (3)
		}
		n += k
	}
	return n
}

// Tokens estimates how many tokens m takes up in a prompt, opaque parts included: those
// are as a rule encoded, at some four characters a token.
func (m Message) Tokens() int {
	n := tokensPerMessage + CountTokens(m.Content) + m.Opaque.bytes()/4
	for _, c := range m.ToolCalls {
		n += tokensPerCall + CountTokens(c.Name) + CountTokens(c.Arguments)
	}
	return n
}

// Tokens estimates how many tokens t takes up in a prompt.
func (t ToolSpec) Tokens() int {
	return tokensPerTool + CountTokens(t.Name) + CountTokens(t.Description) + CountTokens(string(t.Parameters))
}

// Tokens estimates how many tokens the prompt of r is. It reads all of it: for a
// growing conversation, add up [Message.Tokens] as messages are added.
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
