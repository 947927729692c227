// Package server is what the four builds share around their handlers: settings, listening, health and draining.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"levelfield/native/internal/front"
	"levelfield/native/internal/store"
)

// The limits of a connection. No answer of the contract takes longer than 2 s, no request needs a head of 16 KiB.
const (
	readWithin     = 10 * time.Second
	writeWithin    = 10 * time.Second
	idleFor        = 2 * time.Minute
	maxHeaderBytes = 16 << 10

	// What is in flight at SIGTERM has this long to finish.
	grace = 10 * time.Second
)

// NewHandler makes a build's handler: its router and what it needs.
type NewHandler func(users *store.Users, year func() int) http.Handler

// Main runs a build as a program and exits: 0 after a drain, 1 on a failure, 2 on bad arguments.
func Main(build string, port int, newHandler NewHandler) {
	slog.SetLogLoggerLevel(slog.LevelError) // what net/http and the frameworks log through package log
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))

	settings := ParseSettings(build, port, os.Args[1:])
	if err := run(settings, newHandler); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", build, err)
		os.Exit(1)
	}
}

func run(settings Settings, newHandler NewHandler) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	year, err := Year(settings.Year)
	if err != nil {
		return err
	}
	users, err := store.Open(settings.ConnectionString)
	if err != nil {
		return fmt.Errorf("CONNECTION_STRING is nothing like %s: %w", defaultConnectionString, err)
	}
	defer users.Close(context.Background())
	listener, err := net.Listen("tcp", settings.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %q (--listen, LISTEN_ADDR): %w", settings.Listen, err)
	}
	fmt.Printf("%s: listening on http://%s\n", settings.Build, listener.Addr())
	return Serve(ctx, listener, newHandler(users, year))
}

// Serve answers with the build's router until ctx ends, then stops accepting and waits for what is in flight.
func Serve(ctx context.Context, listener net.Listener, router http.Handler) error {
	server := &http.Server{
		Handler:        health(front.Judge(front.ContentLength(router))),
		ReadTimeout:    readWithin,
		WriteTimeout:   writeWithin,
		IdleTimeout:    idleFor,
		MaxHeaderBytes: maxHeaderBytes,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(front.Listen(listener)) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	deadline, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := server.Shutdown(deadline)
	if errors.Is(err, context.DeadlineExceeded) {
		server.Close()
		return fmt.Errorf("requests were still in flight %v after the signal to stop", grace)
	}
	return err
}

// health answers GET /healthz, which is outside the contract, and hands everything else on.
func health(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			w.WriteHeader(http.StatusOK)
			return
		}
		next.ServeHTTP(w, r)
	})
}
