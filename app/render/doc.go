// Package render writes the texts that people read on GitHub: the status comment, the diagnosis comment, questions and
// their closing, pull requests, check runs, replies to commands, and the labels. It also writes notices, as text
// without markup (notice.go).
//
// Every function is pure: the same task gives the same bytes, so a worker can
// compare a hash before it edits a comment, and golden files under testdata show
// a reviewer each change of wording (go test ./app/render -update).
//
// Three concepts, each in one file:
//
//   - marker.go: a [Marker] is the HTML comment by which SIA finds its own
//     comments again. The functions here return bodies without one; [Marker.On]
//     puts it in front.
//   - foreign.go: text that SIA did not write itself — issues, logs, the words of
//     models and people — goes through [Neutralise], [Quote], [Code] or [Fence]
//     before it goes into Markdown. It then can't notify anybody, can't forge a
//     marker or a tick box, can't hide anything and can't break the layout.
//   - page.go: a body is assembled from blocks; folded blocks are shortened, with
//     a note, until the body fits GitHub's limit.
//
// The package imports sia and sia/* only. Nothing in it does I/O, and all of it
// is safe for concurrent use.
//
// Start reading at status.go, the comment that people see most.
package render
