// Package flavour simulates model servers that answer as real ones do: with the state that they keep, their formats and
// their error messages. Each has the public source that it is based on. Tests use them in place of a model.
//
// Concepts:
//
//   - [Flavour]: the peculiarities of one server, as data and small functions, and the
//     expected behaviour of a client. [All] lists them.
//   - [Server]: a model behind HTTP in one dialect or several. Its output is a sequence of
//     [Turn]s: two calls and then "Done.", or the result of Flavour.Say.
//   - [Bill]: the server's token count, cached prefixes included.
//
// It imports nothing of this module. Start reading at flavour.go, then server.go; the flavours are in the other files,
// by vendor or by subject.
package flavour
