// Package gateway lets a program that nobody trusts ask one model, for as long and
// as much as it may.
//
// Concepts:
//
//   - [Gateway]: an HTTP handler for one attempt. It accepts three ways of asking
//     (protocol.go) and forwards them to the one endpoint and the one model that it
//     was made for. It adds the real key, which the program never sees.
//   - [Meter] pays. Each call is reserved before it is made, and settled with what
//     the endpoint counted. What the meter refuses is not asked.
//   - Requests are rewritten where they would reach or cost more than a model's
//     answer (rewrite.go). Tools that the provider runs itself, such as a web
//     search, are taken out, and the length of the answer is bounded.
//   - Usage is read from the answer as it passes (usage.go). An answer that was cut
//     before it told its usage is estimated, never free.
//
// Requests come from inside of a sandbox: everything in them is a stranger's. The
// package imports nothing of ours. Start reading at gateway.go.
package gateway
