// Package llm is a client for chat models behind any endpoint that speaks one of three dialects: chat completions
// (https://platform.openai.com/docs/api-reference/chat), Responses
// (https://platform.openai.com/docs/api-reference/responses) and Messages (https://docs.anthropic.com/en/api/messages).
//
// Concepts:
//
//   - [Client]: one model at one endpoint, with its dialect, price, window and limits.
//   - [Request] and [Response]: one call, the same in every dialect. Messages carry tool calls both ways.
//   - [Opaque]: parts of an answer for its model only, such as encrypted reasoning. They are sent back unchanged to the
//     model that made them, and to no other.
//   - [Protocol] and [Learned]: the dialect, and the forms of requests that an endpoint requires, learned from its
//     error messages (lessons.go). Model names decide nothing. [Memory] stores the lessons. Features lost by them are
//     logged and listed in Learned.Weaker.
//   - Answers are read by this package's own readers (answer.go, chatread.go, responses.go, messages.go). They tolerate
//     deviations of servers, in linear time and bounded memory. Calls written as text are read by textcalls.go.
//   - [Probed]: the result of a short test conversation with a model.
//   - [Schema]: structured output. Endpoints that refuse it are asked again in simpler ways.
//   - [Usage], [Price] and [CountTokens]: the usage of a call, its cost, and an estimate before the call.
//   - [Chain]: several models, each called if those before it can't answer.
//   - [Error]: an error, classified by how it can be handled. The error messages of endpoints are data (wordings.go),
//     and so are the lessons from them (lessons.go).
//
// Answers are streamed, so that a dead connection is noticed early and a canceled call stops at once. Endpoints that do
// not stream are asked without. Overload, rate limits, network errors and truncated answers are retried a bounded
// number of times, with jitter, and not before the time that the endpoint asks for. The usage of truncated answers is
// counted. An API key never appears in an error or a log line.
//
// Of this module, the package imports only sia/text and sia/lazyregexp. Start reading at client.go, then call.go.
package llm
