// Package cli is what the programs below cmd share: reading a command line ([Program]), what a command works with
// ([Env]), and one printer each for JSON, lines, tables and measured figures. It knows no command. Of ours it imports
// sia/secret, so that nothing is printed before secrets are masked, and sia/visible, so that nothing that others wrote
// steers a terminal.
package cli
