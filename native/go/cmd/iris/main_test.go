package main

import (
	"testing"

	"levelfield/native/internal/suite"
)

func TestTheContract(t *testing.T) { suite.Run(t, newHandler) }
