package model_test

import (
	"errors"
	"fmt"
	"testing"

	"levelfield/native/internal/model"
)

func TestAUserIDIsOneToTenDigitsUpToInt32(t *testing.T) {
	for text, want := range map[string]int32{
		"0": 0, "1": 1, "007": 7, "0000000001": 1, "2147483647": 2147483647,
	} {
		if got, err := model.ParseUserID(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestNothingElseIsAUserID(t *testing.T) {
	for _, text := range []string{
		"", "-1", "-0", "+1", "1.5", "1e1", "0x1", "1_0", " 1", "1 ", "abc", "1a", "٣",
		"2147483648", "9999999999", "00000000001", "1111111111111111111111111111111111111111",
	} {
		if got, err := model.ParseUserID(text); !errors.Is(err, model.InvalidPathParameter) {
			t.Errorf("%q: got %d, %v; want %v", text, got, err, model.InvalidPathParameter)
		}
	}
}

func TestJSONEscapesOnlyWhatItMust(t *testing.T) {
	for text, want := range map[string]string{
		"Zoë O'Neil & <Sons>":   `{"message":"Zoë O'Neil & <Sons>"}`,
		"a\"b\\c\n\t\r\b\f\x01": `{"message":"a\"b\\c\n\t\r\b\f\u0001"}`,
		"/+`=":                  "{\"message\":\"/+`=\"}",
	} {
		got, err := model.JSON(model.Message{Message: text})
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func TestFieldsStandInTheOrderOfTheContract(t *testing.T) {
	got, err := model.JSON(model.User{ID: 1, Name: "n", Surname: "s", Email: "e"})
	if want := `{"Id":1,"Name":"n","Surname":"s","Email":"e"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestAProblemIsFoundInsideAnotherError(t *testing.T) {
	wrapped := fmt.Errorf("users: %w", model.StoreTimedOut)
	if got := model.ProblemOf(wrapped); got != model.StoreTimedOut {
		t.Errorf("got %v", got)
	}
	if got := model.ProblemOf(errors.New("anything")); got != model.StoreUnavailable {
		t.Errorf("got %v", got)
	}
}
