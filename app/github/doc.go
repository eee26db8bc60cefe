// Package github is the adapter to GitHub: what SIA reads and writes there,
// in the words of the domain, with authentication, rate limits, caching and
// errors for people taken care of.
//
// Concepts:
//
//   - [App]: the GitHub App itself, signing in with its private key.
//   - [Repo]: a cheap handle on one repository of one installation. Its tokens
//     reach that repository alone, with the permissions that SIA uses and no
//     others.
//   - Looking first: everything that writes looks whether GitHub already shows
//     what is wanted, so that carrying an effect out twice shows it once. What is
//     looked for carries a marker (comments, issues), an external id (check runs)
//     or a head branch (pull requests), and counts only when the app wrote it. A
//     caller that knows that it is not there yet says so ([Unwritten]).
//   - Errors: each is a [sia.Error] that says in words for people what happened
//     and what to do, whether trying again can help, and when.
//
// Requests pass through a stack of round trippers, outermost first, one file
// each: outertransport.go (deadline, revalidation, masking of secrets), redirect.go
// (writes to renamed repositories), fresh.go (what was just made), cache.go
// (conditional requests), auth.go (tokens), ratelimit.go with pace.go (spacing of
// writes), and retry.go at the bottom.
//
// The package may import sia, sia/secret, sia/text and gitops, and nothing else of
// ours. Everything exported is safe for concurrent use, but for writes under one
// and the same marker, external id or head: those have one caller at a time.
//
// Start reading at app.go, then repo.go and comment.go.
package github
