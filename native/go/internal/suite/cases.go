package suite

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The year of the golden pages.
const goldenYear = "2026"

// testCase is a case as contract/cases/README.md describes it.
type testCase struct {
	file     string
	Name     string            `json:"name"`
	Request  string            `json:"request"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Golden   string            `json:"golden"`
	Store    string            `json:"store"`
	AtMostMS int               `json:"at_most_ms"`
}

func (c testCase) method() string {
	method, _, _ := strings.Cut(c.Request, " ")
	return method
}

func (c testCase) body(t *testing.T, year string) []byte {
	if c.Golden != "" {
		return golden(t, c.Golden, year)
	}
	return []byte(c.Body)
}

// golden returns a golden page as it is in the given year.
func golden(t *testing.T, name, year string) []byte {
	t.Helper()
	page := read(t, filepath.Join("contract", "pages", name))
	return bytes.ReplaceAll(page, []byte(goldenYear), []byte(year))
}

// load reads every case of the contract.
func load(t *testing.T) []testCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "contract", "cases", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in contract/cases: %v", err)
	}
	var all []testCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []testCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			c.file = strings.TrimSuffix(filepath.Base(file), ".json")
			all = append(all, c)
		}
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// root finds the repository from a test's working directory, its package's.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "contract", "seed.jsonl")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("these tests need the repository's contract/ folder above them")
	return ""
}
