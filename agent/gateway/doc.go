// Package gateway lets an untrusted program call one model, within a budget.
//
// Concepts:
//
//   - [Gateway]: an HTTP handler for one attempt. It accepts three protocols and forwards calls to one endpoint and one
//     model. It adds the real API key, which the program never sees: it is masked in the endpoint's errors.
//   - [Meter] controls the budget. Each call is reserved before it is made, and settled with the endpoint's usage. A
//     call that the meter refuses is not made. The prompt is estimated from the size of the request, with 5,000 tokens
//     for each image, and the model's whole window for a document such as a PDF.
//   - Requests are filtered by allow-list (protocol.go, shape.go): what an agent needs to call a model, by exact name.
//     Everything else is *dropped* if the request has the same meaning without it: fields, such as other models,
//     plugins and places to run code, and tools that are not the program's own. It is *refused* if the meaning would
//     change: duplicate names in an object, another model, a URL instead of an image or a file, an unknown kind of
//     message part. Every limit of the answer's length is lowered to the reservation.
//   - Usage is read from the answer while it is passed on (usage.go). It counts if the answer is complete. Otherwise
//     the real usage is unknown, and the call costs its reservation: for an answer that was cut off, that has no usage,
//     or that the program did not wait for. A call that the endpoint refused costs nothing.
//   - The endpoint may refuse a field that the gateway adds. The call is then repeated once without it, or with its
//     other name, and [Room] records that.
//   - [Room] limits the memory for requests, of one attempt and of all together (room.go).
//
// Requests come from a sandbox, so their content is untrusted. The package imports no other package of this module.
// Start reading at gateway.go.
package gateway
