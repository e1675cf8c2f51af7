// Package bench measures the whole program from outside: the real binary, over
// HTTP, on both databases. Its benchmarks are run by make bench and never by
// tests. What a single part costs is measured beside that part.
package bench
