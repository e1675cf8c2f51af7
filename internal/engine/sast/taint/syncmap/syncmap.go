// Package syncmap has a typed map for concurrent use. The caches that the workers of an
// analysis share are such maps.
package syncmap

import (
	"sync"
)

// A Map is a map that workers share: what one has found, the others need not find
// again. The zero value is empty. Who is late takes what is there, so all have the same.
type Map[K comparable, V any] struct{ entries sync.Map }

// Load returns the value of the key, and whether there is one.
func (c *Map[K, V]) Load(key K) (value V, ok bool) {
	p, ok := c.entries.Load(key)
	if ok {
		value = p.(V)
	}
	return value, ok
}

// LoadOrStore returns the value that the key has: the one that is there, or else the given one.
func (c *Map[K, V]) LoadOrStore(key K, value V) (kept V, had bool) {
	p, had := c.entries.LoadOrStore(key, value)
	return p.(V), had
}

// Range calls f for each entry until it returns false.
func (c *Map[K, V]) Range(f func(K, V) bool) {
	c.entries.Range(func(k, v any) bool { return f(k.(K), v.(V)) })
}
