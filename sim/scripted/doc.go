// Package scripted is a chat model with scripted answers, behind a real HTTP server that serves POST
// /v1/chat/completions, and for third-party agents POST /v1/responses and POST /v1/messages. Tests and the demo use it
// in place of a model.
//
// Concepts:
//
//   - [Script]: ordered rules. The first [Rule] that matches a request answers it.
//   - Whatever the protocol, a request is read as a chat: rules, turns and records
//     are the same for all three (chat.go, responses.go, messages.go).
//   - A rule matches by model name (which serves as a role: "coder", "sia",
//     "reviewer") and by regular expressions over the system and user text.
//   - The position in a conversation is the number of assistant messages that
//     the request carries, and nothing else. The server remembers no
//     conversation, so an attempt that starts again gets the same answers.
//   - [Answer]: text, tool calls or JSON, perhaps after a delay; or a [Fault]. It is
//     streamed when the request asks for that.
//   - [Parse] reads a script from txtar and YAML, for golden stories.
//
// A request without a matching rule is answered with a 400 that describes the request. Token counts are estimated from
// the text, so they are the same in every run.
//
// The server's only state besides the record of requests is how often a fault with a count has occurred. The package
// imports nothing of this module. Start reading at script.go.
package scripted
