// Package store reads users from MongoDB through one pooled client, within the contract's times.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"levelfield/native/internal/model"
)

const (
	// A request that has no pool slot, or no server that accepts connections, by then gets a 503. The contract allows 1.5 s.
	reachWithin = time.Second
	// A server that was reached is given until then, counted from the request's arrival; then it is a 504.
	answerWithin = 2 * time.Second

	// As many as the driver keeps by default. The connection string's maxPoolSize overrides it.
	defaultPoolSize = 100
)

// Users is the collection of users. It is safe for concurrent use; a process needs one.
type Users struct {
	client     *mongo.Client
	collection *mongo.Collection
	dialer     *dialer
	// One token per pooled connection in use. The driver's own queue for connections ends only with the request,
	// which is too late for the contract's 503.
	slots chan struct{}
}

// Open prepares a client. It opens no connection, so that a build starts and answers 503 while its store is away.
func Open(connectionString string) (*Users, error) {
	dialer := newDialer()
	opts := options.Client().
		ApplyURI(connectionString).
		SetDialer(dialer).
		// Above any request's time: ByID decides when to give up, the driver does not.
		SetServerSelectionTimeout(2 * answerWithin)
	if opts.MaxPoolSize == nil || *opts.MaxPoolSize == 0 {
		opts.SetMaxPoolSize(defaultPoolSize)
	}
	client, err := mongo.Connect(opts)
	if err != nil {
		return nil, err
	}
	return &Users{
		client:     client,
		collection: client.Database("mongo").Collection("users"),
		dialer:     dialer,
		slots:      make(chan struct{}, *opts.MaxPoolSize),
	}, nil
}

// Close ends the client's connections.
func (u *Users) Close(ctx context.Context) error {
	return u.client.Disconnect(ctx)
}

// ByID finds one user. Its error is always a [model.Problem]; what lies behind one of the store's is logged here, once.
func (u *Users) ByID(ctx context.Context, id int32) (model.User, error) {
	document, err := u.find(ctx, id)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return model.User{}, model.UserNotFound
	case err != nil:
		if ctx.Err() == nil { // a client that left is nobody's failure
			slog.Error("reading a user", "_id", id, "error", err)
		}
		return model.User{}, model.ProblemOf(err)
	}
	user, err := decode(id, document)
	if err != nil {
		slog.Error("reading a user", "_id", id, "error", err)
		return model.User{}, model.UserMalformed
	}
	return user, nil
}

func (u *Users) find(ctx context.Context, id int32) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	patience := time.AfterFunc(reachWithin, func() {
		if !u.dialer.reached() {
			giveUp(model.StoreUnavailable)
		}
	})
	defer patience.Stop()

	if err := u.takeSlot(ctx); err != nil {
		return nil, err
	}
	defer func() { <-u.slots }()

	// MongoDB compares numbers by value, so this finds the _id as int32, int64 and whole double, by the _id index.
	document, err := u.collection.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
	switch {
	case err == nil || errors.Is(err, mongo.ErrNoDocuments):
		return document, err
	case errors.Is(context.Cause(ctx), model.StoreUnavailable) || !mongo.IsTimeout(err):
		return nil, fmt.Errorf("%w: %w", model.StoreUnavailable, err)
	default:
		return nil, fmt.Errorf("%w: %w", model.StoreTimedOut, err)
	}
}

func (u *Users) takeSlot(ctx context.Context) error {
	select {
	case u.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case u.slots <- struct{}{}:
		return nil
	case <-time.After(reachWithin):
		return fmt.Errorf("%w: all %d connections are in use", model.StoreUnavailable, cap(u.slots))
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", model.StoreUnavailable, context.Cause(ctx))
	}
}

func decode(id int32, document bson.Raw) (model.User, error) {
	user := model.User{ID: id}
	for _, field := range []struct {
		name string
		into *string
	}{
		{"name", &user.Name},
		{"surname", &user.Surname},
		{"email", &user.Email},
	} {
		value := document.Lookup(field.name)
		text, ok := value.StringValueOK()
		if !ok {
			return model.User{}, fmt.Errorf("%w: field %q is %s, not a string", model.UserMalformed, field.name, kind(value))
		}
		*field.into = text
	}
	return user, nil
}

// kind names a value's type for the log. A missing field has no type.
func kind(value bson.RawValue) string {
	if value.IsZero() {
		return "missing"
	}
	return value.Type.String()
}
