package suite

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// SeededStore returns the connection string of a store with the contract's fixtures in it: the one that a person named
// for tests, or a FerretDB of our own.
func SeededStore(t *testing.T) string {
	t.Helper()
	connectionString := os.Getenv("LEVELFIELD_TEST_CONNECTION_STRING")
	if connectionString == "" {
		connectionString = startFerretDB(t)
	}
	seed(t, connectionString)
	return connectionString
}

// seed puts the contract's fixtures in the place of what a store holds.
func seed(t *testing.T, connectionString string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(connectionString))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(ctx)
	users := client.Database("mongo").Collection("users")
	if err := users.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(read(t, filepath.Join("contract", "seed.jsonl"))) {
		var document bson.D
		if err := bson.UnmarshalExtJSON(line, true, &document); err != nil {
			t.Fatal(err)
		}
		if _, err := users.InsertOne(ctx, document); err != nil {
			t.Fatal(err)
		}
	}
}

// startFerretDB starts a server of our own on a free port, for as long as the test runs.
func startFerretDB(t *testing.T) (connectionString string) {
	t.Helper()
	port := freePort(t)
	program := filepath.Join(root(t), ".tools", "bin", "ferretdb")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("ferretdb"); err != nil {
			notRun(t, "ferretdb", "run `make setup`, or set LEVELFIELD_TEST_CONNECTION_STRING to a MongoDB that tests may write to")
		}
	}
	command := exec.Command(program, "--handler=sqlite", "--telemetry=disable", "--debug-addr=-", "--log-level=ERROR",
		"--state-dir=-", fmt.Sprintf("--listen-addr=127.0.0.1:%d", port), fmt.Sprintf("--sqlite-url=file:%s/", t.TempDir()))
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Signal(os.Interrupt)
		command.Wait()
	})
	// The driver waits for the server to listen.
	return fmt.Sprintf("mongodb://127.0.0.1:%d/?directConnection=true", port)
}

// notRun says that a test could not run, where `make test` will repeat it. With STRICT=1 it is a failure.
func notRun(t *testing.T, missing, remedy string) {
	t.Helper()
	line := fmt.Sprintf("not run: %s (missing %s)\n", t.Name(), missing)
	fmt.Fprint(os.Stderr, line)
	if path := os.Getenv("LEVELFIELD_NOT_RUN"); path != "" {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("STRICT") == "1" {
		t.Fatalf("STRICT=1: missing %s; %s", missing, remedy)
	}
	t.Skipf("missing %s; %s", missing, remedy)
}

// UnreachableStore is a port where nothing listens.
func UnreachableStore(t *testing.T) string {
	return fmt.Sprintf("mongodb://127.0.0.1:%d/?directConnection=true", freePort(t))
}

// StalledStore accepts connections and never answers.
func StalledStore(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		var held []net.Conn // a connection that is collected is closed
		for {
			conn, err := listener.Accept()
			if err != nil {
				for _, conn := range held {
					conn.Close()
				}
				return
			}
			held = append(held, conn)
		}
	}()
	return fmt.Sprintf("mongodb://%s/?directConnection=true", listener.Addr())
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
