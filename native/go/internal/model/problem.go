package model

import (
	"errors"
	"net/http"
)

// A Problem is a request that the contract refuses: an error to Go, a status and a JSON body to the client.
type Problem struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Message }

// Every refusal of the contract.
var (
	InvalidPathParameter = &Problem{http.StatusBadRequest, "invalid path parameter"}
	NotFound             = &Problem{http.StatusNotFound, "not found"}
	MethodNotAllowed     = &Problem{http.StatusMethodNotAllowed, "method not allowed"}
	UserNotFound         = &Problem{http.StatusNotFound, "user not found"}
	UserMalformed        = &Problem{http.StatusInternalServerError, "user record is malformed"}
	StoreUnavailable     = &Problem{http.StatusServiceUnavailable, "users store unavailable"}
	StoreTimedOut        = &Problem{http.StatusGatewayTimeout, "users store timed out"}
)

// ProblemOf returns the Problem in err's chain. An error without one is the store's, so it says that.
func ProblemOf(err error) *Problem {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem
	}
	return StoreUnavailable
}

// SetHeader adds the header that the contract asks for beside this refusal, if any.
func (p *Problem) SetHeader(header http.Header) {
	switch p.Status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", "GET, HEAD")
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	}
}
