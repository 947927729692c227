package model

import (
	"bytes"
	"encoding/json"
)

// ContentTypeJSON is the content type of every JSON body, without the charset that frameworks like to add.
const ContentTypeJSON = "application/json"

// JSON encodes v as the contract wants it: no escape for <, > and & (encoding/json escapes them unless told otherwise)
// and no newline at the end (an Encoder always writes one).
func JSON(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), nil
}
