//go:build !linux && !darwin

package app

import "errors"

func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
