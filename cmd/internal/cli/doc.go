// Package cli is shared by the programs below cmd. It reads a command line ([Program]), defines the environment of a
// command ([Env]), opens this machine's sandbox, and has one printer each for JSON, lines, tables and measured figures.
// It contains no command. From this repository it imports only agent/sandbox, sia/secret, so that secrets are masked
// before anything is printed, and sia/visible, so that text from third parties can't control a terminal.
package cli
