// Package cli is what the programs below cmd share: reading a command line ([Program]), what a command works with
// ([Env]), and one printer each for JSON, tables and measured figures. It knows no command, and of ours imports
// sia/secret alone: nothing is printed as JSON, or written by others and printed, before secrets are masked.
package cli
