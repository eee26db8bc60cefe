// Package project detects the kind of project in a folder from its top-level files: its languages, their package
// managers, how to prepare a fresh checkout and how to run its tests, each with the reason.
//
// It does no I/O: the caller passes the top-level names and a function that reads files. So the result is the same for
// a work tree (agent/tool), a folder on a user's disk (sia config init), and GitHub's API (app/welcome). The files are
// untrusted: none of their content becomes part of a command, and a file that can't be parsed is treated as empty.
//
// It inspects only the top level, the folder tests, and whether folders are Go modules. If a repository contains
// several projects in folders without a common top-level file, it detects nothing, which is better than a guess.
package project
