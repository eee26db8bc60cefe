// Package memory maintains the branch on which SIA publishes what it has learned: a page for each task, its
// transcripts, the lessons of the repository, and daily metrics.
//
// [Branches.Commit] writes what is in the store; it is idempotent. [Branches.Read] imports edits of users, which have
// priority over SIA's version. [Branches.Reindex] rebuilds a lost database from the branches, and [Branches.Show]
// returns one page.
//
// Packages sia/memory and sia/lesson define the file formats. The package may import app/store, app/github, app/render
// and the packages below them. Start reading at commit.go.
package memory
