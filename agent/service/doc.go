// Package service starts the servers that a repository's tests need, such as PostgreSQL and Redis, from the programs of
// this host: those in `services:` of its workflow files, and in its settings. They run in the sandbox of each command,
// on its loopback, as its user, and end with it. There are no containers: an image only names the required server.
//
// A repository's files are untrusted. Their values reach a script only as values of variables, and the script runs
// where the repository's own commands run, with the same restrictions.
//
// The package may import agent/sandbox, sia/gate and the packages without dependencies; agent and agent/testrun use it.
package service
