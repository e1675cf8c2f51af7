package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/klauspost/compress/gzip"

	"merlon/internal/errs"
	"merlon/internal/image/imagetest"
)

// two is an image of two layers, built from another one.
func two(t testing.TB) v1.Image {
	return imagetest.Build(t, v1.Config{},
		imagetest.Layer{Step: "/bin/sh -c #(nop) ADD file:0123 in / ",
			Files: []imagetest.File{{Name: "etc/os-release", Content: "ID=debian\n"}}},
		imagetest.Layer{Step: "/bin/sh -c #(nop)  CMD [\"bash\"]"},
		imagetest.Layer{Step: "COPY app /app # buildkit", Zstd: true,
			Files: []imagetest.File{{Name: "app/main", Content: "main"}, {Name: "etc/.wh.os-release"}}},
		imagetest.Layer{Step: "ENTRYPOINT [\"/app/main\"]"})
}

// Every form of one image tells the same.
func TestOpen(t *testing.T) {
	img := two(t)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	dir := imagetest.Layout(t, map[string]v1.Image{"example.test/app:1": img})
	forms := map[string]string{"layout": dir, "OCI tarball": imagetest.Pack(t, dir),
		"docker save": imagetest.Save(t, img, "example.test/app:1")}
	forms["gzip of a tarball"] = zipped(t, forms["docker save"])
	for form, at := range forms {
		t.Run(form, func(t *testing.T) {
			got, err := Open(context.Background(), at, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			if got.Name != "example.test/app:1" || got.Platform != "linux/amd64" ||
				!strings.HasPrefix(got.ID, "sha256:") {
				t.Errorf("got %q, %q, %q", got.Name, got.Platform, got.ID)
			}
			if oci := form == "layout" || form == "OCI tarball"; oci && got.Digest != digest.String() ||
				!oci && got.Digest != "" {
				t.Errorf("digest %q, want %q for OCI only", got.Digest, digest)
			}
			var steps []string
			for _, l := range got.Layers {
				steps = append(steps, fmt.Sprintf("%d %s %v", l.Index, Instructed(l.Instruction), l.Base))
			}
			if diff := cmp.Diff([]string{"0 ADD file:0123 in / true", "1 COPY app /app false"}, steps); diff != "" {
				t.Errorf("layers (-want +got):\n%s", diff)
			}
			want := [][]string{{"0 etc/os-release ID=debian\n"}, {"0 app/main main", "5 etc/os-release "}}
			for i := range got.Layers {
				if diff := cmp.Diff(want[i], entries(t, &got.Layers[i])); diff != "" {
					t.Errorf("layer %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func zipped(t *testing.T, at string) string {
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "image.tar.gz")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// entries lists a layer.
func entries(t *testing.T, l *Layer) []string {
	t.Helper()
	var out []string
	err := l.Walk(context.Background(), &Budget{Bytes: 1 << 20, Entries: 100}, func(e *Entry) error {
		text := ""
		if e.Kind == File {
			b, err := io.ReadAll(e.Content)
			if err != nil {
				return err
			}
			text = string(b)
		}
		out = append(out, fmt.Sprintf("%d %s %s", e.Kind, e.Path, text+e.Link))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The right one of several images is opened, and a wrong question is answered with
// what there is.
func TestOpenChooses(t *testing.T) {
	arm := func(img v1.Image) v1.Image {
		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		file = file.DeepCopy()
		file.Architecture = "arm64"
		if img, err = mutate.ConfigFile(img, file); err != nil {
			t.Fatal(err)
		}
		return img
	}
	one, other := two(t), arm(two(t))
	dir := imagetest.Layout(t, map[string]v1.Image{"docker.io/library/app:latest": one, "other:2": other})
	platforms(t, dir, map[string]string{"docker.io/library/app:latest": "amd64", "other:2": "arm64"})
	saved := imagetest.Save(t, one, "docker.io/library/app:latest")
	for _, c := range []struct {
		at   string
		o    Options
		want string // platform, or a part of the error
	}{
		{dir, Options{}, "linux/amd64"},
		{dir, Options{Name: "app"}, "linux/amd64"},
		{dir, Options{Name: "other:2"}, "linux/arm64"},
		{dir, Options{Platform: "linux/arm64"}, "linux/arm64"},
		{dir, Options{Platform: "linux/s390x"}, "the archive contains linux/amd64, linux/arm64"},
		{dir, Options{Name: "third"}, `there is no image "third"`},
		{dir, Options{Platform: "a/b/c/d"}, "is not a platform"},
		{saved, Options{Name: "app"}, "linux/amd64"},
		{saved, Options{Name: "b"}, `there is no image "b"`},
		{saved, Options{Platform: "linux/arm64"}, "there is no image for linux/arm64"},
		{filepath.Join(dir, "nowhere"), Options{}, "does not exist"},
		{filepath.Join(dir, "index.json"), Options{}, "no container image"},
		{t.TempDir(), Options{}, "no container image"},
	} {
		img, err := Open(context.Background(), c.at, c.o)
		if err == nil {
			if img.Platform != c.want {
				t.Errorf("%+v: platform %q, want %q", c.o, img.Platform, c.want)
			}
			_ = img.Close()
			continue
		}
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.at, c.o, err, c.want)
		}
	}
}

// platforms writes the platform of each image into the index, as builders do.
func platforms(t *testing.T, dir string, arch map[string]string) {
	name := filepath.Join(dir, "index.json")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	for i := range index.Manifests {
		d := &index.Manifests[i]
		d.Platform = &v1.Platform{OS: "linux", Architecture: arch[d.Annotations["org.opencontainers.image.ref.name"]]}
	}
	attestation := index.Manifests[0]
	attestation.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	index.Manifests = append(index.Manifests, attestation)
	if b, err = json.Marshal(index); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Documents that do not fit together are refused, each with what is wrong.
func TestOpenRefuses(t *testing.T) {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no JSON":      {map[string]string{"index.json": "{"}, "index.json is not what it should be"},
		"nothing":      {map[string]string{"index.json": "{}"}, "contains no container image"},
		"bad digest":   {map[string]string{"manifest.json": `[{"Config":"c","Layers":["l"]}]`}, "c is missing"},
		"two, no name": {map[string]string{"manifest.json": `[{"Config":"c"},{"Config":"d"}]`}, "contains 2 images"},
		"layers differ": {map[string]string{"manifest.json": `[{"Config":"c","Layers":["l","m"]}]`,
			"c": `{"rootfs":{"diff_ids":["` + digest("a") + `"]}}`}, "has 2 layers"},
		"changed content": {map[string]string{"index.json": `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"` + digest("a") + `"}]}`, "blobs/sha256/" + strings.Repeat("a", 64): "{}"}, "is not the one that the index names"},
		"path for digest": {map[string]string{"index.json": `{"manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"sha256:../../etc/passwd"}]}`}, ""},
		"large document": {map[string]string{"index.json": `{"x":"` + strings.Repeat("a", maxDocument) + `"}`},
			"larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				at := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			img, err := Open(context.Background(), dir, Options{})
			if err == nil {
				_ = img.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) || !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.TooLarge) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A name that leads out of the folder of a layout is not followed.
func TestLayoutStaysInside(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "config"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "config"), filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	for _, config := range []string{"c", "../" + filepath.Base(outside) + "/config"} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`[{"Config":"`+config+`","Layers":[]}]`),
			0o600); err != nil {
			t.Fatal(err)
		}
		if img, err := Open(context.Background(), dir, Options{}); err == nil {
			_ = img.Close()
			t.Errorf("%s was opened", config)
		}
	}
}

// What a hostile layer says becomes a path below the root, or nothing.
func TestWalk(t *testing.T) {
	content := imagetest.Tar(t, []imagetest.File{
		{Name: "../../etc/passwd", Content: "a"}, {Name: "/abs/file", Content: "b"},
		{Name: "./dir/", Type: tar.TypeDir}, {Name: ".", Type: tar.TypeDir},
		{Name: "dev/sda", Type: tar.TypeBlock}, {Name: "pipe", Type: tar.TypeFifo},
		{Name: "link", Type: tar.TypeSymlink, Link: "/etc/shadow"},
		{Name: "hard", Type: tar.TypeLink, Link: "../../etc/passwd"}, {Name: "dir/.wh..wh..opq"},
		{Name: "dir/.wh.gone"}, {Name: ".wh..."}, {Name: ".wh..wh.plnk/1.2"},
		{Name: strings.Repeat("x", 300), Content: "c"}, {Name: strings.Repeat("d/", 2100) + "e", Content: "c"},
		{Name: "twice", Content: "1"}, {Name: "twice", Content: "2"},
	})
	l := &Layer{blob: "l", store: memoryStore{"l": content}}
	want := []string{"0 etc/passwd a", "0 abs/file b", "1 dir ", "1 . ", "4 dev/sda ", "4 pipe ", "2 link /etc/shadow",
		"3 hard etc/passwd", "6 dir ", "5 dir/gone ",
		"0 .wh..wh.plnk/1.2 ", "0 twice 1", "0 twice 2"}
	if diff := cmp.Diff(want, entries(t, l)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A layer that is cut, damaged or larger than its budget says so, after what could be
// read.
func TestWalkEnds(t *testing.T) {
	plain := imagetest.Tar(t, []imagetest.File{{Name: "a", Content: "a"},
		{Name: "b", Content: strings.Repeat("b", 1<<20)}})
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		budget  Budget
		want    errs.Kind
	}{
		"cut":              {plain[:2000], Budget{1 << 30, 100}, errs.Invalid},
		"cut gzip":         {z.Bytes()[:z.Len()/2], Budget{1 << 30, 100}, errs.Invalid},
		"damaged header":   {append(bytes.Repeat([]byte{'x'}, 512), plain...), Budget{1 << 30, 100}, errs.Invalid},
		"bomb":             {z.Bytes(), Budget{100 << 10, 100}, errs.TooLarge},
		"too many entries": {plain, Budget{1 << 30, 1}, errs.TooLarge},
		"bzip2":            {append([]byte("BZh9"), plain...), Budget{1 << 30, 100}, errs.Invalid},
		"gzip of nothing":  {[]byte{0x1f, 0x8b, 8}, Budget{1 << 30, 100}, errs.Invalid},
		"zstd of nothing":  {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff}, Budget{1 << 30, 100}, errs.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Layer{blob: "l", store: memoryStore{"l": c.content}}
			err := l.Walk(context.Background(), &c.budget, func(e *Entry) error {
				if e.Kind == File {
					if _, err := io.Copy(io.Discard, e.Content); err != nil {
						return errs.Wrap(errs.Invalid, err, "cut")
					}
				}
				return nil
			})
			if !errs.Is(err, c.want) && !(c.want == errs.TooLarge && strings.Contains(fmt.Sprint(err), "cut")) {
				t.Errorf("got %v, want kind %v", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := &Layer{blob: "l", store: memoryStore{"l": z.Bytes()}}
	if err := l.Walk(ctx, &Budget{1 << 30, 100}, func(*Entry) error { return nil }); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
}

// memoryStore holds parts in memory.
type memoryStore map[string][]byte

func (m memoryStore) has(name string) bool   { return m[name] != nil }
func (m memoryStore) size(name string) int64 { return int64(len(m[name])) }
func (m memoryStore) Close() error           { return nil }
func (m memoryStore) open(name string) (blob, error) {
	b, ok := m[name]
	if !ok {
		return nil, missing(name)
	}
	return section{io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))}, nil
}

func TestBaseName(t *testing.T) {
	for _, c := range []struct {
		labels map[string]string
		step   string
		want   string
	}{
		{nil, "COPY . .", ""},
		{map[string]string{baseName: "docker.io/library/node:20"}, "", "docker.io/library/node:20"},
		{map[string]string{baseName: "node:20", baseDigest: "sha256:aa"}, "", "node:20@sha256:aa"},
		{map[string]string{baseDigest: "sha256:aa"}, "", "sha256:aa"},
		{nil, "ADD alpine-minirootfs-3.19.1-x86_64.tar.gz / # buildkit", "alpine:3.19.1"},
		{nil, "# debian.sh --arch 'amd64' out/ 'bookworm' '@1700000000'", "debian:bookworm"},
		{map[string]string{"org.opencontainers.image.ref.name": "ubuntu", "org.opencontainers.image.version": "22.04"},
			"/bin/sh -c #(nop)  LABEL org.opencontainers.image.ref.name=ubuntu", "ubuntu:22.04"},
		{map[string]string{"org.opencontainers.image.ref.name": "ubuntu", "org.opencontainers.image.version": "22.04"},
			"COPY . .", ""},
	} {
		img := &Image{Config: &v1.ConfigFile{Config: v1.Config{Labels: c.labels}},
			History: []Instruction{{Text: c.step}}}
		if got := img.BaseName(); got != c.want {
			t.Errorf("%v %q: got %q, want %q", c.labels, c.step, got, c.want)
		}
	}
}

func TestInstructed(t *testing.T) {
	for step, want := range map[string]string{
		"/bin/sh -c #(nop) COPY dir:1 in /app ":     "COPY dir:1 in /app",
		"/bin/sh -c apt-get update":                 "RUN apt-get update",
		"RUN /bin/sh -c make # buildkit":            "RUN make",
		"RUN |2 A=1 B=2 /bin/sh -c make # buildkit": "RUN make",
		"|1 TOKEN=x /bin/sh -c make":                "RUN make",
		"CMD [\"sh\"]":                              "CMD [\"sh\"]",
		"COPY a b # buildkit":                       "COPY a b",
		"ENV A=b":                                   "ENV A=b",
		"":                                          "",
		"/bin/sh -c #(nop)  CMD [\"/bin/sh\" \"-c\" \"bash\"]":   "CMD [\"/bin/sh\" \"-c\" \"bash\"]",
		"/bin/sh -c #(nop) ADD file:0123456789 in / # and so on": "ADD file:0123456789 in / # and so on",
		"ADD https://example.test/tool.tar.gz /opt/ # buildkit":  "ADD https://example.test/tool.tar.gz /opt/",
		"HEALTHCHECK &{[\"CMD\" \"true\"] \"0s\" \"0s\" \"0s\" 0}": "HEALTHCHECK &{[\"CMD\" \"true\"] \"0s\" \"0s\" " +
			"\"0s\" 0}",
	} {
		if got := Instructed(step); got != want {
			t.Errorf("%q: got %q, want %q", step, got, want)
		}
	}
}

// FuzzWalk reads layers of any bytes.
func FuzzWalk(f *testing.F) {
	plain := imagetest.Tar(f, []imagetest.File{{Name: "a/b", Content: "text"}, {Name: "a/.wh..wh..opq"},
		{Name: "l", Type: tar.TypeLink, Link: "a/b"}})
	f.Add(plain)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(plain) // into memory
	_ = w.Close()
	f.Add(z.Bytes())
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		l := &Layer{blob: "l", store: memoryStore{"l": content}}
		budget := &Budget{Bytes: 1 << 20, Entries: 100}
		_ = l.Walk(context.Background(), budget, func(e *Entry) error {
			if e.Path == "" || strings.HasPrefix(e.Path, "/") || strings.HasPrefix(e.Path+"/", "../") ||
				strings.Contains(e.Path, "/../") {
				t.Errorf("path %q", e.Path)
			}
			if e.Kind == File {
				_, err := io.Copy(io.Discard, io.LimitReader(e.Content, 1<<20))
				return err
			}
			return nil
		})
	})
}

// FuzzOpen reads the documents of an image.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:aa","platform":{"os":"linux"}}]}`), []byte(`[{"Config":"c","Layers":["l"]}]`), []byte(`{"rootfs":{"diff_ids":["sha256:aa"]},"history":[{"created_by":"x"}]}`))
	f.Fuzz(func(t *testing.T, index, manifest, config []byte) {
		for _, s := range []memoryStore{{"index.json": index, "c": config},
			{"manifest.json": manifest, "c": config, "l": nil}} {
			img, err := load(s, Options{})
			if err == nil && len(img.Layers) != len(img.Config.RootFS.DiffIDs) {
				t.Errorf("%d layers", len(img.Layers))
			}
		}
	})
}
