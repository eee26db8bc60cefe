// Package github is the adapter to GitHub. It reads and writes GitHub in terms of the domain, and handles
// authentication, rate limits, caching and error messages.
//
// Concepts:
//
// - [App]: the GitHub App, authenticated by its private key.
//   - [Repo]: one repository of one installation: its issues, pull requests, comments, labels and files. Its tokens
//     are valid for that repository alone, with only the permissions that SIA uses.
//   - [Checks] of a repository: what judges commits. It reads [Actions], the workflow runs, and [Rules], what branches
//     require. [CheckRuns] writes the app's own.
//   - Looking first: every write first looks whether GitHub already shows the
//     result, so that an effect that is carried out twice shows once. Objects are
//     identified by a marker (comments, issues), an external id (check runs) or a
//     head branch (pull requests), and count only if the app wrote them. A caller
//     that knows that nothing is there yet skips the look ([Unwritten]).
//   - Errors: each is a [sia.Error] with a message for people about what happened
//     and what to do, and with whether and when a retry can help.
//
// Requests pass through a stack of round trippers, outermost first, one file
// each: outertransport.go (deadline, revalidation, masking of secrets), redirect.go
// (writes to renamed repositories), fresh.go (new objects), cache.go
// (conditional requests), auth.go (tokens), ratelimit.go with pace.go (spacing of
// writes), and retry.go at the bottom.
//
// The package may import sia, sia/secret, sia/text and gitops, and no other package of the project. Everything
// exported is safe for concurrent use, except for writes with the same marker, external id or head: those need one
// caller at once.
//
// Start reading at app.go, then repo.go and comment.go; look.go begins what judges a commit.
package github
