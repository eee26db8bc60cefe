// Package gitops does everything SIA does with git, and knows nothing of GitHub's API.
//
// Concepts:
//
//   - A [Cache] is a directory of bare mirrors and of the state of workspaces. Several
//     processes may use one cache directory at once, and each may be killed at any time.
//   - A [Repo] is one remote repository with its mirror. A mirror is shallow: it holds the
//     trees of the commits that somebody asked for, and no history. It is a cache: whatever
//     it lacks is fetched by its hash, and a mirror found broken is made again.
//   - A [Workspace] is a checkout of one commit, for an agent to work in. It has a .git of
//     its own so that tools find one, but nothing in it is believed: what we trust (the
//     base commit, the stat cache) is kept in the cache directory, out of the agent's reach.
//   - A commit is made in the mirror, as one pack of its new objects. [Repo.Push] sends new
//     objects only, and always with a lease: the head that it expects to replace.
//   - [Repo.Merge] merges three trees without their history. What two sides changed at once
//     is left in the commit between conflict markers, for a workspace of it to resolve.
//   - [Repo.CommitFiles] changes files of a branch without any work tree, compare and swap.
//
// Credentials are asked for per request ([TokenFunc]) and live in a request header only:
// never in a file, a log or an error.
//
// The wire protocol is git's protocol version 2 over HTTP for reading, because it asks for
// single branches and hashes where earlier versions list every ref of the repository, and
// version 0 for pushing (https://git-scm.com/docs/protocol-v2, /http-protocol, /pack-protocol).
// Formats are from https://git-scm.com/docs/gitformat-pack and /gitformat-index. Packs are
// checked and indexed by go-git.
//
// Of ours the package imports sia/gitignore alone. Start reading at cache.go, then fetch.go for reading,
// workspace.go for changing and push.go for sending.
package gitops
