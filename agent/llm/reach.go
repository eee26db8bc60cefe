package llm

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// Reach requests the endpoint's list of models, which is free. Its error is an [Error]: the endpoint is unreachable,
// fails, or does not accept the key. An endpoint without such a list counts as reachable.
func (c *Client) Reach(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(c.address(c.Protocol()), dialects[c.Protocol()].path)+"/models"+c.query, nil)
	if err != nil {
		return &Error{Client: c.cfg.Name, Kind: KindBadRequest, Message: "the endpoint's address is no URL", Err: err}
	}
	c.authorize(req, c.Protocol())
	resp, err := c.http.Do(req)
	if err != nil {
		e := &Error{Client: c.cfg.Name, Kind: KindNetwork, Message: c.scrubText(err.Error()), Err: err}
		if ctx.Err() != nil {
			e.Kind, e.Message = KindTimeout, "no answer in time"
		}
		return e
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // if the body is unreadable, the status is used
	parsed := parseErrorBody(body)
	kind := kindOf(resp.StatusCode, parsed)
	if resp.StatusCode < 300 || kind == KindBadRequest || kind == KindUnknownModel || kind == KindDialect {
		return nil
	}
	return &Error{Client: c.cfg.Name, Kind: kind, Status: resp.StatusCode, Code: c.scrubText(parsed.code),
		Message: c.scrubText(parsed.message)}
}
