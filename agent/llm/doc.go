// Package llm is a client for chat models behind any endpoint that speaks
// OpenAI's chat completions protocol
// (https://platform.openai.com/docs/api-reference/chat): OpenAI itself, a
// gateway, or a server such as vLLM or Ollama.
//
// Concepts:
//
//   - [Client]: one model at one endpoint, with its price, window and limits.
//   - [Request] and [Response]: one call. Messages carry tool calls both ways.
//   - [Schema]: structured output. Endpoints that refuse it are asked again in
//     simpler ways, and the client remembers what worked.
//   - [Usage], [Price] and [CountTokens]: what a call used, what that costs, and
//     an estimate of what a call will use.
//   - [Chain]: several models, each asked when those before it can't answer.
//   - [Error]: what went wrong, sorted by what can be done about it.
//
// Answers come as streams, so that a dead connection is noticed early and a
// cancelled call stops at once. Endpoints that do not stream are asked without.
// Overload, rate limits, network faults and answers that break off are tried
// again a bounded number of times, with jitter, and no sooner than the endpoint
// asked for. What a broken answer used is counted. An API key never appears in
// an error or a log line.
//
// The package imports nothing of ours. Start reading at client.go.
package llm
