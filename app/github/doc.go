// Package github is the adapter to GitHub: what SIA reads and writes there,
// in the words of the domain, with authentication, rate limits, caching and
// errors for people taken care of.
//
// Concepts:
//
//   - [App]: the GitHub App itself, signing in with its private key.
//   - [Repo]: a cheap handle on one repository of one installation. Its tokens
//     reach that repository alone and carry the permissions SIA uses and no
//     others.
//   - Looking first: everything that writes looks whether GitHub already shows
//     what is wanted, so that carrying an effect out twice shows it once. The
//     things that are looked for carry a marker (comments, issues), an external
//     id (check runs) or a head branch (pull requests), and count only when the
//     app itself wrote them.
//   - Errors: each is a [sia.Error] that says in words for people what happened
//     and what to do, whether trying again can help, and when.
//
// Requests pass through a stack of round trippers, outermost first, one file
// each: front.go (deadline, revalidation), cache.go (conditional requests),
// auth.go (tokens), limit.go (rate limits) with pace.go (spacing of writes),
// retry.go, and count.go at the bottom.
//
// The package imports sia and nothing else of ours. Everything exported is
// safe for concurrent use, but for writes under one and the same marker,
// external id or head: those have one caller at a time.
//
// Start reading at app.go, then repo.go and comment.go.
package github
