// Package project detects the kind of project in a folder: its languages, their package managers, how to prepare a
// fresh checkout and how to run its tests, each with the reason.
//
// What workflows of GitHub Actions run for changes is tested first, in the folders in which they run it. The files in
// such a folder, and those at the top, say how to install packages and how to test without a network. Without such
// workflows, only the top level, the folder tests, and whether folders are Go modules count. If a repository contains
// several projects in folders and neither says more, nothing is detected, which is better than a guess.
//
// It does no I/O: the caller passes functions that list folders and read files. So the result is the same for a work
// tree (agent/tool), a folder on a user's disk (sia config init), and GitHub's API (app/welcome). The files are
// untrusted. A file that can't be parsed is treated as empty. Only words of workflows' commands, those without
// expressions, variables and patterns, each quoted for a shell, names of pytest's plugins, and versions of package
// managers become part of a command.
package project
