package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// containerfile is a file as BuildKit reads it.
type containerfile []instructions.Stage

func parse(t *testing.T, path string) containerfile {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return stages
}

func (f containerfile) hasStage(name string) bool {
	_, found := instructions.HasStage(f, name)
	return found
}

func (f containerfile) hasArgument(name string) bool {
	for _, stage := range f {
		for _, command := range stage.Commands {
			if argument, ok := command.(*instructions.ArgCommand); ok && argument.Args[0].Key == name {
				return true
			}
		}
	}
	return false
}

func TestEveryContainerfileCopiesOnlyWhatThereIs(t *testing.T) {
	files, err := filepath.Glob("*.Containerfile")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Containerfiles: %v", err)
	}
	for _, name := range files {
		file := parse(t, name)
		for _, stage := range file {
			for _, command := range stage.Commands {
				copied, ok := command.(*instructions.CopyCommand)
				switch {
				case !ok:
				case copied.From != "":
					if !file.hasStage(copied.From) {
						t.Errorf("%s: no stage %q", name, copied.From)
					}
				default:
					for _, source := range copied.SourcePaths {
						if _, err := os.Stat(filepath.Join("..", source)); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
				}
			}
		}
	}
}

// What is served is the last stage, and every stage that compose.yaml names.
func TestWhatIsServedRunsUnprivilegedWithoutAShell(t *testing.T) {
	for _, name := range []string{"go", "node", "dotnet", "rust"} {
		file := parse(t, name+".Containerfile")
		for i, stage := range file {
			if i < len(file)-1 && !slices.Contains([]string{"native", "sidecar", "host"}, stage.Name) {
				continue
			}
			if got := user(file, stage); got != "65532:65532" {
				t.Errorf("%s, stage %q: runs as %q", name, stage.Name, got)
			}
			if !hasExecEntrypoint(stage) {
				t.Errorf("%s, stage %q: its entrypoint needs a shell", name, stage.Name)
			}
		}
	}
}

// user is the stage's own, or the one of the stage that it starts from.
func user(file containerfile, stage instructions.Stage) string {
	for _, command := range slices.Backward(stage.Commands) {
		if set, ok := command.(*instructions.UserCommand); ok {
			return set.User
		}
	}
	for _, base := range file {
		if strings.EqualFold(base.Name, stage.BaseName) {
			return user(file, base)
		}
	}
	return ""
}

func hasExecEntrypoint(stage instructions.Stage) bool {
	for _, command := range stage.Commands {
		if entrypoint, ok := command.(*instructions.EntrypointCommand); ok {
			return !entrypoint.PrependShell
		}
	}
	return false
}
