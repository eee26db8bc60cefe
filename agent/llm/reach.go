package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// Reach asks the endpoint for its list of models, which costs nothing. The error is an
// [Error]: the endpoint can't be reached, fails, or does not accept the key. An endpoint
// that has no such list is there, and that is all that can be told.
func (c *Client) Reach(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.cfg.BaseURL+"/models", nil)
	if err != nil {
		return &Error{Client: c.cfg.Name, Kind: KindBadRequest, Message: "the endpoint's address is no URL", Err: err}
	}
	if c.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.APIKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		e := &Error{Client: c.cfg.Name, Kind: KindNetwork, Message: c.scrubText(err.Error()), Err: err}
		if ctx.Err() != nil {
			e.Kind, e.Message = KindTimeout, "no answer in time"
		}
		return e
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // an unreadable reason leaves the status
	var said struct {
		Error struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &said)
	code, _ := said.Error.Code.(string)
	kind := kindOf(resp.StatusCode, code, said.Error.Message)
	if resp.StatusCode < 300 || kind == KindBadRequest {
		return nil
	}
	return &Error{Client: c.cfg.Name, Kind: kind, Status: resp.StatusCode, Code: code,
		Message: c.scrubText(said.Error.Message)}
}
