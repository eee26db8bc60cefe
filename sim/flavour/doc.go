// Package flavour is servers that answer as real ones do: with the state that they keep,
// the forms that they send and the words in which they refuse. Each has the public source
// that it is made after. Tests put them in a model's place.
//
// Concepts:
//
//   - [Flavour]: what is particular about one server, as data and small functions, and what
//     a client is to make of it. [All] lists them.
//   - [Server]: a model behind HTTP in one dialect or several. What it says is in [Turn]s: two
//     calls and then that it is done, or whatever Flavour.Say decides.
//   - [Bill]: what the server counted, cached prefixes included: real servers bill what is
//     not cached.
//
// It imports nothing of ours. Start reading at flavour.go, then server.go; the flavours are
// in the other files, by vendor or by what they are about.
package flavour
