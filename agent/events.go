package agent

import "encoding/json"

// Parsers of the agents' own event formats. Unknown events are left out of the transcript: these formats change, and
// only the display of transcripts depends on them.

// readClaude parses a line of `claude --output-format stream-json`.
func readClaude(line []byte) (s outputEvent) {
	var v struct {
		Type, Result string
		Message      struct {
			Content json.RawMessage
		}
	}
	if json.Unmarshal(line, &v) != nil {
		return outputEvent{text: string(line)}
	}
	if v.Type == "result" {
		return outputEvent{last: v.Result}
	}
	var parts []struct {
		Type, Text, ID, Name string
		Input, Content       json.RawMessage
		ToolUseID            string `json:"tool_use_id"`
		IsError              bool   `json:"is_error"`
	}
	if json.Unmarshal(v.Message.Content, &parts) != nil {
		return outputEvent{}
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && v.Type == "assistant":
			s.text += p.Text
			s.last = p.Text
		case p.Type == "tool_use":
			s.calls = append(s.calls, outputCall{p.ID, Call{Name: p.Name, Arguments: string(p.Input)}, true})
		case p.Type == "tool_result":
			s.calls = append(s.calls, outputCall{p.ToolUseID, Call{Result: compactJSON(p.Content), IsError: p.IsError}, false})
		}
	}
	return s
}

// readCodex parses a line of `codex exec --json`.
func readCodex(line []byte) (s outputEvent) {
	var v struct {
		Type    string
		Message string
		Error   struct{ Message string }
		Item    struct {
			ID, Type, Text, Message string
			Command                 string
			Output                  string `json:"aggregated_output"`
			ExitCode                *int   `json:"exit_code"`
			Status                  string
			Changes                 json.RawMessage
		}
	}
	if json.Unmarshal(line, &v) != nil {
		return outputEvent{text: string(line)}
	}
	switch i := v.Item; {
	case v.Type == "error" || v.Type == "turn.failed":
		s.text = v.Message + v.Error.Message
	case i.Type == "error":
		s.text = i.Message
	case v.Type == "item.completed" && i.Type == "agent_message":
		s.text, s.last = i.Text, i.Text
	case i.Type == "command_execution":
		s.calls = []outputCall{{i.ID, Call{Name: "shell", Arguments: i.Command, Result: i.Output,
			IsError: i.ExitCode != nil && *i.ExitCode != 0}, v.Type != "item.completed"}}
	case v.Type == "item.completed" && i.Type == "file_change":
		s.calls = []outputCall{{i.ID, Call{Name: "edit", Arguments: string(i.Changes), Result: i.Status,
			IsError: i.Status == "failed"}, false}}
	}
	return s
}

// readOpenCode parses a line of `opencode run --format json`.
func readOpenCode(line []byte) (s outputEvent) {
	var v struct {
		Type  string
		Error json.RawMessage
		Part  struct {
			Text, CallID, Tool string
			State              struct {
				Status, Output, Error string
				Input                 json.RawMessage
			}
		}
	}
	if json.Unmarshal(line, &v) != nil {
		return outputEvent{text: string(line)}
	}
	switch p := v.Part; v.Type {
	case "text":
		s.text, s.last = p.Text, p.Text
	case "tool_use":
		s.calls = []outputCall{{p.CallID, Call{Name: p.Tool, Arguments: string(p.State.Input),
			Result: p.State.Output + p.State.Error, IsError: p.State.Status == "error"}, false}}
	case "error":
		s.text = string(v.Error)
	}
	return s
}
