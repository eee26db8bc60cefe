package main

import "errors"

type improveSelfCmd struct{}

func (c *improveSelfCmd) Run(e *commandEnv) error { return errors.New("todo") }
