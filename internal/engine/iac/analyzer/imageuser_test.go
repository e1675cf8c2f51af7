package analyzer

import (
	"strings"
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
)

// The line of the flaw is that of the last FROM.
func TestRunsAsOtherUser(t *testing.T) {
	for text, want := range map[string]bool{
		"FROM debian:12\nRUN make": false,
		"FROM golang:1.25 AS build\nFROM gcr.io/distroless/static:nonroot\nCOPY a b":       true,
		"FROM golang:1.25 AS build\nFROM gcr.io/distroless/static\nCOPY a b":               false,
		"FROM node:22 AS base\nUSER node\nFROM base AS build\nFROM base":                   true,
		"FROM node:22 AS base\nUSER node\nFROM Base":                                       true,
		"FROM node:22 AS base\nUSER node\nUSER root\nFROM base":                            false,
		"FROM node:22 AS base\nUSER 0:0\nFROM base":                                        false,
		"FROM node:22 AS base\nUSER node\nFROM node:22":                                    false,
		"FROM --platform=$BUILDPLATFORM cgr.dev/chainguard/node AS a\nFROM a AS b\nFROM b": true,
		"FROM $BASE-nonroot":                                      false,
		"FROM quay.io/keycloak/keycloak:${VERSION}":               true,
		"FROM registry.example:5000/app:$VERSION":                 false,
		"FROM bitnami/postgresql:17":                              true,
		"FROM notbitnami/postgresql:17":                           false,
		"FROM mcr.microsoft.com/dotnet/aspnet:8.0-noble-chiseled": true,
		"FROM registry.access.redhat.com/ubi9/nodejs-20":          true,
		"FROM registry.access.redhat.com/ubi9/ubi":                false,
		"FROM nginxinc/nginx-unprivileged:1.29":                   true,
		"FROM jenkins/jenkins:lts":                                true,
		"FROM jenkins/jenkins-agent":                              false,
		"FROM a/unprivileged AS first\nFROM debian:12 AS second\nRUN x\nFROM second\nCOPY --from=first": false,
	} {
		line := strings.Count(text[:strings.LastIndex(text, "FROM ")], "\n") + 1
		f := kics.Flaw{Document: &document.Document{Text: []byte(text)}, Line: line}
		if got := runsAsOtherUser(nil, f); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	// A flaw of an earlier stage is judged by that stage.
	first := kics.Flaw{Document: &document.Document{Text: []byte("FROM debian:12\nFROM a:nonroot\n")}, Line: 1}
	if runsAsOtherUser(nil, first) {
		t.Error("the user of a later stage counts for an earlier one")
	}
}
