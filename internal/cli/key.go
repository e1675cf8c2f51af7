package cli

import (
	"context"
	"errors"
	"fmt"

	"merlon/internal/config"
	"merlon/internal/server"
)

// keyCommand groups what works on the master key.
type keyCommand struct {
	Add    keyAddCommand    `cmd:"" help:"Add a new key to the key file without using it yet. Copy the file to the other machines before merlon admin key rotate."`
	Rotate keyRotateCommand `cmd:"" help:"Encrypt with the new key from now on, and re-encrypt all stored secrets."`
	Reseal keyResealCommand `cmd:"" help:"Re-encrypt secrets that are encrypted with an old key."`
	Drop   keyDropCommand   `cmd:"" help:"Remove old keys from the key file once nothing is encrypted with them."`
}

// keyAddCommand adds a new master key to the key file without using it, so that the file can be
// copied to all machines first. It is the first step of a key rotation.
// Machines that know the key can decrypt with it before any of them encrypts with it.
type keyAddCommand struct {
	config.Store `embed:""`
}

// keyRotateCommand encrypts with the new key from now on, and re-encrypts all stored secrets.
type keyRotateCommand struct {
	config.Store `embed:""`
}

// keyResealCommand re-encrypts the secrets that are still encrypted with an old key, such as
// those of a rotation that was interrupted.
type keyResealCommand struct {
	config.Store `embed:""`
}

// keyDropCommand removes old master keys, the last step of a key rotation. Secrets that are still
// encrypted with one would be lost, so it fails while there are any.
type keyDropCommand struct {
	config.Store `embed:""`
}

// Run adds a key.
func (c keyAddCommand) Run(ctx context.Context, host Host) error {
	return withRotation(ctx, c.Store, func(r *server.Rotation) error {
		return printUnless(host, "added a key", r.Add())
	})
}

// Run rotates the key.
func (c keyRotateCommand) Run(ctx context.Context, host Host) error {
	return withRotation(ctx, c.Store, func(r *server.Rotation) error {
		n, err := r.Rotate(ctx)
		return printUnless(host, fmt.Sprintf("a new key seals; %d texts were sealed again. Old keys still open: "+
			"remove them "+
			"with merlon admin key drop", n), err)
	})
}

// Run seals again.
func (c keyResealCommand) Run(ctx context.Context, host Host) error {
	return withRotation(ctx, c.Store, func(r *server.Rotation) error {
		n, err := r.Reseal(ctx)
		return printUnless(host, fmt.Sprintf("%d texts were sealed again", n), err)
	})
}

// Run removes old keys.
func (c keyDropCommand) Run(ctx context.Context, host Host) error {
	return withRotation(ctx, c.Store, func(r *server.Rotation) error {
		return printUnless(host, "removed the old keys", r.Drop(ctx))
	})
}

// withRotation opens the database and the key file for one step of a key rotation.
func withRotation(ctx context.Context, c config.Store, do func(*server.Rotation) error) error {
	r, err := server.OpenRotation(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(do(r), r.Close())
}

// printUnless prints the text unless there is an error.
func printUnless(host Host, text string, err error) error {
	if err == nil {
		_, err = fmt.Fprintln(host.Stdout, text)
	}
	return err
}
