package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"merlon/internal/blob"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/store"
)

// A deployment is what all processes of the service share. The box is nil in a
// worker that was not given the master key.
type deployment struct {
	db    *store.DB
	box   *seal.Box
	blobs *blob.Store
}

// Names under which the database remembers the blob storage, for workers.
const (
	blobURLName      = "blob-url"
	blobIdentityName = "blob-identity"
)

// openDeployment opens a server's deployment. The first server decides where blobs are.
func openDeployment(ctx context.Context, c config.Store) (*deployment, error) {
	ownFiles()
	db, err := OpenStore(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &deployment{db: db}
	if d.box, err = openBox(ctx, c, db); err == nil {
		err = errors.Join(sealAudit(ctx, c, db, d.box), d.openBlobs(ctx, c))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

// openBlobs opens the server's blob storage and has the database remember it.
func (d *deployment) openBlobs(ctx context.Context, c config.Store) error {
	url := c.BlobURL
	if url == "" {
		if err := makeData(c); err != nil {
			return err
		}
		folder, err := filepath.Abs(c.Path("blobs"))
		if err != nil {
			return err
		}
		url = "file://" + folder
	}
	blobs, err := blob.Open(ctx, url)
	if err != nil {
		return err
	}
	// The identity is a file in the storage itself. It shows whether two processes that name the
	// same path or bucket really use the same storage.
	id, err := blobs.Init(ctx)
	if err != nil {
		return errors.Join(err, blobs.Close())
	}
	known, err := d.db.Once(ctx, blobIdentityName, id)
	if err == nil && known != id {
		err = errs.E(errs.Invalid, "the blob storage %s is not the one that this database was made with: set "+
			"blob-url", url)
	}
	if err == nil {
		_, err = d.db.Once(ctx, blobURLName, url)
	}
	if err != nil {
		return errors.Join(err, blobs.Close())
	}
	d.blobs = blobs
	return nil
}

// openWorker opens a worker's deployment: the blob storage is the server's.
func openWorker(ctx context.Context, c config.Store) (*deployment, error) {
	ownFiles()
	db, err := OpenStore(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &deployment{db: db}
	if err := d.findBlobs(ctx, c); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if d.box, err = findBox(ctx, c, db); err != nil {
		return nil, errors.Join(err, d.blobs.Close(), db.Close())
	}
	useAuditKey(db, d.box)
	return d, nil
}

// findBlobs opens the blob storage that the server uses, and refuses another one:
// a folder of the same name on another machine is not the same folder.
func (d *deployment) findBlobs(ctx context.Context, c config.Store) error {
	want, err := d.db.Recall(ctx, blobIdentityName)
	if err != nil {
		return err
	}
	url := c.BlobURL
	if url == "" {
		if url, err = d.db.Recall(ctx, blobURLName); err != nil {
			return err
		}
	}
	if want == "" || url == "" {
		return errs.E(errs.Unavailable, "no server has used this database yet: start merlon serve first")
	}
	blobs, err := blob.Open(ctx, url)
	if err != nil {
		return err
	}
	if id, err := blobs.Identity(ctx); err != nil || id != want {
		return errors.Join(errs.E(errs.Invalid,
			"the blob storage %s is not the server's: it must be reachable from this machine, for example "+
				"s3://bucket or a shared folder; set blob-url", url),
			err, blobs.Close())
	}
	d.blobs = blobs
	return nil
}

// mailPost seals mails for the queue.
func (d *deployment) mailPost() mail.Post { return mail.Post{Box: d.box, Now: d.db.Now} }

// closeAll closes what a deployment has opened, and logs failures: the process ends anyway.
func (d *deployment) closeAll(log *slog.Logger) {
	if err := errors.Join(d.blobs.Close(), d.db.Close()); err != nil {
		log.Error("close the deployment", "error", err)
	}
}
