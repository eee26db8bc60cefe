// Package llm is a client for chat models behind any endpoint that speaks one of
// three dialects: chat completions
// (https://platform.openai.com/docs/api-reference/chat), Responses
// (https://platform.openai.com/docs/api-reference/responses) and Messages
// (https://docs.anthropic.com/en/api/messages).
//
// Concepts:
//
//   - [Client]: one model at one endpoint, with its dialect, price, window and limits.
//   - [Request] and [Response]: one call, the same in every dialect. Messages carry tool
//     calls both ways.
//   - [Opaque]: what an answer holds for its model alone, such as encrypted reasoning. It
//     goes back word for word to the model that made it, and to no other.
//   - [Protocol] and [Learned]: the dialect, and the forms in which an endpoint was found to
//     want its requests, from its own words (lessons.go). No list of models' names decides
//     anything. [Memory] keeps it. What is asked for less because of it is logged, and stands
//     in Learned.Weaker.
//   - Answers are read by readers of our own (answer.go, chatread.go, responses.go,
//     messages.go) that tolerate what servers really send, in linear time and bounded
//     memory. Calls that came as text are read by textcalls.go.
//   - [Probed]: what a short conversation with a model showed.
//   - [Schema]: structured output. Endpoints that refuse it are asked again in
//     simpler ways.
//   - [Usage], [Price] and [CountTokens]: what a call used, what that costs, and
//     an estimate of what a call will use.
//   - [Chain]: several models, each asked when those before it can't answer.
//   - [Error]: what went wrong, sorted by what can be done about it. How endpoints word
//     their errors is data (wordings.go), and so is what their words teach (lessons.go).
//
// Answers come as streams, so that a dead connection is noticed early and a
// cancelled call stops at once. Endpoints that do not stream are asked without.
// Overload, rate limits, network faults and answers that break off are tried
// again a bounded number of times, with jitter, and no sooner than the endpoint
// asked for. What a broken answer used is counted. An API key never appears in
// an error or a log line.
//
// The package imports nothing of ours but sia/text and sia/lazyregexp. Start reading at client.go, then call.go.
package llm
