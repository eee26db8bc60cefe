package llm

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Protocol is a dialect of chat models.
type Protocol string

// The dialects.
const (
	// ProtocolAuto starts with the dialect that the endpoint's URL suggests, and learns from its errors.
	ProtocolAuto Protocol = "auto"
	// ProtocolChat is chat completions: https://platform.openai.com/docs/api-reference/chat
	ProtocolChat Protocol = "chat"
	// ProtocolResponses is https://platform.openai.com/docs/api-reference/responses
	ProtocolResponses Protocol = "responses"
	// ProtocolMessages is Anthropic's: https://docs.anthropic.com/en/api/messages
	ProtocolMessages Protocol = "messages"
)

// ParseProtocol parses a dialect; "" is auto.
func ParseProtocol(s string) (Protocol, error) {
	switch p := cmp.Or(Protocol(s), ProtocolAuto); p {
	case ProtocolAuto, ProtocolChat, ProtocolResponses, ProtocolMessages:
		return p, nil
	}
	return "", fmt.Errorf("there is no protocol %q: write auto, chat, responses or messages", s)
}

// suggestedProtocol returns the dialect that a URL suggests. OpenAI's endpoint supports two, but its reasoning models
// keep their reasoning only in Responses (https://developers.openai.com/api/docs/guides/migrate-to-responses). Several
// vendors offer Anthropic's dialect at a URL that ends in its name.
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

// dialect implements one of the protocols.
type dialect struct {
	path   string
	encode func(c *Client, req Request, l Learned, limit int) ([]byte, error)
	reader func() answerReader
}

// dialects are the implementations by protocol.
var dialects = map[Protocol]dialect{
	ProtocolChat:      {"/chat/completions", encodeChat, func() answerReader { return &chatReader{} }},
	ProtocolResponses: {"/responses", encodeResponses, func() answerReader { return &responsesReader{} }},
	ProtocolMessages:  {"/messages", encodeMessages, func() answerReader { return &messagesReader{} }},
}

// address returns the URL of a dialect. Anthropic's always includes a version, which its own libraries add.
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

// maker identifies the maker of opaque parts: a dialect of a model at an endpoint.
func (c *Client) maker(p Protocol) string {
	return fmt.Sprintf("%s %s %s", p, c.cfg.BaseURL, c.cfg.Model)
}
