// Package model holds what the contract speaks of: users and their ids, messages, refusals, and how they look in JSON.
package model

import "strconv"

// User is a user as the contract shows it.
type User struct {
	ID      int32  `json:"Id"`
	Name    string `json:"Name"`
	Surname string `json:"Surname"`
	Email   string `json:"Email"`
}

// Message is the body of an answer that only says something.
type Message struct {
	Message string `json:"message"`
}

// Greeting is the answer to GET /helloWorld.
var Greeting = Message{"Hello world!"}

// ParseUserID reads 1 to 10 ASCII digits with a value up to MongoDB's largest int32. Leading zeros are allowed.
// Anything else is [InvalidPathParameter]; a sign too, although strconv would take one.
func ParseUserID(text string) (int32, error) {
	if len(text) > 10 {
		return 0, InvalidPathParameter
	}
	for _, char := range []byte(text) {
		if char < '0' || char > '9' {
			return 0, InvalidPathParameter
		}
	}
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, InvalidPathParameter
	}
	return int32(id), nil
}
