package server

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Settings are what a build takes from its environment and arguments.
type Settings struct {
	Build            string // the build's name, for messages
	Listen           string
	ConnectionString string
	Year             string
}

const defaultConnectionString = "mongodb://127.0.0.1:27017/?directConnection=true"

// ParseSettings reads the environment and the arguments, which win. On bad arguments it exits with 2, on --help with 0.
func ParseSettings(build string, port int, args []string) Settings {
	flags := flag.NewFlagSet(build, flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), `Usage: %s [--listen ADDR:PORT]

Serves the Levelfield contract.

  --listen ADDR:PORT  where to listen; overrides LISTEN_ADDR [default 127.0.0.1:%d]

Environment:
  LISTEN_ADDR         where to listen
  CONNECTION_STRING   the users' store [default %s]
  LEVELFIELD_YEAR     the year that the pages show [default: the current one, UTC]
`, build, port, defaultConnectionString)
	}
	listen := flags.String("listen", cmp.Or(os.Getenv("LISTEN_ADDR"), fmt.Sprintf("127.0.0.1:%d", port)), "")
	flags.Parse(args) // exits on an error
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unexpected argument %q; see --help\n", build, flags.Arg(0))
		os.Exit(2)
	}
	return Settings{
		Build:            build,
		Listen:           *listen,
		ConnectionString: cmp.Or(os.Getenv("CONNECTION_STRING"), defaultConnectionString),
		Year:             os.Getenv("LEVELFIELD_YEAR"),
	}
}

// Year returns the clock of the pages: always the year that the variable names, or where it is empty the current one.
func Year(variable string) (func() int, error) {
	if variable == "" {
		return func() int { return time.Now().UTC().Year() }, nil
	}
	year, err := strconv.Atoi(variable)
	if err != nil || year < 1 || year > 9999 {
		return nil, fmt.Errorf("LEVELFIELD_YEAR=%q is not a year from 1 to 9999; unset it for the current one", variable)
	}
	return func() int { return year }, nil
}
