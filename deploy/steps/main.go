// Command steps goes through a Containerfile without a container engine: it runs COPY, WORKDIR, ARG, ENV and RUN with
// this machine's own tools in a directory that stands for the image, and says which base images it took for granted.
// It cannot know what those hold, so a file that has to come from one is said to be missing and left out.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func main() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: steps CONTAINERFILE [TARGET] [ARG=VALUE]...")
		os.Exit(2)
	}
	directory, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
	fmt.Println("the image's files are in", directory)
}

// run builds the target, or the last stage, and returns the directory that stands for its root.
func run(file string, words []string) (string, error) {
	var target string
	arguments := map[string]string{}
	for _, word := range words {
		if name, value, isArgument := strings.Cut(word, "="); isArgument {
			arguments[name] = value
		} else {
			target = word
		}
	}
	stages, err := parse(file)
	if err != nil {
		return "", err
	}
	last := len(stages) - 1
	if target != "" {
		found := false
		if last, found = instructions.HasStage(stages, target); !found {
			return "", fmt.Errorf("%s has no stage %q", file, target)
		}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp("", "levelfield-image-")
	if err != nil {
		return "", err
	}
	b := &build{
		stages:    stages,
		context:   filepath.Dir(filepath.Dir(path)), // the Containerfiles are in deploy/
		arguments: arguments,
		scratch:   scratch,
		done:      map[int]string{},
	}
	return b.stage(last)
}

func parse(path string) ([]instructions.Stage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	return stages, err
}

type build struct {
	stages    []instructions.Stage
	context   string // what COPY copies from: the repository's root
	arguments map[string]string
	scratch   string
	done      map[int]string // a stage's root, once it is built
}

// stage builds one stage, and the stages that it needs, once.
func (b *build) stage(index int) (string, error) {
	if root, done := b.done[index]; done {
		return root, nil
	}
	stage := b.stages[index]
	root := filepath.Join(b.scratch, fmt.Sprint(index, "-", stage.Name))
	if base, found := instructions.HasStage(b.stages[:index], stage.BaseName); found {
		below, err := b.stage(base)
		if err != nil {
			return "", err
		}
		if err := copyInto(below, root); err != nil {
			return "", err
		}
	} else {
		fmt.Println("taken for granted:", stage.BaseName)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	state := &state{build: b, root: root, workdir: "/", environment: os.Environ()}
	for _, command := range stage.Commands {
		if err := state.do(command); err != nil {
			return "", fmt.Errorf("%v: %w", command, err)
		}
	}
	b.done[index] = root
	return root, nil
}

// state is a stage under way.
type state struct {
	*build
	root        string
	workdir     string
	environment []string
}

func (s *state) do(command instructions.Command) error {
	switch c := command.(type) {
	case *instructions.WorkdirCommand:
		s.workdir = c.Path
		return os.MkdirAll(s.inside("."), 0o755)
	case *instructions.ArgCommand:
		for _, argument := range c.Args {
			value, given := s.arguments[argument.Key]
			if !given && argument.Value == nil {
				return fmt.Errorf("give it a value: %s=…", argument.Key)
			}
			s.environment = append(s.environment, argument.Key+"="+cmp.Or(value, argument.ValueString()))
		}
	case *instructions.EnvCommand:
		for _, variable := range c.Env {
			s.environment = append(s.environment, variable.Key+"="+variable.Value)
		}
	case *instructions.CopyCommand:
		return s.copy(c)
	case *instructions.RunCommand:
		return s.runStep(strings.Join(c.CmdLine, " "))
	case *instructions.UserCommand, *instructions.EntrypointCommand, *instructions.CmdCommand:
		// What they say is for a running container.
	default:
		return errors.New("steps does not know this instruction")
	}
	return nil
}

func (s *state) runStep(line string) error {
	fmt.Println("run:", line)
	command := exec.Command("sh", "-euc", line)
	command.Dir = s.inside(".")
	command.Env = s.environment
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}

func (s *state) copy(c *instructions.CopyCommand) error {
	from := s.context
	if c.From != "" {
		index, found := instructions.HasStage(s.stages, c.From)
		if !found {
			return fmt.Errorf("no stage %q", c.From)
		}
		root, err := s.stage(index)
		if err != nil {
			return err
		}
		from = root
	}
	intoDirectory := strings.HasSuffix(c.DestPath, "/") || len(c.SourcePaths) > 1
	for _, source := range c.SourcePaths {
		path := filepath.Join(from, source)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && c.From != "" {
			fmt.Printf("missing: %s would come from the image of stage %q\n", source, c.From)
			continue
		}
		if err != nil {
			return err
		}
		target := s.inside(c.DestPath)
		if intoDirectory && !info.IsDir() {
			target = filepath.Join(target, filepath.Base(source))
		}
		if err := copyInto(path, target); err != nil {
			return err
		}
	}
	return nil
}

// inside maps a path of the image to one of this machine.
func (s *state) inside(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.workdir, path)
	}
	return filepath.Join(s.root, path)
}

// copyInto copies a file, or what a directory holds.
func copyInto(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		from += "/."
	}
	return exec.Command("cp", "-a", from, to).Run()
}
