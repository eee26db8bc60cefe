// Package gateway lets a program that nobody trusts ask one model, for as long and
// as much as it may.
//
// Concepts:
//
//   - [Gateway]: an HTTP handler for one attempt. It accepts three ways of asking
//     and forwards them to the one endpoint and the one model that it was made for. It
//     adds the real key, which the program never sees.
//   - [Meter] pays. Each call is reserved before it is made, and settled with what
//     the endpoint counted. What the meter refuses is not asked.
//   - Requests go through by list (protocol.go, shape.go): what an agent needs to ask a
//     model, by its exact name. Everything else is *dropped* where the request means the
//     same without it: fields, such as other models, plugins and places to run things,
//     and tools that are not the program's own. It is *refused* where the model would be
//     asked something else: a name that an object has twice, another model, an address
//     in place of an image or a file, a part of a message of a kind that is not known.
//     Every bound on the answer's length is lowered to what is reserved.
//   - Usage is read from the answer as it passes (usage.go). It counts when the answer
//     is complete. Otherwise nobody can tell what the call took, and it costs what
//     was reserved: an answer that was cut, one without usage, one that the program did
//     not wait for. A call that the endpoint refused costs nothing.
//   - A field that the gateway itself adds may be refused. The endpoint is then asked once
//     more, without it or with its other name, and [Room] remembers that.
//   - [Room] bounds the memory that requests take, of one attempt and of all together
//     (room.go).
//
// Requests come from inside of a sandbox: everything in them is a stranger's. The
// package imports nothing of ours. Start reading at gateway.go.
package gateway
