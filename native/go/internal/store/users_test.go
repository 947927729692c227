package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"levelfield/native/internal/model"
	"levelfield/native/internal/store"
	"levelfield/native/internal/suite"
)

// What the contract allows.
const (
	unavailableBy = 1500 * time.Millisecond
	timedOutFrom  = 1900 * time.Millisecond
	timedOutBy    = 3 * time.Second
)

func open(t *testing.T, connectionString string) *store.Users {
	t.Helper()
	users, err := store.Open(connectionString)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { users.Close(context.Background()) })
	return users
}

// find returns what a request gets and how long it waits.
func find(users *store.Users, id int32) (model.User, time.Duration, error) {
	start := time.Now()
	user, err := users.ByID(context.Background(), id)
	return user, time.Since(start), err
}

func expectUnavailable(t *testing.T, users *store.Users) {
	t.Helper()
	if _, took, err := find(users, 1); !errors.Is(err, model.StoreUnavailable) || took > unavailableBy {
		t.Errorf("got %v after %v, want %v by %v", err, took, model.StoreUnavailable, unavailableBy)
	}
}

func expectTimedOut(t *testing.T, users *store.Users) {
	t.Helper()
	if _, took, err := find(users, 1); !errors.Is(err, model.StoreTimedOut) || took < timedOutFrom || took > timedOutBy {
		t.Errorf("got %v after %v, want %v between %v and %v", err, took, model.StoreTimedOut, timedOutFrom, timedOutBy)
	}
}

func TestAStoreThatComesAndGoes(t *testing.T) {
	t.Parallel()
	gate := openGate(t, suite.SeededStore(t))
	users := open(t, gate.connectionString())
	arthur := model.User{ID: 1, Name: "Arthur", Surname: "Morgan", Email: "ArthurMorgan@mail.com"}

	if user, _, err := find(users, 1); err != nil || user != arthur {
		t.Fatalf("got %v, %v", user, err)
	}
	gate.stall()
	expectTimedOut(t, users)
	gate.shut()
	expectUnavailable(t, users)
	expectUnavailable(t, users)
	gate.open()
	for deadline := time.Now().Add(20 * time.Second); ; {
		user, _, err := find(users, 1)
		if err == nil && user == arthur {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("20 s after the store came back: got %v, %v", user, err)
		}
	}
}

func TestRequestsBeyondThePoolDoNotWaitForItsConnections(t *testing.T) {
	t.Parallel()
	users := open(t, suite.StalledStore(t)+"&maxPoolSize=2")
	var holders sync.WaitGroup
	for range 2 {
		holders.Go(func() { expectTimedOut(t, users) })
	}
	time.Sleep(100 * time.Millisecond) // the two hold both slots by then
	expectUnavailable(t, users)
	holders.Wait()
}

func TestARequestWhoseClientLeftEndsAtOnce(t *testing.T) {
	t.Parallel()
	users := open(t, suite.StalledStore(t))
	ctx, leave := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer leave()
	start := time.Now()
	if _, err := users.ByID(ctx, 1); err == nil || time.Since(start) > time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}

func TestAConnectionStringThatIsNoneIsAnError(t *testing.T) {
	for _, bad := range []string{"localhost:27017", "mongodb://", "mongodb://127.0.0.1/?maxPoolSize=x"} {
		if _, err := store.Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
