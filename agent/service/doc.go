// Package service starts the servers that a repository's tests need, such as PostgreSQL and Redis, from the programs of
// this host: those that `services:` of its workflow files name, and its settings. They run in the sandbox of each
// command, on its loopback, as its user, and end with it. There is no container: the image says what is wanted, and
// nothing else of it is used.
//
// A repository's files are a stranger's. What they say reaches a script as the value of a variable and no other way,
// and the script runs where the repository's own commands run, restricted as they are.
//
// The package may import agent/sandbox, sia/gate and the ground floor; agent and agent/testrun use it.
package service
