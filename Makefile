# make run and make test do all the set-up on a new Debian machine that has Go
# and a C compiler.

SHELL := /bin/bash
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -X merlon/internal/config.commit=$(COMMIT)
# Symbol table and DWARF are for debuggers; stack traces and profiles do without.
ifndef DEBUG
LDFLAGS += -s -w
endif

# Each route of the API is an instance of the same generic code. Without inlined calls,
# these are 1.3 MB smaller.
GCFLAGS := -gcflags=merlon/internal/api=-l

.PHONY: run test build library deps lint house generate bench bench-sast bench-supply bench-dast fuzz clean

## run: install what is missing, build, start the service with a sample scan
run: build
	bin/merlon demo --data data --listen 127.0.0.1:8080

## build: write bin/merlon; DEBUG=1 keeps what debuggers need
build: library
	go build -trimpath $(GCFLAGS) -ldflags '$(LDFLAGS)' -o bin/merlon ./cmd/merlon

## library: write the library of infrastructure queries, which is material of
## others, from the module that its go.mod pins; only when that version, the
## generator or the compiler of the queries changed
KICS := internal/engine/iac/kics
library: $(KICS)/library/kics.zip
$(KICS)/library/kics.zip: go.mod $(KICS)/source/go.mod $(wildcard $(KICS)/generate/*.go $(KICS)/module/*.go)
	go generate ./$(KICS)

# What tests do not look at for races, as it starts no goroutines and keeps no state of ours, and is
# most of the time of the tests that need it: SQLite, which is translated from C, decompressors,
# regular expressions, text, big numbers, password hashes, the parser of Go. Not for packages that
# use sync.Map or generic atomics: the linker may take their uninstrumented instance for all, which
# then reports races where there are none.
UNRACED := compress/... regexp/... strings strconv unicode/... net/url encoding/base64 math/big go/ast go/parser \
	go/scanner crypto/internal/fips140/bigmod golang.org/x/crypto/argon2 golang.org/x/crypto/blake2b \
	golang.org/x/net/html/... github.com/ccojocar/zxcvbn-go/...
RACE := -race -gcflags='modernc.org/...=-race=false -d=checkptr=0' $(UNRACED:%=-gcflags='%=-race=false')

## test: install what is missing, then linters, generated files, and every test
## with the race detector on SQLite and on a PostgreSQL cluster of its own. Lint has
## run vet already. Packages whose tests wait begin first, next to one more than there
## are processors
test: deps library lint generate
	go test $(RACE) -vet=off -timeout 20m -p $$(($$(nproc) + 1)) ./test/faults ./internal/engine/dast/browser ./...

## deps: Debian packages that tests need
deps:
	scripts/deps.sh

## lint: vet, staticcheck, errcheck; the rules of the house are tests
lint:
	go vet ./...
	cd tools && go build -o ../bin/ honnef.co/go/tools/cmd/staticcheck github.com/kisielk/errcheck
	bin/staticcheck ./...
	bin/errcheck -ignoretests ./...
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }

## house: measure names, comments, complexity, line lengths, tests and packages;
## house_test.go has the limits
house:
	go run ./test/house/cmd/house

## generate: generated files must be those that are checked in
generate:
	go generate ./...
	git diff --exit-code -- internal docs

## bench: print what the service does per second, with machine and load
bench: deps build
	scripts/bench.sh

## bench-sast: measure static analysis on the public corpora in CORPORA; more
## options of test/sast in SAST, such as -only benchjava
bench-sast: build
	go run ./test/sast -corpora '$(CORPORA)' $(SAST)

## bench-supply: measure the analyses of dependencies, images, infrastructure
## code, secrets and pipelines on the public corpora in CORPORA; more options of
## test/supply in SUPPLY, such as -only goats
bench-supply: build
	go run ./test/supply -corpora '$(CORPORA)' $(SUPPLY)

## bench-dast: measure dynamic analysis on the vulnerable applications in TARGETS,
## as root; more options of test/dast in DAST, such as -only dvwa -peers wapiti.
## -only hostile and -only ordinary need no TARGETS
bench-dast: build
	go run ./test/dast -targets '$(TARGETS)' $(DAST)

## fuzz: every fuzz target for FUZZTIME (default 30s)
fuzz:
	scripts/fuzz.sh

clean:
	rm -rf bin data $(KICS)/library/kics.zip
