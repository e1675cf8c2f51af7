package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"merlon/internal/errs"
)

const (
	// maxSinglePut is up to which size an object is sent by one request. A larger one is
	// sent in parts, which takes three or more.
	maxSinglePut = 1 << 20
	// S3 takes at most 10,000 parts of an object. Two are sent at a time, from memory.
	partSize, partsAtATime = 8 << 20, 2
)

// An s3Bucket is a bucket that speaks S3.
type s3Bucket struct {
	client     *minio.Client
	name       string
	encryption encrypt.ServerSide // nil: as the bucket is configured
}

// openS3 opens the bucket at the URL. It sends no request.
func openS3(u *url.URL) (*s3Bucket, error) {
	t, err := parseS3URL(u)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(t.host, &t.options)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the address of the blob storage is invalid")
	}
	return &s3Bucket{client: client, name: t.bucket, encryption: t.encryption}, nil
}

// An s3Target is what the URL of a bucket says.
type s3Target struct {
	bucket, host string
	options      minio.Options
	encryption   encrypt.ServerSide
}

// s3Parameters are those that the URL of a bucket may have. The checksum parameters were
// needed by another client and change nothing.
var s3Parameters = []string{"anonymous", "disable_https", "endpoint", "kmskeyid", "profile", "region",
	"request_checksum_calculation", "response_checksum_validation", "s3ForcePathStyle", "ssetype", "use_path_style"}

// parseS3URL reads s3://bucket with these parameters: region; endpoint, the URL of a
// service that is not Amazon's; use_path_style (true: the bucket is in the path, not in
// the host name); disable_https; profile, of the credentials file; anonymous (true: no
// credentials); ssetype (AES256 or aws:kms) and kmskeyid, for encryption by the service.
func parseS3URL(u *url.URL) (*s3Target, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the parameters of the blob storage are malformed")
	}
	for name := range query {
		if !slices.Contains(s3Parameters, name) {
			return nil, errs.E(errs.Invalid, "the address of the blob storage has the unknown parameter %q: it takes %q",
				name, s3Parameters)
		}
	}
	if u.Host == "" || u.Path != "" && u.Path != "/" {
		return nil, errs.E(errs.Invalid, "the address of the blob storage must be s3://bucket?region=…")
	}
	flags := map[string]bool{}
	for _, name := range []string{"anonymous", "disable_https", "s3ForcePathStyle", "use_path_style"} {
		if text := query.Get(name); text != "" {
			if flags[name], err = strconv.ParseBool(text); err != nil {
				return nil, errs.E(errs.Invalid, "the parameter %s of the blob storage is true or false, not %q", name, text)
			}
		}
	}
	t := &s3Target{bucket: u.Host, host: "s3.amazonaws.com"}
	t.options = minio.Options{
		Region: query.Get("region"), Secure: !flags["disable_https"],
		Creds: findCredentials(query.Get("profile"), flags["anonymous"]),
	}
	if flags["use_path_style"] || flags["s3ForcePathStyle"] {
		t.options.BucketLookup = minio.BucketLookupPath
	}
	if err := t.setEndpoint(query.Get("endpoint")); err != nil {
		return nil, err
	}
	return t, t.setEncryption(query.Get("ssetype"), query.Get("kmskeyid"))
}

// setEndpoint takes the URL of a service.
func (t *s3Target) setEndpoint(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" {
		return errs.E(errs.Invalid, "the endpoint of the blob storage must be http://host:port or https://host:port, "+
			"not %q", text)
	}
	t.host, t.options.Secure = u.Host, u.Scheme == "https"
	return nil
}

// setEncryption takes how the service encrypts objects.
func (t *s3Target) setEncryption(kind, key string) (err error) {
	switch kind {
	case "":
	case "AES256":
		t.encryption = encrypt.NewSSE()
	case "aws:kms":
		if t.encryption, err = encrypt.NewSSEKMS(key, nil); err != nil {
			return errs.Wrap(errs.Invalid, err, "the key of the blob storage is invalid")
		}
	default:
		return errs.E(errs.Invalid, "the encryption of the blob storage is AES256 or aws:kms, not %q", kind)
	}
	return nil
}

// findCredentials returns the sources of credentials in the order of the AWS tools: the
// environment, the files with profiles, and what a container, a web identity or the
// machine has.
func findCredentials(profile string, anonymous bool) *credentials.Credentials {
	if anonymous {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	file := &credentials.FileAWSCredentials{Profile: profile}
	if profile != "" {
		return credentials.New(file)
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, file, &credentials.IAM{},
	})
}

// write sends a small object by one request, a larger one in parts.
func (b *s3Bucket) write(ctx context.Context, key string, r io.Reader, onlyNew bool) error {
	options := minio.PutObjectOptions{
		ContentType: "application/octet-stream", ServerSideEncryption: b.encryption,
		PartSize: partSize, NumThreads: partsAtATime, ConcurrentStreamParts: true,
	}
	if onlyNew {
		options.SetMatchETagExcept("*")
	}
	var head bytes.Buffer
	size, err := io.CopyN(&head, r, maxSinglePut)
	switch {
	case errors.Is(err, io.EOF):
		_, err = b.client.PutObject(ctx, b.name, key, bytes.NewReader(head.Bytes()), size, options)
	case err == nil:
		_, err = b.client.PutObject(ctx, b.name, key, io.MultiReader(&head, r), -1, options)
	}
	return findS3Kind(err)
}

// open sends a request for the whole object.
func (b *s3Bucket) open(ctx context.Context, key string) (io.ReadCloser, error) {
	core := minio.Core{Client: b.client}
	r, _, _, err := core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, findS3Kind(err)
	}
	return r, nil
}

// remove deletes an object.
func (b *s3Bucket) remove(ctx context.Context, key string) error {
	return findS3Kind(b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
}

// list asks for pages of a thousand objects.
func (b *s3Bucket) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		options := minio.ListObjectsOptions{Prefix: prefix, Recursive: true}
		for o := range b.client.ListObjectsIter(ctx, b.name, options) {
			if o.Err != nil {
				yield(Object{}, findS3Kind(o.Err))
				return
			}
			if !yield(Object{Key: o.Key, Size: o.Size, Modified: o.LastModified}, nil) {
				return
			}
		}
	}
}

// findS3Kind gives an error of the service its kind.
func findS3Kind(err error) error {
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusNotFound:
		if minio.ToErrorResponse(err).Code == minio.NoSuchBucket {
			return fmt.Errorf("there is no such bucket: %w", err)
		}
		return errors.Join(errMissing, err)
	case http.StatusPreconditionFailed:
		return errors.Join(errExists, err)
	}
	return err
}
