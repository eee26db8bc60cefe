package llm

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Protocol is one of the dialects in which models are spoken to.
type Protocol string

// The dialects.
const (
	// ProtocolAuto begins with what the endpoint's address suggests, and learns from what
	// the endpoint says.
	ProtocolAuto Protocol = "auto"
	// ProtocolChat is chat completions: https://platform.openai.com/docs/api-reference/chat
	ProtocolChat Protocol = "chat"
	// ProtocolResponses is https://platform.openai.com/docs/api-reference/responses
	ProtocolResponses Protocol = "responses"
	// ProtocolMessages is Anthropic's: https://docs.anthropic.com/en/api/messages
	ProtocolMessages Protocol = "messages"
)

// ParseProtocol reads a dialect; "" is auto.
func ParseProtocol(s string) (Protocol, error) {
	switch p := cmp.Or(Protocol(s), ProtocolAuto); p {
	case ProtocolAuto, ProtocolChat, ProtocolResponses, ProtocolMessages:
		return p, nil
	}
	return "", fmt.Errorf("there is no protocol %q: write auto, chat, responses or messages", s)
}

// suggestedProtocol is the dialect that an address suggests. OpenAI's own endpoint speaks
// two, and only in Responses do its reasoning models keep their reasoning
// (https://developers.openai.com/api/docs/guides/migrate-to-responses). Several vendors
// offer Anthropic's dialect at an address that ends in its name.
func suggestedProtocol(base string) Protocol {
	u, err := url.Parse(base)
	if err != nil {
		return ProtocolChat
	}
	host, path := u.Hostname(), strings.TrimSuffix(u.Path, "/v1")
	switch {
	case host == "api.openai.com", strings.HasSuffix(host, ".openai.azure.com"):
		return ProtocolResponses
	case host == "api.anthropic.com", strings.HasSuffix(path, "/anthropic"):
		return ProtocolMessages
	}
	return ProtocolChat
}

// dialect is how one of the protocols is spoken.
type dialect struct {
	path   string
	encode func(c *Client, req Request, l Learned, most int) ([]byte, error)
	reader func() answerReader
}

// dialects are the three by name.
var dialects = map[Protocol]dialect{
	ProtocolChat:      {"/chat/completions", encodeChat, func() answerReader { return &chatReader{} }},
	ProtocolResponses: {"/responses", encodeResponses, func() answerReader { return &responsesReader{} }},
	ProtocolMessages:  {"/messages", encodeMessages, func() answerReader { return &messagesReader{} }},
}

// address is where a dialect is spoken. Anthropic's is always below a version, which its
// own libraries add.
func (c *Client) address(p Protocol) string {
	base := c.cfg.BaseURL
	if p == ProtocolMessages {
		last := base[strings.LastIndexByte(base, '/')+1:]
		if len(last) < 2 || last[0] != 'v' || strings.Trim(last[1:], "0123456789") != "" {
			base += "/v1"
		}
	}
	return base + dialects[p].path
}

// maker names who makes opaque parts: a dialect of a model at an endpoint.
func (c *Client) maker(p Protocol) string {
	return fmt.Sprintf("%s %s %s", p, c.cfg.BaseURL, c.cfg.Model)
}
