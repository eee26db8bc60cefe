// Package recorded plays.
package recorded
