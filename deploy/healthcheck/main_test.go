package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOnlyA200IsHealthy(t *testing.T) {
	for status, healthy := range map[int]bool{200: true, 204: false, 404: false, 503: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if err := check(server.URL); (err == nil) != healthy {
			t.Errorf("%d: got %v", status, err)
		}
		server.Close()
		if check(server.URL) == nil {
			t.Error("a server that is gone is healthy")
		}
	}
}
