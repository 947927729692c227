package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

// Set where a test runs this file's program instead of the tests.
const asProgram = "LEVELFIELD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		server.Main("slow", 0, func(*store.Users, func() int) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				io.WriteString(w, "done")
			})
		})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program prepares a build whose every request takes a second.
func program(t *testing.T, environment []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, args...)
	command.Env = append([]string{asProgram + "=1"}, environment...)
	return command
}

func TestBadInputGetsOneClearLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, bad := range map[string]struct {
		environment []string
		args        []string
		code        int
		says        []string
	}{
		"a connection string that is none": {[]string{"CONNECTION_STRING=localhost"}, nil, 1, []string{"CONNECTION_STRING", "mongodb://"}},
		"a year that is none":              {[]string{"LEVELFIELD_YEAR=soon"}, nil, 1, []string{"LEVELFIELD_YEAR", "soon", "1 to 9999"}},
		"a port that is taken":             {nil, []string{"--listen", taken.Addr().String()}, 1, []string{"--listen", taken.Addr().String(), "in use"}},
		"an address that is none":          {[]string{"LISTEN_ADDR=nowhere"}, nil, 1, []string{"LISTEN_ADDR", "nowhere"}},
		"an argument too many":             {nil, []string{"serve"}, 2, []string{"serve", "--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			command := program(t, bad.environment, bad.args...)
			said, err := command.CombinedOutput()
			if err == nil || command.ProcessState.ExitCode() != bad.code {
				t.Errorf("got %v, want exit code %d", err, bad.code)
			}
			if strings.Count(string(said), "\n") != 1 {
				t.Errorf("said more or less than one line: %q", said)
			}
			for _, want := range bad.says {
				if !strings.Contains(string(said), want) {
					t.Errorf("%q does not name %q", said, want)
				}
			}
		})
	}
}

func TestAHeadThatIsTooLargeIsRefusedInWords(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener, http.NotFoundHandler()) }()
	defer func() { stop(); <-done }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	go io.WriteString(conn, "GET / HTTP/1.1\r\nHost: test\r\nX: "+strings.Repeat("x", 1<<20))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %v, %v", answer, err)
	}
}

func TestSIGTERMLetsWhatIsInFlightFinish(t *testing.T) {
	command := program(t, nil, "--listen", "127.0.0.1:0")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("the program said %q", line)
	}
	if health, err := http.Get(url + "/healthz"); err != nil || health.StatusCode != http.StatusOK {
		t.Fatalf("/healthz: %v, %v", health, err)
	}

	body := make(chan string, 1)
	go func() {
		answer, err := http.Get(url + "/slow")
		if err != nil {
			body <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		body <- string(text)
	}()
	time.Sleep(300 * time.Millisecond) // the request is in flight by then
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-body; got != "done" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want exit code 0", err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still accepts connections")
	}
}

func TestTheYearIsTheClocksUnlessItIsGiven(t *testing.T) {
	if clock, err := server.Year("2031"); err != nil || clock() != 2031 {
		t.Errorf("2031: %v", err)
	}
	before := time.Now().UTC().Year()
	clock, err := server.Year("")
	if err != nil {
		t.Fatal(err)
	}
	if got := clock(); got != before && got != time.Now().UTC().Year() {
		t.Errorf("got %d", got)
	}
	for _, bad := range []string{"0", "10000", "-1", "next", "2026 "} {
		if _, err := server.Year(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
