// The source of the query library. To update it, run "go get
// github.com/Checkmarx/kics/v2@VERSION" here, then "make library".
module merlon/internal/engine/iac/kics/source

go 1.26.8

require github.com/Checkmarx/kics/v2 v2.2.0
