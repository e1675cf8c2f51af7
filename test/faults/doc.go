// Package faults holds tests that break things while the service works: workers
// are killed, disks fill up, the database goes away, clocks jump, archives lie,
// uploads are cut. Each ends by looking at the true state: nothing lost, nothing
// doubled, nothing called clean that was not looked at.
//
// The parts under test are the real ones: the queue and the store on both
// databases, blob storage, the sandboxed child, the analyzers, triage. Workers
// are processes of their own, made from the test binary, so that they can be
// killed. Nothing in the product knows of these tests: a scan is made slow by
// stopping its process.
package faults
