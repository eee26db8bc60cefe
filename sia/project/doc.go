// Package project tells what kind of project a folder holds, from the files at its top: its languages, what
// manages their packages, how to prepare a fresh checkout and how to run its tests, each with the reason.
//
// It does no I/O: who asks hands in the names at the top and a reader. So the answer is the same for a work tree
// (agent/tool), of a folder on somebody's disk (sia config init), and of GitHub's API (app/welcome). What it
// reads was written by strangers; nothing of it is ever part of a command, and a file that can't be understood is
// as good as one that says nothing.
//
// It looks no deeper than the top, the folder tests, and whether folders are modules of Go. Where a repository keeps
// several projects in folders without anything above them that joins them, nothing is found, which is better than a
// guess.
package project
