// Package memory is the branch on which SIA keeps what it knows where people can read it: a page for
// each task, its transcripts, the lessons of the repository, and the day's figures.
//
// [Branches.Commit] writes what the store knows; it is a function of that, so writing twice changes
// nothing. [Branches.Read] takes up what people edited there since, which outranks what SIA would
// write. [Branches.Reindex] rebuilds a lost database from the branches, and [Branches.Show] shows one
// page.
//
// What the files look like is sia/memory's and sia/lesson's to say. The package may import app/store,
// app/github, app/render and what lies below them. Start reading at commit.go.
package memory
