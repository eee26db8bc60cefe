// Package gitops contains everything SIA does with git. It does not depend on GitHub's API.
//
// Concepts:
//
//   - A [Cache] is a directory of bare mirrors and of the state of workspaces. Several
//     processes may use one cache directory at once, and each may be killed at any time.
//   - A [Repo] is one remote repository with its mirror. It joins a client, which speaks git's
//     protocol with the server, and a mirror, which is the files on disk; neither knows the other.
//     A mirror is shallow: it holds the trees of the requested commits, and no history. It is a
//     cache: whatever it lacks is fetched by its hash, and a broken mirror is replaced.
//   - A [Workspace] is a checkout of one commit, for an agent to work in. It has its own
//     .git, for tools that need one, but nothing in it is trusted: the base commit and the
//     stat cache are kept in the cache directory, out of the agent's reach.
//   - A commit is made in the mirror, as one pack of its new objects. [Repo.Push] sends new
//     objects only, and always with a lease: the head that it expects to replace.
//   - [Repo.Merge] merges three trees without their history. The commit holds
//     conflicting changes between conflict markers, to be resolved in a workspace.
//   - [Repo.CommitFiles] changes files of a branch without a work tree, by compare and swap.
//
// Credentials are requested per exchange ([TokenFunc]) and are in a request header only,
// never in a file, a log or an error.
//
// The wire protocol is git's protocol version 2 over HTTP for reading, because it asks for
// single branches and hashes where earlier versions list every ref of the repository, and
// version 0 for pushing (https://git-scm.com/docs/protocol-v2, /http-protocol, /pack-protocol).
// Formats are from https://git-scm.com/docs/gitformat-pack and /gitformat-index. Packs are
// checked and indexed by go-git.
//
// Of this module, the package imports only sia/gitignore. Start reading at cache.go, then fetch.go for reading,
// workspace.go for changing and push.go for sending; below them are mirror.go and http.go.
package gitops
